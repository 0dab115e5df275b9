// Inside `matrix`: a text file that appears complete under its name or not at all, compressed if the name
// ends in ".gz".
#pragma once

#include <string>
#include <string_view>

#include "palmette/base/base.hpp"

struct gzFile_s;

namespace palmette {

/// Writes to a temporary file beside the target and renames it in finish(). An existing target that is not a
/// regular file (a device, a pipe) is written directly. Without finish() the temporary is removed.
class OutputFile {
 public:
  /// @throws IoError if the file cannot be created
  explicit OutputFile(const std::string& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Append text; it is buffered. @throws IoError
  void write(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= buffer_bytes) flush();
  }
  void write(char letter) { buffer_.push_back(letter); }
  /// The shortest digits that read back as the same value, or an integer.
  void write_number(double value);
  void write_number(float value);
  void write_number(std::int64_t value);
  /// Write everything, close, rename. @throws IoError
  void finish();

 private:
  static constexpr std::size_t buffer_bytes = std::size_t{1} << 18;
  void flush();
  void write_bytes(const char* bytes, std::size_t count);
  [[noreturn]] void fail(const std::string& what);
  void discard();

  std::string path_;
  std::string temporary_;  // empty if the target is written directly
  int descriptor_ = -1;
  gzFile_s* compressed_ = nullptr;
  std::string buffer_;
};

}  // namespace palmette
