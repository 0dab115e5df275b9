// A matrix whose rows come from different ranks: the same bits as if each rank had all of it, for any
// distribution of rows; errors on which all ranks agree; new values.
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <numeric>

#include "palmette/solver/rank_input.hpp"
#include "rank_systems.hpp"

namespace palmette {
namespace {

using testing::busy_ranks;
using testing::generated;
using testing::have_same_bits;
using testing::matrix_of;
using testing::OwnRows;
using testing::rows_of;
using testing::Shared;
using testing::some_right_hand_sides;

/// Rows of each rank: first and count.
using Split = std::vector<RowsOfRank>;

/// Blocks of lengths in proportion to the weights, in the order of ranks, or against it.
Split split_rows(index_t n, const std::vector<int>& weights, bool backwards = false) {
  const int total = std::accumulate(weights.begin(), weights.end(), 0);
  Split split(weights.size());
  int before = 0;
  for (std::size_t place = 0; place < weights.size(); ++place) {
    const std::size_t rank = backwards ? weights.size() - 1 - place : place;
    const auto first = static_cast<index_t>(std::int64_t{n} * before / total);
    before += weights[rank];
    split[rank] = {first, static_cast<index_t>(std::int64_t{n} * before / total) - first};
  }
  return split;
}

/// Even, odd with an empty rank, all on the last, and backwards.
std::vector<Split> splits(index_t n, index_t ranks) {
  const auto many = static_cast<std::size_t>(ranks);
  std::vector<int> odd(many), last(many, 0);
  for (std::size_t rank = 0; rank < many; ++rank)
    odd[rank] = rank == 1 ? 0 : 1 + static_cast<int>(rank * rank % 5);
  last.back() = 1;
  return {split_rows(n, std::vector<int>(many, 1)), split_rows(n, odd), split_rows(n, last),
          split_rows(n, odd, true)};
}

template <class T>
struct AnswerByRows {
  std::vector<T> x;
  std::optional<Outcome<RankReport>> report;
};

template <class T>
AnswerByRows<T> solve_whole(const Shared<T>& matrix, index_t ranks, const RankSolverOptions& options,
                      index_t num_rhs, const SolveRequest& request = {}) {
  AnswerByRows<T> answer;
  ThreadWorld world(ranks);
  world.run([&](Transport& transport) {
    Outcome<RankSolver<T>> solver = RankSolver<T>::create(matrix, options, transport);
    DenseMatrix<T> side = some_right_hand_sides<T>(matrix->rows(), num_rhs);
    Outcome<RankReport> report =
        solver ? solver.value().solve(std::as_const(side).view(), side.view(), request) : solver.failure();
    if (transport.rank() != 0) return;
    answer.x = side.values;
    answer.report.emplace(std::move(report));
  });
  return answer;
}

template <class T>
DenseMatrix<T> part_of(const DenseMatrix<T>& whole, const RowsOfRank& rows) {
  DenseMatrix<T> part(rows.count, whole.cols);
  for (index_t column = 0; column < whole.cols; ++column)
    std::copy_n(whole.view().column(column) + rows.first, rows.count, part.view().column(column));
  return part;
}

template <class T>
AnswerByRows<T> solve_by_rows(const Shared<T>& matrix, const Split& split, const RankSolverOptions& options,
                        index_t num_rhs, const SolveRequest& request = {}) {
  AnswerByRows<T> answer;
  const DenseMatrix<T> b = some_right_hand_sides<T>(matrix->rows(), num_rhs);
  DenseMatrix<T> x = b;
  std::mutex mutex;
  ThreadWorld world(static_cast<index_t>(split.size()));
  world.run([&](Transport& transport) {
    const RowsOfRank mine = split[transport.rank()];
    OwnRows<T> own = rows_of(*matrix, mine);
    Outcome<RankSolver<T>> solver = RankSolver<T>::create_from_rows(own.block(), options, transport);
    DenseMatrix<T> side = part_of(b, mine);
    Outcome<RankReport> report =
        solver ? solver.value().solve_rows(std::as_const(side).view(), side.view(), request)
               : solver.failure();
    const std::lock_guard lock(mutex);
    for (index_t column = 0; column < num_rhs; ++column)
      std::copy_n(side.view().column(column), mine.count, x.view().column(column) + mine.first);
    if (transport.rank() == 0) answer.report.emplace(std::move(report));
  });
  answer.x = x.values;
  return answer;
}

template <class T>
void expect_bits_of_whole_input(const Shared<T>& matrix, const RankSolverOptions& options, index_t num_rhs,
                                const SolveRequest& request = {}) {
  const AnswerByRows<T> whole = solve_whole(matrix, 2, options, num_rhs, request);
  ASSERT_TRUE(whole.report->ok()) << whole.report->failure().message;
  const Verification& expected = *whole.report->value().run.verify;
  for (const index_t ranks : {1, 2, 3, 5, 8})
    for (const Split& split : splits(matrix->rows(), ranks)) {
      const AnswerByRows<T> answer = solve_by_rows(matrix, split, options, num_rhs, request);
      ASSERT_TRUE(answer.report->ok()) << answer.report->failure().message;
      const Verification& found = *answer.report->value().run.verify;
      EXPECT_TRUE(have_same_bits(whole.x, answer.x))
          << ranks << " ranks, first with " << split[0].count << " rows";
      EXPECT_EQ(found.backward_error, expected.backward_error);
      EXPECT_NEAR(found.componentwise_backward_error, expected.componentwise_backward_error,
                  1e-12 * expected.componentwise_backward_error);
      EXPECT_EQ(found.refine_steps, expected.refine_steps);
      EXPECT_EQ(found.condition_1norm, expected.condition_1norm);
      EXPECT_EQ(found.forward_error_bound, expected.forward_error_bound);
      EXPECT_EQ(answer.report->value().run.matrix.symmetry, whole.report->value().run.matrix.symmetry);
      EXPECT_EQ(answer.report->value().run.factorize->kind, whole.report->value().run.factorize->kind);
      const double log_determinant = whole.report->value().run.factorize->pivots.log_abs_determinant;
      EXPECT_NEAR(answer.report->value().run.factorize->pivots.log_abs_determinant, log_determinant,
                  1e-12 * std::abs(log_determinant));
    }
}

/// A Hermitian or symmetric matrix with positive and negative eigenvalues and some zeros on its diagonal.
template <class T>
Shared<T> indefinite(index_t n, bool hermitian) {
  Triplets<T> entries{n, n, {}, {}, {}};
  const auto add = [&](index_t row, index_t column, T value) {
    entries.row.push_back(row);
    entries.column.push_back(column);
    entries.value.push_back(value);
  };
  for (index_t i = 0; i < n; ++i) {
    if (i % 3 != 0) add(i, i, T(real_t<T>(i % 2 == 0 ? 4 : -3)));
    for (const index_t step : {1, 7})
      if (i + step < n) {
        T value = T(real_t<T>(1 + (i * step) % 4));
        if constexpr (is_complex_v<T>) value += T(0, real_t<T>(i % 5) / 2);
        add(i + step, i, value);
        add(i, i + step, hermitian ? conjugate(value) : value);
      }
  }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(entries));
}

TEST(rank_rows, answers_have_the_bits_of_whole_input_for_every_kind_and_split) {
  expect_bits_of_whole_input(generated<double>("poisson2d5", 11), busy_ranks(FactorKind::llt), 2);
  expect_bits_of_whole_input(indefinite<double>(70, false), busy_ranks(FactorKind::ldlt), 1);
  expect_bits_of_whole_input(generated<double>("convection_diffusion2d", 11), busy_ranks(FactorKind::lu),
                             3);
}

TEST(rank_rows, in_every_scalar) {
  expect_bits_of_whole_input(generated<float>("poisson2d5", 8), busy_ranks({}), 1);
  expect_bits_of_whole_input(generated<float>("convection_diffusion2d", 8), busy_ranks({}), 1);
  expect_bits_of_whole_input(generated<std::complex<float>>("convection_diffusion2d", 7), busy_ranks({}),
                             1);
  expect_bits_of_whole_input(generated<std::complex<double>>("poisson2d5", 8), busy_ranks({}), 1);
  expect_bits_of_whole_input(indefinite<std::complex<double>>(60, true), busy_ranks({}), 2);
  expect_bits_of_whole_input(indefinite<std::complex<double>>(60, false), busy_ranks({}), 1);
}

TEST(rank_rows, in_transposed_and_adjoint_systems_with_condition_and_forward_error) {
  for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint}) {
    SolveRequest request;
    request.operation = operation;
    request.condition = true;
    expect_bits_of_whole_input(generated<double>("convection_diffusion2d", 7), busy_ranks({}), 2, request);
    expect_bits_of_whole_input(generated<std::complex<double>>("convection_diffusion2d", 6), busy_ranks({}),
                               1, request);
    expect_bits_of_whole_input(indefinite<std::complex<float>>(40, true), busy_ranks({}), 1, request);
  }
}

