// Schur complements over ranks: against elimination by hand and one machine, the same bits for any grid,
// layout and input, every kind over layers, and what all ranks refuse.
#include <gtest/gtest.h>

#include <cstring>
#include <mutex>

#include "complements.hpp"
#include "rank_systems.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace testing;

template <class T>
struct RankSchurProblem {
  Shared<T> matrix;
  std::vector<index_t> boundary;
  DenseMatrix<T> b;

  RankSchurProblem(Shared<T> given, std::vector<index_t> unknowns, index_t num_rhs = 2)
      : matrix(std::move(given)),
        boundary(std::move(unknowns)),
        b(some_right_hand_sides<T>(matrix->rows(), num_rhs)) {}
  index_t size() const { return static_cast<index_t>(boundary.size()); }
};

/// S, and solutions, put together from the parts of all ranks; the report of the last.
template <class T>
struct RankSchurAnswer {
  DenseMatrix<T> complement, interior, g, x;
  std::vector<index_t> held;  // by rank: entries of S
  bool solved = false;        // verified, both
  double interior_error = 0;
  RankSchurReport report;
};

RankSchurOptions busy_schur(std::optional<FactorKind> kind) {
  RankSchurOptions options;
  options.ranks = busy_ranks(kind);
  options.complement.block = 3;
  return options;
}

struct RankSchurRun {
  index_t ranks = 3;
  bool by_rows = false;
  std::uint64_t seed = 5;
  bool with_devices = false;
};

template <class T>
RankSchurAnswer<T> schur_over_ranks(const RankSchurProblem<T>& problem, const RankSchurOptions& given,
                                    const RankSchurRun& run) {
  const index_t m = problem.size(), n = problem.matrix->rows(), k = problem.b.cols;
  RankSchurAnswer<T> answer{DenseMatrix<T>(m, m),
                            DenseMatrix<T>(n, k),
                            DenseMatrix<T>(m, k),
                            DenseMatrix<T>(n, k),
                            std::vector<index_t>(run.ranks),
                            false,
                            0,
                            {}};
  // The boundary's part of x: S is solved by one rank, between two runs of the same solver.
  DenseMatrix<T> part(m, k);
  std::mutex mutex;
  std::vector<DenseMatrix<T>> gs(run.ranks);
  run_ranks(run.ranks, run.seed, [&](Transport& transport) {
    const index_t rank = transport.rank();
    const OwnRows<T> own = uneven_rows_of(*problem.matrix, transport);
    RankSchurOptions options = given;
    if (run.with_devices) options.ranks.device = open_device_of_rank("emulated", rank);
    auto made = run.by_rows
                    ? RankSchurSolver<T>::create_from_rows(own.block(), problem.boundary, options, transport)
                    : RankSchurSolver<T>::create(problem.matrix, problem.boundary, options, transport);
    RankSchurSolver<T> solver = std::move(made).value();
    const ComplementPlaces& places = solver.complement_places();
    const DenseView<const T> s = solver.complement();
    EXPECT_EQ(s.rows, places.num_rows(rank));
    EXPECT_EQ(s.cols, places.num_cols(rank));
    for (index_t j = 0; j < s.cols; ++j)
      for (index_t i = 0; i < s.rows; ++i) {
        const index_t row = places.row(rank, i), column = places.column(rank, j);
        EXPECT_EQ(places.owner(row, column), rank);
        answer.complement.view()(row, column) = s(i, j);
      }
    answer.held[rank] = s.rows * s.cols;
    const DenseMatrix<T> rows = rows_of(problem.b, solver.first_row(), solver.num_rows());
    DenseMatrix<T> x(solver.num_rows(), k), g(m, k);
    const Verification inside = solver.solve_interior_rows(rows.view(), x.view());
    const auto put = [&](DenseMatrix<T>& to) {
      const std::lock_guard lock(mutex);
      for (index_t column = 0; column < k; ++column)
        std::copy_n(x.view().column(column), x.rows, to.view().column(column) + solver.first_row());
    };
    put(answer.interior);
    if (run.by_rows)
      solver.condense_rows(rows.view(), g.view());
    else
      solver.condense(problem.b.view(), g.view());
    gs[rank] = g;
    agree_after(transport, [] {});
    if (rank == 0) part = solved_densely<T>(std::as_const(answer.complement).view(), g);
    agree_after(transport, [] {});
    const Verification whole = solver.expand_rows(rows.view(), std::as_const(part).view(), x.view());
    put(answer.x);
    const std::lock_guard lock(mutex);
    answer.solved = inside.verified && whole.verified;
    answer.interior_error = whole.backward_error;
    answer.report = solver.report();
  });
  answer.g = gs[0];
  for (const DenseMatrix<T>& g : gs) EXPECT_TRUE(have_same_bits(g.values, answer.g.values));
  return answer;
}

