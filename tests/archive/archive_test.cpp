// Files of sections: what is written is read back in place; whatever was cut or changed is refused.
#include "palmette/archive/archive.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>

namespace palmette {
namespace {

namespace fs = std::filesystem;

constexpr ArchiveRequest request = {"trial", 3, "write it again", "9.9", "large.", true};

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("palmette_archive_" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(path_), fs::directory_iterator());
  }

 private:
  fs::path path_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void put_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

void put_byte(const std::string& path, std::size_t at, char byte) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(static_cast<std::streamoff>(at));
  file.put(byte);
}

void write_trial(const std::string& path, std::uint32_t version = 3, std::string_view name = "trial") {
  ArchiveWriter file(path, {name, version, ScalarType::complex64, "1.2.3"});
  file.add("counts", std::vector<index_t>{3, 1, 2});
  file.add("large.values", std::vector<double>{0.5, -2});
  file.add("text", std::string_view("whole"));
  file.add("nothing", std::vector<float>{});
  file.finish();
}

/// Why the file is refused; empty: it is not.
std::string refusal(const std::string& path, const ArchiveRequest& how = request) {
  try {
    Archive::open(path, how);
  } catch (const IoError& error) {
    EXPECT_EQ(error.file(), path);
    return error.what();
  }
  return {};
}

TEST(archive, gives_back_what_was_written_aligned_and_in_place) {
  const Folder folder;
  write_trial(folder.file("a"));
  const auto file = Archive::open(folder.file("a"), request);
  EXPECT_EQ(file->scalar(), ScalarType::complex64);
  EXPECT_EQ(file->library(), "1.2.3");
  EXPECT_EQ(file->values<index_t>("counts"), (std::vector<index_t>{3, 1, 2}));
  EXPECT_EQ(file->text("text"), "whole");
  EXPECT_TRUE(file->section<float>("nothing").empty());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file->section<double>("large.values").data()) % 64, 0u);
  EXPECT_TRUE(file->has("text"));
  EXPECT_FALSE(file->has("tex"));
  EXPECT_THROW(file->section<double>("counts"), IoError);  // elements of another type
  EXPECT_THROW(file->section<double>("absent"), IoError);
}

TEST(archive, refuses_other_files_with_reason_and_remedy) {
  const Folder folder;
  const std::string path = folder.file("a");
  EXPECT_NE(refusal(path).find("cannot be read: No such file"), std::string::npos);
  put_bytes(path, "%%MatrixMarket");
  EXPECT_NE(refusal(path).find("has 14 bytes, fewer than the header of such a file; write it again"),
            std::string::npos);
  put_bytes(path, std::string(500, 'x'));
  EXPECT_NE(refusal(path).find("was not saved by Palmette"), std::string::npos);
  write_trial(path, 4);
  EXPECT_NE(refusal(path).find("has version 4 of its format, by Palmette 1.2.3; this is Palmette 9.9, which "
                               "reads version 3; write it again"),
            std::string::npos);
  write_trial(path, 3, "tests");
  EXPECT_NE(refusal(path).find("holds tests, not trial"), std::string::npos);
  write_trial(path);
  std::string turned = bytes_of(path);
  std::reverse(turned.begin() + 16, turned.begin() + 20);
  put_bytes(path, turned);
  EXPECT_NE(refusal(path).find("opposite byte order"), std::string::npos);
  EXPECT_NE(refusal(fs::temp_directory_path().string()).find("not a file of a disk"), std::string::npos);
}

TEST(archive, is_refused_wherever_it_is_cut) {
  const Folder folder;
  write_trial(folder.file("a"));
  const std::string whole = bytes_of(folder.file("a"));
  put_bytes(folder.file("cut"), whole);
  for (std::size_t size = whole.size(); size-- > 0;) {
    fs::resize_file(folder.file("cut"), size);
    ASSERT_FALSE(refusal(folder.file("cut")).empty()) << size;
  }
  put_bytes(folder.file("cut"), whole + "x");
  EXPECT_NE(refusal(folder.file("cut")).find("something was appended"), std::string::npos);
}

TEST(archive, is_refused_or_the_same_if_any_bit_changes) {
  const Folder folder;
  write_trial(folder.file("a"));
  const std::string whole = bytes_of(folder.file("a"));
  std::size_t harmless = 0;
  put_bytes(folder.file("changed"), whole);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    if (at > 0) put_byte(folder.file("changed"), at - 1, whole[at - 1]);
    put_byte(folder.file("changed"), at, static_cast<char>(whole[at] ^ (1 << at % 8)));
    if (!refusal(folder.file("changed")).empty()) continue;
    ++harmless;
    const auto file = Archive::open(folder.file("changed"), request);
    ASSERT_EQ(file->values<index_t>("counts"), (std::vector<index_t>{3, 1, 2})) << at;
    ASSERT_EQ(file->values<double>("large.values"), (std::vector<double>{0.5, -2})) << at;
    ASSERT_EQ(file->text("text"), "whole") << at;
  }
  // Sections of 12, 16 and 5 bytes begin at multiples of 64: what lies between them belongs to none.
  EXPECT_EQ(harmless, 3 * 64 - 12 - 16 - 5u);
}

