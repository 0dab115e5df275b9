// Blocks of a factor go back from their layers to the ranks that factored them.
#include <algorithm>

#include "palmette/solve/inverse_panels.hpp"
#include "palmette/solve/rank_selected_inverse.hpp"

namespace palmette {
namespace solve_detail {
namespace {

template <class T>
class FactorReturn {
 public:
  FactorReturn(const RankFactor<T>& factor, const FactorOfLayers& layers, index_t rank)
      : factor_(factor),
        layers_(layers),
        symbolic_(*layers.symbolic),
        rank_(rank),
        ranks_of_layer_(layers.systems[0].ranks.grid.num_ranks()),
        own_(layers.systems[rank / ranks_of_layer_]) {}

  std::vector<SharedBytes> packed(BytePool& pool) const {
    std::vector<SharedBytes> pieces;
    for (index_t to = 0; to < layers_.placement->num_ranks(); ++to)
      pieces.push_back(written(pool, [&](PieceWriter& writer) {
        for_blocks([&](index_t s, index_t above) {
          if (layers_.placement->owner(above, s) == to && source(s, above) == rank_) put(s, above, writer);
        });
      }));
    return pieces;
  }
  RankFactor<T> empty() const {
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
    return whole;
  }
  /// @param from  by rank
  void take(std::vector<PieceReader>& from, RankFactor<T>& whole) const {
    for_blocks([&](index_t s, index_t above) {
      if (layers_.placement->owner(above, s) == rank_) get(s, above, from[source(s, above)], whole);
    });
  }

 private:
  template <class Use>
  void for_blocks(const Use& use) const {
    for (index_t s = 0; s < symbolic_.num_supernodes(); ++s) {
      use(s, s);
      for (const Block& block : symbolic_.blocks_of(s)) use(s, block.row_supernode);
    }
  }
  static index_t number_in(const LayerSystem& system, index_t s) {
    const auto found = std::lower_bound(system.supernode.begin(), system.supernode.end(), s);
    return static_cast<index_t>(found - system.supernode.begin());
  }
  /// The block's rank in the first layer that holds it.
  index_t source(index_t s, index_t above) const {
    const index_t layer = own_.layering->holders(s).first;
    const LayerSystem& system = layers_.systems[layer];
    return layer * ranks_of_layer_ + system.placement->owner(number_in(system, above), number_in(system, s));
  }

  void put(index_t s, index_t above, PieceWriter& writer) const {
    const index_t here = number_in(own_, s), there = number_in(own_, above);
    writer.put(panel_part(factor_, factor_.lower, here, there).entries);
    if (s == above) return put_pivots(here, writer);
    if (factor_.kind == FactorKind::lu) writer.put(panel_part(factor_, factor_.upper, here, there).entries);
  }
  /// D and P; places are small, so that scalars hold them exactly.
  void put_pivots(index_t here, PieceWriter& writer) const {
    const index_t begin = own_.symbolic->supernode_begin[here], width = own_.symbolic->width(here);
    const DenseView<T> pivots = writer.template next<T>(width, 3);
    if (pivots.data == nullptr) return;
    fill_zero(pivots);
    for (index_t k = 0; k < width; ++k) {
      if (!factor_.d.empty()) pivots(k, 0) = factor_.d[begin + k], pivots(k, 1) = factor_.d_below[begin + k];
      if (!factor_.place.empty()) pivots(k, 2) = T(static_cast<real_t<T>>(factor_.place[begin + k]));
    }
  }
  void get(index_t s, index_t above, PieceReader& reader, RankFactor<T>& whole) const {
    const auto get_into = [&](PanelArray<T>& array) {
      const DenseView<const T> part = panel_part(whole, array, s, above).entries;
      reader.get(DenseView<T>{const_cast<T*>(part.data), part.rows, part.cols, part.ld});
    };
    get_into(whole.lower);
    if (s != above) {
      if (whole.kind == FactorKind::lu) get_into(whole.upper);
      return;
    }
    DenseMatrix<T> pivots(symbolic_.width(s), 3);
    reader.get(pivots.view());
    for (index_t k = 0; k < pivots.rows; ++k) {
      const index_t at = symbolic_.supernode_begin[s] + k;
      if (!whole.d.empty()) whole.d[at] = pivots.view()(k, 0), whole.d_below[at] = pivots.view()(k, 1);
      if (!whole.place.empty()) whole.place[at] = static_cast<index_t>(std::real(pivots.view()(k, 2)));
    }
  }

  const RankFactor<T>& factor_;
  const FactorOfLayers& layers_;
  const SymbolicFactor& symbolic_;
  const index_t rank_, ranks_of_layer_;
  const LayerSystem& own_;
};

}  // namespace
}  // namespace solve_detail

template <class T>
RankFactor<T> factor_from_layers(const RankFactor<T>& factor, const FactorOfLayers& layers,
                                 Transport& transport, ThreadTeam& team) {
  const solve_detail::FactorReturn<T> work(factor, layers, transport.rank());
  BytePool pool;
  std::vector<SharedBytes> pieces;
  RankFactor<T> whole;
  agree_after(transport, [&] {
    pieces = work.packed(pool);
    whole = work.empty();
  });
  exchange(transport, [&] {
    std::vector<solve_detail::PieceReader> from;
    for (const SharedBytes& bytes : deal_to_all(transport, team, pieces)) from.emplace_back(bytes);
    work.take(from, whole);
  });
  return whole;
}

#define PALMETTE_INSTANTIATE(T)                                                                      \
  template RankFactor<T> factor_from_layers(const RankFactor<T>&, const FactorOfLayers&, Transport&, \
                                            ThreadTeam&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
