// Solver and TriangularSolver with the factor on an emulated device: vectors of the host and of the device
// give the same bits, and all that the report says holds there too.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "palmette/solver/solver.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

template <class T>
T value_from(std::mt19937_64& random) {
  const auto next = [&] { return static_cast<real_t<T>>(static_cast<double>(random() % 2001) / 1000 - 1); };
  if constexpr (is_complex_v<T>) {
    const real_t<T> re = next();
    return {re, next()};
  } else {
    return next();
  }
}

/// A grid's pattern with random values: `shift` makes it definite; unsymmetric for LU.
template <class T>
std::shared_ptr<const SparseMatrix<T>> grid_matrix(index_t side, bool symmetric, double shift) {
  std::mt19937_64 random(7);
  Triplets<T> entries;
  entries.rows = entries.cols = side * side;
  const auto put = [&](index_t row, index_t column, T value) {
    entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(value);
  };
  for (index_t y = 0; y < side; ++y)
    for (index_t x = 0; x < side; ++x) {
      const index_t here = y * side + x;
      put(here, here, T(static_cast<real_t<T>>(shift)));
      for (const index_t there : {x + 1 < side ? here + 1 : -1, y + 1 < side ? here + side : -1}) {
        if (there < 0) continue;
        const T value = value_from<T>(random);
        put(there, here, value);
        put(here, there, symmetric ? conjugate(value) : value_from<T>(random));
      }
    }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
}

template <class T>
DenseMatrix<T> random_columns(index_t rows, index_t cols) {
  std::mt19937_64 random(11);
  DenseMatrix<T> b(rows, cols);
  for (T& value : b.values) value = value_from<T>(random);
  return b;
}

/// Columns on a device, `extra` rows apart.
template <class T>
class Columns {
 public:
  Columns(const std::shared_ptr<Device>& device, index_t rows, index_t cols, index_t extra = 0)
      : device_(device), rows_(rows), cols_(cols), ld_(rows + extra),
        values_(device, static_cast<std::size_t>(ld_ * cols) + 1) {}
  Columns(const std::shared_ptr<Device>& device, const DenseMatrix<T>& from, index_t extra = 0)
      : Columns(device, from.rows, from.cols, extra) {
    copy_to_device(*device_, from.view(), view());
  }
  OnDevice<T> view() const { return OnDevice<T>(DenseView<T>{values_.data(), rows_, cols_, ld_}); }
  DenseMatrix<T> on_host() const {
    DenseMatrix<T> x(rows_, cols_);
    copy_from_device(*device_, OnDevice<const T>(view()), x.view());
    return x;
  }

 private:
  std::shared_ptr<Device> device_;
  index_t rows_, cols_;
  offset_t ld_;
  DeviceArray<T> values_;
};

template <class T>
bool same_bits(const DenseMatrix<T>& a, const DenseMatrix<T>& b) {
  return a.values.size() == b.values.size() &&
         std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(T)) == 0;
}

template <class T>
SolverOptions on(const std::shared_ptr<Device>& device) {
  SolverOptions options;
  options.device = device;
  options.measure = false;
  return options;
}

template <class T>
class device_solver : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
};
TYPED_TEST_SUITE(device_solver, TestedScalars);

