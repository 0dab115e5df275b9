// The temporary lies in the same folder, so that the rename is atomic; its name carries the process and a
// counter.
#include "palmette/matrix/output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace palmette {
namespace {

std::atomic<unsigned> temporary_counter{0};

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The file that a symbolic link points to, so that writing replaces that file and not the link.
std::string resolved(const std::string& path) {
  char* real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return path;
  std::string result(real);
  std::free(real);
  return result;
}

template <class Number>
void append_number(std::string& buffer, Number value) {
  char digits[40];
  const auto result = std::to_chars(digits, digits + sizeof digits, value);
  buffer.append(digits, result.ptr);
}

}  // namespace

OutputFile::OutputFile(const std::string& path) : path_(path) {
  struct stat status;
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("is a folder");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    if (exists && ::access(path.c_str(), W_OK) != 0)
      fail(std::string("cannot be written: ") + std::strerror(errno));
    const std::string target = exists ? resolved(path) : path;
    temporary_ = target + ".part-" + std::to_string(::getpid()) + "-" + std::to_string(temporary_counter++);
    descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                         exists ? status.st_mode & 0777 : 0666);
    path_ = target;
    if (exists && descriptor_ >= 0) ::fchmod(descriptor_, status.st_mode & 0777);
  }
  if (descriptor_ < 0) {
    const std::string reason = std::strerror(errno);
    temporary_.clear();
    throw IoError(path, 0, "cannot be written: " + reason);
  }
  if (!ends_with(path, ".gz")) return;
  compressed_ = ::gzdopen(descriptor_, "wb6");
  if (compressed_ == nullptr) {
    discard();
    throw MemoryError("no memory to compress " + path);
  }
  ::gzbuffer(compressed_, 1u << 17);
}

OutputFile::~OutputFile() { discard(); }

void OutputFile::discard() {
  if (compressed_ != nullptr) ::gzclose(compressed_);
  else if (descriptor_ >= 0) ::close(descriptor_);
  compressed_ = nullptr;
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void OutputFile::fail(const std::string& what) {
  discard();
  throw IoError(path_, 0, what);
}

void OutputFile::write_bytes(const char* bytes, std::size_t count) {
  while (count > 0) {
    const auto piece = static_cast<unsigned>(std::min<std::size_t>(count, std::size_t{1} << 30));
    const ssize_t written =
        compressed_ != nullptr ? ::gzwrite(compressed_, bytes, piece) : ::write(descriptor_, bytes, piece);
    if (written < 0 && errno == EINTR && compressed_ == nullptr) continue;
    if (written <= 0) fail(std::string("cannot be written completely: ") + std::strerror(errno));
    bytes += written;
    count -= static_cast<std::size_t>(written);
  }
}

void OutputFile::flush() {
  write_bytes(buffer_.data(), buffer_.size());
  buffer_.clear();
}

void OutputFile::finish() {
  flush();
  if (compressed_ != nullptr) {
    gzFile_s* const stream = compressed_;
    compressed_ = nullptr;
    descriptor_ = -1;  // gzclose closes it too
    errno = 0;
    if (::gzclose(stream) != Z_OK) fail(std::string("cannot be written completely: ") + std::strerror(errno));
  } else {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    if (::close(descriptor) != 0) fail(std::string("cannot be written completely: ") + std::strerror(errno));
  }
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(std::string("cannot be put in place: ") + std::strerror(errno));
  temporary_.clear();
}

void OutputFile::write_number(double value) { append_number(buffer_, value); }
void OutputFile::write_number(float value) { append_number(buffer_, value); }
void OutputFile::write_number(std::int64_t value) { append_number(buffer_, value); }

}  // namespace palmette
