// The exceptions of the library, one class for each way to handle them: misuse, files, memory, devices.
// Numerical failures are values, not exceptions: see outcome.hpp.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace palmette {

/// Base of everything that Palmette throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller made an invalid request: an unknown name, an impossible combination, or an invalid index or
/// value in A.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// Two sizes that must agree do not.
class DimensionError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// A file cannot be read, written or parsed. `line` is 1-based, or 0 if the error has no line.
class IoError : public Error {
 public:
  IoError(const std::string& file, std::int64_t line, const std::string& what)
      : Error(line > 0 ? file + ":" + std::to_string(line) + ": " + what : file + ": " + what),
        file_(file),
        line_(line) {}
  const std::string& file() const { return file_; }
  std::int64_t line() const { return line_; }

 private:
  std::string file_;
  std::int64_t line_;
};

/// Memory could not be allocated; `requested_bytes` is 0 if unknown.
class MemoryError : public Error {
 public:
  explicit MemoryError(const std::string& what, std::int64_t requested_bytes = 0)
      : Error(what), requested_bytes_(requested_bytes) {}
  std::int64_t requested_bytes() const { return requested_bytes_; }

 private:
  std::int64_t requested_bytes_;
};

class DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace palmette
