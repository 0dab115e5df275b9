// The hall over ranks: verified answers with the same bits for any number of ranks, grid and map, and one
// failure for all.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <stdexcept>

#include "palmette/solver/rank_checks.hpp"
#include "systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::have_same_bits;
using testing::matrix_of;
using testing::Shared;
using testing::some_right_hand_sides;

struct Shape {
  index_t ranks = 1;
  ProcessGrid grid{0, 0};
  PlacementMap map = PlacementMap::subtree_to_subcube;
  TreeShape trees = TreeShape::binary;
  int threads = 1;
  bool whole_subtrees = false;  // otherwise every block is distributed, so that small matrices have many
                                // messages
};

template <class T>
RankSolverOptions options_of(const Shape& shape, FactorKind kind) {
  RankSolverOptions options;
  options.kind = kind;
  options.analyze.max_width = 8;  // many blocks
  options.grid = shape.grid;
  options.map = shape.map;
  options.whole.kept = shape.whole_subtrees;
  options.trees = shape.trees;
  options.threads = shape.threads;
  options.watchdog_seconds = 60;
  options.transport_name = "threads";
  return options;
}

template <class T>
struct Answer {
  std::vector<T> x;
  std::vector<Outcome<RankReport>> reports;  // by rank
};

/// All ranks' answers, which are the same.
template <class T>
Answer<T> solve_over_ranks(const Shared<T>& matrix, const Shape& shape, const RankSolverOptions& options,
                           index_t num_rhs, const SolveRequest& request = {}) {
  Answer<T> answer;
  std::vector<std::optional<Outcome<RankReport>>> reports(shape.ranks);
  std::vector<std::vector<T>> x(shape.ranks);
  ThreadWorld world(shape.ranks);
  world.run([&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    Outcome<RankSolver<T>> solver = RankSolver<T>::create(matrix, options, transport);
    if (!solver) {
      reports[rank].emplace(solver.failure());
      return;
    }
    DenseMatrix<T> side = some_right_hand_sides<T>(matrix->rows(), num_rhs);
    reports[rank].emplace(solver.value().solve(std::as_const(side).view(), side.view(), request));
    x[rank] = side.values;
  });
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    answer.reports.push_back(*std::move(reports[rank]));
    EXPECT_TRUE(have_same_bits(x[0], x[rank])) << "rank " << rank;
  }
  answer.x = x[0];
  return answer;
}

Shape shape_of(index_t ranks, PlacementMap map) {
  Shape shape;
  shape.ranks = ranks;
  shape.map = map;
  shape.trees = ranks % 2 == 0 ? TreeShape::binary : TreeShape::flat;
  return shape;
}

template <class T>
void expect_same_bits_and_verified(const Shared<T>& matrix, FactorKind kind, index_t num_rhs,
                                   const SolveRequest& request = {}, bool whole_subtrees = false) {
  std::optional<std::vector<T>> first;
  for (const index_t ranks : {1, 2, 3, 4, 6, 8})
    for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube}) {
      Shape shape = shape_of(ranks, map);
      shape.whole_subtrees = whole_subtrees;
      const Answer<T> answer = solve_over_ranks(matrix, shape, options_of<T>(shape, kind), num_rhs, request);
      for (const Outcome<RankReport>& report : answer.reports) {
        ASSERT_TRUE(report.ok()) << report.failure().message;
        EXPECT_TRUE(report.value().run.verify->verified);
        if (sizeof(real_t<T>) == 8) { EXPECT_LE(report.value().run.verify->backward_error, 1e-14); }
      }
      if (!first) first = answer.x;
      EXPECT_TRUE(have_same_bits(*first, answer.x))
          << ranks << " ranks, " << name_of(map) << ", " << name_of(kind);
    }
}

