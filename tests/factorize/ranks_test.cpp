// A factorization over ranks: in any order of delivery, every block has the same bits as on one rank, and the
// number of messages is that of the structure; a bad pivot leads to an answer, not to a deadlock.
#include <gtest/gtest.h>

#include <cstring>

#include "factor_testing.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"

namespace palmette {
namespace {

using testing::Flavour;
using testing::flavour_of;
using testing::Problem;
using testing::random_sparse;

template <class T>
::testing::AssertionResult same_bits(DenseView<const T> a, DenseView<const T> b) {
  if (a.rows != b.rows || a.cols != b.cols) return ::testing::AssertionFailure() << "other shapes";
  for (index_t column = 0; column < a.cols; ++column)
    for (index_t row = 0; row < a.rows; ++row)
      if (std::memcmp(&a(row, column), &b(row, column), sizeof(T)) != 0)
        return ::testing::AssertionFailure()
               << a(row, column) << " is not " << b(row, column) << " at (" << row << ", " << column
               << "), difference " << a(row, column) - b(row, column);
  return ::testing::AssertionSuccess();
}

template <class T>
DenseView<const T> rows_of(const PanelArray<T>& panels, const SymbolicFactor& symbolic, index_t s,
                           index_t first, index_t rows) {
  return {panels.data() + symbolic.panel_offset[s] + first, rows, symbolic.width(s),
          symbolic.leading_dimension(s)};
}

/// The rank's blocks against the whole factor; counts blocks.
template <class T>
offset_t expect_same_blocks(const RankFactor<T>& mine, const Factor<T>& whole) {
  const SymbolicFactor& symbolic = *whole.symbolic;
  offset_t blocks = 0;
  for (index_t p = 0; p < mine.owned.num_panels(); ++p) {
    const index_t s = mine.owned.panel[p], width = symbolic.width(s);
    if (mine.owned.owns_diagonal[p] != 0) {
      ++blocks;
      EXPECT_TRUE(
          same_bits(mine.rows_of(mine.lower, p, 0, width), rows_of(whole.lower, symbolic, s, 0, width)))
          << "diagonal block " << s;
    }
    for (const OwnBlock& own : mine.owned.blocks_of_panel(p)) {
      ++blocks;
      const Block& block = symbolic.blocks[own.block];
      EXPECT_TRUE(same_bits(mine.rows_of(mine.lower, p, own.first_row, block.count),
                            rows_of(whole.lower, symbolic, s, width + block.first, block.count)))
          << "block " << own.block << " of supernode " << s;
      if (mine.kind == FactorKind::lu) {
        EXPECT_TRUE(same_bits(mine.rows_of(mine.upper, p, own.first_row, block.count),
                              rows_of(whole.upper, symbolic, s, width + block.first, block.count)))
            << "upper block " << own.block;
      }
    }
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column) {
      if (mine.kind != FactorKind::llt) { EXPECT_EQ(mine.place[column], whole.place[column]); }
      if (mine.kind == FactorKind::ldlt) { EXPECT_EQ(mine.d[column], whole.d[column]); }
    }
  }
  return blocks;
}

template <class T>
RankSystem<T> system_of(const Problem<T>& problem, const std::shared_ptr<const Placement>& placement) {
  return {problem.matrix, problem.symbolic, placement, problem.ordering};
}

/// All ranks of one run, in one simulated world.
template <class T>
struct SimulatedRun {
  SimulatedRun(const Problem<T>& problem, FactorKind kind, std::shared_ptr<const Placement> placement,
               const SimulationOptions& simulation, BlockDelivery delivery = BlockDelivery::push)
      : world(placement->num_ranks(), simulation) {
    for (index_t rank = 0; rank < placement->num_ranks(); ++rank) {
      parts.emplace_back(system_of(problem, placement), RankFactorizeOptions{kind, 0, 1, delivery},
                         world.rank(rank));
      programs.push_back(&parts.back().program());
    }
  }
  SimulatedWorld world;
  std::vector<RankFactorization<T>> parts;
  std::vector<RankProgram*> programs;
};

/// This many messages, each of this size.
Traffic signals_of(Traffic traffic) {
  for (TrafficEntry& entry : traffic.entries)
    entry.bytes = entry.messages * static_cast<std::int64_t>(sizeof(Offer));
  return traffic;
}

/// Messages as predicted; if blocks are pulled, one signal and one get for each block and rank that uses it.
template <class T>
void expect_predicted_traffic(const SimulationResult& result, const Problem<T>& problem,
                              const Placement& placement, FactorKind kind, BlockDelivery delivery) {
  const Traffic pushed = predicted_fan_out_traffic(*problem.symbolic, placement, kind, sizeof(T));
  EXPECT_EQ(result.traffic, delivery == BlockDelivery::push ? pushed : signals_of(pushed));
  EXPECT_EQ(result.fetched,
            delivery == BlockDelivery::pull ? pushed : make_traffic(placement.num_ranks(), {}));
}

template <class T>
void expect_same_over_ranks(const Problem<T>& problem, FactorKind kind, ProcessGrid grid, PlacementMap map,
                            std::uint64_t seed) {
  const auto whole = problem.factored(kind);
  ASSERT_TRUE(whole.ok());
  const auto placement = std::make_shared<const Placement>(
      place(*problem.symbolic, grid, map, {seed % 2 == 0, seed % 4 == 0 ? 40.0 : 0.0}));
  SimulationOptions simulation;
  simulation.seed = seed;
  simulation.jitter = static_cast<double>(seed % 3) * 30;
  simulation.slow_ranks = 0.3;
  simulation.slowness = 100;
  simulation.idle_wakeups = 0.2;
  for (const BlockDelivery delivery : {BlockDelivery::push, BlockDelivery::pull}) {
    SimulatedRun<T> run(problem, kind, placement, simulation, delivery);
    const SimulationResult result = run.world.run(run.programs);
    offset_t blocks = 0;
    for (RankFactorization<T>& part : run.parts) blocks += expect_same_blocks(part.take(), whole.value());
    EXPECT_EQ(blocks,
              static_cast<offset_t>(problem.symbolic->blocks.size()) + problem.symbolic->num_supernodes())
        << "each block has one owner";
    expect_predicted_traffic(result, problem, *placement, kind, delivery);
  }
}

template <class T>
class Ranks : public ::testing::Test {};
TYPED_TEST_SUITE(Ranks, TestedScalars);

TYPED_TEST(Ranks, every_block_has_the_bits_that_one_rank_gives_it_and_messages_are_as_predicted) {
  using T = TypeParam;
  const ProcessGrid grids[] = {{1, 1}, {2, 1}, {1, 3}, {2, 2}, {3, 2}, {2, 4}};
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    AnalyzeOptions narrow;
    narrow.max_width = 6;  // many blocks
    const Problem<T> problem(random_sparse<T>(flavour_of(kind), 120, 1.5, 3), kind, narrow);
    std::uint64_t seed = 1;
    for (const ProcessGrid& grid : grids)
      for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
        expect_same_over_ranks(problem, kind, grid, map, ++seed);
  }
}