TEST(rank_rows, without_matching_too) {
  for (const FactorKind kind : {FactorKind::ldlt, FactorKind::lu}) {
    RankSolverOptions options = busy_ranks(kind);
    options.matching = false;
    expect_bits_of_whole_input(generated<double>("poisson2d5", 9), options, 1);
    if (kind == FactorKind::lu)
      expect_bits_of_whole_input(generated<std::complex<double>>("convection_diffusion2d", 8), options, 1);
  }
}

TEST(rank_rows, where_replaced_pivots_call_for_refinement_and_gmres) {
  RankSolverOptions options = busy_ranks(FactorKind::lu);
  options.tiny_pivot = 0.9;
  const auto matrix = generated<double>("convection_diffusion2d", 9);
  const AnswerByRows<double> whole = solve_whole(matrix, 1, options, 1);
  ASSERT_TRUE(whole.report->ok()) << whole.report->failure().message;
  EXPECT_GT(whole.report->value().run.factorize->pivots.perturbed, 0);
  EXPECT_GT(whole.report->value().run.verify->refine_steps, 3);
  expect_bits_of_whole_input(matrix, options, 1);
  expect_bits_of_whole_input(generated<std::complex<double>>("convection_diffusion2d", 7), options, 1);
  SolveRequest transposed;
  transposed.operation = Operation::transpose;
  expect_bits_of_whole_input(generated<std::complex<float>>("convection_diffusion2d", 7), options, 1,
                             transposed);
}

