// The files in data/ are read as the matrices that are given here as dense rows.
#include "tests/matrix/expect_matrix.hpp"

namespace palmette {
namespace {

using testing_matrix::dense_rows;
using Rows = std::vector<std::vector<double>>;
using Complex = std::complex<double>;
using ComplexRows = std::vector<std::vector<Complex>>;
constexpr Complex i(0, 1);

std::string data(const std::string& name) { return std::string(PALMETTE_DATA_FOLDER) + "/" + name; }

struct Expected {
  std::string file;
  Rows rows;
  Symmetry symmetry = Symmetry::general;
  offset_t nnz = 0;
  std::string format = "Matrix Market coordinate";
  std::string field = "real";
  offset_t stored = -1;  // where it differs from nnz
};

struct ExpectedComplex {
  std::string file;
  ComplexRows rows;
  Symmetry symmetry = Symmetry::general;
  offset_t nnz = 0;
  std::string format = "Matrix Market coordinate";
  offset_t stored = -1;
};

const Rows general = {{4, 0, -1.5}, {2, 5, 0}, {0, 1e-3, 6}};
const Rows symmetric = {{4, -1, 0}, {-1, 5, 0.25}, {0, 0.25, 6}};
const Rows skew = {{0, 1, 0}, {-1, 0, -0.25}, {0, 0.25, 0}};
const ComplexRows complex_general = {{1.0 + 2.0 * i, 0}, {-i, 3.5}};
const ComplexRows complex_symmetric = {{1.0 + 2.0 * i, -i}, {-i, 3.5}};
const ComplexRows complex_hermitian = {{1, i}, {-i, 3.5}};

const std::vector<Expected> real_files = {
    {"real_general.mtx", general, Symmetry::general, 6},
    {"real_general.mtx.gz", general, Symmetry::general, 6},
    {"real_general_two_members.mtx.gz", general, Symmetry::general, 6},
    {"untidy.mtx", general, Symmetry::general, 6},
    {"real_symmetric.mtx", symmetric, Symmetry::symmetric, 7, "Matrix Market coordinate", "real", 5},
    {"real_skew.mtx", skew, Symmetry::skew, 4, "Matrix Market coordinate", "real", 2},
    {"integer_general.mtx",
     {{1, 0, 2147483648.0}, {-20, 3, 0}},
     Symmetry::general,
     4,
     "Matrix Market coordinate",
     "integer"},
    {"integer_symmetric.mtx",
     {{2, -1}, {-1, 2}},
     Symmetry::symmetric,
     4,
     "Matrix Market coordinate",
     "integer",
     3},
    {"pattern_general.mtx",
     {{1, 0, 1}, {0, 1, 0}, {1, 0, 0}},
     Symmetry::general,
     4,
     "Matrix Market coordinate",
     "pattern"},
    {"pattern_symmetric.mtx",
     {{1, 1, 0}, {1, 0, 1}, {0, 1, 0}},
     Symmetry::symmetric,
     5,
     "Matrix Market coordinate",
     "pattern",
     3},
    {"real_rectangular.mtx", {{0, 0, 0, -2}, {1.5, 0, 0, 0}}, Symmetry::general, 2},
    // (2,1) twice: 1 + 0.5; (1,1) twice: 1 + 2; the zero at (2,2) is kept.
    {"duplicates.mtx", {{3, 1.5}, {1.5, 0}}, Symmetry::symmetric, 4, "Matrix Market coordinate", "real", 5},
    {"empty.mtx", {}, Symmetry::general, 0},
    {"one.mtx", {{2.5}}, Symmetry::symmetric, 1},
    {"array_real_general.mtx", {{1, 3, 5}, {2, 4, 6}}, Symmetry::general, 6, "Matrix Market array"},
    {"array_real_symmetric.mtx", {{1, 2}, {2, 3}}, Symmetry::symmetric, 4, "Matrix Market array", "real", 3},
    // Strictly lower triangle by columns: (2,1) = 1, (3,1) = 2, (3,2) = 3.
    {"array_real_skew.mtx",
     {{0, -1, -2}, {1, 0, -3}, {2, 3, 0}},
     Symmetry::skew,
     9,
     "Matrix Market array",
     "real",
     3},
    {"array_integer_vector.mtx", {{7}, {0}, {-9}}, Symmetry::general, 3, "Matrix Market array", "integer"},
    {"real_unsymmetric.rua.rb", general, Symmetry::general, 6, "Rutherford-Boeing"},
    {"real_symmetric.rsa.rb", symmetric, Symmetry::symmetric, 7, "Rutherford-Boeing", "real", 5},
    {"real_skew.rza.rb", skew, Symmetry::skew, 4, "Rutherford-Boeing", "real", 2},
    {"real_rectangular.rra.rb", {{0, 0, 0, -2}, {1.5, 0, 0, 0}}, Symmetry::general, 2, "Rutherford-Boeing"},
    {"integer_unsymmetric.iua.rb", {{1, 0}, {-20, 3}}, Symmetry::general, 3, "Rutherford-Boeing", "integer"},
    {"pattern_unsymmetric.pua.rb",
     {{1, 0, 1}, {0, 1, 0}, {1, 0, 0}},
     Symmetry::general,
     4,
     "Rutherford-Boeing",
     "pattern"},
    {"pattern_symmetric.psa.rb",
     {{1, 1, 0}, {1, 0, 1}, {0, 1, 0}},
     Symmetry::symmetric,
     5,
     "Rutherford-Boeing",
     "pattern",
     3},
    {"real_unsymmetric_with_rhs.rua", general, Symmetry::general, 6, "Harwell-Boeing"},
    // Fields: "4.0E0000"; "-1.0+000"; "  50.0" / 10 by the scale factor 1P; "   250" · 10⁻² by F6.2, / 10; "
    //     0.60D001".
    {"real_symmetric_packed.rsa", symmetric, Symmetry::symmetric, 7, "Harwell-Boeing", "real", 5},
};

const std::vector<ExpectedComplex> complex_files = {
    {"complex_general.mtx", complex_general, Symmetry::general, 3},
    {"complex_symmetric.mtx", complex_symmetric, Symmetry::symmetric, 4, "Matrix Market coordinate", 3},
    {"complex_hermitian.mtx", complex_hermitian, Symmetry::hermitian, 4, "Matrix Market coordinate", 3},
    {"complex_skew.mtx", {{0, -2.0 + i}, {2.0 - i, 0}}, Symmetry::skew, 2, "Matrix Market coordinate", 1},
    {"array_complex_hermitian.mtx",
     {{1, 2.0 + 3.0 * i}, {2.0 - 3.0 * i, 4}},
     Symmetry::hermitian,
     4,
     "Matrix Market array",
     3},
    {"complex_unsymmetric.cua.rb", complex_general, Symmetry::general, 3, "Rutherford-Boeing"},
    {"complex_symmetric.csa.rb", complex_symmetric, Symmetry::symmetric, 4, "Rutherford-Boeing", 3},
    {"complex_hermitian.cha.rb", complex_hermitian, Symmetry::hermitian, 4, "Rutherford-Boeing", 3},
};

template <class T, class File>
void expect_result(const ReadResult& result, const File& file) {
  ASSERT_TRUE(std::holds_alternative<SparseMatrix<T>>(result.matrix));
  const auto& matrix = std::get<SparseMatrix<T>>(result.matrix);
  EXPECT_EQ(dense_rows(matrix), file.rows);
  EXPECT_EQ(matrix.nnz(), file.nnz);
  EXPECT_EQ(matrix.symmetry, file.symmetry);
  EXPECT_NO_THROW(check_matrix(matrix));
  EXPECT_EQ(result.header.format, file.format);
  EXPECT_EQ(result.header.symmetry, file.symmetry);
  EXPECT_EQ(result.header.rows, matrix.rows());
  EXPECT_EQ(result.header.cols, matrix.cols());
  EXPECT_EQ(result.header.stored_entries, file.stored < 0 ? file.nnz : file.stored);
}

TEST(read_data, every_real_file_becomes_the_expected_matrix) {
  for (const Expected& file : real_files) {
    SCOPED_TRACE(file.file);
    const ReadResult result = read_matrix(data(file.file));
    expect_result<double>(result, file);
    EXPECT_EQ(result.header.field, file.field);
  }
}

TEST(read_data, every_complex_file_becomes_the_expected_matrix) {
  for (const ExpectedComplex& file : complex_files) {
    SCOPED_TRACE(file.file);
    const ReadResult result = read_matrix(data(file.file));
    expect_result<Complex>(result, file);
    EXPECT_EQ(result.header.field, "complex");
  }
}

TEST(read_data, every_matrix_file_of_the_folder_is_expected_somewhere) {
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(PALMETTE_DATA_FOLDER)) {
    const std::string name = entry.path().filename().string();
    if (name.find(".mtx") == std::string::npos && name.find(".rb") == std::string::npos &&
        name.find(".r") == std::string::npos)
      continue;
    if (name.rfind("permutation", 0) == 0) continue;
    ++found;
    bool expected = false;
    for (const Expected& file : real_files) expected = expected || file.file == name;
    for (const ExpectedComplex& file : complex_files) expected = expected || file.file == name;
    EXPECT_TRUE(expected) << name;
  }
  EXPECT_EQ(found, real_files.size() + complex_files.size());
}

TEST(read_data, text_in_memory_gives_the_same_as_the_file) {
  for (const Expected& file : real_files) {
    SCOPED_TRACE(file.file);
    const std::string text = testing_matrix::file_text(data(file.file));
    testing_matrix::expect_same_bits(std::get<SparseMatrix<double>>(read_matrix_text(text, "text").matrix),
                                     std::get<SparseMatrix<double>>(read_matrix(data(file.file)).matrix));
  }
}

TEST(read_data, titles_of_boeing_files_are_kept) {
  EXPECT_EQ(read_matrix(data("real_unsymmetric.rua.rb")).header.title, "The 3 x 3 matrix of these files");
  EXPECT_EQ(read_matrix(data("real_unsymmetric_with_rhs.rua")).header.title,
            "Harwell-Boeing with one right-hand side");
}

TEST(read_data, laplacian_values_fill_the_diagonal) {
  ReadOptions options;
  options.pattern_values = PatternValues::laplacian;
  // Off-diagonal entries a row: 1, 2, 1; so the diagonal is 2, 3, 2.
  const Rows path_graph = {{2, -1, 0}, {-1, 3, -1}, {0, -1, 2}};
  for (const char* name : {"pattern_symmetric.mtx", "pattern_symmetric.psa.rb"}) {
    const auto matrix = std::get<SparseMatrix<double>>(read_matrix(data(name), options).matrix);
    EXPECT_EQ(dense_rows(matrix), path_graph);
    EXPECT_EQ(matrix.symmetry, Symmetry::symmetric);
    EXPECT_NO_THROW(check_matrix(matrix));
  }
  const auto unsymmetric =
      std::get<SparseMatrix<double>>(read_matrix(data("pattern_general.mtx"), options).matrix);
  EXPECT_EQ(dense_rows(unsymmetric), (Rows{{2, 0, -1}, {0, 1, 0}, {-1, 0, 2}}));
}

TEST(read_data, the_option_changes_pattern_files_only) {
  ReadOptions options;
  options.pattern_values = PatternValues::laplacian;
  EXPECT_EQ(dense_rows(std::get<SparseMatrix<double>>(read_matrix(data("real_general.mtx"), options).matrix)),
            general);
}

TEST(read_data, dense_reader_takes_arrays_and_coordinates) {
  const auto array = std::get<DenseMatrix<double>>(read_dense(data("array_real_general.mtx")));
  EXPECT_EQ(array.rows, 2);
  EXPECT_EQ(array.cols, 3);
  EXPECT_EQ(array.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  const auto sparse = std::get<DenseMatrix<double>>(read_dense(data("real_symmetric.mtx")));
  EXPECT_EQ(sparse.values, (std::vector<double>{4, -1, 0, -1, 5, 0.25, 0, 0.25, 6}));
  const auto complex = std::get<DenseMatrix<Complex>>(read_dense(data("array_complex_hermitian.mtx")));
  EXPECT_EQ(complex.values, (std::vector<Complex>{1, 2.0 - 3.0 * i, 2.0 + 3.0 * i, 4}));
  const auto vector = std::get<DenseMatrix<double>>(read_dense(data("array_integer_vector.mtx")));
  EXPECT_EQ(vector.values, (std::vector<double>{7, 0, -9}));
}

TEST(read_data, permutations_from_0_from_1_and_as_an_array_are_the_same) {
  for (const char* name : {"permutation_from_0.txt", "permutation_from_1.txt", "permutation.mtx"})
    EXPECT_EQ(read_permutation(data(name)).new_to_old(), (std::vector<index_t>{2, 0, 1})) << name;
}

}  // namespace
}  // namespace palmette
