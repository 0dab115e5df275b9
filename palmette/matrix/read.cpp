// The entry points of reading: detect the format from the contents, turn failed allocations into MemoryError.
#include "palmette/matrix/read.hpp"

#include <new>
#include <stdexcept>

#include "palmette/matrix/assemble.hpp"
#include "palmette/matrix/boeing.hpp"
#include "palmette/matrix/line_text.hpp"
#include "palmette/matrix/matrix_market.hpp"

namespace palmette {
namespace {

constexpr std::size_t tar_header_bytes = 512;

FileHeader public_header(const MatrixMarketHeader& header) {
  FileHeader result;
  result.format = header.is_array ? "Matrix Market array" : "Matrix Market coordinate";
  result.field = name_of(header.field);
  result.symmetry = header.symmetry;
  result.rows = header.rows;
  result.cols = header.cols;
  result.stored_entries = header.entries;
  return result;
}

/// Archives and other compressions are common mistakes that deserve a better message than "unknown format".
void refuse_archives(TextReader& reader) {
  const std::string_view begin = reader.peek(tar_header_bytes);
  const auto begins_with = [&](std::string_view magic) { return begin.substr(0, magic.size()) == magic; };
  if (begin.size() > 262 && begin.substr(257, 5) == "ustar")
    reader.fail(0, "this is a tar archive; unpack it first");
  if (begins_with("PK\x03\x04")) reader.fail(0, "this is a zip archive; unpack it first");
  if (begins_with("BZh"))
    reader.fail(0, "this file is compressed by bzip2; decompress it first (only gzip is read directly)");
  if (begins_with("\xFD" "7zXZ") || begins_with("\x28\xB5\x2F\xFD"))
    reader.fail(0, "this file is compressed by xz or zstd; decompress it first (only gzip is read directly)");
}

/// Every entry stored: the dense values are already in the order of compressed columns.
template <class T>
SparseMatrix<T> with_every_entry(DenseMatrix<T> dense, Symmetry symmetry) {
  SparseMatrix<T> matrix;
  matrix.symmetry = symmetry;
  matrix.pattern.rows = dense.rows;
  matrix.pattern.cols = dense.cols;
  matrix.pattern.column_ptr.resize(dense.cols + 1);
  matrix.pattern.row_index.resize(dense.values.size());
  for (index_t column = 0; column < dense.cols; ++column) {
    const offset_t begin = static_cast<offset_t>(dense.rows) * column;
    matrix.pattern.column_ptr[column + 1] = begin + dense.rows;
    for (index_t row = 0; row < dense.rows; ++row) matrix.pattern.row_index[begin + row] = row;
  }
  matrix.values = std::move(dense.values);
  return matrix;
}

template <class T>
DenseMatrix<T> with_zeros_between(const SparseMatrix<T>& matrix) {
  DenseMatrix<T> dense(matrix.rows(), matrix.cols());
  const DenseView<T> view = dense.view();
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      view(matrix.pattern.row_index[entry], column) = matrix.values[entry];
  return dense;
}

ReadResult read_any(TextReader& reader, const ReadOptions& options) {
  if (options.threads < 0)
    throw UsageError("cannot read with " + std::to_string(options.threads) +
                     " threads; 0 means one for each processor");
  refuse_archives(reader);
  if (!begins_like_matrix_market(reader.peek(64))) {
    if (reader.peek(1).empty()) reader.fail(0, "the file is empty");
    if (reader.peek(1) == "%") read_matrix_market_header(reader);  // says what is wrong with the banner
    return read_boeing(reader, options);
  }
  const MatrixMarketHeader header = read_matrix_market_header(reader);
  if (!header.is_array) return {read_coordinate_body(reader, header, options), public_header(header)};
  return std::visit(
      [&](auto&& dense) -> ReadResult {
        return {with_every_entry(std::move(dense), header.symmetry), public_header(header)};
      },
      read_array_body(reader, header, options));
}

AnyDense read_any_dense(TextReader& reader) {
  const ReadOptions options;
  if (begins_like_matrix_market(reader.peek(64))) {
    const MatrixMarketHeader header = read_matrix_market_header(reader);
    if (header.is_array) return read_array_body(reader, header, options);
    const AnyMatrix matrix = read_coordinate_body(reader, header, options);
    // No line of the file backs absent entries, which are zeros: a unit vector is fine, a petabyte of zeros
    // is not.
    const std::int64_t most =
        (std::int64_t{1} << 24) + 1024 * std::min<std::int64_t>(header.entries, std::int64_t{1} << 40);
    if (static_cast<std::int64_t>(header.rows) * header.cols > most)
      reader.fail(header.size_line, "a dense matrix of " + std::to_string(header.rows) + " × " +
                                        std::to_string(header.cols) + " with only " +
                                        std::to_string(header.entries) + " entries is rejected: the size is "
                                           "implausible");
    return std::visit([](const auto& sparse) -> AnyDense { return with_zeros_between(sparse); }, matrix);
  }
  if (reader.peek(1).empty()) reader.fail(0, "the file is empty");
  reader.fail(1, "a dense matrix is read from a Matrix Market file (banner %%MatrixMarket …); this is none");
}

/// Runs `work` and adds the name of the file to failed allocations.
template <class Work>
auto with_memory_errors(const std::string& name, Work&& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw MemoryError("not enough memory to read " + name);
  } catch (const std::length_error&) {
    throw MemoryError("not enough memory to read " + name);
  }
}

}  // namespace

ReadResult read_matrix(const std::string& path, const ReadOptions& options) {
  return with_memory_errors(path, [&] {
    TextReader reader(open_file(path), path);
    return read_any(reader, options);
  });
}

ReadResult read_matrix_text(std::string_view text, const std::string& name, const ReadOptions& options) {
  return with_memory_errors(name, [&] {
    TextReader reader(open_memory(text, name), name);
    return read_any(reader, options);
  });
}

AnyDense read_dense(const std::string& path) {
  return with_memory_errors(path, [&] {
    TextReader reader(open_file(path), path);
    return read_any_dense(reader);
  });
}

AnyDense read_dense_text(std::string_view text, const std::string& name) {
  return with_memory_errors(name, [&] {
    TextReader reader(open_memory(text, name), name);
    return read_any_dense(reader);
  });
}

}  // namespace palmette