TEST(rank_rows, over_layers_too) {
  for (const char* problem : {"poisson2d5", "convection_diffusion2d"}) {
    const auto matrix = generated<double>(problem, 12);
    RankSolverOptions options = busy_ranks({});
    options.layers = 2;
    const AnswerByRows<double> whole = solve_whole(matrix, 4, options, 2);
    ASSERT_TRUE(whole.report->ok());
    EXPECT_EQ(whole.report->value().layers, 2);
    for (const Split& split : splits(matrix->rows(), 4)) {
      const AnswerByRows<double> answer = solve_by_rows(matrix, split, options, 2);
      ASSERT_TRUE(answer.report->ok());
      EXPECT_TRUE(answer.report->value().run.verify->verified);
      EXPECT_TRUE(have_same_bits(whole.x, answer.x)) << problem;
    }
  }
}

TEST(rank_rows, a_diagonal_that_the_pattern_lacks_is_found_without_matching) {
  // A cyclic shift: the entries (i, i + 1) and (n − 1, 0), and some further ones.
  const auto matrix = matrix_of<double>({{0, 2, 0, 1}, {0, 0, 3, 0}, {1, 0, 0, 4}, {5, 0, 1, 0}});
  RankSolverOptions options = busy_ranks(FactorKind::lu);
  options.matching = false;
  const AnswerByRows<double> answer = solve_by_rows(matrix, {{0, 3}, {3, 1}}, options, 1);
  ASSERT_TRUE(answer.report->ok()) << answer.report->failure().message;
  EXPECT_TRUE(answer.report->value().run.verify->verified);
}

