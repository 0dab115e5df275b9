// Banner, comments and size line of a Matrix Market file.
#include <limits>

#include "palmette/matrix/line_text.hpp"
#include "palmette/matrix/matrix_market.hpp"

namespace palmette {
namespace {

constexpr std::string_view banner_word = "%%matrixmarket";

/// Words that other writers use are accepted: "double" and "unsigned-integer" (as in SciPy).
Field field_of(const TextReader& reader, const std::string& word) {
  if (word == "real" || word == "double") return Field::real;
  if (word == "complex") return Field::complex;
  if (word == "integer" || word == "unsigned-integer") return Field::integer;
  if (word == "pattern") return Field::pattern;
  reader.fail(reader.line_number(),
              "unknown field " + quoted(word) + "; there are real, complex, integer and pattern");
}

Symmetry symmetry_of(const TextReader& reader, const std::string& word) {
  if (word == "general") return Symmetry::general;
  if (word == "symmetric") return Symmetry::symmetric;
  if (word == "skew-symmetric") return Symmetry::skew;
  if (word == "hermitian") return Symmetry::hermitian;
  reader.fail(reader.line_number(), "unknown symmetry " + quoted(word) +
                                        "; there are general, symmetric, skew-symmetric and hermitian");
}

void read_banner(TextReader& reader, MatrixMarketHeader& header) {
  std::string_view line;
  if (!reader.next_line(line)) reader.fail(1, "the file is empty");
  const std::vector<std::string_view> words = words_of(line);
  std::vector<std::string> lower;
  for (std::size_t place = 0; place < words.size() && place < 6; ++place)
    lower.push_back(lower_case(words[place]));
  if (lower.empty() || lower[0] != banner_word)
    reader.fail(1, "a Matrix Market file begins with %%MatrixMarket, not with " + quoted(line));
  if (lower.size() != 5)
    reader.fail(
        1, "the banner needs five words, as in \"%%MatrixMarket matrix coordinate real general\"; here are " +
               std::to_string(words.size()));
  if (lower[1] != "matrix")
    reader.fail(1, "cannot read a Matrix Market " + quoted(lower[1]) + ", only a matrix");
  if (lower[2] != "coordinate" && lower[2] != "array")
    reader.fail(1, "unknown format " + quoted(lower[2]) + "; there are coordinate and array");
  header.is_array = lower[2] == "array";
  header.field = field_of(reader, lower[3]);
  header.symmetry = symmetry_of(reader, lower[4]);
  if (header.is_array && header.field == Field::pattern)
    reader.fail(1, "an array cannot be of field pattern");
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew)
    reader.fail(1, "a pattern cannot be skew-symmetric: it has no signs");
  // Hermitian without imaginary parts is symmetric.
  if (header.symmetry == Symmetry::hermitian && header.field != Field::complex)
    header.symmetry = Symmetry::symmetric;
}

std::int64_t size_from(const TextReader& reader, std::string_view word, const char* what,
                       std::int64_t largest) {
  std::int64_t value = 0;
  const IntegerStatus status = parse_integer(word, value);
  if (status == IntegerStatus::malformed || (status == IntegerStatus::ok && value < 0))
    reader.fail(reader.line_number(), "the number of " + std::string(what) + " is " + quoted(word));
  if (status == IntegerStatus::too_large || value > largest)
    reader.fail(reader.line_number(), "the number of " + std::string(what) + " is " +
                                          std::string(quoted(word)) + ", above " + std::to_string(largest));
  return value;
}

std::int64_t stored_in_array(const MatrixMarketHeader& header) {
  const std::int64_t rows = header.rows;
  if (header.symmetry == Symmetry::general) return rows * header.cols;
  return header.symmetry == Symmetry::skew ? rows * (rows - 1) / 2 : rows * (rows + 1) / 2;
}

void read_sizes(TextReader& reader, std::string_view line, MatrixMarketHeader& header) {
  const std::vector<std::string_view> words = words_of(line);
  const std::size_t expected = header.is_array ? 2 : 3;
  header.size_line = reader.line_number();
  if (words.size() != expected)
    reader.fail(header.size_line, std::string("the size line needs ") +
                                      (header.is_array ? "two numbers (rows columns)"
                                                       : "three numbers (rows columns entries)") +
                                      "; here are " + std::to_string(words.size()) + " words");
  constexpr std::int64_t most = std::numeric_limits<index_t>::max();
  header.rows = static_cast<index_t>(size_from(reader, words[0], "rows", most));
  header.cols = static_cast<index_t>(size_from(reader, words[1], "columns", most));
  if (header.symmetry != Symmetry::general && header.rows != header.cols)
    reader.fail(header.size_line, "a " + std::string(name_of(header.symmetry)) +
                                      " matrix must be square, not " + std::to_string(header.rows) + " × " +
                                      std::to_string(header.cols));
  header.entries =
      header.is_array ? stored_in_array(header)
                      : size_from(reader, words[2], "entries", std::numeric_limits<std::int64_t>::max() / 64);
}

}  // namespace

std::string_view name_of(Field field) {
  switch (field) {
    case Field::real: return "real";
    case Field::complex: return "complex";
    case Field::integer: return "integer";
    case Field::pattern: return "pattern";
  }
  return "real";
}

bool begins_like_matrix_market(std::string_view text) {
  return text.size() >= banner_word.size() && lower_case(text.substr(0, banner_word.size())) == banner_word;
}

MatrixMarketHeader read_matrix_market_header(TextReader& reader) {
  MatrixMarketHeader header;
  read_banner(reader, header);
  std::string_view line;
  while (reader.next_line(line)) {
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '%') continue;
    read_sizes(reader, line, header);
    return header;
  }
  reader.fail(reader.line_number(), "the file ends before the size line");
}

}  // namespace palmette
