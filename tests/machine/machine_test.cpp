// Rates are positive and stored; a cache file is used only if all of it is consistent.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "palmette/machine/bandwidth.hpp"
#include "palmette/machine/machine.hpp"

namespace palmette {
namespace {

namespace fs = std::filesystem;

class machine : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / ("palmette-machine-" + std::to_string(::getpid()) + "-" + info->name());
    fs::remove_all(folder_);
    options_.array_bytes = 1 << 20;
    options_.cache_folder = folder_.string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path only_file() const {
    fs::path found;
    int count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      found = entry.path();
      ++count;
    }
    EXPECT_EQ(count, 1) << "one file, and no temporary one left";
    return found;
  }
  static std::string text_of(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  /// Replaces the value of one key in the file.
  void plant(const fs::path& file, const std::string& key, const std::string& value) const {
    std::istringstream lines(text_of(file));
    std::ofstream to(file);
    for (std::string line; std::getline(lines, line);)
      to << (line.rfind(key + "=", 0) == 0 ? key + "=" + value : line) << '\n';
  }

  fs::path folder_;
  MeasureOptions options_;
};

TEST_F(machine, figures_slower_than_what_was_seen_are_measured_anew_and_the_larger_ones_kept) {
  measure_machine(options_);
  plant(only_file(), "stream_bandwidth_gbs", "1e-3");
  plant(only_file(), "read_bandwidth_gbs", "1e6");
  EXPECT_EQ(measure_machine(options_).stream_bandwidth_gbs, 1e-3) << "nothing speaks against it yet";
  options_.faster_than_gbs = 2e-3;
  const Machine renewed = measure_machine(options_);
  EXPECT_GT(renewed.stream_bandwidth_gbs, 2e-3);
  EXPECT_EQ(renewed.read_bandwidth_gbs, 1e6);
  options_.faster_than_gbs = 0;
  EXPECT_EQ(measure_machine(options_).stream_bandwidth_gbs, renewed.stream_bandwidth_gbs)
      << "the new figure is remembered";
}

TEST_F(machine, rates_are_positive_and_finite_for_one_and_several_threads) {
  for (const int threads : {1, 2, 3}) {
    MeasureOptions options;
    options.threads = threads;
    options.array_bytes = 1 << 20;
    const Machine here = measure_machine(options);
    EXPECT_EQ(here.threads, threads);
    EXPECT_FALSE(here.processor.empty());
    EXPECT_GE(here.last_level_cache_bytes, 0);
    EXPECT_GT(here.read_bandwidth_gbs, 0);
    EXPECT_GT(here.stream_bandwidth_gbs, 0);
    EXPECT_TRUE(std::isfinite(here.read_bandwidth_gbs));
    EXPECT_TRUE(std::isfinite(here.stream_bandwidth_gbs));
  }
}

TEST_F(machine, arrays_of_one_entry_and_of_odd_lengths_are_measured) {
  for (const offset_t bytes : {offset_t{1}, offset_t{8}, offset_t{8 * 37}}) {
    MeasureOptions options;
    options.threads = 3;
    options.array_bytes = bytes;
    EXPECT_GT(measure_machine(options).stream_bandwidth_gbs, 0);
  }
}

TEST(bandwidth, arrays_have_four_times_the_cache_together_within_limits) {
  const auto mebibytes = [](offset_t cache, offset_t memory) {
    return 3 * fitting_array_bytes(cache << 20, memory << 20) >> 20;
  };
  EXPECT_EQ(mebibytes(0, 1 << 16), 192);
  EXPECT_EQ(mebibytes(32, 1 << 16), 192);
  EXPECT_EQ(mebibytes(96, 1 << 16), 384);
  EXPECT_EQ(mebibytes(260, 1 << 16), 768);
  EXPECT_EQ(mebibytes(260, 1 << 11), 255) << "an eighth of 2 GiB, in three whole numbers";
  EXPECT_EQ(mebibytes(32, 100), 63) << "not less, however little memory there is";
}

TEST_F(machine, default_arrays_are_all_that_is_held_and_are_freed) {
#if defined(PALMETTE_ADDRESS_SANITIZER) || defined(PALMETTE_THREAD_SANITIZER)
  GTEST_SKIP() << "sanitizers keep freed memory";
#endif
  const std::int64_t before = resident_memory_bytes();
  MeasureOptions options;
  const Machine here = measure_machine(options);
  EXPECT_GT(here.stream_bandwidth_gbs, 0);
  EXPECT_LT(resident_memory_bytes() - before, std::int64_t{32} << 20);
  const std::int64_t arrays = 3 * fitting_array_bytes(here.last_level_cache_bytes, memory_limit_bytes());
  EXPECT_LT(peak_memory_bytes() - before, arrays + (std::int64_t{32} << 20));
}

TEST_F(machine, second_call_gives_the_figures_of_the_first) {
  const Machine first = measure_machine(options_);
  const Machine second = measure_machine(options_);
  EXPECT_EQ(first.processor, second.processor);
  EXPECT_EQ(first.threads, second.threads);
  EXPECT_EQ(first.last_level_cache_bytes, second.last_level_cache_bytes);
  EXPECT_EQ(first.read_bandwidth_gbs, second.read_bandwidth_gbs);
  EXPECT_EQ(first.stream_bandwidth_gbs, second.stream_bandwidth_gbs);
  only_file();
}

TEST_F(machine, planted_figures_are_returned) {
  measure_machine(options_);
  const fs::path file = only_file();
  plant(file, "read_bandwidth_gbs", "123.25");
  plant(file, "stream_bandwidth_gbs", "0.5");
  const Machine here = measure_machine(options_);
  EXPECT_EQ(here.read_bandwidth_gbs, 123.25);
  EXPECT_EQ(here.stream_bandwidth_gbs, 0.5);
}

TEST_F(machine, other_threads_and_other_arrays_have_files_of_their_own) {
  measure_machine(options_);
  plant(only_file(), "stream_bandwidth_gbs", "1e9");
  MeasureOptions more = options_;
  more.threads = 2;
  EXPECT_NE(measure_machine(more).stream_bandwidth_gbs, 1e9);
  MeasureOptions larger = options_;
  larger.array_bytes *= 2;
  EXPECT_NE(measure_machine(larger).stream_bandwidth_gbs, 1e9);
  EXPECT_EQ(measure_machine(options_).stream_bandwidth_gbs, 1e9);
}

TEST_F(machine, malformed_or_older_cache_is_measured_anew_and_replaced) {
  measure_machine(options_);
  const fs::path file = only_file();
  const std::vector<std::pair<std::string, std::string>> spoilt = {
      {"version", "0"},          {"processor", "another"},         {"threads", "7"},
      {"read_bandwidth_gbs", "-1"}, {"read_bandwidth_gbs", "nan"}, {"stream_bandwidth_gbs", "fast"},
      {"stream_bandwidth_gbs", "12.5 GB/s"}, {"stream_bandwidth_gbs", ""}, {"array_bytes", "1"}};
  for (const auto& [key, value] : spoilt) {
    plant(file, "read_bandwidth_gbs", "1e9");
    plant(file, key, value);
    EXPECT_NE(measure_machine(options_).read_bandwidth_gbs, 1e9) << key << "=" << value;
    EXPECT_EQ(("\n" + text_of(file)).find("\n" + key + "=" + value + "\n"), std::string::npos)
        << key << "=" << value << " was not replaced";
  }
  for (const std::string content : {"", "rubbish", "=\n=\n", "version=1\n"}) {
    std::ofstream(file) << content;
    EXPECT_GT(measure_machine(options_).read_bandwidth_gbs, 0) << content;
    EXPECT_NE(text_of(file), content);
  }
}

TEST_F(machine, missing_folder_is_made_with_those_above_it) {
  options_.cache_folder = (folder_ / "a" / "b").string();
  measure_machine(options_);
  EXPECT_EQ(std::distance(fs::directory_iterator(options_.cache_folder), fs::directory_iterator()), 1);
}

TEST_F(machine, folder_that_is_a_file_is_no_error) {
  std::ofstream(folder_.string()) << "not a folder";
  EXPECT_GT(measure_machine(options_).stream_bandwidth_gbs, 0);
  EXPECT_EQ(text_of(folder_), "not a folder");
}

TEST_F(machine, cache_file_that_is_a_folder_is_no_error_and_leaves_no_temporary_file) {
  measure_machine(options_);
  const fs::path file = only_file();
  fs::remove(file);
  fs::create_directory(file);
  EXPECT_GT(measure_machine(options_).stream_bandwidth_gbs, 0);
  EXPECT_EQ(only_file(), file);
}

TEST_F(machine, fewer_than_one_thread_is_refused_with_the_number) {
  for (const int threads : {0, -3}) {
    MeasureOptions options;
    options.threads = threads;
    try {
      measure_machine(options);
      FAIL() << "no exception for " << threads;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(std::to_string(threads)), std::string::npos) << error.what();
    }
  }
  MeasureOptions options;
  options.array_bytes = -8;
  EXPECT_THROW(measure_machine(options), UsageError);
}

}  // namespace
}  // namespace palmette