TEST(rank_rows, more_ranks_than_rows_no_rows_at_all_and_no_right_hand_sides) {
  for (const index_t n : {0, 1, 3})
    for (const index_t ranks : {1, 2, 4, 8})
      for (const index_t num_rhs : {0, 2}) {
        Triplets<double> entries{n, n, {}, {}, {}};
        for (index_t i = 0; i < n; ++i) {
          entries.row.push_back(i);
          entries.column.push_back(i);
          entries.value.push_back(i + 2);
        }
        const auto matrix = std::make_shared<const SparseMatrix<double>>(from_triplets(entries));
        for (const Split& split : splits(n, ranks)) {
          const AnswerByRows<double> answer = solve_by_rows(matrix, split, busy_ranks({}), num_rhs);
          ASSERT_TRUE(answer.report->ok());
          const DenseMatrix<double> b = some_right_hand_sides<double>(n, num_rhs);
          for (index_t k = 0; k < num_rhs; ++k)
            for (index_t i = 0; i < n; ++i)
              EXPECT_DOUBLE_EQ(answer.x[k * n + i], b.view()(i, k) / (i + 2));
        }
      }
}

TEST(rank_rows, unsorted_columns_and_duplicates_are_what_they_sum_up_to) {
  // Rank 0: row 0 = (2, −1), its columns backwards and the 2 as 0.5 + 1.5. Rank 1: row 1 = (−1, 2). x =
  // A⁻¹(1, 1)ᵀ = (1, 1)ᵀ.
  ThreadWorld world(2);
  world.run([&](Transport& transport) {
    OwnRows<double> own;
    own.size = 2;
    own.first = transport.rank();
    own.column = transport.rank() == 0 ? std::vector<index_t>{1, 0, 0} : std::vector<index_t>{0, 1};
    own.values = transport.rank() == 0 ? std::vector<double>{-1, 0.5, 1.5} : std::vector<double>{-1, 2};
    own.row_ptr = {0, static_cast<offset_t>(own.column.size())};
    RankSolver<double> solver =
        RankSolver<double>::create_from_rows(own.block(), busy_ranks({}), transport).value();
    EXPECT_EQ(solver.report().run.factorize->kind, FactorKind::llt);
    EXPECT_EQ(solver.first_row(), transport.rank());
    EXPECT_EQ(solver.num_rows(), 1);
    double value = 1;
    ASSERT_TRUE(solver.solve_rows({&value, 1, 1, 1}, {&value, 1, 1, 1}).ok());
    EXPECT_DOUBLE_EQ(value, 1);
    EXPECT_NEAR(solver.slogdet().second, std::log(3.0), 1e-15);
    EXPECT_EQ(solver.inertia().positive, 2);
  });
}

/// The error of each rank for its block; "" if the block is accepted.
template <class Rows>
std::vector<std::string> refusals(index_t ranks, const Rows& rows_of_rank) {
  std::vector<std::string> said(ranks);
  ThreadWorld world(ranks);
  world.run([&](Transport& transport) {
    const OwnRows<double> own = rows_of_rank(transport.rank());
    std::string& text = said[transport.rank()];
    try {
      (void)RankSolver<double>::create_from_rows(own.block(), busy_ranks({}), transport);
    } catch (const DimensionError& error) {
      text = std::string("dimension: ") + error.what();
    } catch (const UsageError& error) {
      text = std::string("usage: ") + error.what();
    }
  });
  return said;
}

/// Row i of diag(1, …, n) for rank i, changed by `change`.
template <class Change>
void expect_refused(const std::string& words, const Change& change) {
  const std::vector<std::string> said = refusals(3, [&](index_t rank) {
    OwnRows<double> own{3, rank, {0, 1}, {rank}, {1.0 + rank}};
    change(rank, own);
    return own;
  });
  EXPECT_NE(said[0].find(words), std::string::npos) << said[0];
  for (const std::string& text : said) EXPECT_EQ(text, said[0]);
}

