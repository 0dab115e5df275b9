// oneMKL's PARDISO, answered by Palmette: types, phases, iparm and errors, through the shared library.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "tests/pardiso/rows.hpp"

namespace {

using rows::Dense;
using rows::Number;

constexpr int all_types[] = {1, 2, -2, 3, 4, -4, 6, 11, 13};

/// One handle and its iparm.
struct Handle {
  explicit Handle(int type) : mtype(type) { pardisoinit(pt.data(), &mtype, iparm.data()); }
  ~Handle() { call(-1, {}); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  int call(int phase, const rows::System& system, double* b = nullptr, double* x = nullptr, int nrhs = 1) {
    int error = 77;
    const int n = system.n;
    pardiso(pt.data(), &maxfct, &mnum, &mtype, &phase, &n, system.a.data(), system.ia.data(),
            system.ja.data(), perm.data(), &nrhs, iparm.data(), &msglvl, b, x, &error);
    return error;
  }
  /// x of phase 13. @param phase  or of these phases
  std::vector<double> solve(const Dense& A, int nrhs = 1, int phase = 13) {
    const rows::System system = rows::system_of(mtype, A, iparm[34] == 1 ? 0 : 1);
    std::vector<double> b = rows::sides(mtype, system.n, nrhs), x(b.size());
    EXPECT_EQ(call(phase, system, b.data(), x.data(), nrhs), 0) << "mtype " << mtype;
    return x;
  }
  double residual_of(const Dense& A, const std::vector<double>& x, int turned = 0) const {
    const int n = static_cast<int>(A.size());
    const int nrhs = static_cast<int>(x.size()) / n / (rows::is_complex(mtype) ? 2 : 1);
    return rows::residual(mtype, A, turned, x, rows::sides(mtype, n, nrhs));
  }

  std::array<void*, 64> pt{};
  std::array<int, 64> iparm{};
  int maxfct = 1, mnum = 1, mtype, msglvl = 0;
  std::vector<int> perm;
};

constexpr double tolerance = 1e-13;

TEST(PardisoOfMkl, solves_every_type_with_every_transposition_and_base) {
  for (const int mtype : all_types)
    for (const int base : {0, 1})
      for (const int turned : {0, 1, 2}) {
        Handle handle(mtype);
        handle.iparm[34] = base == 0 ? 1 : 0;
        handle.iparm[11] = turned;
        const Dense A = rows::matrix_for(mtype);
        EXPECT_LE(handle.residual_of(A, handle.solve(A, 3), turned), tolerance)
            << mtype << " " << base << " " << turned;
        EXPECT_EQ(handle.iparm[6], 0);  // without the help of refinement
      }
}

TEST(PardisoOfMkl, default_parameters_are_those_of_the_original) {
  // As oneMKL 2026.2 sets them; all others are 0.
  const Handle definite(2), indefinite(-2), general(11);
  for (const Handle* handle : {&definite, &indefinite, &general}) {
    std::array<int, 64> expected{};
    expected[0] = 1, expected[1] = 3, expected[7] = 2, expected[17] = expected[18] = -1;
    if (handle == &indefinite) expected[9] = 8, expected[20] = 1;
    if (handle == &general) expected[9] = 13, expected[10] = expected[12] = 1;
    EXPECT_EQ(handle->iparm, expected) << handle->mtype;
  }
}

TEST(PardisoOfMkl, a_first_parameter_of_zero_means_the_defaults_of_all) {
  Handle handle(11);
  handle.iparm.fill(7);
  handle.iparm[0] = 0;
  const Dense A = rows::matrix_for(11);
  EXPECT_LE(handle.residual_of(A, handle.solve(A)), tolerance);
  EXPECT_EQ(handle.iparm[0], 1);
  EXPECT_EQ(handle.iparm[11], 0);  // 7 would be a transposition
  EXPECT_EQ(handle.iparm[9], 13);
}

TEST(PardisoOfMkl, phases_one_by_one_give_the_bits_of_phases_together) {
  for (const int mtype : {2, -2, 11}) {
    const Dense A = rows::matrix_for(mtype);
    Handle together(mtype), apart(mtype), pairs(mtype);
    const std::vector<double> x = together.solve(A, 2);
    const rows::System system = rows::system_of(mtype, A);
    EXPECT_EQ(apart.call(11, system), 0);
    EXPECT_EQ(apart.call(22, system), 0);
    EXPECT_EQ(apart.solve(A, 2, 33), x);
    EXPECT_EQ(pairs.call(12, system), 0);
    EXPECT_EQ(pairs.solve(A, 2, 23), x);
  }
}

TEST(PardisoOfMkl, new_values_are_factorized_with_the_old_analysis) {
  for (const int mtype : all_types) {
    Handle handle(mtype);
    Dense A = rows::matrix_for(mtype);
    handle.solve(A);
    for (auto& row : A)
      for (Number& value : row) value *= 3;
    A[1][1] *= 2;
    EXPECT_LE(handle.residual_of(A, handle.solve(A, 1, 23)), tolerance) << mtype;
  }
}

TEST(PardisoOfMkl, partial_solves_in_turn_are_a_solve) {
  for (const int mtype : all_types)
    for (const int turned : {0, 1, 2}) {
      Handle handle(mtype);
      handle.iparm[11] = turned;
      const Dense A = rows::matrix_for(mtype);
      const rows::System system = rows::system_of(mtype, A);
      ASSERT_EQ(handle.call(12, system), 0);
      std::vector<double> v = rows::sides(mtype, system.n, 2);
      for (const int phase : {331, 332, 333}) {
        std::vector<double> next(v.size());
        ASSERT_EQ(handle.call(phase, system, v.data(), next.data(), 2), 0);
        v = next;
      }
      EXPECT_LE(handle.residual_of(A, v, turned), 1e-12) << mtype << " " << turned;
    }
}

TEST(PardisoOfMkl, a_forward_solve_has_the_energy_of_the_solution) {
  // A = L·Lᵀ and y = L⁻¹·b: yᵀ·y = bᵀ·A⁻¹·b = bᵀ·x
  Handle handle(2);
  const Dense A = rows::matrix_for(2);
  const std::vector<double> x = handle.solve(A);
  std::vector<double> b = rows::sides(2, int(A.size()), 1), y(b.size());
  ASSERT_EQ(handle.call(331, rows::system_of(2, A), b.data(), y.data()), 0);
  double yy = 0, bx = 0;
  for (std::size_t i = 0; i < x.size(); ++i) yy += y[i] * y[i], bx += b[i] * x[i];
  EXPECT_NEAR(yy, bx, 1e-13 * bx);
}

TEST(PardisoOfMkl, inertia_counts_signs_of_pivots) {
  // Strictly diagonally dominant: the signs of the eigenvalues are those of the diagonal, by Gershgorin.
  for (const int mtype : {-2, -4}) {
    Handle handle(mtype);
    const Dense A = rows::matrix_for(mtype);
    handle.solve(A);
    EXPECT_EQ(handle.iparm[21], 24) << mtype;
    EXPECT_EQ(handle.iparm[22], 12) << mtype;
  }
}

TEST(PardisoOfMkl, replaced_pivots_of_a_singular_matrix_are_counted_and_no_error) {
  for (const int mtype : {11, -2, 1}) {
    Handle handle(mtype);
    const rows::System system = rows::system_of(mtype, {{1, 1}, {1, 1}});
    std::vector<double> b = {1, 1}, x(2);
    EXPECT_EQ(handle.call(13, system, b.data(), x.data()), 0);
    EXPECT_EQ(handle.iparm[13], 1);
  }
}

TEST(PardisoOfMkl, pivots_below_the_perturbation_are_replaced_and_refined_as_often_as_allowed) {
  // The second pivot is 3·10⁻⁸. Replaced by 10⁻⁷, a step of refinement leaves 0.7 of the error.
  const Dense A = {{1, 1}, {1, 1 + 3e-8}};
  for (const auto& [exponent, replaced, steps] : {std::array{12, 0, 0}, std::array{7, 1, 1}}) {
    Handle handle(-2);
    handle.iparm[9] = exponent;
    handle.iparm[7] = 1;
    handle.solve(A);
    EXPECT_EQ(handle.iparm[13], replaced);
    EXPECT_EQ(handle.iparm[6], steps);
  }
}

/// [H Bᵀ; B 0] with H = diag(0, 1, 0, 1, …): zeros on the diagonal wherever one looks.
Dense saddle_point(int n, int m) {
  Dense A(n + m, std::vector<Number>(n + m));
  for (int i = 0; i < n; ++i) A[i][i] = i % 2;
  for (int k = 0; k < m; ++k)
    for (int i : {2 * k, (2 * k + 5) % n}) A[n + k][i] = A[i][n + k] = 1 + 0.1 * i;
  return A;
}

TEST(PardisoOfMkl, a_saddle_point_without_matching_is_analyzed_again_if_pivots_fail) {
  const Dense A = saddle_point(20, 10);
  for (const int matching : {0, 1}) {
    Handle handle(-2);
    handle.iparm[10] = handle.iparm[12] = matching;
    handle.msglvl = 1;
    testing::internal::CaptureStdout();
    const std::vector<double> x = handle.solve(A);
    const bool again = testing::internal::GetCapturedStdout().find("analyzed again") != std::string::npos;
    EXPECT_EQ(again, matching == 0);
    EXPECT_LE(handle.residual_of(A, x), 1e-12);
    EXPECT_EQ(handle.iparm[13], 0);
    EXPECT_EQ(handle.iparm[21] + handle.iparm[22], 30);
    EXPECT_EQ(handle.iparm[22], 10);  // one negative eigenvalue for each constraint
  }
}

TEST(PardisoOfMkl, a_pivot_that_is_not_positive_is_error_4_with_its_row) {
  Handle handle(2);
  const rows::System system = rows::system_of(2, {{4, 0, 0}, {0, 2, 0}, {0, 0, -1}});
  EXPECT_EQ(handle.call(12, system), -4);
  EXPECT_EQ(handle.iparm[29], 3);
}

TEST(PardisoOfMkl, rows_without_a_partner_are_error_6_or_7) {
  const Dense A = {{1, 2, 3}, {4, 0, 0}, {5, 0, 0}};
  Handle general(11), symmetric(1);
  EXPECT_EQ(general.call(12, rows::system_of(11, A)), -6);
  symmetric.iparm[12] = 1;
  EXPECT_EQ(symmetric.call(11, rows::system_of(1, A)), -7);
}

TEST(PardisoOfMkl, misuse_is_error_1) {
  const rows::System good = rows::system_of(11, {{2, 1}, {1, 3}});
  std::vector<double> b = {1, 2}, x(2);
  const auto error_of = [&](int phase, const rows::System& system, const auto& change) {
    Handle handle(11);
    change(handle);
    const int error = handle.call(phase, system, b.data(), x.data());
    handle.mtype = 11;
    return error;
  };
  const auto nothing = [](Handle&) {};
  EXPECT_EQ(error_of(13, good, nothing), 0);
  EXPECT_EQ(error_of(13, good, [](Handle& handle) { handle.mtype = 5; }), -1);
  EXPECT_EQ(error_of(13, good, [](Handle& handle) { handle.mnum = 2; }), -1);
  EXPECT_EQ(error_of(13, good, [](Handle& handle) { handle.iparm[35] = 1; }), -1);
  EXPECT_EQ(error_of(13, good, [](Handle& handle) { handle.iparm[36] = 2; }), -1);
  EXPECT_EQ(error_of(13, good, [](Handle& handle) { handle.pt[0] = &handle; }), -1);
  EXPECT_EQ(error_of(14, good, nothing), -1);
  EXPECT_EQ(error_of(22, good, nothing), -1);
  EXPECT_EQ(error_of(33, good, nothing), -1);
  EXPECT_EQ(error_of(13, {}, nothing), -1);
  EXPECT_EQ(error_of(13, {2, {1, 3, 5}, {1, 2, 1, 3}, {2, 1, 1, 3}}, nothing), -1);  // column 3 of 2
  EXPECT_EQ(error_of(13, {2, {1, 3, 2}, {1, 2, 1, 2}, {2, 1, 1, 3}}, nothing), -1);  // ia decreases
  EXPECT_EQ(error_of(13, {2, {0, 2, 4}, {0, 1, 0, 1}, {2, 1, 1, 3}}, nothing), -1);  // 0-based
  EXPECT_EQ(error_of(13, {2, {1, 3, 5}, {1, 2, 1, 2}, {2, 1, NAN, 3}}, nothing), -1);
}

TEST(PardisoOfMkl, the_factor_belongs_to_the_pattern_and_type_that_were_analyzed) {
  Handle handle(11);
  const Dense A = rows::matrix_for(11);
  handle.solve(A);
  Dense other = A;
  other[3][30] = 1;
  EXPECT_EQ(handle.call(22, rows::system_of(11, other)), -1);
  handle.mtype = 1;
  EXPECT_EQ(handle.call(22, rows::system_of(11, A)), -1);
}

TEST(PardisoOfMkl, columns_in_any_order_are_read_unless_a_check_is_asked_for) {
  // [2 1; 4 3], rows backwards; x = (½, ½) would solve the columns taken in ascending order.
  const rows::System unsorted{2, {1, 3, 5}, {2, 1, 2, 1}, {1, 2, 3, 4}};
  std::vector<double> b = {4, 10}, x(2);
  Handle handle(11);
  EXPECT_EQ(handle.call(13, unsorted, b.data(), x.data()), 0);
  EXPECT_NEAR(x[0], 1, 1e-14);
  EXPECT_NEAR(x[1], 2, 1e-14);
  handle.iparm[26] = 1;
  EXPECT_EQ(handle.call(13, unsorted, b.data(), x.data()), -1);
  // Twice the same column: [1 + 1, 1; 4 3]
  const rows::System twice{2, {1, 4, 6}, {1, 2, 1, 1, 2}, {1, 1, 1, 4, 3}};
  EXPECT_EQ(handle.call(13, twice, b.data(), x.data()), -1);
  handle.iparm[26] = 0;
  EXPECT_EQ(handle.call(13, twice, b.data(), x.data()), 0);
  EXPECT_NEAR(x[0], 1, 1e-14);
}

TEST(PardisoOfMkl, an_entry_below_the_diagonal_of_a_symmetric_type_is_refused) {
  Handle handle(-2);
  EXPECT_EQ(handle.call(11, {2, {1, 3, 5}, {1, 2, 1, 2}, {2, 1, 1, 3}}), -1);
}

TEST(PardisoOfMkl, the_solution_goes_to_x_or_to_b) {
  const Dense A = rows::matrix_for(11);
  const rows::System system = rows::system_of(11, A);
  const std::vector<double> sides = rows::sides(11, system.n, 2);
  Handle handle(11);
  std::vector<double> b = sides, x(b.size());
  ASSERT_EQ(handle.call(13, system, b.data(), x.data(), 2), 0);
  EXPECT_EQ(b, sides);
  handle.iparm[5] = 1;
  ASSERT_EQ(handle.call(33, system, b.data(), x.data(), 2), 0);
  EXPECT_EQ(b, x);
  b = sides;
  handle.iparm[5] = 0;
  ASSERT_EQ(handle.call(33, system, b.data(), b.data(), 2), 0);  // the same array
  EXPECT_EQ(b, x);
}

TEST(PardisoOfMkl, a_permutation_is_taken_and_returned) {
  // An arrow fills up if its tip comes first: n·(n+1)/2 entries; last, 2·n − 1.
  const int n = 40;
  Dense A(n, std::vector<Number>(n));
  for (int i = 0; i < n; ++i) A[i][i] = 50, A[0][i] = A[i][0] = i == 0 ? 50 : 1;
  Handle handle(2);
  handle.iparm[4] = 1;
  for (int i = 0; i < n; ++i) handle.perm.push_back(i + 1);
  EXPECT_LE(handle.residual_of(A, handle.solve(A)), tolerance);
  EXPECT_EQ(handle.iparm[17], n * (n + 1) / 2);
  std::rotate(handle.perm.begin(), handle.perm.begin() + 1, handle.perm.end());
  EXPECT_LE(handle.residual_of(A, handle.solve(A)), tolerance);
  EXPECT_EQ(handle.iparm[17], 2 * n - 1);
  handle.iparm[4] = 2;
  std::fill(handle.perm.begin(), handle.perm.end(), 0);
  EXPECT_EQ(handle.call(11, rows::system_of(2, A)), 0);
  EXPECT_TRUE(handle.perm[n - 1] == 1 || handle.perm[n - 2] == 1);
  std::vector<int> sorted = handle.perm;
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < n; ++i) EXPECT_EQ(sorted[i], i + 1);
  handle.iparm[4] = 1;
  handle.perm[0] = handle.perm[1];
  EXPECT_EQ(handle.call(11, rows::system_of(2, A)), -1);
}

TEST(PardisoOfMkl, messages_name_the_ordering_that_was_asked_for) {
  const Dense A = rows::matrix_for(2);
  const auto printed = [&](int ordering) {
    Handle handle(2);
    handle.iparm[1] = ordering;
    handle.msglvl = 1;
    testing::internal::CaptureStdout();
    handle.solve(A);
    return testing::internal::GetCapturedStdout();
  };
  EXPECT_NE(printed(0).find("ordering amd"), std::string::npos) << printed(0);
  EXPECT_TRUE(printed(2).find("ordering metis") != std::string::npos ||
              printed(2).find("ordering nd") != std::string::npos);
  EXPECT_NE(printed(0).find("backward error"), std::string::npos);
}

TEST(PardisoOfMkl, several_factors_live_in_one_handle) {
  const Dense A = rows::matrix_for(11);
  Dense B = A;
  B[2][2] *= 4;
  Handle handle(11);
  handle.maxfct = 2;
  const std::vector<double> of_a = handle.solve(A);
  handle.mnum = 2;
  const std::vector<double> of_b = handle.solve(B, 1, 23);
  EXPECT_LE(handle.residual_of(B, of_b), tolerance);
  handle.mnum = 1;
  EXPECT_EQ(handle.solve(A, 1, 33), of_a);
  const rows::System system = rows::system_of(11, A);
  EXPECT_EQ(handle.call(0, system), 0);  // the factor of A goes, its analysis stays
  std::vector<double> b = rows::sides(11, system.n, 1), x(b.size());
  EXPECT_EQ(handle.call(33, system, b.data(), x.data()), -1);
  handle.mnum = 2;
  EXPECT_EQ(handle.solve(B, 1, 33), of_b);
  handle.mnum = 1;
  EXPECT_EQ(handle.solve(A, 1, 23), of_a);
  EXPECT_EQ(handle.call(-1, {}), 0);
  EXPECT_EQ(handle.pt[0], nullptr);
  EXPECT_EQ(handle.call(-1, {}), 0);
}

TEST(PardisoOfMkl, sizes_are_reported) {
  Handle handle(11);
  const Dense A = rows::matrix_for(11, 12);
  ASSERT_EQ(handle.call(11, rows::system_of(11, A)), 0);
  for (const int place : {14, 15, 16}) EXPECT_GT(handle.iparm[place], 0) << place;
  EXPECT_GT(handle.iparm[17], 3 * 144);
  EXPECT_LT(handle.iparm[17], 144 * 144);
}

TEST(PardisoOfMkl, single_precision_reads_and_writes_floats) {
  Handle handle(-2);
  handle.iparm[27] = 1;
  const std::array<int, 3> ia = {1, 3, 4};
  const std::array<int, 3> ja = {1, 2, 2};
  const std::array<float, 3> a = {2, 1, -3};
  std::array<float, 2> b = {3, -2}, x{};
  const int one = 1, zero = 0, n = 2, phase = 13;
  int error = 77;
  pardiso(handle.pt.data(), &one, &one, &handle.mtype, &phase, &n, a.data(), ia.data(), ja.data(), nullptr,
          &one, handle.iparm.data(), &zero, b.data(), x.data(), &error);
  EXPECT_EQ(error, 0);
  EXPECT_NEAR(x[0], 1, 1e-6);
  EXPECT_NEAR(x[1], 1, 1e-6);
}

TEST(PardisoOfMkl, integers_may_have_64_bits) {
  const Dense A = rows::matrix_for(11);
  const rows::System system = rows::system_of(11, A);
  const std::vector<long long> ia(system.ia.begin(), system.ia.end()), ja(system.ja.begin(), system.ja.end());
  Handle narrow(11);
  const std::vector<double> expected = narrow.solve(A);
  std::array<void*, 64> pt{};
  std::array<long long, 64> iparm{};
  const long long one = 1, zero = 0, mtype = 11;
  long long n = system.n, error = 77, phase = 13;
  std::vector<double> b = rows::sides(11, system.n, 1), x(b.size());
  const auto call = [&] {
    pardiso_64(pt.data(), &one, &one, &mtype, &phase, &n, system.a.data(), ia.data(), ja.data(), nullptr,
               &one, iparm.data(), &zero, b.data(), x.data(), &error);
    return error;
  };
  EXPECT_EQ(call(), 0);
  EXPECT_EQ(x, expected);
  n = std::numeric_limits<int>::max();
  EXPECT_EQ(call(), -8);
  phase = -1;
  EXPECT_EQ(call(), 0);
}

}  // namespace
