// Figures and tables for people: seconds, bytes, counts, wrapped lines, aligned columns. Plain ASCII, 80
// columns.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette::cli {

inline constexpr std::size_t text_width = 80;

std::string format_seconds(double seconds);       ///< "12.3 ms", three significant digits
std::string format_bytes(double bytes);           ///< "81.2 MB", decimal units
std::string format_count(std::int64_t count);     ///< "290,378"
std::string format_large(double count);           ///< "1.49e+08", or digits if below a million
std::string format_percent(double fraction);      ///< "58 %"
std::string plural(std::int64_t count,
                   std::string_view noun);  ///< "1 entry", "2 entries", "3 right-hand sides"

std::string_view scalar_name(ScalarType scalar);  ///< "float64"
std::string_view field_name(ScalarType scalar);   ///< "real" or "complex"

/// Words of `text` in lines of at most `width` characters.
std::vector<std::string> wrap(std::string_view text, std::size_t width);
/// The same, every line but the first indented, joined by line breaks, one at the end.
std::string paragraph(std::string_view first, std::string_view text);

/// Rows of columns: the first row is the head; numbers are aligned to the right, words to the left.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  /// Columns in `left` are aligned to the left, the others to the right.
  std::string text(const std::vector<std::size_t>& left) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// "  name  value" lines, with values wrapped in their column.
class FactList {
 public:
  explicit FactList(std::size_t name_width) : name_width_(name_width) {}
  void add(std::string_view name, std::string_view value);
  const std::string& text() const { return text_; }

 private:
  std::size_t name_width_;
  std::string text_;
};

}  // namespace palmette::cli