TEST(rank_rows, wrong_blocks_are_refused_by_all_ranks_with_the_same_words) {
  expect_refused("no rank has row 1", [](index_t rank, auto& own) {
    if (rank == 1) own = {3, 0, {}, {}, {}};
  });
  expect_refused("no rank has rows 1 to 2", [](index_t rank, auto& own) {
    if (rank > 0) own = {3, 0, {0}, {}, {}};
  });
  expect_refused("rank 0 and rank 2 both have row 0", [](index_t rank, auto& own) {
    if (rank == 2) own.first = 0;
  });
  expect_refused("usage: rank 2: row 2 has the column index 3", [](index_t rank, auto& own) {
    if (rank == 2) own.column[0] = 3;
  });
  expect_refused("rank 1: row 1 has the column index -1", [](index_t rank, auto& own) {
    if (rank == 1) own.column[0] = -1;
  });
  expect_refused("dimension: rank 2: the block has row 3 (counted from 0), but the matrix has 3 columns",
                 [](index_t rank, auto& own) {
                   if (rank == 2) own.first = 3;
                 });
  expect_refused("dimension: rank 0 has rows of 3 columns, rank 1 rows of 4", [](index_t rank, auto& own) {
    if (rank == 1) own.size = 4;
  });
  expect_refused("rank 1: the entry in row 2, column 2", [](index_t rank, auto& own) {
    if (rank == 1) own.values[0] = std::nan("");
  });
  expect_refused("rank 0: the entry in row 1, column 1",
                 [](index_t, auto& own) { own.values[0] = INFINITY; });
  expect_refused("dimension: rank 0: row_ptr ends with 2", [](index_t rank, auto& own) {
    if (rank == 0) own.row_ptr = {0, 2};
  });
  expect_refused("rank 0: row_ptr begins with 1", [](index_t rank, auto& own) {
    if (rank == 0) own.row_ptr = {1, 1};
  });
}

TEST(rank_rows, wrong_right_hand_sides_are_refused_by_all_ranks) {
  ThreadWorld world(3);
  world.run([&](Transport& transport) {
    const index_t rank = transport.rank();
    const OwnRows<double> own{3, rank, {0, 1}, {rank}, {2.0}};
    RankSolver<double> solver =
        RankSolver<double>::create_from_rows(own.block(), busy_ranks({}), transport).value();
    std::vector<double> b(4, 1.0);
    EXPECT_THROW(
        (void)solver.solve_rows({b.data(), rank == 1 ? 2 : 1, 1, 2}, {b.data(), rank == 1 ? 2 : 1, 1, 2}),
        DimensionError);
    EXPECT_THROW((void)solver.solve_rows({b.data(), 1, rank + 1, 1}, {b.data(), 1, rank + 1, 1}),
                 DimensionError);
    if (rank == 2) b[0] = std::nan("");
    EXPECT_THROW((void)solver.solve_rows({b.data(), 1, 1, 1}, {b.data(), 1, 1, 1}), UsageError);
    b[0] = 1;
    ASSERT_TRUE(solver.solve_rows({b.data(), 1, 1, 1}, {b.data(), 1, 1, 1}).ok());
    EXPECT_DOUBLE_EQ(b[0], 0.5);
  });
}

TEST(rank_rows, singular_matrices_fail_as_whole_ones_do) {
  const auto structurally = matrix_of<double>({{1, 0, 2}, {3, 0, 1}, {0, 0, 1}});
  const auto numerically = matrix_of<double>({{1, 2, 3}, {4, 5, 6}, {5, 7, 9}});
  for (const auto& matrix : {structurally, numerically}) {
    const AnswerByRows<double> whole = solve_whole(matrix, 2, busy_ranks({}), 1);
    ASSERT_FALSE(whole.report->ok());
    for (const Split& split : splits(3, 3)) {
      const AnswerByRows<double> answer = solve_by_rows(matrix, split, busy_ranks({}), 1);
      ASSERT_FALSE(answer.report->ok());
      EXPECT_EQ(answer.report->failure().message, whole.report->failure().message);
    }
  }
}

TEST(rank_rows, ldlt_takes_over_where_a_pivot_is_not_positive) {
  const auto matrix = matrix_of<double>({{1, 2, 0}, {2, 1, 0}, {0, 0, 3}});
  for (const Split& split : splits(3, 2)) {
    const AnswerByRows<double> answer = solve_by_rows(matrix, split, busy_ranks({}), 1);
    ASSERT_TRUE(answer.report->ok());
    EXPECT_EQ(answer.report->value().run.factorize->kind, FactorKind::ldlt);
    EXPECT_EQ(answer.report->value().run.factorize->pivots.inertia.negative, 1);
  }
}