TEST(ranks, hermitian_pivots_travel_too) {
  using T = std::complex<double>;
  const Problem<T> problem(random_sparse<T>(Flavour::hermitian, 100, 1.5, 4), FactorKind::ldlt);
  expect_same_over_ranks(problem, FactorKind::ldlt, {2, 2}, PlacementMap::block_cyclic, 5);
}

TEST(ranks, more_ranks_than_supernodes_and_empty_matrices) {
  for (const index_t n : {0, 1, 2}) {
    const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, n, 1, 1),
                                  FactorKind::llt);
    for (const PlacementMap map : {PlacementMap::block_cyclic, PlacementMap::subtree_to_subcube})
      expect_same_over_ranks(problem, FactorKind::llt, {3, 3}, map, 2);
  }
}

TEST(ranks, random_matrices_grids_and_delays_give_the_same_bits) {
  const int count = testing::num_seeds(500);
  for (int seed = 1; seed <= count; ++seed) {
    const FactorKind kind =
        std::array{FactorKind::llt, FactorKind::ldlt, FactorKind::lu}[static_cast<std::size_t>(seed % 3)];
    AnalyzeOptions options;
    options.max_width = 1 + seed % 9;
    const Problem<double> problem(random_sparse<double>(flavour_of(kind), 1 + seed * 7 % 60,
                                                        1 + seed % 3 * 0.5, static_cast<unsigned>(seed)),
                                  kind, options);
    const ProcessGrid grid{1 + seed % 4, 1 + seed / 4 % 4};
    expect_same_over_ranks(problem, kind, grid,
                           seed % 2 == 0 ? PlacementMap::block_cyclic : PlacementMap::subtree_to_subcube,
                           static_cast<std::uint64_t>(seed));
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(ranks, threads_and_wrappers_change_no_bit) {
  AnalyzeOptions narrow;
  narrow.max_width = 8;
  const Problem<double> problem(random_sparse<double>(Flavour::unsymmetric, 300, 2, 9), FactorKind::lu,
                                narrow);
  const auto whole = problem.factored(FactorKind::lu);
  ASSERT_TRUE(whole.ok());
  for (const index_t ranks : {1, 2, 3, 4, 6, 8})
    for (const auto& [wanted, delivery] : {std::pair{1, BlockDelivery::push},
                                           {2, BlockDelivery::push},
                                           {1, BlockDelivery::pull},
                                           {2, BlockDelivery::pull}}) {
      const int threads = wanted;
      const BlockDelivery way = delivery;
      const auto placement = std::make_shared<const Placement>(
          place(*problem.symbolic, nearly_square_grid(ranks), PlacementMap::subtree_to_subcube, {true, 100}));
      ThreadWorld world(ranks);
      world.run([&](Transport& plain) {
        Checked checked(plain);
        Aggregator transport(checked);
        RankFactorization<double> part(system_of(problem, placement), {FactorKind::lu, 0, threads, way},
                                       transport);
        ThreadTeam team(threads);
        drive(part.program(), transport, team, {60});
        EXPECT_EQ(transport.agree(part.bad_supernode() >= 0 ? 1 : 0), 0);
        expect_same_blocks(part.take(), whole.value());
      });
    }
}

/// A chain of cliques with few supernodes: every order of delivery can be tried.
TEST(ranks, every_order_of_delivery_gives_the_same_bits) {
  struct Tiny {
    ProcessGrid grid;
    index_t n;
    index_t max_width;
    std::vector<index_t> tree = {};
    std::int64_t tried = 20000;
  };
  // The number of orders grows fast: three full supernodes on four ranks have thousands, five have too many
  // to try; six in a tree have fewer, and on the largest only the first thousand are tried.
  const std::vector<index_t> chain = {1, 2, 3, 4, 5, -1}, star = {5, 5, 5, 5, 5, -1},
                             binary = {2, 2, 5, 4, 5, -1};
  for (const auto& [kind, delivery] : {std::pair{FactorKind::llt, BlockDelivery::push},
                                       {FactorKind::lu, BlockDelivery::push},
                                       {FactorKind::llt, BlockDelivery::pull}})
    for (const Tiny& tiny : {Tiny{{2, 1}, 3, 1},
                             {{2, 1}, 4, 2},
                             {{1, 2}, 5, 2},
                             {{2, 1}, 5, 2},
                             {{2, 2}, 3, 1},
                             {{2, 2}, 4, 2},
                             {{2, 1}, 6, 1, chain},
                             {{1, 2}, 6, 1, star},
                             {{2, 1}, 6, 1, star},
                             {{2, 1}, 6, 1, binary},
                             {{2, 2}, 6, 1, binary, 1000}}) {
      const ProcessGrid grid = tiny.grid;
      AnalyzeOptions options;
      options.max_width = tiny.max_width;
      options.relax = false;
      const SparseMatrix<double> matrix = tiny.tree.empty()
                                              ? random_sparse<double>(flavour_of(kind), tiny.n, 0.7, 2)
                                              : testing::tree_matrix(tiny.tree, kind != FactorKind::lu);
      const Problem<double> problem(matrix, kind, options);
      ASSERT_GE(problem.symbolic->num_supernodes(), 3);
      const auto whole = problem.factored(kind);
      const auto placement = std::make_shared<const Placement>(
          place(*problem.symbolic, grid, PlacementMap::block_cyclic, {false}));
      struct Held final : RankProgram {
        explicit Held(RankFactorization<double> one) : part(std::move(one)) {}
        void start() override { part.program().start(); }
        void on_message(const Message& message) override { part.program().on_message(message); }
        bool run_one_task(int thread) override { return part.program().run_one_task(thread); }
        bool done() const override { return const_cast<RankFactorization<double>&>(part).program().done(); }
        std::string waiting_for() const override {
          return const_cast<RankFactorization<double>&>(part).program().waiting_for();
        }
        RankFactorization<double> part;
      };
      const RankFactorizeOptions factorize_options{kind, 0, 1, delivery};
      const Exploration result =
          explore_orders(grid.num_ranks(),
                         factorize_options.delivery == BlockDelivery::push ? tiny.tried : 1000,
                         [&](SimulatedWorld& world) {
                           ExploredRun run;
                           std::vector<Held*> held;
                           for (index_t rank = 0; rank < grid.num_ranks(); ++rank) {
                             auto one = std::make_unique<Held>(RankFactorization<double>(
                                 system_of(problem, placement), factorize_options, world.rank(rank)));
                             held.push_back(one.get());
                             run.programs.push_back(std::move(one));
                           }
                           run.check = [held, &whole] {
                             for (Held* one : held) expect_same_blocks(one->part.take(), whole.value());
                           };
                           return run;
                         });
      EXPECT_GT(result.orders, 1);
      // Pulled, each block comes in two steps: far more orders, of which the first thousand are tried.
      EXPECT_TRUE(result.complete || delivery == BlockDelivery::pull || tiny.tried == 1000) << result.orders;
    }
}

TEST(ranks, a_bad_pivot_is_reported_as_on_one_rank_and_every_message_still_comes) {
  SparseMatrix<double> matrix = random_sparse<double>(Flavour::positive_definite, 80, 1.5, 6);
  for (offset_t entry = matrix.pattern.column_ptr[40]; entry < matrix.pattern.column_ptr[41]; ++entry)
    if (matrix.pattern.row_index[entry] == 40) matrix.values[entry] = -1;
  AnalyzeOptions narrow;
  narrow.max_width = 4;
  const Problem<double> problem(matrix, FactorKind::llt, narrow);
  const auto alone = problem.factored(FactorKind::llt);
  ASSERT_FALSE(alone.ok());
  const auto placement = std::make_shared<const Placement>(
      place(*problem.symbolic, {2, 2}, PlacementMap::block_cyclic, {false}));
  for (const BlockDelivery delivery : {BlockDelivery::push, BlockDelivery::pull}) {
    SimulatedRun<double> run(problem, FactorKind::llt, placement, {}, delivery);
    const SimulationResult result = run.world.run(run.programs);
    index_t bad = problem.symbolic->num_supernodes();
    for (const RankFactorization<double>& part : run.parts)
      if (part.bad_supernode() >= 0) bad = std::min(bad, part.bad_supernode());
    EXPECT_EQ(bad, alone.failure().supernode);
    EXPECT_EQ(
        result.traffic.messages(),
        predicted_fan_out_traffic(*problem.symbolic, *placement, FactorKind::llt, sizeof(double)).messages());
  }
}

TEST(ranks, what_is_offered_is_predicted) {
  AnalyzeOptions narrow;
  narrow.max_width = 6;
  const Problem<double> problem(random_sparse<double>(Flavour::symmetric, 120, 1.5, 3), FactorKind::ldlt,
                                narrow);
  const auto placement = std::make_shared<const Placement>(
      place(*problem.symbolic, {2, 3}, PlacementMap::block_cyclic, {false}));
  /// Counts the messages that pass.
  struct Counting final : Transport {
    Counting(Transport& one, std::int64_t& sum_of_bytes) : inner(one), bytes(sum_of_bytes) {}
    index_t rank() const override { return inner.rank(); }
    index_t num_ranks() const override { return inner.num_ranks(); }
    void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
      inner.send(destination, tag, std::move(payload));
    }
    Offer offer(std::int64_t tag, SharedBytes payload) override {
      bytes += (static_cast<std::int64_t>(payload.size()) + 63) / 64 * 64;
      return inner.offer(tag, std::move(payload));
    }
    void get(index_t source, const Offer& offer) override { inner.get(source, offer); }
    bool poll(Message& message) override { return inner.poll(message); }
    void flush() override { inner.flush(); }
    double sum(double value) override { return inner.sum(value); }
    int agree(int status) override { return inner.agree(status); }
    void abandon(const std::string& why) override { inner.abandon(why); }
    Transport& inner;
    std::int64_t& bytes;
  };
  std::vector<std::int64_t> offered(6, 0);
  ThreadWorld world(6);
  world.run([&](Transport& plain) {
    Counting transport(plain, offered[plain.rank()]);
    const RankFactorizeOptions pulling{FactorKind::ldlt, 0, 1, BlockDelivery::pull};
    RankFactorization<double> part(system_of(problem, placement), pulling, transport);
    ThreadTeam team(1);
    drive(part.program(), transport, team, {60});
    transport.agree(0);
  });
  EXPECT_EQ(offered,
            predicted_offered_bytes(*problem.symbolic, *placement, {FactorKind::ldlt, sizeof(double), 64}));
}

TEST(ranks, transport_and_placement_must_have_the_same_ranks) {
  const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, 10, 1, 1), FactorKind::llt);
  const auto placement = std::make_shared<const Placement>(place(*problem.symbolic, {2, 1}));
  const auto loopback = make_loopback();
  EXPECT_THROW(RankFactorization<double>(system_of(problem, placement), {}, *loopback), UsageError);
}