/// The figures that no rank may get wrong.
template <class T>
void expect_complement(const RankSchurProblem<T>& problem, const RankSchurAnswer<T>& answer) {
  EXPECT_TRUE(answer.report.run.verified) << answer.report.run.backward_error;
  EXPECT_TRUE(answer.solved);
  EXPECT_LT(answer.interior_error, 1e3 * unit_roundoff<T>);
  const DenseMatrix<T> expected = eliminated(*problem.matrix, problem.boundary);
  double largest = 1;
  for (const T& value : expected.values) largest = std::max(largest, double(std::abs(value)));
  for (std::size_t k = 0; k < expected.values.size(); ++k)
    EXPECT_LT(std::abs(answer.complement.values[k] - expected.values[k]), entry_tolerance<T>() * largest);
  for (index_t i = 0; i < problem.size(); ++i)
    EXPECT_EQ(answer.interior.view()(problem.boundary[i], 0), T(0));
}

template <class T>
class RankSchur : public ::testing::Test {};
TYPED_TEST_SUITE(RankSchur, TestedScalars);

TYPED_TEST(RankSchur, is_that_of_elimination_and_solves_the_whole_for_every_kind) {
  using T = TypeParam;
  for (const auto& [problem, n, kind] :
       {std::tuple("poisson2d5", 9, FactorKind::llt), std::tuple("poisson2d5", 9, FactorKind::ldlt),
        std::tuple("convection_diffusion2d", 9, FactorKind::lu)}) {
    SCOPED_TRACE(std::string(name_of(kind)));
    const RankSchurProblem<T> given(generated<T>(problem, n), {40, 3, 77, 5, 41, 60, 11, 12, 9});
    for (const bool by_rows : {false, true}) {
      RankSchurOptions options = busy_schur(kind);
      options.complement.block_cyclic = by_rows;
      options.ranks.delivery = by_rows ? BlockDelivery::pull : BlockDelivery::push;
      const RankSchurAnswer<T> answer = schur_over_ranks(given, options, {3, by_rows});
      EXPECT_EQ(answer.report.run.kind, kind);
      expect_complement(given, answer);
    }
  }
}

TYPED_TEST(RankSchur, of_an_indefinite_interior_with_pairs_and_scalings) {
  using T = TypeParam;
  std::vector<index_t> boundary;
  for (index_t i = 7; i < 192; i += 23) boundary.push_back(i);
  const RankSchurProblem<T> given(generated<T>("kkt3d", 4), boundary);
  const RankSchurAnswer<T> answer = schur_over_ranks(given, busy_schur(FactorKind::ldlt), {4, true});
  EXPECT_TRUE(answer.report.run.verified) << answer.report.run.backward_error;
  EXPECT_TRUE(answer.solved);
}

/// Some interior unknowns, spread so that S and the coupling are full.
std::vector<index_t> every(index_t step, index_t count) {
  std::vector<index_t> unknowns;
  for (index_t k = 0; k < count; ++k) unknowns.push_back(k * step);
  return unknowns;
}

template <class T>
void expect_one_set_of_bits(const RankSchurProblem<T>& given, FactorKind kind, bool whole_subtrees) {
  std::optional<RankSchurAnswer<T>> first;
  for (const auto& [ranks, grid] : {std::pair<index_t, ProcessGrid>{1, {1, 1}},
                                    {2, {1, 2}},
                                    {3, {3, 1}},
                                    {4, {2, 2}},
                                    {5, {0, 0}},
                                    {6, {2, 3}},
                                    {7, {1, 7}}}) {
    RankSchurOptions options = busy_schur(kind);
    options.ranks.whole.kept = whole_subtrees;
    options.ranks.grid = grid;
    options.ranks.threads = ranks % 2 == 0 ? 2 : 1;
    options.ranks.map = ranks % 3 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube;
    options.ranks.delivery = ranks > 3 ? BlockDelivery::pull : BlockDelivery::push;
    options.complement.block_cyclic = ranks > 2;
    options.complement.root = ranks - 1;
    options.complement.block = ranks;
    if (ranks > 3) options.round_bytes = ranks * 200 - 800;  // some blocks in a round, or one
    if (ranks == 7) options.complement.grid = {2, 3};
    const RankSchurAnswer<T> answer =
        schur_over_ranks(given, options, {ranks, ranks % 2 == 1, static_cast<std::uint64_t>(ranks)});
    EXPECT_TRUE(answer.report.run.verified);
    if (!first) first = answer;
    EXPECT_TRUE(have_same_bits(first->complement.values, answer.complement.values)) << ranks << " ranks";
    EXPECT_TRUE(have_same_bits(first->g.values, answer.g.values)) << ranks << " ranks";
    EXPECT_TRUE(have_same_bits(first->interior.values, answer.interior.values)) << ranks << " ranks";
    EXPECT_TRUE(have_same_bits(first->x.values, answer.x.values)) << ranks << " ranks";
    if (ranks == 7) {
      EXPECT_EQ(answer.held[6], 0);
    } else if (!options.complement.block_cyclic) {
      EXPECT_EQ(answer.held[ranks - 1], given.size() * given.size());
    } else {
      for (const index_t held : answer.held) EXPECT_GT(held, 0);
    }
  }
}