/// A matrix of the same pattern with other values, as symmetric as it was.
template <class T>
Shared<T> times(const Shared<T>& matrix, real_t<T> factor) {
  auto changed = std::make_shared<SparseMatrix<T>>(*matrix);
  for (T& value : changed->values) value *= factor;
  return changed;
}

TEST(rank_rows, new_values_give_the_bits_of_a_new_factor_in_the_same_order) {
  for (const char* problem : {"poisson2d5", "convection_diffusion2d"}) {
    const auto matrix = generated<double>(problem, 9);
    const auto doubled = times<double>(matrix, 2);  // whose order and scaled values are those of the first
    const AnswerByRows<double> expected = solve_whole(doubled, 2, busy_ranks({}), 1);
    const Split split = split_rows(matrix->rows(), {2, 0, 3});
    const DenseMatrix<double> b = some_right_hand_sides<double>(matrix->rows(), 1);
    DenseMatrix<double> x = b, x_whole = b;
    ThreadWorld world(3);
    world.run([&](Transport& transport) {
      const RowsOfRank mine = split[transport.rank()];
      RankSolver<double> solver =
          RankSolver<double>::create_from_rows(rows_of(*matrix, mine).block(), busy_ranks({}), transport)
              .value();
      RankSolver<double> whole = RankSolver<double>::create(matrix, busy_ranks({}), transport).value();
      ASSERT_TRUE(solver.refactor_rows(rows_of(*doubled, mine).block()).ok());
      ASSERT_TRUE(whole.refactor(doubled).ok());
      DenseMatrix<double> side = part_of(b, mine), whole_side = b;
      ASSERT_TRUE(solver.solve_rows(std::as_const(side).view(), side.view()).ok());
      ASSERT_TRUE(whole.solve(std::as_const(whole_side).view(), whole_side.view()).ok());
      std::copy_n(side.values.data(), mine.count, x.values.data() + mine.first);
      if (transport.rank() == 0) x_whole = whole_side;
    });
    // The scalings are powers of two from the first matrix, which the report of LU would show; x itself
    // differs only by rounding.
    const auto close = [&](const DenseMatrix<double>& found) {
      for (std::size_t i = 0; i < found.values.size(); ++i)
        EXPECT_NEAR(found.values[i], expected.x[i], 1e-12);
    };
    close(x);
    EXPECT_TRUE(have_same_bits(x.values, x_whole.values)) << problem;
  }
}

TEST(rank_rows,
     refactor_refuses_another_pattern_or_a_symmetry_that_does_not_fit_and_keeps_the_former_factor) {
  const auto matrix = generated<double>("poisson2d5", 5);
  auto unsymmetric = std::make_shared<SparseMatrix<double>>(*matrix);
  unsymmetric->values[1] = 7;
  const auto not_definite = times<double>(matrix, -1);
  const Split split = split_rows(25, {1, 2});
  ThreadWorld world(2);
  world.run([&](Transport& transport) {
    const RowsOfRank mine = split[transport.rank()];
    const OwnRows<double> own = rows_of(*matrix, mine);
    RankSolver<double> solver =
        RankSolver<double>::create_from_rows(own.block(), busy_ranks({}), transport).value();
    OwnRows<double> moved = own;
    if (transport.rank() == 1) moved.column[0] = moved.column[0] == 0 ? 1 : 0;  // an entry of one rank alone
    EXPECT_THROW((void)solver.refactor_rows(moved.block()), UsageError);
    EXPECT_THROW((void)solver.refactor_rows(rows_of(*unsymmetric, mine).block()), UsageError);
    EXPECT_THROW((void)solver.refactor(matrix), UsageError);
    const Outcome<void> failed = solver.refactor_rows(rows_of(*not_definite, mine).block());
    ASSERT_FALSE(failed.ok());
    EXPECT_EQ(failed.failure().kind, FailureKind::not_positive_definite);
    DenseMatrix<double> side = part_of(some_right_hand_sides<double>(25, 1), mine);
    const Outcome<RankReport> report = solver.solve_rows(std::as_const(side).view(), side.view());
    ASSERT_TRUE(report.ok());
    EXPECT_TRUE(report.value().run.verify->verified);
    RankSolver<double> whole = RankSolver<double>::create(matrix, busy_ranks({}), transport).value();
    EXPECT_THROW((void)whole.refactor_rows(own.block()), UsageError);
    EXPECT_THROW((void)whole.refactor(generated<double>("poisson2d5", 4)), UsageError);
  });
}