TYPED_TEST(device_solver, vectors_of_the_device_give_the_bits_of_vectors_of_the_host) {
  using T = TypeParam;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    SCOPED_TRACE(name_of(kind));
    const auto matrix = grid_matrix<T>(8, kind != FactorKind::lu, kind == FactorKind::llt ? 6 : 2);
    const auto device = make_emulated_device();
    SolverOptions options = on<T>(device);
    options.kind = kind;
    auto solver = Solver<T>::create(matrix, options).value();
    options.device = nullptr;
    options.method = SolveMethod::serial;  // by supernodes too, with the same pivots
    auto judge = Solver<T>::create(matrix, options).value();
    for (const index_t num_rhs : {1, 3, 66})
      for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
        SolveRequest request;
        request.operation = operation;
        const DenseMatrix<T> b = random_columns<T>(64, num_rhs);
        DenseMatrix<T> x(64, num_rhs), of_judge(64, num_rhs);
        const Report here = solver.solve(b.view(), x.view(), request).value();
        const Columns<T> b_there(device, b, 3), x_there(device, 64, num_rhs, 1);
        const Report there = solver.solve(b_there.view(), x_there.view(), request).value();
        const Report judged = judge.solve(b.view(), of_judge.view(), request).value();
        EXPECT_TRUE(same_bits(x_there.on_host(), x));
        EXPECT_TRUE(same_bits(b_there.on_host(), b));
        EXPECT_TRUE(there.verify->verified);
        EXPECT_EQ(there.verify->backward_error, here.verify->backward_error);
        EXPECT_LE(there.verify->backward_error,
                  2 * std::max(judged.verify->backward_error, 4 * unit_roundoff<T>));
        EXPECT_EQ(there.solve->device->counts.bytes_in, 0);
        EXPECT_EQ(there.solve->device->counts.bytes_out, 0);
        EXPECT_EQ(here.solve->device->counts.bytes_in, static_cast<offset_t>(b.values.size() * sizeof(T)));
        EXPECT_EQ(here.solve->device->counts.bytes_out, here.solve->device->counts.bytes_in);
        EXPECT_EQ(here.solve->device->counts.launches, there.solve->device->counts.launches);
      }
  }
}

TYPED_TEST(device_solver, mixed_precision_refines_on_the_device_to_working_precision) {
  using T = TypeParam;
  if constexpr (!std::is_same_v<real_t<T>, float>) {
    for (const bool symmetric : {true, false}) {
      const auto matrix = grid_matrix<T>(8, symmetric, 6);
      const auto device = make_emulated_device();
      SolverOptions options = on<T>(device);
      options.mixed_precision = true;
      auto solver = Solver<T>::create(matrix, options).value();
      const DenseMatrix<T> b = random_columns<T>(64, 5);
      const Columns<T> b_there(device, b), x_there(device, 64, 5);
      const Report report = solver.solve(b_there.view(), x_there.view()).value();
      EXPECT_TRUE(report.verify->verified);
      EXPECT_GE(report.verify->refine_steps, 1);
      EXPECT_LE(report.verify->backward_error, verification_bound(unit_roundoff<T>));
      DenseMatrix<T> x(64, 5);
      (void)solver.solve(b.view(), x.view()).value();
      EXPECT_TRUE(same_bits(x_there.on_host(), x));
      // Only figures of columns cross the bus, and lists of those that are corrected.
      const DeviceCounts before = device->counts();
      (void)solver.solve(b_there.view(), x_there.view()).value();
      EXPECT_LT((device->counts() - before).bytes_out, static_cast<offset_t>(64 * 5 * sizeof(T)));
    }
  }
}

TYPED_TEST(device_solver, x_may_be_b_and_there_may_be_no_columns) {
  using T = TypeParam;
  const auto device = make_emulated_device();
  auto solver = Solver<T>::create(grid_matrix<T>(6, true, 6), on<T>(device)).value();
  const DenseMatrix<T> b = random_columns<T>(36, 2);
  const Columns<T> apart(device, b), x(device, 36, 2), both(device, b);
  (void)solver.solve(apart.view(), x.view()).value();
  EXPECT_TRUE(solver.solve(both.view(), both.view()).value().verify->verified);
  EXPECT_TRUE(same_bits(both.on_host(), x.on_host()));
  const Columns<T> none(device, 36, 0);
  EXPECT_TRUE(solver.solve(none.view(), none.view()).value().verify->verified);
}

