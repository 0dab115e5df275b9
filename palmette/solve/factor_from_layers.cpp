// Blocks of a factor go back from their layers to the ranks that factored them.
#include <algorithm>

#include "palmette/solve/inverse_panels.hpp"
#include "palmette/solve/rank_selected_inverse.hpp"

namespace palmette {
namespace solve_detail {
namespace {

/// A block on its way.
struct MovedBlock {
  index_t s, above;
  index_t source, destination;
  std::size_t round;
};

/// Which blocks a rank keeps, sends and gets, in which round. Rounds are the same on all ranks.
class ReturnPlan {
 public:
  ReturnPlan(const FactorOfLayers& layers, const RankInverseSizes& sizes, index_t rank)
      : layers_(layers),
        sizes_(sizes),
        ranks_of_layer_(layers.systems[0].ranks.grid.num_ranks()),
        sent_(layers.placement->num_ranks()),
        received_(layers.placement->num_ranks()) {
    const SymbolicFactor& symbolic = *layers.symbolic;
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
      const double width = symbolic.width(s);
      add({s, s, 0, 0, 0}, width * (width + 3), rank);
      for (const Block& block : symbolic.blocks_of(s))
        add({s, block.row_supernode, 0, 0, 0}, width * block.count * (sizes.kind == FactorKind::lu ? 2 : 1),
            rank);
    }
  }

  static index_t number_in(const LayerSystem& system, index_t s) {
    const auto found = std::lower_bound(system.supernode.begin(), system.supernode.end(), s);
    return static_cast<index_t>(found - system.supernode.begin());
  }

  std::size_t num_rounds() const { return num_rounds_; }
  const std::vector<MovedBlock>& kept() const { return kept_; }
  /// This rank's of a round.
  std::span<const MovedBlock> moved(std::size_t round) const {
    const auto is_before = [](const MovedBlock& one, std::size_t number) { return one.round < number; };
    const auto first = std::lower_bound(moved_.begin(), moved_.end(), round, is_before);
    return {first, std::lower_bound(first, moved_.end(), round + 1, is_before)};
  }
  /// Bytes of the rank's messages in one round, at most.
  double held() const { return held_; }

 private:
  /// The block's rank in the first layer that holds it.
  index_t source(index_t s, index_t above) const {
    const index_t layer = layers_.systems[0].layering->holders(s).first;
    const LayerSystem& system = layers_.systems[layer];
    return layer * ranks_of_layer_ + system.placement->owner(number_in(system, above), number_in(system, s));
  }
  void add(MovedBlock block, double scalars, index_t rank) {
    block.source = source(block.s, block.above);
    block.destination = layers_.placement->owner(block.above, block.s);
    const bool is_own = block.source == rank || block.destination == rank;
    if (block.source == block.destination) {
      if (is_own) kept_.push_back(block);
      return;
    }
    const double bytes = scalars * sizes_.scalar_bytes;
    double& sent = sent_[block.source];
    double& received = received_[block.destination];
    if (num_rounds_ == 0 || std::max(sent, received) + bytes > sizes_.round_bytes) {
      ++num_rounds_;
      std::fill(sent_.begin(), sent_.end(), 0);
      std::fill(received_.begin(), received_.end(), 0);
    }
    sent += bytes;
    received += bytes;
    block.round = num_rounds_ - 1;
    if (is_own) moved_.push_back(block);
    held_ = std::max(held_, sent_[rank] + received_[rank]);
  }

  const FactorOfLayers& layers_;
  const RankInverseSizes sizes_;
  const index_t ranks_of_layer_;
  std::vector<double> sent_, received_;  // by rank, in the last round
  std::size_t num_rounds_ = 0;
  std::vector<MovedBlock> kept_, moved_;
  double held_ = 0;
};

template <class T>
class FactorReturn {
 public:
  FactorReturn(const RankFactor<T>& factor, const FactorOfLayers& layers, index_t rank)
      : factor_(factor),
        layers_(layers),
        symbolic_(*layers.symbolic),
        rank_(rank),
        own_(layers.systems[rank / layers.systems[0].ranks.grid.num_ranks()]) {}

  /// With the blocks that stay.
  RankFactor<T> begun(const ReturnPlan& plan) const {
    RankFactor<T> whole;
    whole.kind = factor_.kind;
    whole.hermitian = factor_.hermitian;
    whole.symbolic = layers_.symbolic;
    whole.placement = layers_.placement;
    whole.owned = owned_blocks(symbolic_, *layers_.placement, rank_);
    whole.lower = PanelArray<T>(whole.owned.entries());
    if (whole.kind == FactorKind::lu) whole.upper = PanelArray<T>(whole.owned.entries());
    if (whole.kind == FactorKind::ldlt) whole.d.resize(symbolic_.n), whole.d_below.resize(symbolic_.n);
    if (!factor_.place.empty()) whole.place.resize(symbolic_.n);
    whole.row_scale = factor_.row_scale;
    whole.column_scale = factor_.column_scale;
    for (const MovedBlock& block : plan.kept()) copy(block, whole);
    return whole;
  }
  /// @returns by rank
  std::vector<SharedBytes> packed(std::span<const MovedBlock> moved, BytePool& pool) const {
    std::vector<SharedBytes> pieces;
    for (index_t to = 0; to < layers_.placement->num_ranks(); ++to)
      pieces.push_back(written(pool, [&](PieceWriter& writer) {
        for (const MovedBlock& block : moved)
          if (block.source == rank_ && block.destination == to) put(block, writer);
      }));
    return pieces;
  }
  /// @param from  by rank
  void take(std::span<const MovedBlock> moved, std::vector<PieceReader>& from, RankFactor<T>& whole) const {
    for (const MovedBlock& block : moved)
      if (block.destination == rank_) get(block, from[block.source], whole);
  }

