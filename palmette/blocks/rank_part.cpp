// Panel by panel, block by block.
#include "palmette/blocks/rank_part.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {
namespace {

template <class T>
void copy_rows(DenseView<const T> from, DenseView<T> to) {
  for (index_t column = 0; column < from.cols; ++column)
    std::copy_n(from.column(column), from.rows, to.column(column));
}

/// The entries of a vector over all columns that belong to columns of own panels.
template <class Value>
void copy_columns(const std::vector<Value>& from, index_t first, index_t width, index_t to_first,
                  std::vector<Value>& to) {
  if (!from.empty()) std::copy_n(from.begin() + first, width, to.begin() + to_first);
}

/// `s` is the number of panel p's supernode in the whole factor.
template <class T>
void copy_panel(const Factor<T>& factor, index_t s, index_t p, RankFactor<T>& part) {
  const SymbolicFactor &whole = *factor.symbolic, &mine = *part.symbolic;
  const index_t here = part.owned.panel[p], width = whole.width(s);
  const auto ld = static_cast<index_t>(whole.leading_dimension(s));
  const auto rows = [&](const PanelArray<T>& panels, index_t first, index_t count) {
    return DenseView<const T>{panels.data() + whole.panel_offset[s] + first, count, width, ld};
  };
  const bool diagonal = part.owned.owns_diagonal[p] != 0;
  if (diagonal) copy_rows<T>(rows(factor.lower, 0, width), part.rows_of(part.lower, p, 0, width));
  for (const OwnBlock& own : part.owned.blocks_of_panel(p)) {
    const Block& block = mine.blocks[own.block];
    copy_rows<T>(rows(factor.lower, width + block.first, block.count),
                 part.rows_of(part.lower, p, own.first_row, block.count));
    if (factor.kind == FactorKind::lu)
      copy_rows<T>(rows(factor.upper, width + block.first, block.count),
                   part.rows_of(part.upper, p, own.first_row, block.count));
  }
  const index_t first = whole.supernode_begin[s], to = mine.supernode_begin[here];
  copy_columns(factor.d, first, width, to, part.d);
  copy_columns(factor.d_below, first, width, to, part.d_below);
  copy_columns(factor.place, first, width, to, part.place);
}

}  // namespace

template <class T>
RankFactor<T> rank_part(const Factor<T>& factor, std::shared_ptr<const SymbolicFactor> symbolic,
                        std::shared_ptr<const Placement> placement, index_t rank,
                        std::span<const index_t> supernode) {
  if (symbolic->num_supernodes() != static_cast<index_t>(supernode.size()))
    throw DimensionError("a structure of " + std::to_string(symbolic->num_supernodes()) +
                         " supernodes for a part of " + std::to_string(supernode.size()));
  RankFactor<T> part;
  part.kind = factor.kind;
  part.hermitian = factor.hermitian;
  part.owned = owned_blocks(*symbolic, *placement, rank);
  part.lower = PanelArray<T>(part.owned.entries());
  if (factor.kind == FactorKind::lu) part.upper = PanelArray<T>(part.owned.entries());
  const auto n = static_cast<std::size_t>(symbolic->n);
  if (factor.kind == FactorKind::ldlt) {
    part.d.resize(n);
    part.d_below.resize(n);
  }
  if (factor.kind != FactorKind::llt) part.place.resize(n);
  part.row_scale = factor.row_scale;
  part.column_scale = factor.column_scale;
  part.symbolic = std::move(symbolic);
  part.placement = std::move(placement);
  for (index_t p = 0; p < part.owned.num_panels(); ++p)
    copy_panel(factor, supernode[part.owned.panel[p]], p,
               part);
  return part;
}

template <class T>
RankFactor<T> rank_part(const Factor<T>& factor, std::shared_ptr<const Placement> placement, index_t rank) {
  std::vector<index_t> all(factor.symbolic->num_supernodes());
  std::iota(all.begin(), all.end(), 0);
  return rank_part<T>(factor, factor.symbolic, std::move(placement), rank, all);
}

#define PALMETTE_INSTANTIATE(T)                                                                  \
  template RankFactor<T> rank_part(const Factor<T>&, std::shared_ptr<const Placement>, index_t); \
  template RankFactor<T> rank_part(const Factor<T>&, std::shared_ptr<const SymbolicFactor>,      \
                                   std::shared_ptr<const Placement>, index_t, std::span<const index_t>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
