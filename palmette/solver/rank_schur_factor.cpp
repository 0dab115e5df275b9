// Blocks of S are cut along the blocks of its layout and dealt to their ranks; the interior's are copied.
#include "palmette/solver/rank_schur_factor.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "palmette/solver/schur_factor.hpp"

namespace palmette {

ComplementPlaces::ComplementPlaces(const ComplementLayout& layout, index_t size, index_t num_ranks)
    : size_(size), grid_(layout.grid), block_(layout.block) {
  if (!layout.block_cyclic) {
    if (layout.root < 0 || layout.root >= num_ranks)
      throw UsageError("the Schur complement is to lie on rank " + std::to_string(layout.root) +
                       ", but the run has " + std::to_string(num_ranks) + " ranks, from 0");
    first_rank_ = layout.root;
    grid_ = {1, 1};
    block_ = std::max(1, size);
    return;
  }
  if (grid_.rows == 0 && grid_.cols == 0) grid_ = nearly_square_grid(num_ranks);
  if (grid_.rows < 1 || grid_.cols < 1 || std::int64_t{grid_.rows} * grid_.cols > num_ranks)
    throw UsageError("a grid of " + std::to_string(grid_.rows) + " x " + std::to_string(grid_.cols) +
                     " for the Schur complement does not fit the run, which has " +
                     std::to_string(num_ranks) + " ranks");
  if (block_ < 1)
    throw UsageError("blocks of " + std::to_string(block_) +
                     " rows for the Schur complement; a block has at least 1");
}

/// As NUMROC of ScaLAPACK.
index_t ComplementPlaces::count(index_t place, index_t places) const {
  const index_t blocks = size_ / block_, before = blocks / places * block_, left = blocks % places;
  return before + (place < left ? block_ : place == left ? size_ % block_ : 0);
}

namespace {

/// Rows × columns of S at (row, column): the begin of what a message says of them; the values follow.
struct TileHead {
  index_t row, column, rows, cols;
};

/// The ends of the pieces of [first, end) that blocks of `block` cut.
std::vector<index_t> cuts(index_t first, index_t end, index_t block) {
  std::vector<index_t> ends;
  for (index_t at = first; at < end; at = ends.back())
    ends.push_back(static_cast<index_t>(std::min<std::int64_t>(end, (std::int64_t{at} / block + 1) * block)));
  return ends;
}

index_t pieces_between(index_t first, index_t end, index_t block) {
  return first == end ? 0 : (end - 1) / block - first / block + 1;
}

/// A block of the boundary that a rank has, and its mirror image: rows × columns of S at (row, column).
struct BoundaryBlock {
  index_t panel, first_row;  // of the rank's panels
  index_t row, column, rows, cols;
  bool is_diagonal() const { return row == column; }
};

std::vector<BoundaryBlock> boundary_blocks(const SymbolicFactor& symbolic, const OwnedBlocks& owned,
                                           index_t size) {
  std::vector<BoundaryBlock> all;
  const index_t first = symbolic.n - size;
  for (index_t p = 0; p < owned.num_panels(); ++p) {
    const index_t s = owned.panel[p], column = symbolic.supernode_begin[s] - first, width = symbolic.width(s);
    if (column < 0) continue;
    if (owned.owns_diagonal[p] != 0) all.push_back({p, 0, column, column, width, width});
    for (const OwnBlock& own : owned.blocks_of_panel(p)) {
      const Block& block = symbolic.blocks[own.block];
      // The boundary is full, so that the rows of a block follow each other.
      const index_t row = symbolic.rows_below(s)[block.first] - first;
      all.push_back({p, own.first_row, row, column, block.count, width});
    }
  }
  return all;
}

/// Of the tiles of a block and its mirror image.
double message_bytes(const BoundaryBlock& block, index_t cut, std::size_t scalar_bytes) {
  const double tiles = double(pieces_between(block.row, block.row + block.rows, cut)) *
                       pieces_between(block.column, block.column + block.cols, cut);
  return (block.is_diagonal() ? 1 : 2) *
         (double(block.rows) * block.cols * scalar_bytes + tiles * sizeof(TileHead));
}

/// What this rank has of S, packed for the ranks that are to hold it, some blocks at a time.
template <class T>
class ComplementSender {
 public:
  ComplementSender(const RankFactor<T>& factor, const ComplementPlaces& places, index_t num_ranks)
      : factor_(factor),
        places_(places),
        blocks_(boundary_blocks(*factor.symbolic, factor.owned, places.size())),
        bytes_(num_ranks) {}

