// A field is copied out before it is scanned: fields may follow each other without a separator.
#include "palmette/matrix/fortran_records.hpp"

namespace palmette {

const FortranField& FortranRecords::advance() {
  if (next_ == format_.size()) {
    if (!reader_.next_line(line_)) fail("the file ends early");
    next_ = 0;
  }
  const FortranField& field = format_[next_++];
  std::string_view text;
  if (static_cast<std::size_t>(field.offset) < line_.size())
    text = line_.substr(field.offset, field.width);
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.empty())
    fail("field " + std::to_string(next_) + " of " + std::to_string(format_.size()) +
         " on the line is blank");
  length_ = text.size();
  field_.assign(text);
  field_.append(number_padding, '\0');
  return field;
}

std::int64_t FortranRecords::next_integer() {
  advance();
  const char* text = field_.data();
  const bool negative = *text == '-';
  std::uint64_t value = 0;
  const char* end = scan_unsigned(negative ? text + 1 : text, value);
  if (end != text + length_) fail(quoted(field_.substr(0, length_)) + " is not an integer");
  constexpr std::uint64_t largest = std::uint64_t{1} << 62;  // so that sums with a few others fit
  if (value > largest) fail(quoted(field_.substr(0, length_)) + " is too large");
  return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

double FortranRecords::next_real() {
  const FortranField& field = advance();
  Decimal number;
  const char* end = scan_decimal<NumberStyle::fortran>(field_.data(), number);
  double value = 0;
  if (end != field_.data() + length_) {
    const RealStatus status =
        parse_real(std::string_view(field_).substr(0, length_), value, NumberStyle::fortran);
    fail(quoted(field_.substr(0, length_)) +
         (status == RealStatus::not_finite ? " is not finite" : " is not a number"));
  }
  // Fortran's rules for input: an implied point if none is written, and the scale factor if there is no
  // exponent.
  if (!number.has_point) number.exponent -= field.decimals;
  if (!number.has_exponent) number.exponent -= field.scale;
  value = to_double(number);
  if (!is_finite(value)) fail("the value " + quoted(field_.substr(0, length_)) + " is not finite");
  return value;
}

}  // namespace palmette