TEST(rank_solver, answers_are_verified_and_have_the_same_bits_for_any_ranks_and_map) {
  expect_same_bits_and_verified(generated<double>("poisson2d5", 12), FactorKind::llt, 1);
  expect_same_bits_and_verified(generated<double>("poisson2d5", 12), FactorKind::ldlt, 3);
  expect_same_bits_and_verified(generated<double>("convection_diffusion2d", 12), FactorKind::lu, 2);
  expect_same_bits_and_verified(generated<float>("poisson2d5", 8), FactorKind::llt, 1);
  expect_same_bits_and_verified(generated<std::complex<double>>("convection_diffusion2d", 8), FactorKind::lu,
                                2);
}

TEST(rank_solver, whole_subtrees_on_one_rank_change_nothing_of_that) {
  expect_same_bits_and_verified(generated<double>("poisson2d5", 60), FactorKind::llt, 1, {}, true);
  expect_same_bits_and_verified(generated<double>("convection_diffusion2d", 40), FactorKind::lu, 2, {}, true);
}

TEST(rank_solver, transposed_and_adjoint_systems_too) {
  for (const Operation operation : {Operation::transpose, Operation::adjoint}) {
    SolveRequest request;
    request.operation = operation;
    expect_same_bits_and_verified(generated<double>("convection_diffusion2d", 10), FactorKind::lu, 2,
                                  request);
    expect_same_bits_and_verified(generated<std::complex<double>>("convection_diffusion2d", 6),
                                  FactorKind::lu, 1, request);
  }
}

TEST(rank_solver, many_right_hand_sides_and_several_threads_for_each_rank) {
  const auto matrix = generated<double>("poisson2d5", 9);
  Shape shape = shape_of(1, PlacementMap::block_cyclic);
  const Answer<double> alone =
      solve_over_ranks(matrix, shape, options_of<double>(shape, FactorKind::llt), 130);
  shape = shape_of(3, PlacementMap::subtree_to_subcube);
  shape.threads = 2;
  const Answer<double> together =
      solve_over_ranks(matrix, shape, options_of<double>(shape, FactorKind::llt), 130);
  EXPECT_TRUE(have_same_bits(alone.x, together.x));
  ASSERT_TRUE(together.reports[2].ok());
  EXPECT_EQ(together.reports[2].value().run.solve->num_rhs, 130);
}

TEST(rank_solver, empty_and_one_by_one_systems_and_no_right_hand_sides) {
  for (const index_t n : {0, 1}) {
    const auto matrix = n == 0 ? std::make_shared<const SparseMatrix<double>>(
                                     SparseMatrix<double>(from_triplets(Triplets<double>{0, 0, {}, {}, {}})))
                               : matrix_of<double>({{4}});
    for (const index_t ranks : {1, 2, 4}) {
      const Shape shape = shape_of(ranks, PlacementMap::subtree_to_subcube);
      for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
        for (const index_t num_rhs : {0, 1, 2}) {
          const Answer<double> answer =
              solve_over_ranks(matrix, shape, options_of<double>(shape, kind), num_rhs);
          ASSERT_TRUE(answer.reports[0].ok());
          EXPECT_EQ(answer.x.size(), static_cast<std::size_t>(n * num_rhs));
        }
    }
  }
}

TEST(rank_solver, a_singular_matrix_gives_the_same_failure_on_all_ranks) {
  // Column 2 is empty: rows 1 and 3 can be matched only with columns 1 and 3.
  const auto structurally = matrix_of<double>({{1, 0, 2}, {3, 0, 1}, {0, 0, 1}});
  // The third row is the sum of the first two.
  const auto numerically = matrix_of<double>({{1, 2, 3}, {4, 5, 6}, {5, 7, 9}});
  for (const auto& matrix : {structurally, numerically})
    for (const index_t ranks : {1, 2, 4}) {
      const Shape shape = shape_of(ranks, PlacementMap::block_cyclic);
      const Answer<double> answer =
          solve_over_ranks(matrix, shape, options_of<double>(shape, FactorKind::lu), 1);
      for (const Outcome<RankReport>& report : answer.reports) {
        ASSERT_FALSE(report.ok());
        EXPECT_EQ(report.failure().message, answer.reports[0].failure().message);
        EXPECT_EQ(report.failure().kind, matrix == structurally ? FailureKind::structurally_singular
                                                                : FailureKind::numerically_singular);
      }
    }
}

