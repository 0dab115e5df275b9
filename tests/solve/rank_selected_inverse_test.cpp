// The selected inverse over ranks has the entries of that of one process, each on one rank.
#include <gtest/gtest.h>

#include <cstring>

#include "palmette/solve/solve.hpp"
#include "tests/scalars.hpp"
#include "tests/seeds.hpp"
#include "tests/shuffled_ranks.hpp"
#include "tests/solve/device_plans.hpp"

namespace palmette {
namespace {

using reference::Wish;
using testing::run_ranks;

template <class T>
class rank_selected_inverse : public ::testing::Test {};
TYPED_TEST_SUITE(rank_selected_inverse, TestedScalars);

struct RankCase {
  ProcessGrid grid;
  PlacementMap map = PlacementMap::subtree_to_subcube;
  bool whole = false;
  int threads = 1;
  double round_bytes = 1 << 26;
};

template <class T>
std::vector<Wish> wishes(index_t side) {
  std::vector<Wish> all;
  for (Wish wish : reference::all_wishes<T>()) {
    wish.side = side;
    all.push_back(wish);
  }
  return all;
}

AnalyzeOptions narrow_panels() {
  AnalyzeOptions options;  // several panels for one separator
  options.max_width = 5;
  return options;
}

/// A factor, its inverse in this process, and a placement.
template <class T>
struct Inverted {
  std::shared_ptr<const Factor<T>> factor;
  SelectedInverse<T> inverse;
  Inverted(const Wish& wish, const AnalyzeOptions& options)
      : factor(reference::naive_factor(reference::make_problem<T>(wish), wish, options)),
        inverse(select_inverse(*factor)) {}
  std::shared_ptr<const Placement> placed(const RankCase& of) const {
    WholeSubtrees whole;
    whole.kept = of.whole;
    whole.max_entries = 200;
    return std::make_shared<const Placement>(place(*factor->symbolic, of.grid, of.map, whole));
  }
};

template <class T>
RankInverseSizes sizes_of(const Factor<T>& factor, const RankCase& of) {
  return {factor.kind, sizeof(T), of.round_bytes};
}

/// Largest distance of this rank's entries from those of one process, by the largest entry; counts them.
template <class T>
double distance(const RankSelectedInverse<T>& part, const SelectedInverse<T>& whole, index_t rank,
                double& found) {
  double worst = 0, size = 0;
  for (index_t j = 0; j < whole.size(); ++j)
    for (index_t i = 0; i < whole.size(); ++i) {
      const std::optional<T> expected = whole.entry(i, j), entry = part.entry(i, j);
      EXPECT_EQ(part.owner(i, j) >= 0, expected.has_value());
      EXPECT_EQ(part.owner(i, j) == rank, entry.has_value());
      if (expected) size = std::max(size, double(std::abs(*expected)));
      if (!entry) continue;
      worst = std::max(worst, double(std::abs(*entry - *expected)));
      ++found;
    }
  return worst / size;
}

/// Runs on these ranks, and compares with one process.
template <class T>
void expect_same(const Inverted<T>& of, const RankCase& ranks, std::uint64_t seed) {
  const auto placement = of.placed(ranks);
  const RankInverseSizes sizes = sizes_of(*of.factor, ranks);
  const auto predicted = predicted_inverse_counts(*of.factor->symbolic, *placement, sizes);
  const auto nnz = static_cast<double>(of.inverse.matrix().nnz());
  run_ranks(ranks.grid.num_ranks(), seed, [&](Transport& transport) {
    const RankFactor<T> part = rank_part(*of.factor, placement, transport.rank());
    ThreadTeam team(ranks.threads);
    const RankSelectedInverse<T> inverse = RankInverseRun<T>(part, sizes, transport, team).run();
    double found = 0;
    EXPECT_LE(distance(inverse, of.inverse, transport.rank(), found), 50 * unit_roundoff<T>);
    EXPECT_EQ(transport.sum(found), nnz);
    EXPECT_EQ(transport.sum(static_cast<double>(inverse.memory_bytes())),
              static_cast<double>(of.inverse.memory_bytes()));
    const RankInverseCounts& counts = predicted[transport.rank()];
    EXPECT_EQ(inverse.counts.messages, counts.messages);
    EXPECT_EQ(inverse.counts.message_bytes, counts.message_bytes);
    EXPECT_EQ(inverse.counts.flops, counts.flops);
    EXPECT_GE(counts.memory_bytes, static_cast<double>(inverse.memory_bytes()));
  });
}

TYPED_TEST(rank_selected_inverse, has_the_entries_of_one_process_on_every_grid) {
  for (const Wish& wish : wishes<TypeParam>(12)) {
    SCOPED_TRACE(reference::words(wish));
    const Inverted<TypeParam> inverted(wish, narrow_panels());
    for (const ProcessGrid grid : {ProcessGrid{1, 1}, {2, 1}, {1, 3}, {2, 2}, {5, 1}})
      for (const PlacementMap map : placement_maps)
        for (const bool whole : {false, true}) {
          SCOPED_TRACE(std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " " +
                       std::string(name_of(map)) + (whole ? " whole" : ""));
          expect_same(inverted, {grid, map, whole}, 3);
        }
  }
}

TEST(RankSelectedInverse, of_one_to_eight_ranks_with_threads) {
  for (const Wish& wish : wishes<double>(12)) {
    SCOPED_TRACE(reference::words(wish));
    const Inverted<double> inverted(wish, narrow_panels());
    for (index_t ranks = 1; ranks <= 8; ++ranks)
      expect_same(inverted,
                  {nearly_square_grid(ranks), PlacementMap::subtree_to_subcube, true, 1 + ranks % 3}, 7);
  }
}

TEST(RankSelectedInverse, in_short_rounds_is_the_same) {
  for (const Wish& wish : wishes<double>(12)) {
    const Inverted<double> inverted(wish, narrow_panels());
    for (const double round_bytes : {1.0, 5000.0}) {
      const RankCase few{{2, 2}, PlacementMap::block_cyclic, true, 1, round_bytes};
      expect_same(inverted, few, 1);
      const auto placement = inverted.placed(few);
      RankInverseSizes sizes = sizes_of(*inverted.factor, few);
      const auto in_short = predicted_inverse_counts(*inverted.factor->symbolic, *placement, sizes);
      sizes.round_bytes = 1 << 26;
      const auto in_long = predicted_inverse_counts(*inverted.factor->symbolic, *placement, sizes);
      EXPECT_GE(in_short[0].messages, in_long[0].messages + (round_bytes == 1 ? 1 : 0));
      EXPECT_EQ(in_short[0].message_bytes, in_long[0].message_bytes);
      EXPECT_LE(in_short[0].memory_bytes, in_long[0].memory_bytes);
    }
  }
}

TEST(RankSelectedInverse, does_not_depend_on_the_order_of_messages) {
  for (const Wish& wish : wishes<double>(5)) {
    const Inverted<double> inverted(wish, narrow_panels());
    const int seeds = testing::num_seeds(500);
    for (int seed = 0; seed < seeds; ++seed)
      expect_same(inverted, {{1 + seed % 3, 1 + seed % 2}, PlacementMap::subtree_to_subcube, seed % 2 == 0},
                  static_cast<std::uint64_t>(seed));
  }
}

// Not those of one process: a BLAS may give a row of a product other bits beside other rows.
TYPED_TEST(rank_selected_inverse, has_the_same_bits_on_the_same_grid) {
  for (const Wish& wish : wishes<TypeParam>(12)) {
    const Inverted<TypeParam> inverted(wish, narrow_panels());
    const RankCase ranks{{2, 2}, PlacementMap::subtree_to_subcube, false};
    const auto placement = inverted.placed(ranks);
    std::vector<std::vector<TypeParam>> first(4);
    for (const int threads : {1, 3})
      run_ranks(4, static_cast<std::uint64_t>(threads), [&](Transport& transport) {
        const auto part = rank_part(*inverted.factor, placement, transport.rank());
        ThreadTeam team(threads);
        const auto z =
            RankInverseRun<TypeParam>(part, sizes_of(*inverted.factor, ranks), transport, team).run();
        std::vector<TypeParam> all(z.panels.lower.data(), z.panels.lower.data() + z.panels.lower.size());
        all.insert(all.end(), z.panels.upper.data(), z.panels.upper.data() + z.panels.upper.size());
        if (threads == 1)
          first[transport.rank()] = all;
        else
          EXPECT_EQ(std::memcmp(first[transport.rank()].data(), all.data(), all.size() * sizeof(all[0])), 0);
      });
  }
}

TEST(RankSelectedInverse, matrices_of_all_ranks_have_all_entries) {
  for (const Wish& wish : wishes<double>(12)) {
    const Inverted<double> inverted(wish, {});
    const RankCase ranks{{3, 1}, PlacementMap::subtree_to_subcube, true};
    const auto placement = inverted.placed(ranks);
    const SparseMatrix<double> whole = inverted.inverse.matrix();
    run_ranks(3, 2, [&](Transport& transport) {
      const auto part = rank_part(*inverted.factor, placement, transport.rank());
      ThreadTeam team(1);
      const auto z = RankInverseRun<double>(part, sizes_of(*inverted.factor, ranks), transport, team).run();
      const SparseMatrix<double> own = z.matrix();
      EXPECT_EQ(transport.sum(static_cast<double>(own.nnz())), static_cast<double>(whole.nnz()));
      for (index_t j = 0; j < own.cols(); ++j)
        for (offset_t k = own.pattern.column_ptr[j]; k < own.pattern.column_ptr[j + 1]; ++k)
          EXPECT_EQ(own.values[k], z.entry(own.pattern.row_index[k], j));
    });
  }
}

TEST(RankSelectedInverse, needs_the_ranks_of_the_factor) {
  const Inverted<double> inverted(Wish(), {});
  const RankCase ranks{{3, 1}};
  const RankFactor<double> part = rank_part(*inverted.factor, inverted.placed(ranks), 0);
  run_ranks(2, 1, [&](Transport& transport) {
    ThreadTeam team(1);
    EXPECT_THROW(RankInverseRun<double>(part, sizes_of(*inverted.factor, ranks), transport, team),
                 UsageError);
  });
}

}  // namespace
}  // namespace palmette
