// Portions of products over ranks, and what runs first.
#include <gtest/gtest.h>

#include <numeric>

#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

SymbolicFactor analyzed(const char* problem, index_t side) {
  GenerateOptions options;
  options.problem = problem;
  options.n = side;
  const SparseMatrix<double> matrix = generate(options);
  OrderOptions how;
  how.method = OrderingMethod::nd;
  return analyze(matrix.pattern, order(matrix, how).value());
}

struct Seen {
  index_t portions = 0;
  index_t split = 0;    ///< lists of more than one portion
  double entries = 0;
};

void look_at(const SolveExchange& exchange, std::span<const index_t> blocks,
             std::span<const Portion> portions, Seen& seen) {
  index_t next = 0;
  for (const Portion& one : portions) {
    EXPECT_EQ(one.begin, next);
    EXPECT_GT(one.end, one.begin);
    next = one.end;
    double rows = 0;
    for (index_t k = one.begin; k < one.end; ++k) {
      if (exchange.own_is_whole[blocks[k]] == 0) rows += exchange.own[blocks[k]].count;
    }
    EXPECT_EQ(one.work.rows, rows);
    seen.entries += one.work.entries;
    ++seen.portions;
  }
  EXPECT_EQ(next, static_cast<index_t>(blocks.size()));
  if (portions.size() < 2) return;
  ++seen.split;
  EXPECT_EQ(portions[0].end, 1) << "what the nearest supernode waits for is multiplied alone";
  for (std::size_t k = 1; k < portions.size(); ++k) EXPECT_LE(portions[k].urgency, portions[k - 1].urgency);
}

TEST(portions, blocks_belong_to_one_each_and_the_nearest_goes_first) {
  const SymbolicFactor symbolic = analyzed("poisson3d27", 16);
  for (const index_t ranks : {1, 4, 6}) {
    const Placement placement =
        place(symbolic, nearly_square_grid(ranks), PlacementMap::block_cyclic, {false});
    const ExchangePlan structure(symbolic, placement, TreeShape::binary);
    Seen below, left;
    for (index_t rank = 0; rank < ranks; ++rank) {
      const SolveExchange exchange = structure.exchange(rank);
      for (const TopSupernode& top : exchange.tops) {
        std::vector<index_t> column(top.below.size());
        std::iota(column.begin(), column.end(), top.below.begin);
        look_at(exchange, column, exchange.of(exchange.portions, top.column_portions), below);
        look_at(exchange, exchange.left_of(top), exchange.of(exchange.portions, top.row_portions), left);
      }
    }
    double expected = 0;
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
      expected += double(symbolic.width(s)) * symbolic.num_rows_below(s);
    EXPECT_EQ(below.entries, expected);
    EXPECT_EQ(left.entries, expected);
    if (ranks > 1) continue;  // six have too little to do each
    EXPECT_GT(below.split, 0);
    EXPECT_GT(left.split, 0);
    EXPECT_GT(below.portions, 0);
  }
}

TEST(portions, urgency_falls_on_the_way_to_the_root_forward_and_away_from_it_backward) {
  const SymbolicFactor symbolic = analyzed("poisson2d9", 24);
  const Placement placement = place(symbolic, {2, 2}, PlacementMap::block_cyclic, {false});
  std::vector<Urgency> urgency(symbolic.num_supernodes());
  const ExchangePlan structure(symbolic, placement, TreeShape::binary);
  for (index_t rank = 0; rank < 4; ++rank)
    for (const TopSupernode& top : structure.exchange(rank).tops)
      urgency[top.supernode] = top.urgency;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const Urgency& own = urgency[s];
    EXPECT_GT(own.forward, 0);
    EXPECT_LT(own.backward, 0) << "all of the forward sweep goes first";
    if (symbolic.parent[s] == -1) continue;
    const Urgency& parent = urgency[symbolic.parent[s]];
    EXPECT_GT(own.forward, parent.forward);
    EXPECT_LT(own.backward, parent.backward);
  }
}

}  // namespace
}  // namespace palmette