TEST(rank_solver,
     not_positive_definite_is_named_as_by_one_rank_and_ldlt_takes_over_where_no_kind_is_asked_for) {
  // A grid whose 41st diagonal entry is positive, but too small.
  SparseMatrix<double> grid = *generated<double>("poisson2d5", 9);
  for (offset_t entry = grid.pattern.column_ptr[40]; entry < grid.pattern.column_ptr[41]; ++entry)
    if (grid.pattern.row_index[entry] == 40) grid.values[entry] = 1e-3;
  const auto matrix = std::make_shared<const SparseMatrix<double>>(grid);
  SolverOptions alone_options = testing::quiet_options(1);
  alone_options.kind = FactorKind::llt;
  alone_options.analyze.max_width = 8;
  const Outcome<Solver<double>> alone = Solver<double>::create(matrix, alone_options);
  ASSERT_FALSE(alone.ok());
  for (const index_t ranks : {1, 3, 4}) {
    const Shape shape = shape_of(ranks, PlacementMap::subtree_to_subcube);
    RankSolverOptions options = options_of<double>(shape, FactorKind::llt);
    for (const Outcome<RankReport>& report : solve_over_ranks(matrix, shape, options, 1).reports) {
      ASSERT_FALSE(report.ok());
      EXPECT_EQ(report.failure().message, alone.failure().message);
      EXPECT_EQ(report.failure().column, alone.failure().column);
    }
    options.kind.reset();
    for (const Outcome<RankReport>& report : solve_over_ranks(matrix, shape, options, 1).reports) {
      ASSERT_TRUE(report.ok());
      EXPECT_EQ(report.value().run.factorize->kind, FactorKind::ldlt);
      EXPECT_EQ(report.value().run.factorize->pivots.inertia.positive, 80);
      EXPECT_EQ(report.value().run.factorize->pivots.inertia.negative, 1);
      EXPECT_EQ(report.value().run.notes.size(), 1u);
    }
  }
}

TEST(rank_solver, the_report_tells_of_ranks_and_of_the_memory_of_each) {
  const auto matrix = generated<double>("poisson2d5", 20);
  Shape shape = shape_of(4, PlacementMap::block_cyclic);
  shape.grid = {4, 1};
  const Answer<double> answer =
      solve_over_ranks(matrix, shape, options_of<double>(shape, FactorKind::llt), 1);
  const RankReport& report = answer.reports[3].value();
  EXPECT_EQ(report.num_ranks, 4);
  EXPECT_EQ(report.grid.rows, 4);
  EXPECT_EQ(report.transport, "threads");
  EXPECT_GT(report.memory_bytes.least, 0);
  EXPECT_LE(report.memory_bytes.least, report.memory_bytes.mean);
  EXPECT_LE(report.memory_bytes.mean, report.memory_bytes.most);
  EXPECT_GT(report.run.analyze->supernodes, 1);
}

/// Flips one bit of one message, the `which`-th that a rank sends.
class Flipping final : public TransportWrapper {
 public:
  Flipping(Transport& inner, std::atomic<int>& sent, int which)
      : TransportWrapper(inner), sent_(sent), which_(which) {}
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    if (sent_++ == which_) {
      payload = pool_.copy(payload.view());
      payload.writable()[payload.size() / 2] ^= std::byte{4};
    }
    inner_.send(destination, tag, std::move(payload));
  }

 private:
  std::atomic<int>& sent_;
  int which_;
  BytePool pool_;
};