TYPED_TEST(device_solver, systems_of_no_row_and_of_one_are_solved_by_every_method) {
  using T = TypeParam;
  for (const index_t n : {0, 1})
    for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
      for (const SolveMethodInfo& method : solve_method_list(SolveWhere::device)) {
        SCOPED_TRACE(::testing::Message() << n << ", " << name_of(kind) << ", " << method.name);
        SolverOptions options = on<T>(make_emulated_device());
        options.kind = kind;
        options.method = method.method;
        auto solver = Solver<T>::create(grid_matrix<T>(n, true, 4), options).value();
        for (const index_t num_rhs : {0, 1, 3, 64})
          for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
            SolveRequest request;
            request.operation = operation;
            DenseMatrix<T> b(n, num_rhs), x(n, num_rhs);
            std::fill(b.values.begin(), b.values.end(), T(2));
            EXPECT_TRUE(solver.solve(b.view(), x.view(), request).value().verify->verified);
            for (const T& value : x.values) EXPECT_EQ(value, T(real_t<T>(0.5)));
          }
      }
}

TYPED_TEST(device_solver, condition_and_forward_error_are_estimated) {
  using T = TypeParam;
  const auto device = make_emulated_device();
  const auto matrix = grid_matrix<T>(6, false, 5);
  auto solver = Solver<T>::create(matrix, on<T>(device)).value();
  auto judge = Solver<T>::create(matrix, on<T>(nullptr)).value();
  SolveRequest request;
  request.condition = true;
  const DenseMatrix<T> b = random_columns<T>(36, 2);
  DenseMatrix<T> x(36, 2);
  const Columns<T> b_there(device, b), x_there(device, 36, 2);
  const Report there = solver.solve(b_there.view(), x_there.view(), request).value();
  const Report here = judge.solve(b.view(), x.view(), request).value();
  EXPECT_NEAR(*there.verify->condition_1norm, *here.verify->condition_1norm,
              1e-3 * *here.verify->condition_1norm);
  EXPECT_GT(*there.verify->forward_error_bound, 0);
}

/// The last column is the sum of the others, and so is the last row.
template <class T>
std::shared_ptr<const SparseMatrix<T>> singular_matrix() {
  Triplets<T> entries;
  entries.rows = entries.cols = 6;
  for (index_t row = 0; row < 6; ++row)
    for (index_t column = 0; column < 6; ++column) {
      const T value = row < 5 && column < 5 ? T(row == column ? 4 : 1)
                      : row == 5 && column == 5 ? T(40)
                                                : T(8);
      entries.row.push_back(row), entries.column.push_back(column), entries.value.push_back(value);
    }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
}

TYPED_TEST(device_solver, singular_systems_are_answered_as_on_the_host) {
  using T = TypeParam;
  const auto device = make_emulated_device();
  const DenseMatrix<T> b = random_columns<T>(6, 2);
  SolverOptions options = on<T>(device);
  const Columns<T> b_there(device, b), x_there(device, 6, 2);
  auto raising = Solver<T>::create(singular_matrix<T>(), options);
  if (raising.ok()) {
    const auto answer = raising.value().solve(b_there.view(), x_there.view());
    ASSERT_FALSE(answer.ok());
    EXPECT_EQ(answer.failure().kind, FailureKind::numerically_singular);
  } else {
    EXPECT_EQ(raising.failure().kind, FailureKind::numerically_singular);
  }
  options.singular = SingularAnswer::least_norm;
  auto solver = Solver<T>::create(singular_matrix<T>(), options).value();
  options.device = nullptr;
  auto judge = Solver<T>::create(singular_matrix<T>(), options).value();
  DenseMatrix<T> x(6, 2);
  const Report here = judge.solve(b.view(), x.view()).value();
  const Report there = solver.solve(b_there.view(), x_there.view()).value();
  EXPECT_FALSE(there.verify->verified);
  EXPECT_EQ(there.verify->null_directions, here.verify->null_directions);
  const DenseMatrix<T> found = x_there.on_host();
  for (std::size_t k = 0; k < x.values.size(); ++k)
    EXPECT_LE(std::abs(found.values[k] - x.values[k]), 1e3 * unit_roundoff<T> * (1 + std::abs(x.values[k])));
}

