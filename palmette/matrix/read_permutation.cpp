// Permutation files: indices separated by white space, or a Matrix Market integer array n × 1.
#include <limits>
#include <new>

#include "palmette/matrix/line_text.hpp"
#include "palmette/matrix/matrix_market.hpp"

namespace palmette {
namespace {

/// Reads the sizes and checks that a vector of integers follows; returns how many.
std::int64_t read_vector_header(TextReader& reader) {
  const MatrixMarketHeader header = read_matrix_market_header(reader);
  if (!header.is_array || header.field != Field::integer || header.cols != 1 ||
      header.symmetry != Symmetry::general)
    reader.fail(header.size_line, "a permutation is an array of integers, general, n × 1; this is " +
                                      std::string(name_of(header.field)) + " " +
                                      std::string(name_of(header.symmetry)) + ", " +
                                      std::to_string(header.rows) + " × " + std::to_string(header.cols));
  return header.rows;
}

struct IndexList {
  std::vector<std::int64_t> indices;
  std::vector<std::int64_t> lines;  // position of each index, for messages
};

IndexList read_indices(TextReader& reader) {
  IndexList list;
  std::string_view line;
  while (reader.next_line(line)) {
    for (const std::string_view word : words_of(line)) {
      if (word[0] == '%' || word[0] == '#') break;  // the rest of the line is a comment
      std::int64_t index = 0;
      if (parse_integer(word, index) != IntegerStatus::ok || index < 0)
        reader.fail(reader.line_number(), quoted(word) + " is not an index");
      if (list.indices.size() >= static_cast<std::size_t>(std::numeric_limits<index_t>::max()))
        reader.fail(reader.line_number(), "more than 2147483647 indices");
      list.indices.push_back(index);
      list.lines.push_back(reader.line_number());
    }
  }
  return list;
}

/// Names the offending index with its line, which Permutation's own check does not know.
Permutation checked(const TextReader& reader, const IndexList& list) {
  const auto n = static_cast<std::int64_t>(list.indices.size());
  const bool from_zero = std::find(list.indices.begin(), list.indices.end(), 0) != list.indices.end();
  const std::int64_t base = from_zero ? 0 : 1;
  std::vector<index_t> new_to_old;
  new_to_old.reserve(list.indices.size());
  std::vector<bool> seen(list.indices.size(), false);
  for (std::size_t place = 0; place < list.indices.size(); ++place) {
    const std::int64_t index = list.indices[place] - base;
    if (index >= n)
      reader.fail(list.lines[place],
                  "index " + std::to_string(index + base) + " is outside " + std::to_string(base) + " … " +
                      std::to_string(n - 1 + base) + " (there are " + std::to_string(n) + " indices" +
                      (from_zero ? ", counted from 0 since 0 occurs)" : ", counted from 1)"));
    if (seen[index])
      reader.fail(list.lines[place], "index " + std::to_string(index + base) + " occurs a second time");
    seen[index] = true;
    new_to_old.push_back(static_cast<index_t>(index));
  }
  return Permutation(std::move(new_to_old));
}

}  // namespace

Permutation read_permutation(const std::string& path) {
  try {
    TextReader reader(open_file(path), path);
    const bool has_header = begins_like_matrix_market(reader.peek(64));
    const std::int64_t expected = has_header ? read_vector_header(reader) : -1;
    const IndexList list = read_indices(reader);
    const auto found = static_cast<std::int64_t>(list.indices.size());
    if (has_header && found != expected)
      reader.fail(reader.line_number(), "the header announces " + std::to_string(expected) +
                                            " indices, here are " + std::to_string(found));
    return checked(reader, list);
  } catch (const std::bad_alloc&) {
    throw MemoryError("not enough memory to read " + path);
  }
}

}  // namespace palmette
