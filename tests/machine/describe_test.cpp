// Reading the files in which a system describes its processor.
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>
#include <limits>

#include "palmette/machine/describe.hpp"

namespace palmette {
namespace {

namespace fs = std::filesystem;

class describe : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ =
        fs::temp_directory_path() / ("palmette-describe-" + std::to_string(::getpid()) + "-" + info->name());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  void cache(int index, const std::string& level, const std::string& type, const std::string& size) const {
    const fs::path at = folder_ / ("index" + std::to_string(index));
    fs::create_directories(at);
    std::ofstream(at / "level") << level << '\n';
    std::ofstream(at / "type") << type << '\n';
    std::ofstream(at / "size") << size << '\n';
  }
  fs::path folder_;
};

TEST_F(describe, processor_is_the_first_model_name) {
  std::ofstream(folder_ / "cpuinfo")
      << "processor\t: 0\nmodel\t\t: 25\nmodel name\t: Some CPU @ 2.5GHz: fast \nmodel name : Other\n";
  EXPECT_EQ(processor_name(folder_ / "cpuinfo"), "Some CPU @ 2.5GHz: fast");
}

TEST_F(describe, processor_without_a_model_name_is_unknown) {
  std::ofstream(folder_ / "cpuinfo") << "processor : 0\nCPU implementer : 0x41\nmodel name :\n";
  EXPECT_EQ(processor_name(folder_ / "cpuinfo"), "unknown");
  EXPECT_EQ(processor_name(folder_ / "absent"), "unknown");
}

TEST_F(describe, a_limit_of_memory_is_a_number_or_none) {
  const auto limit = [&](const std::string& text) {
    std::ofstream(folder_ / "memory.max") << text;
    return bytes_of_limit((folder_ / "memory.max").string());
  };
  const offset_t none = bytes_of_limit((folder_ / "absent").string());
  EXPECT_EQ(none, std::numeric_limits<offset_t>::max());
  EXPECT_EQ(limit("1073741824\n"), offset_t{1} << 30);
  for (const char* text : {"max\n", "", "0\n", "-5\n"}) EXPECT_EQ(limit(text), none) << text;
}

TEST_F(describe, last_level_is_the_highest_that_holds_data) {
  cache(0, "1", "Data", "48K");
  cache(1, "1", "Instruction", "64K");
  cache(2, "3", "Unified", "32M");
  cache(3, "2", "Unified", "1024K");
  cache(4, "4", "Instruction", "1G");
  EXPECT_EQ(last_level_cache_bytes(folder_), offset_t{32} << 20);
}

TEST_F(describe, odd_cache_descriptions_count_as_unknown) {
  EXPECT_EQ(last_level_cache_bytes(folder_), 0);
  cache(0, "x", "Data", "48K");
  cache(1, "2", "Data", "many");
  cache(2, "3", "Data", "");
  cache(3, "3", "Data", "12Q");
  EXPECT_EQ(last_level_cache_bytes(folder_), 0);
}

}  // namespace
}  // namespace palmette
