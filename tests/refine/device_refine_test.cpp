// Refinement of vectors that lie on an emulated device, watched for races: x and its figures are those of the
// host's refinement, to the last bit.
#include <gtest/gtest.h>

#include <limits>

#include "palmette/refine/device_residual.hpp"
#include "tests/refine/dense_reference.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"

namespace palmette {
namespace {

using namespace testing;

std::shared_ptr<Device> watched_device(int seed) {
  EmulatedDeviceOptions options;
  options.blocks = 1 + seed % 4;
  options.threads = 32 << seed % 3;
  options.emulator = {};
  options.emulator.seed = static_cast<std::uint64_t>(seed);
  options.emulator.resident_blocks = 1 + seed % 3;
  return make_emulated_device(options);
}

/// Columns of the host on the device, with a leading dimension of their own.
template <class T>
class Uploaded {
 public:
  Uploaded(const std::shared_ptr<Device>& device, const DenseMatrix<T>& from, index_t ld)
      : device_(device), rows_(from.rows), cols_(from.cols), ld_(ld),
        values_(device, static_cast<std::size_t>(ld) * static_cast<std::size_t>(from.cols) + 1) {
    for (index_t j = 0; j < cols_; ++j)
      device_->copy_in(view().columns(j, 1).data(), from.view().column(j), rows_ * sizeof(T));
  }
  OnDevice<T> view() const { return OnDevice<T>(DenseView<T>{values_.data(), rows_, cols_, ld_}); }
  DenseMatrix<T> on_host() const {
    DenseMatrix<T> x(rows_, cols_);
    for (index_t j = 0; j < cols_; ++j)
      device_->copy_out(x.view().column(j), view().columns(j, 1).data(), rows_ * sizeof(T));
    return x;
  }

 private:
  std::shared_ptr<Device> device_;
  index_t rows_, cols_;
  offset_t ld_;
  DeviceArray<T> values_;
};

/// Applies the host's inverse to columns of the device.
template <class T>
DeviceInverse<T> inverse_through_host(const std::shared_ptr<Device>& device, const ApplyInverse<T>& apply) {
  return {[=](Operation operation, OnDevice<T> x) {
            DenseMatrix<T> columns(x.rows(), x.cols());
            for (index_t j = 0; j < x.cols(); ++j)
              device->copy_out(columns.view().column(j), x.columns(j, 1).data(), x.rows() * sizeof(T));
            apply(operation, columns.view());
            for (index_t j = 0; j < x.cols(); ++j)
              device->copy_in(x.columns(j, 1).data(), columns.view().column(j), x.rows() * sizeof(T));
          },
          apply};
}

/// The host's compiler may fuse a product and a sum in the modulus of a complex number.
void expect_same(const Verification& there, const Verification& here) {
  if (std::isfinite(here.backward_error))
    EXPECT_NEAR(there.backward_error, here.backward_error, 1e-15 * here.backward_error);
  else EXPECT_EQ(there.backward_error, here.backward_error);
  EXPECT_NEAR(there.componentwise_backward_error, here.componentwise_backward_error,
              1e-12 * here.componentwise_backward_error);
  EXPECT_EQ(there.refine_steps, here.refine_steps);
  EXPECT_EQ(there.verified, here.verified);
  EXPECT_EQ(there.stalled, here.stalled);
  EXPECT_EQ(there.bound, here.bound);
}

template <class T>
bool same_bits(const DenseMatrix<T>& a, const DenseMatrix<T>& b) {
  return std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)) == 0;
}

template <class T>
class device_refine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
};
TYPED_TEST_SUITE(device_refine, TestedScalars);