TEST(rank_rows, determinant_and_inertia_are_those_of_one_rank) {
  for (const auto& [matrix, kind] :
       {std::pair{generated<double>("convection_diffusion2d", 5), FactorKind::lu},
        std::pair{Shared<double>(indefinite<double>(20, false)), FactorKind::ldlt},
        std::pair{matrix_of<double>({{0, 2, 0}, {0, 0, 3}, {4, 0, 0}}), FactorKind::lu},
        std::pair{matrix_of<double>({{0, 2}, {3, 0}}), FactorKind::lu}}) {
    SolverOptions alone_options = testing::quiet_options(1);
    alone_options.kind = kind;
    const Solver<double> alone = std::move(Solver<double>::create(matrix, alone_options)).value();
    const Split split = split_rows(matrix->rows(), {1, 3, 2});
    ThreadWorld world(3);
    world.run([&, &given = matrix, used = kind](Transport& transport) {
      const OwnRows<double> own = rows_of(*given, split[transport.rank()]);
      RankSolver<double> solver =
          std::move(RankSolver<double>::create_from_rows(own.block(), busy_ranks(used), transport)).value();
      EXPECT_EQ(solver.slogdet().first, alone.slogdet().first);
      EXPECT_NEAR(solver.slogdet().second, alone.slogdet().second, 1e-10);
      if (used == FactorKind::lu) EXPECT_THROW((void)solver.inertia(), UsageError);
      else EXPECT_EQ(solver.inertia().negative, alone.inertia().negative);
    });
  }
}

TEST(rank_rows, a_rank_gets_the_entries_of_its_blocks_each_once_and_no_others) {
  const auto matrix = generated<double>("convection_diffusion2d", 12);
  const Split split = split_rows(matrix->rows(), {1, 1, 1, 1});
  std::vector<offset_t> entries(4);
  ThreadWorld world(4);
  world.run([&](Transport& transport) {
    ThreadTeam team(1);
    const OwnRows<double> own = rows_of(*matrix, split[transport.rank()]);
    const RowInput<double> input(own.block(), {transport, team, {60}}, nullptr);
    EXPECT_EQ(input.pattern().row_index, matrix->pattern.row_index);
    OrderOptions options;
    options.pivot_need = PivotNeed::unsymmetric;
    const auto ordering = std::make_shared<const Ordering>(input.order(options).value());
    AnalyzeOptions analyze_options;
    analyze_options.max_width = 8;
    const auto symbolic =
        std::make_shared<const SymbolicFactor>(analyze(input.pattern(), *ordering, analyze_options));
    const auto placement = std::make_shared<const Placement>(
        place(*symbolic, {2, 2}, PlacementMap::block_cyclic, {false}));
    const OwnEntries<double> got = input.own_entries({FactorKind::lu, ordering, symbolic, placement});
    entries[transport.rank()] = got.matrix->nnz();
    for (index_t column = 0; column < matrix->cols(); ++column)
      for (offset_t entry = got.matrix->pattern.column_ptr[column];
           entry < got.matrix->pattern.column_ptr[column + 1]; ++entry) {
        const auto rows = matrix->pattern.column(column);
        const auto place_of_row =
            std::lower_bound(rows.begin(), rows.end(), got.matrix->pattern.row_index[entry]) - rows.begin();
        EXPECT_EQ(got.matrix->values[entry],
                  matrix->values[matrix->pattern.column_ptr[column] + place_of_row]);
      }
  });
  EXPECT_EQ(std::accumulate(entries.begin(), entries.end(), offset_t{0}), matrix->nnz());
  for (const offset_t of_rank : entries) EXPECT_LT(of_rank, matrix->nnz() / 2);
}

}  // namespace
}  // namespace palmette
