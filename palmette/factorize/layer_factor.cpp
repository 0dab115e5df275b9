// Lists of blocks for each partner, in the same order at both ends; they are packed, sent and unpacked.
#include "palmette/factorize/layer_factor.hpp"

#include <atomic>
#include <cstring>
#include <map>

namespace palmette {
namespace factorize_detail {

/// A block of one panel: number in OwnedBlocks::own, or −1 for the diagonal block.
struct Piece {
  index_t panel = 0;
  offset_t own = -1;
};
using PiecesByRank = std::map<index_t, std::vector<Piece>>;

template <class T>
class HandingProgram final : public RankProgram {
 public:
  HandingProgram(RankFactor<T> from, std::shared_ptr<const LayerSystem> system, Transport& transport)
      : from_(std::move(from)), system_(std::move(system)), transport_(transport) {
    make_empty();
    list_outgoing();
    list_incoming();
    to_come_.store(static_cast<index_t>(incoming_.size()));
    for (const auto& [rank, pieces] : outgoing_) destinations_.push_back(rank);
    to_send_.store(static_cast<index_t>(destinations_.size()));
  }

  void start() override {
    const auto own = own_pieces_.find(transport_.rank());
    if (own == own_pieces_.end()) return;
    // What stays on this rank goes through the same bytes, piece by piece.
    std::size_t at = 0;
    for (const Piece& piece : own->second) {
      SharedBytes bytes = pool_.take(bytes_of(piece));
      write(piece, bytes.writable().data());
      read(kept_[at++], bytes.data());
    }
  }

  void on_message(const Message& message) override {
    const std::byte* at = message.payload.data();
    for (const Piece& piece : incoming_.at(message.source)) at = read(piece, at);
    to_come_.fetch_sub(1, std::memory_order_release);
  }

  bool run_one_task(int) override {
    const index_t turn = next_.fetch_add(1);
    if (turn >= static_cast<index_t>(destinations_.size())) return false;
    const index_t rank = destinations_[turn];
    const std::vector<Piece>& pieces = outgoing_.at(rank);
    offset_t size = 0;
    for (const Piece& piece : pieces) size += bytes_of(piece);
    SharedBytes bytes = pool_.take(size);
    std::byte* to = bytes.writable().data();
    for (const Piece& piece : pieces) to = write(piece, to);
    last_cost_.store(static_cast<double>(size), std::memory_order_relaxed);
    transport_.send(rank, 0, std::move(bytes));
    to_send_.fetch_sub(1, std::memory_order_release);
    return true;
  }

  bool done() const override {
    return to_send_.load(std::memory_order_acquire) == 0 && to_come_.load(std::memory_order_acquire) == 0;
  }
  double last_cost() const override { return last_cost_.load(std::memory_order_relaxed); }
  std::string waiting_for() const override {
    std::string ranks;
    for (const auto& [rank, pieces] : incoming_) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
    return "finished blocks of " + std::to_string(to_come_.load()) + " among the ranks " + ranks;
  }

  RankFactor<T> take() { return std::move(to_); }

 private:
  void make_empty() {
    to_.kind = from_.kind;
    to_.hermitian = from_.hermitian;
    to_.symbolic = system_->symbolic;
    to_.placement = system_->placement;
    to_.owned = owned_blocks(*to_.symbolic, *to_.placement,
                             transport_.rank() - system_->ranks.first_rank(system_->layer));
    to_.lower = PanelArray<T>(to_.owned.entries(), Uninitialised());
    if (to_.kind == FactorKind::lu) to_.upper = PanelArray<T>(to_.owned.entries());
    const auto n = static_cast<std::size_t>(to_.symbolic->n);
    if (to_.kind == FactorKind::ldlt) {
      to_.d.resize(n);
      to_.d_below.resize(n);
    }
    if (to_.kind != FactorKind::llt) to_.place.resize(n);
    to_.row_scale = std::move(from_.row_scale);
    to_.column_scale = std::move(from_.column_scale);
  }

  /// Blocks of the factorization, by the rank that receives them.
  void list_outgoing() {
    const OwnedBlocks& owned = from_.owned;
    const auto add = [&](index_t row, index_t s, const Piece& piece) {
      if (!system_->layering->is_replicated(s)) return own_pieces_[owned.rank].push_back(piece);
      for (const index_t rank : layer_holders(*system_, row, s))
        (rank == owned.rank ? own_pieces_ : outgoing_)[rank].push_back(piece);
    };
    for (index_t p = 0; p < owned.num_panels(); ++p) {
      const index_t s = owned.panel[p];
      if (owned.owns_diagonal[p] != 0) add(s, s, {p, -1});
      for (offset_t own = owned.own_ptr[p];
           own < owned.own_ptr[p + 1]; ++own)
        add(from_.symbolic->blocks[owned.own[own].block]
                .row_supernode,
            s, {p, own});
    }
  }

