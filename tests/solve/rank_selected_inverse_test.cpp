// The selected inverse over ranks has the entries of that of one process, each on one rank.
#include <gtest/gtest.h>

#include <cstring>

#include "palmette/solve/inverse_panels.hpp"
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

/// Keeps the bytes of all messages, and of the largest.
class Measured final : public TransportWrapper {
 public:
  using TransportWrapper::TransportWrapper;
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    const auto bytes = static_cast<double>(payload.size());
    largest = std::max(largest, bytes);
    all += bytes;
    inner_.send(destination, tag, std::move(payload));
  }
  double largest = 0, all = 0;
};

TYPED_TEST(rank_selected_inverse, is_gathered_in_rounds_with_each_entry_once) {
  using T = TypeParam;
  for (const Wish& wish : wishes<T>(9)) {
    const Inverted<T> inverted(wish, narrow_panels());
    const RankCase ranks{{3, 1}, PlacementMap::subtree_to_subcube, true};
    const auto placement = inverted.placed(ranks);
    const SparseMatrix<T> judge = inverted.inverse.matrix();
    for (const double round_bytes : {1.0, 3000.0, 1e8})
      run_ranks(3, 2, [&](Transport& transport) {
        const auto part = rank_part(*inverted.factor, placement, transport.rank());
        ThreadTeam team(1);
        const auto z = RankInverseRun<T>(part, sizes_of(*inverted.factor, ranks), transport, team).run();
        Measured measured(transport);
        const index_t root = round_bytes == 1 ? 0 : 1;
        const SparseMatrix<T> whole = z.gathered(measured, team, root, round_bytes);
        EXPECT_LE(measured.largest, std::max(round_bytes / 3, double(2 * sizeof(index_t) + sizeof(T))));
        const double nnz = transport.sum(static_cast<double>(z.matrix().nnz()));
        EXPECT_EQ(nnz, static_cast<double>(judge.nnz()));
        if (transport.rank() != root) {
          EXPECT_EQ(whole.nnz() + whole.rows(), 0);
          return;
        }
        EXPECT_EQ(whole.pattern.column_ptr, judge.pattern.column_ptr);
        EXPECT_EQ(whole.pattern.row_index, judge.pattern.row_index);
        double size = 0, worst = 0;
        for (std::size_t k = 0; k < whole.values.size() && whole.values.size() == judge.values.size(); ++k) {
          size = std::max(size, double(std::abs(judge.values[k])));
          worst = std::max(worst, double(std::abs(judge.values[k] - whole.values[k])));
        }
        EXPECT_LE(worst, 50 * unit_roundoff<T> * size);
      });
  }
}

template <class T>
void expect_same_block(const RankFactor<T>& found, const RankFactor<T>& expected, index_t s, index_t above) {
  const bool has_upper = found.kind == FactorKind::lu && s != above;
  for (const auto array : {&RankFactor<T>::lower, &RankFactor<T>::upper}) {
    if (array == &RankFactor<T>::upper && !has_upper) continue;
    const auto a = solve_detail::panel_part(found, found.*array, s, above).entries;
    const auto b = solve_detail::panel_part(expected, expected.*array, s, above).entries;
    for (index_t j = 0; j < a.cols; ++j)
      for (index_t i = 0; i < a.rows; ++i) EXPECT_EQ(a(i, j), b(i, j)) << s << " " << above;
  }
  const index_t begin = found.symbolic->supernode_begin[s], end = found.symbolic->supernode_begin[s + 1];
  for (index_t k = begin; s == above && k < end; ++k) {
    if (found.kind == FactorKind::ldlt) {
      EXPECT_EQ(found.d[k], expected.d[k]);
      EXPECT_EQ(found.d_below[k], expected.d_below[k]);
    }
    if (found.kind == FactorKind::llt) continue;
    EXPECT_EQ(found.place[k], expected.place[k]);
  }
}

/// @returns bytes of the largest block
template <class T>
double expect_same_part(const RankFactor<T>& found, const RankFactor<T>& expected, index_t rank) {
  const SymbolicFactor& symbolic = *found.symbolic;
  double largest = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const double width = symbolic.width(s);
    largest = std::max(largest, width * (width + 3) * sizeof(T));
    if (found.placement->owner(s, s) == rank) expect_same_block(found, expected, s, s);
    for (const Block& block : symbolic.blocks_of(s)) {
      largest = std::max(largest, 2 * width * block.count * sizeof(T));
      if (found.placement->owner(block.row_supernode, s) == rank)
        expect_same_block(found, expected, s, block.row_supernode);
    }
  }
  return largest;
}

/// The factor of these layers goes back as that of one placement, bit for bit. @returns bytes of its messages
template <class T>
double expect_returned(const Factor<T>& factor, const std::vector<LayerSystem>& systems,
                       const RankInverseSizes& sizes) {
  const auto placement = std::make_shared<const Placement>(layered_placement(*factor.symbolic, systems));
  const FactorOfLayers layers{systems, factor.symbolic, placement};
  const index_t in_layer = systems[0].ranks.grid.num_ranks();
  double all = 0;
  run_ranks(placement->num_ranks(), 5, [&](Transport& transport) {
    const index_t rank = transport.rank();
    const LayerSystem& system = systems[rank / in_layer];
    const RankFactor<T> part =
        rank_part(factor, system.symbolic, system.placement, rank % in_layer, system.supernode);
    ThreadTeam team(1);
    Measured measured(transport);
    const RankFactor<T> whole = factor_from_layers(part, layers, sizes, measured, team);
    const double largest = expect_same_part(whole, rank_part(factor, placement, rank), rank);
    EXPECT_LE(measured.largest, std::max(sizes.round_bytes, largest));
    const ReturnedFactorBytes bytes = returned_factor_bytes(layers, sizes, rank);
    EXPECT_EQ(bytes.copy, static_cast<double>(whole.lower.bytes() + whole.upper.bytes()));
    EXPECT_LE(bytes.messages, 4 * std::max(sizes.round_bytes, largest));
    // In one round what is sent arrives, and both are held in buffers of up to twice the size.
    const double held = transport.sum(bytes.messages), sent = transport.sum(measured.all);
    if (rank == 0) all = sent;
    if (sizes.round_bytes < 1e6) return;
    EXPECT_EQ(held, 4 * sent);
  });
  return all;
}

TYPED_TEST(rank_selected_inverse, factors_of_layers_go_back_in_rounds) {
  using T = TypeParam;
  double sent = 0;
  for (const Wish& wish : wishes<T>(9)) {
    SCOPED_TRACE(reference::words(wish));
    const auto factor = reference::naive_factor(reference::make_problem<T>(wish), wish, narrow_panels());
    for (const index_t count : {2, 3})
      for (const LayeredMethod method : {LayeredMethod::one_sync_3d, LayeredMethod::baseline_3d})
        for (const double round_bytes : {1.0, 2000.0, 1e8}) {
          auto cut = std::make_shared<const Layering>(cut_into_layers(*factor->symbolic, count));
          const auto systems = layer_systems(*factor->symbolic, cut, method,
                                             {{{2, 1}, count}, PlacementMap::block_cyclic, {true, 200}});
          sent += expect_returned(*factor, systems, {factor->kind, sizeof(T), round_bytes});
        }
  }
  EXPECT_GT(sent, 0);
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