/// Refines from zero, on the host and on a device, and compares.
template <class T>
void compare(const SparseMatrix<T>& matrix, const ApplyInverse<T>& apply, index_t cols,
             const RefineOptions& options, int seed) {
  const DenseMatrix<T> b = random_dense<T>(matrix.rows(), cols, static_cast<std::uint64_t>(seed));
  for (const Operation operation : all_operations) {
    SCOPED_TRACE(name_of(operation));
    DenseMatrix<T> x(b.rows, b.cols);
    const auto device = watched_device(seed);
    const Uploaded<T> b_there(device, b, b.rows + 2), x_there(device, x, b.rows + 1);
    const DeviceMatrix<T> matrix_there(device, std::make_shared<const SparseMatrix<T>>(matrix),
                                       matrix.symmetry);
    const Verification here = refine<T>(matrix, operation, apply, b.view(), x.view(), options);
    const Verification there = refine<T>(matrix_there, operation, inverse_through_host(device, apply),
                                         b_there.view(), x_there.view(), options);
    expect_same(there, here);
    EXPECT_TRUE(same_bits(x_there.on_host(), x));
    expect_same(verify<T>(matrix_there, operation, b_there.view(), x_there.view()),
                verify<T>(matrix, operation, b.view(), DenseView<const T>(x.view())));
  }
}

/// A matrix near to it, whose inverse corrects only in part.
template <class T>
SparseMatrix<T> disturbed(SparseMatrix<T> matrix, double size) {
  Numbers numbers(5);
  for (T& value : matrix.values) value *= static_cast<real_t<T>>(1 + size * numbers.next());
  return matrix;
}

TYPED_TEST(device_refine, has_the_bits_of_the_host) {
  using T = TypeParam;
  for (int seed = 1; seed <= num_seeds(3); ++seed) {
    const auto matrix = random_matrix<T>(45, 5, 5.0, static_cast<std::uint64_t>(seed));
    const auto apply = inverse_of<T>(disturbed(matrix, 1e-2));
    for (const index_t cols : {1, 3, 6}) compare(matrix, apply, cols, {}, seed);
    RefineOptions until_it_stops;
    until_it_stops.only_if_needed = false;
    compare(matrix, apply, 2, until_it_stops, seed);
    RefineOptions few;
    few.max_steps = 1;
    few.krylov = false;
    compare(matrix, apply, 2, few, seed);
  }
}

TYPED_TEST(device_refine, more_columns_than_a_block_are_refined) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(20, 3, 4.0, 9);
  compare(matrix, inverse_of<T>(disturbed(matrix, 1e-2)), 67, {}, 2);
}

TYPED_TEST(device_refine, columns_that_stall_go_on_with_gmres) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(40, 5, 4.0, 4);
  compare(matrix, inverse_of<T>(disturbed(matrix, 1.5)), 2, {}, 3);
}

TYPED_TEST(device_refine, symmetric_and_hermitian_matrices_keep_one_list_of_rows) {
  using T = TypeParam;
  for (const bool hermitian : {false, true}) {
    SparseMatrix<T> half = random_matrix<T>(30, 3, 6.0, 8);
    SparseMatrix<T> other = transpose(half);
    if (hermitian)
      for (T& value : other.values) value = conjugate(value);
    Triplets<T> sum;
    sum.rows = sum.cols = 30;
    for (const SparseMatrix<T>* part : {&half, &other})
      for (index_t column = 0; column < 30; ++column)
        for (offset_t e = part->pattern.column_ptr[column]; e < part->pattern.column_ptr[column + 1]; ++e) {
          sum.row.push_back(part->pattern.row_index[e]), sum.column.push_back(column);
          sum.value.push_back(part->values[e]);
        }
    SparseMatrix<T> matrix = from_triplets(sum);
    matrix.symmetry = hermitian ? Symmetry::hermitian : Symmetry::symmetric;
    compare(matrix, inverse_of<T>(disturbed(matrix, 1e-2)), 3, {}, 5);
    const auto device = watched_device(1);
    const DeviceMatrix<T> there(device, std::make_shared<const SparseMatrix<T>>(matrix), matrix.symmetry);
    (void)there.rows_of(Operation::plain);
    const offset_t bytes = there.memory_bytes();
    (void)there.rows_of(Operation::transpose);
    EXPECT_EQ(there.memory_bytes(), bytes);
    EXPECT_EQ(device->bytes_in_use(), bytes);
  }
}

