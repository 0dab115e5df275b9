// A recursive walk over the format: repeat counts, groups, nX, kP, and the data descriptors I, E, D, F, G,
// ES, EN.
#include "palmette/matrix/fortran_format.hpp"

namespace palmette {
namespace {

constexpr int largest_number = 9999;
constexpr std::size_t most_fields = 4096;
constexpr int widest_record = 1 << 20;
constexpr int deepest_group = 8;

struct FormatError {
  std::string what;
};

class FormatParser {
 public:
  explicit FormatParser(std::string_view text) {
    for (const char letter : text)
      if (letter != ' ' && letter != '\t')
        text_.push_back(letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter);
  }

  std::vector<FortranField> parse() {
    expect('(');
    group(0);
    if (place_ != text_.size()) throw FormatError{"has text behind its last parenthesis"};
    if (fields_.empty()) throw FormatError{"has no data field"};
    return fields_;
  }

 private:
  char next() const { return place_ < text_.size() ? text_[place_] : '\0'; }
  bool next_is_digit() const { return next() >= '0' && next() <= '9'; }
  void expect(char letter) {
    if (next() != letter) throw FormatError{std::string("lacks '") + letter + "'"};
    ++place_;
  }
  int number() {
    if (!next_is_digit()) throw FormatError{"lacks a number"};
    int value = 0;
    for (; next_is_digit(); ++place_) {
      value = 10 * value + (next() - '0');
      if (value > largest_number) throw FormatError{"has a number above 9999"};
    }
    return value;
  }

  /// Items up to and including the closing parenthesis.
  void group(int depth) {
    if (depth > deepest_group) throw FormatError{"has too many parentheses"};
    for (;;) {
      while (next() == ',') ++place_;
      if (next() == ')') break;
      item(depth);
    }
    ++place_;
  }

  void item(int depth) {
    const bool negative = next() == '-';
    if (negative || next() == '+') ++place_;
    const bool counted = next_is_digit();
    const int count = counted ? number() : 1;
    if (next() == 'P') {
      if (!counted) throw FormatError{"lacks a number before P"};
      scale_ = negative ? -count : count;
      ++place_;
    } else if (negative) {
      throw FormatError{"has a misplaced sign"};
    } else if (next() == 'X') {
      ++place_;
      skip(count);
    } else if (next() == '(') {
      repeat_group(count, depth);
    } else {
      data_fields(count);
    }
  }

  void repeat_group(int count, int depth) {
    const std::size_t begin = ++place_;
    if (count == 0) throw FormatError{"has a repeat count of 0"};
    for (int turn = 0; turn < count; ++turn) {
      place_ = begin;
      const int column = column_;
      group(depth + 1);
      if (column_ == column) break;  // nothing in it that could be repeated
    }
  }

  void data_fields(int count) {
    FortranField field;
    switch (next()) {
      case 'I': field.is_integer = true; break;
      case 'E': case 'D': case 'F': case 'G': break;
      case '\0': throw FormatError{"ends before its last parenthesis"};
      default:
        throw FormatError{std::string("has the edit descriptor '") + next() + "', which is not understood"};
    }
    const bool may_have_second_letter = next() == 'E';
    ++place_;
    if (may_have_second_letter && (next() == 'S' || next() == 'N')) ++place_;
    field.width = number();
    if (field.width == 0) throw FormatError{"has a field of width 0"};
    if (next() == '.') {
      ++place_;
      field.decimals = number();
    }
    if (!field.is_integer && next() == 'E') {  // the width of the exponent matters for output only
      ++place_;
      number();
    }
    field.scale = scale_;
    for (int turn = 0; turn < count; ++turn) {
      if (fields_.size() >= most_fields) throw FormatError{"has more than 4096 fields"};
      field.offset = column_;
      fields_.push_back(field);
      skip(field.width);
    }
  }

  void skip(int columns) {
    column_ += columns;
    if (column_ > widest_record) throw FormatError{"has records wider than a million columns"};
  }

  std::string text_;
  std::size_t place_ = 0;
  int column_ = 0;
  int scale_ = 0;
  std::vector<FortranField> fields_;
};

}  // namespace

std::vector<FortranField> parse_fortran_format(std::string_view text, std::string& error) {
  try {
    return FormatParser(text).parse();
  } catch (const FormatError& failure) {
    error = failure.what;
    return {};
  }
}

}  // namespace palmette