  /// Blocks of the layer's system, by the rank that factorized them.
  void list_incoming() {
    const OwnedBlocks& owned = to_.owned;
    const auto add = [&](index_t row, index_t s, const Piece& piece) {
      const index_t rank = from_.placement->owner(system_->supernode[row],
                                                  system_->supernode[s]);
      if (rank == transport_.rank())
        kept_.push_back(piece);
      else
        incoming_[rank].push_back(piece);
    };
    for (index_t p = 0; p < owned.num_panels(); ++p) {
      const index_t s = owned.panel[p];
      if (owned.owns_diagonal[p] != 0) add(s, s, {p, -1});
      for (offset_t own = owned.own_ptr[p];
           own < owned.own_ptr[p + 1]; ++own)
        add(to_.symbolic->blocks[owned.own[own].block]
                .row_supernode,
            s, {p, own});
    }
  }

  offset_t bytes_of(const Piece& piece) const {
    const BlockNumbers numbers(*from_.symbolic);
    const offset_t block = piece.own == -1
                               ? numbers.diagonal(from_.owned.panel[piece.panel])
                               : from_.owned.own[piece.own].block;
    return handed_bytes(*from_.symbolic, from_.kind, block, sizeof(T));
  }

  /// Calls part(address, bytes) for each run of memory of a piece, in the order of messages.
  template <class Factor, class Part>
  static void visit(Factor& factor, const Piece& piece, Part&& part) {
    const index_t s = factor.owned.panel[piece.panel],
                  width = factor.symbolic->width(s);
    const auto columns_of = [&](auto& panels, index_t first, index_t rows) {
      const auto view = factor.rows_of(panels, piece.panel, first, rows);
      for (index_t column = 0; column < width; ++column)
        part(view.column(column), rows * sizeof(T));
    };
    const auto values_of = [&](auto& values) {
      if (!values.empty())
        part(values.data() + factor.symbolic->supernode_begin[s],
             width * sizeof(values[0]));
    };
    if (piece.own == -1) {
      columns_of(factor.lower, 0, width);
      values_of(factor.d);
      values_of(factor.d_below);
      return values_of(factor.place);
    }
    const OwnBlock& own = factor.owned.own[piece.own];
    const index_t rows = factor.symbolic->blocks[own.block].count;
    columns_of(factor.lower, own.first_row, rows);
    if (factor.kind == FactorKind::lu) columns_of(factor.upper, own.first_row, rows);
  }
  std::byte* write(const Piece& piece, std::byte* to) const {
    visit(from_, piece, [&](const void* from, std::size_t bytes) {
      std::memcpy(to, from, bytes);
      to += bytes;
    });
    return to;
  }
  const std::byte* read(const Piece& piece, const std::byte* from) {
    visit(to_, piece, [&](void* to, std::size_t bytes) {
      std::memcpy(to, from, bytes);
      from += bytes;
    });
    return from;
  }

  RankFactor<T> from_;
  std::shared_ptr<const LayerSystem> system_;
  Transport& transport_;
  RankFactor<T> to_;
  PiecesByRank outgoing_;    // of from_
  PiecesByRank own_pieces_;  // of from_: what stays
  std::vector<Piece> kept_;  // of to_: the same, in the same order
  PiecesByRank incoming_;    // of to_
  std::vector<index_t> destinations_;
  BytePool pool_;
  std::atomic<index_t> next_{0};
  std::atomic<index_t> to_send_{0};
  std::atomic<index_t> to_come_{0};
  std::atomic<double> last_cost_{0};
};

}  // namespace factorize_detail

template <class T>
struct LayerFactorHanding<T>::State {
  factorize_detail::HandingProgram<T> program;
};

template <class T>
LayerFactorHanding<T>::LayerFactorHanding(RankFactor<T> factor, std::shared_ptr<const LayerSystem> system,
                                          Transport& transport) {
  if (!factor.symbolic || !system)
    throw UsageError(
        "the factor or the layers are missing; layers receive blocks after the factorization");
  const LayeredGrid& ranks = system->ranks;
  if (transport.num_ranks() != ranks.num_ranks() || factor.placement->num_ranks() != ranks.num_ranks())
    throw UsageError("the transport has " + std::to_string(transport.num_ranks()) + " ranks, the factor " +
                     std::to_string(factor.placement->num_ranks()) + ", the layers " +
                     std::to_string(ranks.num_ranks()));
  if (transport.rank() / ranks.grid.num_ranks() != system->layer)
    throw UsageError("rank " + std::to_string(transport.rank()) + " does not belong to layer " +
                     std::to_string(system->layer));
  state_.reset(new State{{std::move(factor), std::move(system), transport}});
}
template <class T>
LayerFactorHanding<T>::~LayerFactorHanding() = default;
template <class T>
LayerFactorHanding<T>::LayerFactorHanding(LayerFactorHanding&&) noexcept = default;

template <class T>
RankProgram& LayerFactorHanding<T>::program() {
  return state_->program;
}

template <class T>
RankFactor<T> LayerFactorHanding<T>::take() {
  if (!state_->program.done())
    throw UsageError("the factor of a layer is not ready: its program is not done");
  return state_->program.take();
}

#define PALMETTE_INSTANTIATE(T) template class LayerFactorHanding<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