 private:
  using Array = PanelArray<T> RankFactor<T>::*;
  template <class Use>
  void for_arrays(const MovedBlock& block, const Use& use) const {
    use(&RankFactor<T>::lower);
    if (block.s != block.above && factor_.kind == FactorKind::lu) use(&RankFactor<T>::upper);
  }
  DenseView<const T> given(const MovedBlock& block, Array array) const {
    return panel_part(factor_, factor_.*array, ReturnPlan::number_in(own_, block.s),
                      ReturnPlan::number_in(own_, block.above))
        .entries;
  }
  static DenseView<T> made(const MovedBlock& block, Array array, RankFactor<T>& whole) {
    const DenseView<const T> part = panel_part(whole, whole.*array, block.s, block.above).entries;
    return {const_cast<T*>(part.data), part.rows, part.cols, part.ld};
  }

  void copy(const MovedBlock& block, RankFactor<T>& whole) const {
    for_arrays(block, [&](Array array) {
      const DenseView<const T> from = given(block, array);
      const DenseView<T> to = made(block, array, whole);
      for (index_t j = 0; j < from.cols; ++j) std::copy_n(from.column(j), from.rows, to.column(j));
    });
    if (block.s == block.above) set_pivots(block.s, pivots(block.s), whole);
  }
  void put(const MovedBlock& block, PieceWriter& writer) const {
    for_arrays(block, [&](Array array) { writer.put(given(block, array)); });
    if (block.s != block.above) return;
    const DenseMatrix<T> all = pivots(block.s);
    writer.put(all.view());
  }
  void get(const MovedBlock& block, PieceReader& reader, RankFactor<T>& whole) const {
    for_arrays(block, [&](Array array) { reader.get(made(block, array, whole)); });
    if (block.s != block.above) return;
    DenseMatrix<T> all(symbolic_.width(block.s), 3);
    reader.get(all.view());
    set_pivots(block.s, all, whole);
  }

  /// D and P; places are small, so that scalars hold them exactly.
  DenseMatrix<T> pivots(index_t s) const {
    const index_t begin = own_.symbolic->supernode_begin[ReturnPlan::number_in(own_, s)];
    DenseMatrix<T> all(symbolic_.width(s), 3);
    const DenseView<T> view = all.view();
    for (index_t k = 0; k < view.rows; ++k) {
      if (!factor_.d.empty()) view(k, 0) = factor_.d[begin + k], view(k, 1) = factor_.d_below[begin + k];
      if (!factor_.place.empty()) view(k, 2) = T(static_cast<real_t<T>>(factor_.place[begin + k]));
    }
    return all;
  }
  void set_pivots(index_t s, const DenseMatrix<T>& pivots, RankFactor<T>& whole) const {
    const DenseView<const T> view = pivots.view();
    for (index_t k = 0; k < view.rows; ++k) {
      const index_t at = symbolic_.supernode_begin[s] + k;
      if (!whole.d.empty()) whole.d[at] = view(k, 0), whole.d_below[at] = view(k, 1);
      if (!whole.place.empty()) whole.place[at] = static_cast<index_t>(std::real(view(k, 2)));
    }
  }

  const RankFactor<T>& factor_;
  const FactorOfLayers& layers_;
  const SymbolicFactor& symbolic_;
  const index_t rank_;
  const LayerSystem& own_;
};

}  // namespace
}  // namespace solve_detail

ReturnedFactorBytes returned_factor_bytes(const FactorOfLayers& layers, const RankInverseSizes& sizes,
                                          index_t rank) {
  const OwnedBlocks owned = owned_blocks(*layers.symbolic, *layers.placement, rank);
  const int arrays = sizes.kind == FactorKind::lu ? 2 : 1;
  // A pool rounds a buffer up, to at most twice its size.
  return {static_cast<double>(owned.entries()) * arrays * sizes.scalar_bytes,
          2 * solve_detail::ReturnPlan(layers, sizes, rank).held()};
}

template <class T>
RankFactor<T> factor_from_layers(const RankFactor<T>& factor, const FactorOfLayers& layers,
                                 const RankInverseSizes& sizes, Transport& transport, ThreadTeam& team) {
  const solve_detail::FactorReturn<T> work(factor, layers, transport.rank());
  std::optional<solve_detail::ReturnPlan> plan;
  RankFactor<T> whole;
  agree_after(transport, [&] {
    plan.emplace(layers, sizes, transport.rank());
    whole = work.begun(*plan);
  });
  for (std::size_t round = 0; round < plan->num_rounds(); ++round) {
    BytePool pool;
    std::vector<SharedBytes> pieces;
    agree_after(transport, [&] { pieces = work.packed(plan->moved(round), pool); });
    exchange(transport, [&] {
      std::vector<solve_detail::PieceReader> from;
      for (const SharedBytes& bytes : deal_to_all(transport, team, pieces)) from.emplace_back(bytes);
      work.take(plan->moved(round), from, whole);
    });
  }
  return whole;
}

#define PALMETTE_INSTANTIATE(T)                                                          \
  template RankFactor<T> factor_from_layers(const RankFactor<T>&, const FactorOfLayers&, \
                                            const RankInverseSizes&, Transport&, ThreadTeam&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