TYPED_TEST(device_solver, vectors_elsewhere_and_values_that_are_not_finite_are_refused_by_name) {
  using T = TypeParam;
  const auto device = make_emulated_device(), other = make_emulated_device({.index = 1});
  const auto matrix = grid_matrix<T>(5, true, 6);
  auto solver = Solver<T>::create(matrix, on<T>(device)).value();
  auto on_host = Solver<T>::create(matrix, on<T>(nullptr)).value();
  DenseMatrix<T> b = random_columns<T>(25, 3);
  const Columns<T> x(device, 25, 3);
  const auto message = [&](auto& by, OnDevice<const T> rhs) -> std::string {
    try {
      (void)by.solve(rhs, x.view());
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Columns<T> there(device, b), elsewhere(other, b);
  EXPECT_NE(message(on_host, there.view()).find("the factor on the host"), std::string::npos);
  EXPECT_NE(message(solver, elsewhere.view()).find("does not lie in the memory of the device emulated:0"),
            std::string::npos);
  const OnDevice<const T> host(std::as_const(b).view());
  EXPECT_NE(message(solver, host).find("does not lie in the memory"), std::string::npos);
  EXPECT_NE(message(solver, there.view().columns(0, 2)).find("2"), std::string::npos);
  b.view()(7, 2) = T(std::numeric_limits<real_t<T>>::quiet_NaN());
  const Columns<T> broken(device, b);
  EXPECT_NE(message(solver, broken.view()).find("row 8, column 3"), std::string::npos);
}

TYPED_TEST(device_solver, what_the_device_has_no_room_for_is_verified_on_the_host) {
  using T = TypeParam;
  const auto matrix = grid_matrix<T>(12, false, 6);
  const auto roomy = make_emulated_device();
  auto solver = Solver<T>::create(matrix, on<T>(roomy)).value();
  const DenseMatrix<T> b = random_columns<T>(144, 1);
  DenseMatrix<T> x(144, 1), wanted(144, 1);
  const offset_t before = roomy->bytes_in_use();
  (void)solver.solve(b.view(), wanted.view()).value();
  // Room for the vectors of a solve, not for the matrix.
  EmulatedDeviceOptions small;
  small.memory_bytes = before + (roomy->bytes_in_use() - before) * 3 / 5;
  auto cramped = Solver<T>::create(matrix, on<T>(make_emulated_device(small)));
  if (!cramped.ok()) GTEST_FAIL() << cramped.failure().message;
  const Report report = cramped.value().solve(b.view(), x.view()).value();
  EXPECT_TRUE(report.verify->verified);
  EXPECT_TRUE(same_bits(x, wanted));
  ASSERT_FALSE(report.notes.empty());
  EXPECT_NE(report.notes.back().find("verified on the host: "), std::string::npos);
}

TYPED_TEST(device_solver, given_triangles_and_factors_take_vectors_of_the_device) {
  using T = TypeParam;
  const auto device = make_emulated_device();
  std::mt19937_64 random(3);
  Triplets<T> entries;
  entries.rows = entries.cols = 40;
  for (index_t row = 0; row < 40; ++row)
    for (index_t column = 0; column <= row; ++column) {
      if (row != column && random() % 5 != 0) continue;
      entries.row.push_back(row), entries.column.push_back(column);
      entries.value.push_back(row == column ? T(5) : value_from<T>(random));
    }
  const auto lower = std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
  TriangularSolverOptions options;
  options.measure = false;
  options.triangle.plan.device = device;
  auto triangle = TriangularSolver<T>::create(lower, options).value();
  auto factors = std::make_shared<OwnFactors<T>>();
  factors->lower = *lower;
  factors->plan.device = device;
  auto product = TriangularSolver<T>::from_factors(factors, nullptr, options).value();
  const DenseMatrix<T> b = random_columns<T>(40, 3);
  const Columns<T> b_there(device, b), x_there(device, 40, 3);
  for (TriangularSolver<T>* solver : {&triangle, &product}) {
    DenseMatrix<T> x(40, 3);
    const Report here = solver->solve(b.view(), x.view()).value();
    const Report there = solver->solve(b_there.view(), x_there.view()).value();
    EXPECT_TRUE(there.verify->verified);
    EXPECT_EQ(there.verify->backward_error, here.verify->backward_error);
    EXPECT_TRUE(same_bits(x_there.on_host(), x));
  }
}

}  // namespace
}  // namespace palmette