TEST(rank_schur, has_the_same_bits_for_any_grid_layout_order_of_delivery_and_input) {
  const auto spd = generated<double>("poisson3d7", 7);
  expect_one_set_of_bits<double>({spd, every(7, 40)}, FactorKind::llt, false);
  expect_one_set_of_bits<double>({spd, every(7, 40)}, FactorKind::ldlt, true);
  expect_one_set_of_bits<double>({generated<double>("convection_diffusion2d", 16), every(5, 45)},
                                 FactorKind::lu, false);
  expect_one_set_of_bits<std::complex<float>>(
      {generated<std::complex<float>>("convection_diffusion2d", 12), every(4, 30)}, FactorKind::lu, true);
}

TEST(rank_schur, has_the_bits_of_one_machine) {
  for (const auto& [name, n, kind] :
       {std::tuple("poisson3d7", 8, FactorKind::llt), std::tuple("kkt3d", 4, FactorKind::ldlt),
        std::tuple("convection_diffusion2d", 16, FactorKind::lu)}) {
    const RankSchurProblem<double> given(generated<double>(name, n), every(4, 40));
    SchurOptions alone;
    alone.kind = kind;
    const auto expected = SchurSolver<double>::create(given.matrix, given.boundary, alone).value();
    RankSchurOptions options;
    options.ranks.kind = kind;
    const RankSchurAnswer<double> answer = schur_over_ranks(given, options, {4, true});
#if defined(__FMA__) && !defined(PALMETTE_ADDRESS_SANITIZER)
    for (index_t j = 0; j < 40; ++j)
      EXPECT_EQ(std::memcmp(answer.complement.view().column(j), expected.complement().column(j),
                            40 * sizeof(double)),
                0)
          << name;
#else  // sums that are not fused have other last bits in blocks of other shapes
    for (index_t j = 0; j < 40; ++j)
      for (index_t i = 0; i < 40; ++i)
        EXPECT_NEAR(answer.complement.view()(i, j), expected.complement()(i, j), 1e-12) << name;
#endif
    EXPECT_EQ(answer.report.run.flops, expected.report().flops);
    EXPECT_EQ(answer.report.run.nnz_factor, expected.report().nnz_factor);
  }
}