TEST(rank_solver, a_bit_flipped_in_any_message_is_found_by_a_checked_transport) {
  const auto matrix = generated<double>("poisson2d5", 8);
  const Shape shape = shape_of(3, PlacementMap::block_cyclic);
  std::atomic<int> sent{0};
  const auto run = [&](int which) {
    sent = 0;
    ThreadWorld world(3);
    world.run([&](Transport& thread) {
      Flipping flipping(thread, sent, which);
      Checked transport(flipping);
      Outcome<RankSolver<double>> solver =
          RankSolver<double>::create(matrix, options_of<double>(shape, FactorKind::llt), transport);
      DenseMatrix<double> side = some_right_hand_sides<double>(matrix->rows(), 1);
      const Outcome<RankReport> report = solver.value().solve(std::as_const(side).view(), side.view());
      if (report) { EXPECT_TRUE(report.value().run.verify->verified); }
    });
  };
  run(-1);
  const int messages = sent;
  ASSERT_GT(messages, 50);
  for (int which = 0; which < messages; which += 5) {
    try {
      run(which);
      ADD_FAILURE() << "message " << which << " of " << messages << " was believed";
    } catch (const BrokenRun& error) {
      EXPECT_NE(std::string(error.what()).find("arrived damaged"), std::string::npos) << error.what();
    }
  }
}

TEST(rank_solver, misuse_is_refused_by_all_ranks) {
  const auto matrix = generated<double>("poisson2d5", 4);
  Shape shape = shape_of(3, PlacementMap::block_cyclic);
  shape.grid = {2, 2};
  EXPECT_THROW(solve_over_ranks(matrix, shape, options_of<double>(shape, FactorKind::llt), 1), UsageError);
  shape.grid = {0, 0};
  EXPECT_THROW(
      solve_over_ranks(matrix_of<double>({{1, 2}}), shape, options_of<double>(shape, FactorKind::lu), 1),
      DimensionError);
}

/// Every grid in each layer, and both methods; the report agrees with the structure.
template <class T>
void expect_same_bits_over_layers(const Shared<T>& matrix, FactorKind kind, index_t num_rhs,
                                  const SolveRequest& request = {}) {
  for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
    for (const index_t layers : {2, 3, 4, 5, 8}) {
      std::optional<std::vector<T>> first;
      for (const ProcessGrid& grid : {ProcessGrid{1, 1}, {2, 1}, {1, 2}, {3, 1}}) {
        Shape shape = shape_of(grid.num_ranks() * layers, grid.rows == 2 ? PlacementMap::block_cyclic
                                                                         : PlacementMap::subtree_to_subcube);
        if (shape.ranks > 12) continue;
        shape.grid = grid;
        RankSolverOptions options = options_of<T>(shape, kind);
        options.layers = layers;
        options.layered_method = method;
        const Answer<T> answer = solve_over_ranks(matrix, shape, options, num_rhs, request);
        for (const Outcome<RankReport>& report : answer.reports) {
          ASSERT_TRUE(report.ok()) << report.failure().message;
          const RankReport& ranks = report.value();
          EXPECT_TRUE(ranks.run.verify->verified);
          if (sizeof(real_t<T>) == 8) { EXPECT_LE(ranks.run.verify->backward_error, 1e-14); }
          EXPECT_EQ(ranks.layers, layers);
          EXPECT_EQ(ranks.grid.rows, grid.rows);
          EXPECT_EQ(ranks.method, solve_method(2, method));
          EXPECT_EQ(ranks.synchronizations, method == LayeredMethod::one_sync_3d ? 1
                                            : layers == 2                        ? 2
                                            : layers <= 4                        ? 4
                                                                                 : 6);
          EXPECT_GT(ranks.replicated_bytes, 0);
        }
        if (!first) first = answer.x;
        EXPECT_TRUE(have_same_bits(*first, answer.x))
            << layers << " layers of " << grid.rows << " x " << grid.cols << ", " << name_of(kind);
      }
    }
}

