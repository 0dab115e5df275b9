// Helpers of the tests of `matrix`: dense images of sparse matrices, bitwise comparison, errors with their
// line.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <complex>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "palmette/matrix/matrix.hpp"

namespace palmette::testing_matrix {

/// Rows of a dense matrix; absent entries are 0.
template <class T>
std::vector<std::vector<T>> dense_rows(const SparseMatrix<T>& matrix) {
  std::vector<std::vector<T>> rows(matrix.rows(),
                                   std::vector<T>(matrix.cols()));
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      rows[matrix.pattern.row_index[entry]][column] += matrix.values[entry];
  return rows;
}

template <class T>
std::vector<std::uint64_t> bits_of(const std::vector<T>& values) {
  std::vector<std::uint64_t> bits;
  for (const T& value : values) {
    if constexpr (is_complex_v<T>) {
      bits.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(value.real())));
      bits.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(value.imag())));
    } else {
      bits.push_back(std::bit_cast<std::uint64_t>(static_cast<double>(value)));
    }
  }
  return bits;
}

template <class T>
void expect_same_bits(const SparseMatrix<T>& left, const SparseMatrix<T>& right) {
  EXPECT_EQ(left.rows(), right.rows());
  EXPECT_EQ(left.cols(), right.cols());
  EXPECT_EQ(left.symmetry, right.symmetry);
  EXPECT_EQ(left.pattern.column_ptr, right.pattern.column_ptr);
  EXPECT_EQ(left.pattern.row_index, right.pattern.row_index);
  EXPECT_EQ(bits_of(left.values), bits_of(right.values));
}

inline std::string file_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The line of the IoError, −1 if none was thrown; its text must contain `part`.
template <class Work>
std::int64_t line_of_error(Work&& work, const std::string& part) {
  try {
    work();
  } catch (const IoError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    return error.line();
  }
  ADD_FAILURE() << "no error; expected one with \"" << part << "\"";
  return -1;
}

/// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "palmette-test-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  std::size_t file_count() const {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(path_)) ++count;
    return count;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace palmette::testing_matrix
