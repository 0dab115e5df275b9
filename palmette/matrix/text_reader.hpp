// Inside `matrix`: text as lines (headers, Fortran records) or as large blocks of whole lines (bodies), with
// line numbers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/matrix/byte_source.hpp"

namespace palmette {

/// Whole lines; the last byte is '\n' and number_padding readable bytes follow it.
struct TextBlock {
  const char* begin = nullptr;
  const char* end = nullptr;
  std::int64_t first_line = 0;  ///< 1-based
};

/// Walks forward through a source. Holds one block in memory, and one line if that is longer.
class TextReader {
 public:
  TextReader(std::unique_ptr<ByteSource> source, std::string name);

  /// The next line without its end ('\n' or '\r\n'); valid until the next call. False at the end of the text.
  bool next_line(std::string_view& line);
  /// Number of the line that next_line returned last, 1-based.
  std::int64_t line_number() const { return next_line_number_ - 1; }

  /// At least `wanted` bytes of whole lines (less at the end of the text), valid until the next call. The
  /// caller counts the lines and reports their number with count_lines. False at the end.
  bool next_block(std::size_t wanted, TextBlock& block);
  void count_lines(std::int64_t lines) { next_line_number_ += lines; }

  /// The first bytes of the text, at most `count`, without consuming them.
  std::string_view peek(std::size_t count);
  /// Read to the end, so that a damaged tail of a compressed file is noticed.
  void drain();

  const std::string& name() const { return name_; }
  /// An upper bound on the text still to come, in bytes.
  std::int64_t remaining_bound() const;
  double fraction_read() const { return source_->fraction_read(); }
  [[noreturn]] void fail(std::int64_t line, const std::string& what) const {
    throw IoError(name_, line, what);
  }

 private:
  bool fill(std::size_t wanted);
  const char* find_line_end(const char* from);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  std::vector<char> buffer_;     // text in [begin_, end_), padding behind it
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool at_end_ = false;          // the source is exhausted
  std::int64_t next_line_number_ = 1;
};

}  // namespace palmette
