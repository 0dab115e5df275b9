// Writing and reading back: the same bits, only the lower triangle if that suffices, and no partial files.
#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <random>
#include <thread>

#include "tests/matrix/expect_matrix.hpp"

namespace palmette {
namespace {

using testing_matrix::expect_same_bits;
using testing_matrix::file_text;
using testing_matrix::TemporaryFolder;
using Complex = std::complex<double>;

/// Any finite double: random bits, so subnormals, huge ones and negative zeros occur.
double random_double(std::mt19937_64& random) {
  for (;;) {
    const auto value = std::bit_cast<double>(random());
    if (is_finite(value)) return value;
  }
}

template <class T>
T random_scalar(std::mt19937_64& random) {
  if constexpr (is_complex_v<T>) {
    const double real = random_double(random);
    return {real, random_double(random)};
  } else {
    return random_double(random);
  }
}

/// Random places; mirrored according to the symmetry, so that the promise holds.
template <class T>
SparseMatrix<T> random_matrix(index_t n, int entries, Symmetry symmetry, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<T>> value(n, std::vector<T>(n));
  std::vector<std::vector<bool>> present(n,
                                         std::vector<bool>(n, false));
  for (int entry = 0; entry < entries; ++entry) {
    const auto row = random() % static_cast<std::uint64_t>(n);
    const auto column = random() % static_cast<std::uint64_t>(n);
    if (row == column && symmetry == Symmetry::skew) continue;
    T scalar = random_scalar<T>(random);
    if (row == column && symmetry == Symmetry::hermitian) scalar = T(std::real(scalar));
    present[row][column] = true;
    value[row][column] = scalar;
    if (symmetry == Symmetry::general || row == column) continue;
    present[column][row] = true;
    value[column][row] = symmetry == Symmetry::skew        ? -scalar
                         : symmetry == Symmetry::hermitian ? conjugate(scalar)
                                                           : scalar;
  }
  Triplets<T> triplets{n, n, {}, {}, {}};
  for (index_t row = 0; row < n; ++row)
    for (index_t column = 0; column < n; ++column)
      if (present[row][column]) {
        triplets.row.push_back(row);
        triplets.column.push_back(column);
        triplets.value.push_back(value[row][column]);
      }
  return from_triplets(triplets, symmetry);
}

template <class T>
void expect_round_trips(std::initializer_list<Symmetry> symmetries) {
  const TemporaryFolder folder;
  for (const Symmetry symmetry : symmetries)
    for (unsigned seed = 0; seed < 30; ++seed) {
      const auto matrix =
          random_matrix<T>(1 + static_cast<index_t>(seed), 4 * static_cast<int>(seed), symmetry, seed);
      const std::string path = folder / (seed % 2 == 0 ? "m.mtx" : "m.mtx.gz");
      write_matrix(path, matrix, "a comment\nof two lines");
      const ReadResult result = read_matrix(path);
      expect_same_bits(std::get<SparseMatrix<T>>(result.matrix), matrix);
    }
}

TEST(write, real_matrices_come_back_with_the_same_bits) {
  expect_round_trips<double>({Symmetry::general, Symmetry::symmetric, Symmetry::skew});
}

TEST(write, complex_matrices_come_back_with_the_same_bits) {
  expect_round_trips<Complex>({Symmetry::general, Symmetry::symmetric, Symmetry::hermitian, Symmetry::skew});
}

TEST(write, single_precision_comes_back_exactly_and_is_printed_short) {
  const TemporaryFolder folder;
  const Triplets<float> triplets{1, 1, {0}, {0}, {0.1f}};
  write_matrix(folder / "m.mtx", from_triplets(triplets));
  EXPECT_EQ(file_text(folder / "m.mtx"), "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 0.1\n");
}

TEST(write, symmetric_matrices_store_the_lower_triangle_only) {
  const TemporaryFolder folder;
  const Triplets<double> triplets{2, 2, {0, 1, 0, 1}, {0, 0, 1, 1}, {4, -1, -1, 5}};
  write_matrix(folder / "s.mtx", from_triplets(triplets, Symmetry::symmetric), "made by hand");
  EXPECT_EQ(file_text(folder / "s.mtx"),
            "%%MatrixMarket matrix coordinate real symmetric\n% made by hand\n2 2 3\n1 1 4\n2 1 -1\n2 2 5\n");
  const Triplets<Complex> skew{2, 2, {1, 0}, {0, 1}, {{2, 1}, {-2, -1}}};
  write_matrix(folder / "k.mtx", from_triplets(skew, Symmetry::skew));
  EXPECT_EQ(file_text(folder / "k.mtx"),
            "%%MatrixMarket matrix coordinate complex skew-symmetric\n2 2 1\n2 1 2 1\n");
}

TEST(write, a_path_that_ends_in_gz_is_compressed) {
  const TemporaryFolder folder;
  write_matrix(folder / "m.mtx.gz", from_triplets(Triplets<double>{1, 1, {0}, {0}, {2}}));
  EXPECT_EQ(file_text(folder / "m.mtx.gz").substr(0, 2), "\x1f\x8b");
}

TEST(write, dense_matrices_and_views_come_back_with_the_same_bits) {
  const TemporaryFolder folder;
  std::mt19937_64 random(3);
  DenseMatrix<Complex> matrix(5, 3);
  for (Complex& value : matrix.values) value = random_scalar<Complex>(random);
  write_dense<Complex>(folder / "b.mtx", std::as_const(matrix).view());
  const auto back = std::get<DenseMatrix<Complex>>(read_dense(folder / "b.mtx"));
  EXPECT_EQ(back.rows, 5);
  EXPECT_EQ(back.cols, 3);
  EXPECT_EQ(testing_matrix::bits_of(back.values), testing_matrix::bits_of(matrix.values));
  // A view of rows 0-1 of columns 1-2: the leading dimension is not the number of rows.
  const DenseView<const Complex> part{matrix.values.data() + 5, 2, 2, 5};
  write_dense<Complex>(folder / "part.mtx", part);
  const auto small = std::get<DenseMatrix<Complex>>(read_dense(folder / "part.mtx"));
  EXPECT_EQ(small.values,
            (std::vector<Complex>{matrix.values[5], matrix.values[6], matrix.values[10], matrix.values[11]}));
}

TEST(write, empty_matrices_come_back) {
  const TemporaryFolder folder;
  for (const auto& [rows, cols] : {std::pair<index_t, index_t>{0, 0}, {0, 4}, {4, 0}}) {
    write_matrix(folder / "e.mtx", from_triplets(Triplets<double>{rows, cols, {}, {}, {}}));
    const auto back = std::get<SparseMatrix<double>>(read_matrix(folder / "e.mtx").matrix);
    EXPECT_EQ(back.rows(), rows);
    EXPECT_EQ(back.cols(), cols);
    const DenseMatrix<double> dense(rows, cols);
    write_dense<double>(folder / "d.mtx", dense.view());
    EXPECT_EQ(std::get<DenseMatrix<double>>(read_dense(folder / "d.mtx")).cols, cols);
  }
}

TEST(write, permutations_come_back) {
  const TemporaryFolder folder;
  for (const std::vector<index_t>& order : {std::vector<index_t>{}, {0}, {2, 0, 3, 1}}) {
    write_permutation(folder / "p.txt", Permutation(order));
    EXPECT_EQ(read_permutation(folder / "p.txt").new_to_old(), order);
  }
  EXPECT_EQ(file_text(folder / "p.txt"), "3\n1\n4\n2\n");
}

TEST(write, a_file_that_cannot_be_made_is_an_error_and_leaves_nothing) {
  const TemporaryFolder folder;
  const auto matrix = from_triplets(Triplets<double>{1, 1, {0}, {0}, {2}});
  EXPECT_THROW(write_matrix(folder / "absent/m.mtx", matrix), IoError);
  ::mkdir((folder / "is_folder").c_str(), 0755);
  EXPECT_THROW(write_matrix(folder / "is_folder", matrix), IoError);
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(write, a_full_device_is_an_error) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  EXPECT_THROW(write_matrix("/dev/full", from_triplets(Triplets<double>{1, 1, {0}, {0}, {2}})), IoError);
  struct stat status;
  ASSERT_EQ(::stat("/dev/full", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));  // written to, not replaced
}

TEST(write, misuse_leaves_the_old_file_as_it_was) {
  const TemporaryFolder folder;
  std::ofstream(folder / "m.mtx") << "precious";
  auto matrix = from_triplets(Triplets<double>{1, 2, {0}, {0}, {2}});
  matrix.symmetry = Symmetry::symmetric;
  EXPECT_THROW(write_matrix(folder / "m.mtx", matrix), DimensionError);
  EXPECT_EQ(file_text(folder / "m.mtx"), "precious");
  EXPECT_EQ(folder.file_count(), 1u);
}

TEST(write, an_existing_file_is_replaced_and_a_link_is_followed) {
  const TemporaryFolder folder;
  std::ofstream(folder / "real.mtx") << "old";
  ASSERT_EQ(::symlink("real.mtx", (folder / "link.mtx").c_str()), 0);
  write_matrix(folder / "link.mtx", from_triplets(Triplets<double>{1, 1, {0}, {0}, {2}}));
  EXPECT_NE(file_text(folder / "real.mtx"), "old");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.mtx"));
  EXPECT_EQ(folder.file_count(), 2u);
}

TEST(write, a_pipe_is_written_directly) {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  std::string received;
  std::thread listener([&] { received = file_text(path); });
  write_matrix(path, from_triplets(Triplets<double>{1, 1, {0}, {0}, {2}}));
  listener.join();
  EXPECT_EQ(received, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
}

}  // namespace
}  // namespace palmette