TEST(rank_schur, works_over_layers_with_more_ranks_than_rows_and_ranks_without_rows) {
  for (const index_t layers : {2, 3})
    for (const auto method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
      for (const auto& [name, kind] :
           {std::pair("poisson2d5", FactorKind::llt), std::pair("convection_diffusion2d", FactorKind::lu)}) {
        const RankSchurProblem<double> given(generated<double>(name, 10), every(9, 11));
        RankSchurOptions options = busy_schur(kind);
        options.ranks.layers = layers;
        options.ranks.layered_method = method;
        options.complement.block_cyclic = layers == 2;
        const RankSchurAnswer<double> answer = schur_over_ranks(given, options, {2 * layers, layers == 3});
        expect_complement(given, answer);
        EXPECT_EQ(answer.report.layers, layers);
      }
  const RankSchurProblem<double> small(matrix_of<double>({{4, 1, 0}, {2, 3, 1}, {0, 1, 5}}), {2, 0});
  expect_complement(small, schur_over_ranks(small, busy_schur(FactorKind::lu), {7, true}));
}

TEST(rank_schur, leaves_the_interior_to_devices_of_the_ranks) {
  if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  for (const index_t layers : {1, 2})
    for (const auto& [name, kind] :
         {std::pair("poisson2d5", FactorKind::llt), std::pair("convection_diffusion2d", FactorKind::lu)}) {
      const RankSchurProblem<double> given(generated<double>(name, 8), every(7, 9));
      RankSchurOptions options = busy_schur(kind);
      options.ranks.layers = layers;
      expect_complement(given, schur_over_ranks(given, options, {2, layers == 1, 3, true}));
    }
}

TEST(rank_schur, may_be_singular_and_the_boundary_empty_or_everything) {
  // A path with free ends: S on both ends is [1 −1; −1 1] / 3 for three edges.
  const auto path = matrix_of<double>({{1, -1, 0, 0}, {-1, 2, -1, 0}, {0, -1, 2, -1}, {0, 0, -1, 1}});
  for (const index_t ranks : {1, 3}) {
    run_ranks(ranks, 3, [&](Transport& transport) {
      RankSchurOptions options = busy_schur(FactorKind::llt);
      const auto ends = RankSchurSolver<double>::create(path, {0, 3}, options, transport).value();
      EXPECT_TRUE(ends.report().run.verified);
      if (transport.rank() == 0) {
        EXPECT_NEAR(ends.complement()(0, 0), 1.0 / 3, 1e-15);
        EXPECT_NEAR(ends.complement()(0, 1), -1.0 / 3, 1e-15);
      } else {
        EXPECT_EQ(ends.complement().rows, 0);
      }
      options.ranks.kind = FactorKind::ldlt;
      options.complement = {true, 0, {1, 1}, 2};
      const auto all = RankSchurSolver<double>::create(path, {3, 2, 1, 0}, options, transport).value();
      if (transport.rank() == 0) {
        EXPECT_EQ(all.complement()(1, 2), -1);
      }
      options.ranks.kind = FactorKind::lu;
      auto none = RankSchurSolver<double>::create(matrix_of<double>({{2, 1}, {1, 3}}), {}, options, transport)
                      .value();
      const DenseMatrix<double> b = some_right_hand_sides<double>(2, 1);
      DenseMatrix<double> x(2, 1), nothing(0, 1);
      EXPECT_TRUE(none.expand(b.view(), std::as_const(nothing).view(), x.view()).verified);
      auto empty = RankSchurSolver<double>::create(matrix_of<double>({}), {}, options, transport).value();
      EXPECT_EQ(empty.size(), 0);
    });
  }
}

TEST(rank_schur, of_a_singular_interior_is_not_verified_or_refused_on_all_ranks) {
  // The interior {1, 2} is [1 −1; −1 1]; the interior {0, 2} is zero.
  const auto nearly = matrix_of<double>({{3, -1, 0}, {-1, 1, -1}, {0, -1, 1}}),
             zero = matrix_of<double>({{0, 1, 0}, {1, 1, 1}, {0, 1, 0}});
  std::vector<int> verdicts(3);
  run_ranks(3, 2, [&](Transport& transport) {
    const auto made = RankSchurSolver<double>::create(nearly, {0}, busy_schur({}), transport);
    verdicts[transport.rank()] = made.ok() ? made.value().report().run.verified ? 1 : 2 : 3;
    EXPECT_FALSE(RankSchurSolver<double>::create(zero, {1}, busy_schur({}), transport).ok());
  });
  EXPECT_GT(verdicts[0], 1);
  EXPECT_EQ(verdicts, std::vector<int>(3, verdicts[0]));
}

// Entries that are not eliminated say nothing about which pivots are tiny.
TEST(rank_schur, of_a_huge_entry_between_unknowns_that_stay_replaces_no_pivot) {
  const RankSchurProblem<double> given(
      matrix_of<double>({{2, -1, -1, 0}, {-1, 2, 0, -1}, {-1, 0, 1e16, 0}, {0, -1, 0, 3}}), {2, 3});
  for (const FactorKind kind : {FactorKind::ldlt, FactorKind::lu})
    for (const bool by_rows : {false, true}) {
      const auto answer = schur_over_ranks(given, busy_schur(kind), {3, by_rows});
      EXPECT_EQ(answer.report.run.perturbed_pivots, 0);
      EXPECT_NEAR(answer.complement.view()(1, 1), 3 - 2.0 / 3, 1e-14) << name_of(kind);
      EXPECT_NEAR(answer.complement.view()(0, 1), -1.0 / 3, 1e-14) << name_of(kind);
    }
}

TEST(rank_schur, is_predicted_to_need_at_least_the_memory_that_it_keeps) {
  const RankSchurProblem<double> given(generated<double>("poisson3d7", 14), every(9, 300), 1);
  for (const FactorKind kind : {FactorKind::llt, FactorKind::lu}) {
    RankSchurOptions options;
    options.ranks.kind = kind;
    options.ranks.max_rhs = 2;
    const RankSchurReport report = schur_over_ranks(given, options, {3, false}).report;
    EXPECT_GT(report.memory_bytes_predicted.most, report.memory_bytes.most);
    EXPECT_LT(report.memory_bytes_predicted.most, 4 * report.memory_bytes.most);
    EXPECT_GT(report.run.flops, 0);
    EXPECT_GE(report.run.memory_bytes_predicted,
              3 * static_cast<offset_t>(report.memory_bytes_predicted.least));
  }
}

TEST(rank_schur, layouts_count_as_scalapack_does) {
  // 10 rows in blocks of 3 over 2 grid rows: blocks 0 and 2 (rows 0–2, 6–8), blocks 1 and 3 (rows 3–5, 9).
  const ComplementPlaces places({true, 0, {2, 2}, 3}, 10, 5);
  EXPECT_EQ(places.num_rows(0), 6);
  EXPECT_EQ(places.num_rows(2), 4);
  EXPECT_EQ(places.num_cols(1), 4);
  EXPECT_EQ(places.num_rows(4), 0);
  EXPECT_EQ(places.row(0, 3), 6);
  EXPECT_EQ(places.row(3, 3), 9);
  EXPECT_EQ(places.owner(9, 0), 2);
  EXPECT_EQ(places.local_row(9), 3);
  const ComplementPlaces huge({true, 0, {2, 2}, 2147483647}, 10, 4);
  EXPECT_EQ(huge.num_rows(0), 10);
  EXPECT_EQ(huge.num_rows(2), 0);
  EXPECT_EQ(huge.local_row(9), 9);
  EXPECT_EQ(huge.local_column(7), 7);
  EXPECT_EQ(huge.row(0, 9), 9);
  const ComplementPlaces whole({false, 4}, 10, 5);
  EXPECT_EQ(whole.num_rows(4), 10);
  EXPECT_EQ(whole.num_cols(0), 0);
}

TEST(rank_schur, refuses_wrong_arguments_on_all_ranks) {
  const auto matrix = generated<double>("poisson2d5", 3);
  const auto said = [&](const RankSchurOptions& options, const std::vector<index_t>& boundary,
                        const std::vector<index_t>& of_rank_1) {
    return said_by_all<UsageError>(3, [&](Transport& transport) {
      (void)RankSchurSolver<double>::create(matrix, transport.rank() == 1 ? of_rank_1 : boundary, options,
                                            transport);
    });
  };
  const RankSchurOptions good = busy_schur(FactorKind::llt);
  EXPECT_EQ(said(good, {1, 2}, {1, 2}), "");
  EXPECT_NE(said(good, {1, 2}, {2, 1}).find("rank 1 gives other unknowns"), std::string::npos);
  EXPECT_NE(said(good, {1}, {9}).find("rank 1: unknown 9 is to stay"), std::string::npos);
  EXPECT_NE(said(good, {2, 2}, {2, 2}).find("unknown 2 is given twice"), std::string::npos);
  RankSchurOptions bad = good;
  bad.complement.root = 3;
  EXPECT_NE(said(bad, {1}, {1}).find("on rank 3, but the run has 3 ranks"), std::string::npos);
  bad.complement = {true, 0, {2, 2}, 3};
  EXPECT_NE(said(bad, {1}, {1}).find("a grid of 2 x 2"), std::string::npos);
  bad.complement = {true, 0, {0, 0}, 0};
  EXPECT_NE(said(bad, {1}, {1}).find("a block has at least 1"), std::string::npos);
  bad = good;
  bad.ranks.ordering = OrderingMethod::user;
  EXPECT_NE(said(bad, {1}, {1}).find("name a method"), std::string::npos);
  bad = good;
  bad.ranks.singular = SingularAnswer::least_norm;
  EXPECT_NE(said(bad, {1}, {1}).find("leave `singular` out"), std::string::npos);
  const std::string wrong = said_by_all<DimensionError>(3, [&](Transport& transport) {
    auto solver = RankSchurSolver<double>::create(matrix, {2, 4}, good, transport).value();
    const DenseMatrix<double> b = some_right_hand_sides<double>(9, 1);
    const DenseMatrix<double> part(transport.rank() == 2 ? 3 : 2, 1);
    DenseMatrix<double> x(9, 1);
    (void)solver.expand_rows(b.view(), part.view(), x.view());
  });
  EXPECT_NE(wrong.find("it needs 2 x 1"), std::string::npos);
}

}  // namespace
}  // namespace palmette