  bool is_done() const { return next_ == blocks_.size(); }

  /// At least one block, and no further one once they need so many bytes.
  std::vector<SharedBytes> packed(BytePool& pool, std::int64_t round_bytes) {
    for (double bytes = 0; !is_done() && (bytes == 0 || bytes < double(round_bytes)); ++next_) {
      add(blocks_[next_]);
      bytes += message_bytes(blocks_[next_], places_.block(), sizeof(T));
    }
    std::vector<SharedBytes> pieces;
    for (std::vector<std::byte>& bytes : bytes_) {
      pieces.push_back(pool.copy(std::span<const std::byte>(bytes)));
      bytes = {};
    }
    return pieces;
  }

 private:
  void add(const BoundaryBlock& block) {
    const index_t row = block.row, column = block.column;
    const auto some = [&](const PanelArray<T>& panels) {
      return factor_.rows_of(panels, block.panel, block.first_row, block.rows);
    };
    const ComplementPart<T> part{row, column, some(factor_.lower),
                                 factor_.kind == FactorKind::lu ? some(factor_.upper) : DenseView<const T>{}};
    const bool is_diagonal = block.is_diagonal();
    DenseMatrix<T> below(block.rows, block.cols), mirrored;
    if (!is_diagonal) mirrored = DenseMatrix<T>(block.cols, block.rows);
    visit_complement<T>(factor_, part, places_.size(), [&](index_t i, index_t j, const T& value) {
      if (is_diagonal || i >= row)
        below.view()(i - row, j - column) = value;
      else
        mirrored.view()(i - column, j - row) = value;
    });
    cut(row, column, below);
    if (!is_diagonal) cut(column, row, mirrored);
  }

  void cut(index_t row, index_t column, const DenseMatrix<T>& values) {
    const std::vector<index_t> row_ends = cuts(row, row + values.rows, places_.block()),
                               column_ends = cuts(column, column + values.cols, places_.block());
    for (index_t c = column; const index_t column_end : column_ends) {
      for (index_t r = row; const index_t row_end : row_ends) {
        write({r, c, row_end - r, column_end - c},
              values.view().data + (r - row) + (c - column) * values.rows, values.rows);
        r = row_end;
      }
      c = column_end;
    }
  }

  void write(const TileHead& head, const T* values, std::ptrdiff_t ld) {
    std::vector<std::byte>& to = bytes_[places_.owner(head.row, head.column)];
    const auto append = [&](const void* from, std::size_t bytes) {
      const auto* const begin = static_cast<const std::byte*>(from);
      to.insert(to.end(), begin, begin + bytes);
    };
    append(&head, sizeof head);
    for (index_t j = 0; j < head.cols; ++j) append(values + j * ld, head.rows * sizeof(T));
  }

