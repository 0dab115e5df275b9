// Inside `matrix`: fixed-width fields, one after another over several lines.
#pragma once

#include "palmette/matrix/fortran_format.hpp"
#include "palmette/matrix/line_text.hpp"
#include "palmette/matrix/text_reader.hpp"

namespace palmette {

/// Returns the fields of consecutive records. A new array starts a new record, as in a Fortran READ.
class FortranRecords {
 public:
  FortranRecords(TextReader& reader, const std::vector<FortranField>& format, std::string what)
      : reader_(reader), format_(format), what_(std::move(what)), next_(format.size()) {}

  /// The next field as an integer. @throws IoError with the line
  std::int64_t next_integer();
  /// The next field as a finite double.
  double next_real();

 private:
  const FortranField& advance();
  [[noreturn]] void fail(const std::string& why) const {
    reader_.fail(reader_.line_number(), what_ + ": " + why);
  }

  TextReader& reader_;
  const std::vector<FortranField>& format_;
  std::string what_;
  std::size_t next_;
  std::string_view line_;
  std::string field_;  // the field's text without blanks around it, number_padding zero bytes behind
  std::size_t length_ = 0;
};

}  // namespace palmette
