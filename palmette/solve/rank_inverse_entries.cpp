// What a rank holds of a selected inverse, entry by entry.
#include <algorithm>

#include "palmette/solve/inverse_panels.hpp"
#include "palmette/solve/rank_selected_inverse.hpp"

namespace palmette {

template <class T>
index_t RankSelectedInverse<T>::owner(index_t row, index_t column) const {
  const auto place = solve_detail::place_of_entry(*panels.symbolic, row, column);
  if (!place) return -1;
  const index_t s = place->supernode, width = panels.symbolic->width(s);
  if (place->is_inside) return panels.placement->owner(s, s);
  const index_t far = panels.symbolic->rows_below(s)[place->far - width];
  return panels.placement->owner(panels.symbolic->supernode_of[far], s);
}

template <class T>
std::optional<T> RankSelectedInverse<T>::entry(index_t row, index_t column) const {
  if (owner(row, column) != panels.owned.rank) return std::nullopt;
  const SymbolicFactor& symbolic = *panels.symbolic;
  const auto place = solve_detail::place_of_entry(symbolic, row, column);
  const index_t s = place->supernode, width = symbolic.width(s);
  const bool is_lu = panels.kind == FactorKind::lu;
  T value;
  if (place->is_inside) {
    const DenseView<const T> block = solve_detail::panel_part(panels, panels.lower, s, s).entries;
    value = place->is_upper && is_lu ? block(place->near, place->far) : block(place->far, place->near);
  } else {
    const index_t far = symbolic.rows_below(s)[place->far - width];
    const auto part = solve_detail::panel_part(panels, place->is_upper && is_lu ? panels.upper : panels.lower,
                                               s, symbolic.supernode_of[far]);
    const auto at = std::lower_bound(part.rows.begin(), part.rows.end(), far) - part.rows.begin();
    value = part.entries(static_cast<index_t>(at), place->near);
  }
  if (place->is_upper && !is_lu && panels.hermitian) value = conjugate(value);
  if (!panels.column_scale.empty()) value *= static_cast<real_t<T>>(panels.column_scale[row]);
  if (!panels.row_scale.empty()) value *= static_cast<real_t<T>>(panels.row_scale[column]);
  return value;
}

namespace solve_detail {
namespace {

/// A rank's entries.
template <class T>
Triplets<T> triplets_of(const RankSelectedInverse<T>& inverse) {
  const RankFactor<T>& panels = inverse.panels;
  const SymbolicFactor& symbolic = *panels.symbolic;
  Triplets<T> all{inverse.size(), inverse.size(), {}, {}, {}};
  const auto add = [&](index_t i, index_t j) {
    const index_t row = symbolic.column.new_to_old()[i], column = symbolic.row.new_to_old()[j];
    all.row.push_back(row);
    all.column.push_back(column);
    all.value.push_back(*inverse.entry(row, column));
  };
  for (index_t panel = 0; panel < panels.owned.num_panels(); ++panel) {
    const index_t s = panels.owned.panel[panel];
    const index_t begin = symbolic.supernode_begin[s], end = symbolic.supernode_begin[s + 1];
    for (index_t j = begin; j < end; ++j) {
      for (index_t i = begin; panels.owned.owns_diagonal[panel] != 0 && i < end; ++i) add(i, j);
      for (const OwnBlock& own : panels.owned.blocks_of_panel(panel)) {
        const Block& block = symbolic.blocks[own.block];
        for (const index_t i : symbolic.rows_below(s).subspan(block.first, block.count)) {
          add(i, j);
          add(j, i);
        }
      }
    }
  }
  return all;
}

template <class T>
constexpr std::size_t bytes_of_triplet = 2 * sizeof(index_t) + sizeof(T);
template <class T>
std::size_t entries_in_round(double bytes) {
  constexpr double most_in_message = 1 << 26;
  return static_cast<std::size_t>(std::clamp(bytes / bytes_of_triplet<T>, 1.0, most_in_message));
}

/// At most `count` of the triplets from `first` on.
template <class T>
void put_some(const Triplets<T>& from, std::size_t first, std::size_t count, PieceWriter& writer) {
  if (first >= from.row.size()) return;
  const auto rows = static_cast<index_t>(std::min(count, from.row.size() - first));
  writer.put(DenseView<const index_t>{from.row.data() + first, rows, 1, rows});
  writer.put(DenseView<const index_t>{from.column.data() + first, rows, 1, rows});
  writer.put(DenseView<const T>{from.value.data() + first, rows, 1, rows});
}
template <class T>
void add(const SharedBytes& piece, Triplets<T>& to) {
  const std::size_t count = piece.size() / bytes_of_triplet<T>, before = to.row.size();
  const auto rows = static_cast<index_t>(count);
  PieceReader reader(piece);
  const auto get = [&](auto& items) {
    items.resize(before + count);
    reader.get(
        DenseView<typename std::decay_t<decltype(items)>::value_type>{items.data() + before, rows, 1, rows});
  };
  get(to.row);
  get(to.column);
  get(to.value);
}

}  // namespace
}  // namespace solve_detail

template <class T>
SparseMatrix<T> RankSelectedInverse<T>::matrix() const {
  return from_triplets(solve_detail::triplets_of(*this));
}

template <class T>
SparseMatrix<T> RankSelectedInverse<T>::gathered(Transport& transport, ThreadTeam& team, index_t root,
                                                 double round_bytes) const {
  const bool receives = transport.rank() == root;
  const std::size_t in_round = solve_detail::entries_in_round<T>(round_bytes / transport.num_ranks());
  Triplets<T> own;
  agree_after(transport, [&] { own = solve_detail::triplets_of(*this); });
  Triplets<T> all{0, 0, {}, {}, {}};
  if (receives) std::swap(all, own);
  for (std::size_t first = 0; transport.agree(first < own.row.size() ? 1 : 0) != 0; first += in_round) {
    BytePool pool;
    std::vector<SharedBytes> pieces(transport.num_ranks());
    agree_after(transport, [&] {
      pieces[root] = solve_detail::written(pool, [&](solve_detail::PieceWriter& writer) {
        solve_detail::put_some(own, first, in_round, writer);
      });
    });
    exchange(transport, [&] {
      for (const SharedBytes& piece : deal_to_all(transport, team, pieces)) solve_detail::add(piece, all);
    });
  }
  SparseMatrix<T> whole;
  agree_after(transport, [&] {
    if (receives) whole = from_triplets(all);
  });
  return whole;
}

#define PALMETTE_INSTANTIATE(T) template struct RankSelectedInverse<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