TEST(rank_part, holds_the_blocks_of_its_rank_with_their_bits) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const Problem<double> problem(random_sparse<double>(flavour_of(kind), 90, 1.5, 5), kind);
    const Outcome<Factor<double>> factor = problem.factored(kind);
    ASSERT_TRUE(factor);
    const auto placement = std::make_shared<const Placement>(place(*problem.symbolic, {2, 3}));
    offset_t blocks = 0, entries = 0;
    for (index_t rank = 0; rank < 6; ++rank) {
      const RankFactor<double> part = rank_part(factor.value(), placement, rank);
      blocks += expect_same_blocks(part, factor.value());
      entries += part.lower.size();
    }
    EXPECT_EQ(blocks,
              static_cast<offset_t>(problem.symbolic->blocks.size()) + problem.symbolic->num_supernodes());
    EXPECT_EQ(entries, problem.symbolic->panel_entries());
  }
  const Problem<double> problem(random_sparse<double>(Flavour::positive_definite, 20, 1, 1), FactorKind::llt);
  const auto placement = std::make_shared<const Placement>(place(*problem.symbolic, {2, 1}));
  EXPECT_THROW(rank_part(problem.factored(FactorKind::llt).value(), placement, 2), UsageError);
}

}  // namespace
}  // namespace palmette