TEST(archive, large_sections_are_compared_only_on_request) {
  const Folder folder;
  const std::string path = folder.file("a");
  write_trial(path);
  std::string bytes = bytes_of(path);
  bytes[128 + 64] ^= 1;  // behind the header and the counts: the large section
  put_bytes(path, bytes);
  EXPECT_NE(refusal(path).find("section \"large.values\" does not agree"), std::string::npos);
  ArchiveRequest quick = request;
  quick.check_all = false;
  EXPECT_EQ(refusal(path, quick), "");
}

TEST(archive, appears_whole_or_not_at_all) {
  const Folder folder;
  const std::string path = folder.file("a");
  write_trial(path);
  const std::string before = bytes_of(path);
  {
    ArchiveWriter file(path, {"trial", 3, ScalarType::float64, "1"});
    file.add("half", std::vector<double>(1000, 1.0));
    EXPECT_EQ(folder.count(), 2);
  }  // never finished
  EXPECT_EQ(folder.count(), 1);
  EXPECT_EQ(bytes_of(path), before);

  // A full disk: no file may grow beyond 4 KiB.
  rlimit limit;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small = {4096, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string what;
  try {
    ArchiveWriter file(path, {"trial", 3, ScalarType::float64, "1"});
    file.add("much", std::vector<double>(10000, 1.0));
    file.finish();
  } catch (const IoError& error) {
    what = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(what.find("cannot be written completely"), std::string::npos) << what;
  EXPECT_EQ(folder.count(), 1);
  EXPECT_EQ(bytes_of(path), before);
}

TEST(archive, that_is_sealed_has_no_name_until_it_is_published) {
  const Folder folder;
  const std::string path = folder.file("a");
  write_trial(path);
  const std::string before = bytes_of(path);
  const auto begin = [&] {
    auto file = std::make_unique<ArchiveWriter>(path, ArchiveContent{"trial", 3, ScalarType::float64, "1"});
    file->add("half", std::vector<double>(1000, 1.0));
    file->seal();
    return file;
  };
  begin().reset();
  EXPECT_EQ(folder.count(), 1);
  EXPECT_EQ(bytes_of(path), before);
  const auto file = begin();
  EXPECT_EQ(bytes_of(path), before);
  file->publish();
  EXPECT_EQ(folder.count(), 1);
  EXPECT_NE(bytes_of(path), before);
}

TEST(archive, is_written_although_a_killed_process_left_its_temporary_file) {
  const Folder folder;
  const std::string path = folder.file("a");
  // The names that a process with this number would take next.
  for (int k = 0; k < 100; ++k)
    std::ofstream(path + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(k)) << "cut";
  write_trial(path);
  EXPECT_EQ(folder.count(), 101);
  EXPECT_EQ(refusal(path), "");
}

TEST(archive, replaces_the_file_behind_a_link_and_keeps_its_permissions) {
  const Folder folder;
  write_trial(folder.file("target"));
  fs::permissions(folder.file("target"), fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("target", folder.file("link"));
  write_trial(folder.file("link"));
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(fs::status(folder.file("target")).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(refusal(folder.file("link")), "");
  EXPECT_THROW(write_trial("/dev/null"), IoError);
  EXPECT_THROW(write_trial(folder.file("absent/a")), IoError);
}

TEST(archive, reads_past_its_map_what_the_map_shows) {
  const Folder folder;
  const std::string path = folder.file("a");
  std::vector<double> values(3 << 20);  // several reads
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<double>(k);
  {
    ArchiveWriter file(path, {"trial", 3, ScalarType::float64, "1.2.3"});
    file.add("large.values", values);
    file.finish();
  }
  ArchiveRequest open = request;
  open.keep_open = true;
  const auto file = Archive::open(path, open);
  const std::uint64_t position = file->position_of(file->section<double>("large.values").data());
  EXPECT_EQ(position % 64, 0u);
  std::vector<double> part(values.size() - 5);
  const std::int64_t cached =
      file->read(position + 5 * sizeof(double), std::as_writable_bytes(std::span(part)));
  EXPECT_TRUE(std::equal(part.begin(), part.end(), values.begin() + 5));
  EXPECT_GE(cached, -1);
  EXPECT_LE(cached, static_cast<std::int64_t>(part.size() * sizeof(double)));
  EXPECT_GE(file->measured_gbs(position, values.size() * sizeof(double)), 0);
  file->forget_pages();
  EXPECT_EQ(file->section<double>("large.values")[17], 17);
  fs::resize_file(path, position + 8);
  try {
    (void)file->read(position, std::as_writable_bytes(std::span(part)));
    FAIL() << "most of it is missing";
  } catch (const IoError& error) {
    EXPECT_EQ(error.what(), path + ": was cut short while it was used; write it again");
  }
}

}  // namespace
}  // namespace palmette
