// Inside `matrix`: Fortran edit descriptors such as (16I5), (1P,5E16.8) and (3(1P,E25.16)), as far as matrix
// files use them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace palmette {

/// One data field of a record.
struct FortranField {
  int offset = 0;    ///< columns before it in the record
  int width = 0;
  int decimals = 0;  ///< decimal places if the text has no point (Fortran's implied point)
  int scale = 0;     ///< kP: a number without an exponent is divided by 10^k
  bool is_integer = false;
};

/// The fields of one record (line), in order. A format with several records (a slash) is not supported.
/// @param text   the format, parentheses included, any case, blanks anywhere
/// @param error  what is wrong, if the result is empty
std::vector<FortranField> parse_fortran_format(std::string_view text, std::string& error);

}  // namespace palmette