/// The error of a solve after `change`; empty if it is verified.
std::string said_after(const std::function<void(SparseMatrix<double>&)>& change, bool refactor) {
  auto changeable = std::make_shared<SparseMatrix<double>>(*generated<double>("convection_diffusion2d", 6));
  const Shared<double> matrix = changeable;
  std::vector<std::string> said(2);
  ThreadWorld world(2);
  world.run([&](Transport& transport) {
    auto solver =
        RankSolver<double>::create(matrix, options_of<double>({2}, FactorKind::lu), transport).value();
    transport.agree(0);
    if (transport.rank() == 0) change(*changeable);
    transport.agree(0);
    DenseMatrix<double> side = some_right_hand_sides<double>(matrix->rows(), 1);
    try {
      if (refactor) {
        EXPECT_TRUE(solver.refactor(matrix));
      }
      EXPECT_TRUE(solver.solve(std::as_const(side).view(), side.view()).value().run.verify->verified);
    } catch (const UsageError& error) {
      said[transport.rank()] = error.what();
    }
  });
  EXPECT_EQ(said[0], said[1]);
  return said[0];
}

TEST(rank_solver, a_shared_matrix_that_has_changed_is_refused_until_refactor_has_seen_it) {
  const auto doubled = [](SparseMatrix<double>& matrix) { matrix.values[0] *= 2; };
  // to a place that was empty
  const auto moved = [](SparseMatrix<double>& matrix) { matrix.pattern.row_index.back() -= 2; };
  EXPECT_EQ(said_after([](SparseMatrix<double>&) {}, false), "");
  EXPECT_NE(said_after(doubled, false).find("call refactor first"), std::string::npos);
  EXPECT_EQ(said_after(doubled, true), "");
  EXPECT_NE(said_after(moved, false).find("make a new solver"), std::string::npos);
  EXPECT_NE(said_after(moved, true).find("make a new solver"), std::string::npos);
}

TEST(rank_solver, layers_give_verified_answers_with_the_same_bits_for_any_grid_of_a_layer) {
  expect_same_bits_over_layers(generated<double>("poisson2d5", 12), FactorKind::llt, 1);
  expect_same_bits_over_layers(generated<double>("poisson2d5", 12), FactorKind::ldlt, 3);
  expect_same_bits_over_layers(generated<double>("convection_diffusion2d", 12), FactorKind::lu, 2);
  expect_same_bits_over_layers(generated<std::complex<double>>("convection_diffusion2d", 8), FactorKind::lu,
                               2);
  SolveRequest transposed;
  transposed.operation = Operation::transpose;
  expect_same_bits_over_layers(generated<double>("convection_diffusion2d", 10), FactorKind::lu, 1,
                               transposed);
}

TEST(rank_solver, the_layout_that_rank_0_chooses_is_that_of_all) {
  const auto matrix = generated<double>("poisson2d5", 12);
  const Shape shape{4};
  const auto chosen = [](index_t rows, index_t cols, index_t layers) {
    RankSolverOptions options = options_of<double>({4}, FactorKind::llt);
    // On any other rank it would differ, and ranks would wait for each other for ever.
    options.choose_layout = [=, asked = std::make_shared<std::atomic<int>>(0)](
                                const SymbolicFactor& symbolic, index_t num_ranks, int scalar_bytes) {
      EXPECT_EQ(asked->fetch_add(1), 0);
      EXPECT_EQ(symbolic.n, 144);
      EXPECT_EQ(num_ranks, 4);
      EXPECT_EQ(scalar_bytes, 8);
      return RankLayout{{{rows, cols}, layers}, PlacementMap::block_cyclic, LayeredMethod::baseline_3d};
    };
    return options;
  };
  const Answer<double> usual =
      solve_over_ranks<double>(matrix, shape, options_of<double>(shape, FactorKind::llt), 1);
  const Answer<double> flat = solve_over_ranks<double>(matrix, shape, chosen(1, 4, 1), 1);
  EXPECT_TRUE(have_same_bits(usual.x, flat.x));
  EXPECT_EQ(flat.reports[3].value().grid.cols, 4);
  EXPECT_EQ(flat.reports[3].value().map, PlacementMap::block_cyclic);
  const Answer<double> layered = solve_over_ranks<double>(matrix, shape, chosen(2, 1, 2), 1);
  EXPECT_EQ(layered.reports[1].value().layers, 2);
  EXPECT_EQ(layered.reports[1].value().method, SolveMethod::baseline_3d);
  EXPECT_THROW(solve_over_ranks<double>(matrix, shape, chosen(3, 1, 1), 1), UsageError);
}