  const RankFactor<T>& factor_;
  const ComplementPlaces& places_;
  std::vector<BoundaryBlock> blocks_;
  std::size_t next_ = 0;                       // of blocks_
  std::vector<std::vector<std::byte>> bytes_;  // by rank
};

template <class T>
void put_tiles(const SharedBytes& bytes, const ComplementPlaces& places, DenseView<T> part) {
  const std::byte *at = bytes.data(), *const end = at + bytes.size();
  while (at != end) {
    TileHead head;
    std::memcpy(&head, at, sizeof head);
    at += sizeof head;
    const index_t row = places.local_row(head.row), column = places.local_column(head.column);
    for (index_t j = 0; j < head.cols; ++j, at += head.rows * sizeof(T))
      std::memcpy(part.column(column + j) + row, at, head.rows * sizeof(T));
  }
}

template <class T>
void copy_block(DenseView<const T> from, DenseView<T> to) {
  for (index_t column = 0; column < from.cols; ++column)
    std::copy_n(from.column(column), from.rows, to.column(column));
}

/// Panel p of the interior's factor.
template <class T>
void copy_interior_panel(const RankFactor<T>& factor, index_t p, RankFactor<T>& part) {
  const index_t s = part.owned.panel[p], from = factor.owned.panel_number(s), width = part.symbolic->width(s);
  const auto copy = [&](const PanelArray<T>& panels, PanelArray<T>& own, index_t from_row, index_t row,
                        index_t rows) {
    copy_block<T>(factor.rows_of(panels, from, from_row, rows), part.rows_of(own, p, row, rows));
  };
  if (part.owned.owns_diagonal[p] != 0) copy(factor.lower, part.lower, 0, 0, width);
  const std::span<const OwnBlock> blocks = factor.owned.blocks_of_panel(from);
  // The blocks of the interior come first, in the same order.
  for (std::size_t k = 0; const OwnBlock& own : part.owned.blocks_of_panel(p)) {
    const OwnBlock& same = blocks[k++];
    const index_t rows = part.symbolic->blocks[own.block].count;
    copy(factor.lower, part.lower, same.first_row, own.first_row, rows);
    if (factor.kind == FactorKind::lu) copy(factor.upper, part.upper, same.first_row, own.first_row, rows);
  }
}

template <class T>
void make_identity_panel(index_t p, RankFactor<T>& part) {
  const index_t s = part.owned.panel[p], width = part.symbolic->width(s),
                begin = part.symbolic->supernode_begin[s];
  const DenseView<T> block = part.rows_of(part.lower, p, 0, width);
  for (index_t j = 0; j < width; ++j) {
    std::fill_n(block.column(j), width, T(0));
    block(j, j) = T(1);
  }
  for (index_t j = 0; j < width; ++j) {
    if (part.kind != FactorKind::llt) part.place[begin + j] = j;
    if (part.kind == FactorKind::ldlt) part.d[begin + j] = T(1), part.d_below[begin + j] = T(0);
  }
}

}  // namespace

template <class T>
DenseMatrix<T> complement_over_ranks(const RankTeam& ranks, const RankFactor<T>& factor,
                                     const ComplementPlaces& places, std::int64_t round_bytes) {
  Transport& transport = ranks.transport;
  const index_t rank = transport.rank();
  std::optional<ComplementSender<T>> sender;
  DenseMatrix<T> part;
  agree_after(transport, [&] {
    sender.emplace(factor, places, transport.num_ranks());
    part = DenseMatrix<T>(places.num_rows(rank), places.num_cols(rank));
  });
  while (transport.agree(sender->is_done() ? 0 : 1) != 0) {
    BytePool pool;
    std::vector<SharedBytes> pieces;
    agree_after(transport, [&] { pieces = sender->packed(pool, round_bytes); });
    exchange(transport, [&] {
      for (const SharedBytes& bytes : deal_to_all(transport, ranks.team, pieces, ranks.drive))
        put_tiles(bytes, places, part.view());
    });
  }
  return part;
}

double dealing_bytes(const SymbolicFactor& symbolic, const OwnedBlocks& owned, const ComplementPlaces& places,
                     const DealingQuestion& question) {
  double sent = 0, largest = 0;
  for (const BoundaryBlock& block : boundary_blocks(symbolic, owned, places.size())) {
    const double bytes = message_bytes(block, places.block(), question.scalar_bytes);
    sent += bytes;
    largest = std::max(largest, bytes);
  }
  const double round = static_cast<double>(question.round_bytes) + largest;
  const index_t rank = question.rank, rows = places.num_rows(rank), cols = places.num_cols(rank);
  // Tiles also end where supernodes do.
  double tile_rows = 0, tile_cols = 0;
  const index_t first = rows > 0 && cols > 0 ? supernodes_before(symbolic, places.size())
                                             : symbolic.num_supernodes();
  for (index_t s = first; s < symbolic.num_supernodes(); ++s) {
    const index_t begin = symbolic.supernode_begin[s] - (symbolic.n - places.size());
    index_t at = begin;
    for (const index_t end : cuts(begin, begin + symbolic.width(s), places.block())) {
      if (places.owner(at, places.column(rank, 0)) == rank) ++tile_rows;
      if (places.owner(places.row(rank, 0), at) == rank) ++tile_cols;
      at = end;
    }
  }
  const double received =
      double(rows) * cols * question.scalar_bytes + tile_rows * tile_cols * sizeof(TileHead);
  // What is sent is packed, and then copied for the messages.
  return 2 * std::min(sent, round) + std::min(received, question.num_ranks * round);
}

template <class T>
RankFactor<T> interior_part(const RankFactor<T>& factor, std::shared_ptr<const SymbolicFactor> structure,
                            std::shared_ptr<const Placement> placement, index_t columns_last) {
  RankFactor<T> part;
  part.kind = factor.kind;
  part.hermitian = factor.hermitian;
  part.owned = owned_blocks(*structure, *placement, factor.owned.rank);
  part.lower = PanelArray<T>(part.owned.entries(), Uninitialised());
  if (factor.kind == FactorKind::lu) part.upper = PanelArray<T>(part.owned.entries());
  part.d = factor.d;
  part.d_below = factor.d_below;
  part.place = factor.place;
  part.row_scale = factor.row_scale;
  part.column_scale = factor.column_scale;
  part.symbolic = std::move(structure);
  part.placement = std::move(placement);
  const index_t first_last = part.symbolic->n - columns_last;
  for (index_t p = 0; p < part.owned.num_panels(); ++p)
    if (part.symbolic->supernode_begin[part.owned.panel[p]] < first_last)
      copy_interior_panel(factor, p, part);
    else
      make_identity_panel(p, part);
  return part;
}

template <class T>
std::vector<LongScalar<T>> multiply_complement(const RankTeam& ranks, DenseView<const T> part,
                                               const ComplementPlaces& places, const DenseMatrix<T>& v) {
  using Long = LongScalar<T>;
  const index_t rank = ranks.transport.rank();
  std::vector<Long> mine(part.rows, Long(0)), sum(places.size(), Long(0));
  for (index_t j = 0; j < part.cols; ++j) {
    const Long factor(v.values[places.column(rank, j)]);
    for (index_t i = 0; i < part.rows; ++i) mine[i] += Long(part(i, j)) * factor;
  }
  BytePool pool;
  exchange(ranks.transport, [&] {
    const std::vector<SharedBytes> all = gather_from_all(
        ranks.transport, ranks.team, pool.copy(std::as_bytes(std::span<const Long>(mine))), ranks.drive);
    for (index_t from = 0; from < static_cast<index_t>(all.size()); ++from)
      for (index_t i = 0; i < static_cast<index_t>(all[from].size() / sizeof(Long)); ++i) {
        Long term;
        std::memcpy(&term, all[from].data() + i * sizeof(Long), sizeof(Long));
        sum[places.row(from, i)] += term;
      }
  });
  return sum;
}

#define PALMETTE_INSTANTIATE(T)                                                                     \
  template DenseMatrix<T> complement_over_ranks(const RankTeam&, const RankFactor<T>&,              \
                                                const ComplementPlaces&, std::int64_t);             \
  template RankFactor<T> interior_part(const RankFactor<T>&, std::shared_ptr<const SymbolicFactor>, \
                                       std::shared_ptr<const Placement>, index_t);                  \
  template std::vector<LongScalar<T>> multiply_complement(const RankTeam&, DenseView<const T>,      \
                                                          const ComplementPlaces&, const DenseMatrix<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
