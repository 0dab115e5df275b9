// Inside `matrix`: a source of bytes — a file, memory, or either through gzip — read strictly forward.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "palmette/base/base.hpp"

namespace palmette {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  /// Up to `count` bytes to `to`; 0 only at the end. @throws IoError
  virtual std::size_t read(char* to, std::size_t count) = 0;
  /// An upper bound of the bytes left, as far as the source knows it without reading.
  virtual std::int64_t remaining_bound() const = 0;
  /// Fraction of the input consumed, in [0, 1], for progress; 0 if unknown.
  virtual double fraction_read() const = 0;
};

/// Bytes of a file, decompressed if it begins with gzip's magic bytes. @throws IoError
std::unique_ptr<ByteSource> open_file(const std::string& path);
/// Bytes in memory, which must outlive the source, decompressed in the same way; `name` is the file name in
/// messages.
std::unique_ptr<ByteSource> open_memory(std::string_view bytes, const std::string& name);

}  // namespace palmette