TEST(rank_solver, groups_of_right_hand_sides_as_given_or_as_rank_0_chooses_change_no_bit) {
  const auto matrix = generated<double>("poisson2d5", 12);
  const Shape shape{4};
  constexpr index_t num_rhs = 20;
  RankSolverOptions options = options_of<double>(shape, FactorKind::llt);
  const Answer<double> together = solve_over_ranks<double>(matrix, shape, options, num_rhs);
  EXPECT_EQ(together.reports[3].value().rhs_groups, 1);
  options.rhs_groups = 2;
  const Answer<double> given = solve_over_ranks<double>(matrix, shape, options, num_rhs);
  EXPECT_EQ(given.reports[3].value().rhs_groups, 2);
  EXPECT_TRUE(have_same_bits(given.x, together.x));
  options.choose_layout = [](const SymbolicFactor&, index_t, int) {
    return RankLayout{{{2, 2}, 1}, PlacementMap::block_cyclic, LayeredMethod::one_sync_3d, 2};
  };
  options.rhs_groups = 1;
  const Answer<double> chosen = solve_over_ranks<double>(matrix, shape, options, num_rhs);
  EXPECT_EQ(chosen.reports[3].value().rhs_groups, 2);
  EXPECT_TRUE(have_same_bits(chosen.x, together.x));
  options.rhs_groups = 0;
  EXPECT_THROW(solve_over_ranks<double>(matrix, shape, options, num_rhs), UsageError);
}

TEST(rank_solver, layers_that_do_not_fit_the_run_are_refused) {
  const auto matrix = generated<double>("poisson2d5", 4);
  for (const auto& [grid, layers] : {std::pair{ProcessGrid{0, 0}, 3},
                                     {ProcessGrid{2, 1}, 3},
                                     {ProcessGrid{2, 1}, 0},
                                     {ProcessGrid{4, 1}, 2}}) {
    ThreadWorld world(4);
    const auto run = [&, grid = grid, layers = layers] {
      world.run([&](Transport& transport) {
        RankSolverOptions options;
        options.grid = grid;
        options.layers = layers;
        EXPECT_FALSE(RankSolver<double>::create(matrix, options, transport).ok());
      });
    };
    EXPECT_THROW(run(), UsageError) << grid.rows << " x " << grid.cols << " x " << layers;
  }
}

TEST(check_on_all, leaves_no_rank_waiting_whatever_another_throws) {
  ThreadWorld world(3);
  world.run([&](Transport& transport) {
    ThreadTeam alone(1);
    const auto checked = [&] {
      check_on_all({transport, alone, {}}, [&] {
        if (transport.rank() == 1) throw std::length_error("too long");
      });
    };
    std::string said;
    try {
      checked();
    } catch (const BrokenRun& error) {
      said = error.what();
    } catch (const std::length_error& error) {
      said = std::string("itself: ") + error.what();
    }
    EXPECT_EQ(said, transport.rank() == 1 ? "itself: too long" : "rank 1: too long");
  });
}

}  // namespace
}  // namespace palmette