TYPED_TEST(device_refine, rows_of_all_lengths_have_the_bits_of_the_host) {
  using T = TypeParam;
  // One full row, one full column, and rows with nothing but their diagonal.
  Triplets<T> entries;
  entries.rows = entries.cols = 70;
  Numbers numbers(3);
  for (index_t k = 0; k < 70; ++k) {
    entries.row.push_back(k), entries.column.push_back(k), entries.value.push_back(T(9));
    if (k == 40) continue;
    entries.row.push_back(40), entries.column.push_back(k), entries.value.push_back(numbers.scalar<T>());
    entries.row.push_back(k), entries.column.push_back(40), entries.value.push_back(numbers.scalar<T>());
  }
  const SparseMatrix<T> matrix = from_triplets(entries);
  compare(matrix, inverse_of<T>(disturbed(matrix, 1e-3)), 4, {}, 6);
}

TYPED_TEST(device_refine, ends_of_the_range_are_left_to_the_host) {
  using T = TypeParam;
  if constexpr (std::is_same_v<real_t<T>, double>) {
    for (const double size : {1e-290, 1e150}) {
      SparseMatrix<T> matrix = random_matrix<T>(25, 3, 4.0, 7);
      for (T& value : matrix.values) value *= size;
      compare(matrix, inverse_of<T>(disturbed(matrix, 1e-3)), 2, {}, 4);
    }
  }
}

TYPED_TEST(device_refine, values_that_are_not_finite_are_told) {
  using T = TypeParam;
  const auto matrix = random_matrix<T>(25, 3, 4.0, 7);
  const auto device = watched_device(1);
  const DeviceMatrix<T> there(device, std::make_shared<const SparseMatrix<T>>(matrix));
  for (const double value : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    DenseMatrix<T> b = random_dense<T>(25, 2, 1), x = random_dense<T>(25, 2, 2);
    x.view()(11, 1) = T(static_cast<real_t<T>>(value));
    const Uploaded<T> b_there(device, b, 25), x_there(device, x, 25);
    const Verification found = verify<T>(there, Operation::plain, b_there.view(), x_there.view());
    EXPECT_EQ(found.backward_error, std::numeric_limits<double>::infinity());
    EXPECT_FALSE(found.verified);
    const auto norms = infinity_norms<T>(device, x_there.view());
    EXPECT_LT(norms[0], 2);
    EXPECT_EQ(norms[1], std::numeric_limits<double>::infinity());
  }
}

TYPED_TEST(device_refine, norms_are_those_of_the_columns) {
  using T = TypeParam;
  const auto device = watched_device(2);
  for (const index_t n : {1, 31, 32, 33, 1000}) {
    const DenseMatrix<T> x = random_dense<T>(n, 3, 2);
    const Uploaded<T> there(device, x, n + 3);
    const std::vector<double> scale(static_cast<std::size_t>(n), 0.25);
    const DeviceArray<double> scale_there(device, scale);
    const auto norms = infinity_norms<T>(device, there.view());
    const auto scaled = scaled_norms<T>(device, there.view(), scale_there.data());
    for (index_t j = 0; j < 3; ++j) {
      double largest = 0, cheap = 0;
      for (index_t i = 0; i < n; ++i) {
        largest = std::max(largest, modulus(widen(x.view()(i, j))));
        cheap = std::max(cheap, static_cast<double>(cheap_modulus(x.view()(i, j))));
      }
      EXPECT_NEAR(norms[static_cast<std::size_t>(j)], largest, 1e-15 * largest);
      EXPECT_EQ(scaled[static_cast<std::size_t>(j)], 0.25 * cheap);
    }
  }
}

TEST(device_refine_memory, a_device_without_room_is_told) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  EmulatedDeviceOptions options;
  options.memory_bytes = 2000;
  const auto device = make_emulated_device(options);
  const DeviceMatrix<double> there(
      device, std::make_shared<const SparseMatrix<double>>(random_matrix<double>(80, 3, 4.0, 7)));
  EXPECT_THROW((void)there.rows_of(Operation::plain), MemoryError);
  EXPECT_EQ(device->bytes_in_use(), 0);
}

}  // namespace
}  // namespace palmette
