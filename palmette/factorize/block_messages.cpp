// Columns of a block follow each other without gaps; then, for LU, those of its U; for LDLᵀ, D.
#include "palmette/factorize/block_messages.hpp"

#include <cstring>

namespace palmette::factorize_detail {
namespace {

std::byte* write(const void* from, std::size_t bytes, std::byte* to) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return to + bytes;
}

template <class T>
std::byte* write(DenseView<const T> view, std::byte* to) {
  for (index_t column = 0; column < view.cols; ++column)
    to = write(view.column(column), view.rows * sizeof(T), to);
  return to;
}

template <class Span>
std::byte* write(const Span& span, std::byte* to) {
  return write(span.data(), span.size_bytes(), to);
}

}  // namespace

template <class T>
bool BlockMessages<T>::fetches(const Message& message) {
  if (!pulls_ || message.tag >= numbers_.count() || message.payload.size() == 0) return false;
  Offer offer;
  std::memcpy(&offer, message.payload.data(), sizeof offer);
  transport_.get(message.source, offer);
  return true;
}

template <class T>
SharedBytes BlockMessages<T>::take(offset_t number) {
  return pool_.take(
      static_cast<std::size_t>(message_bytes(work_.symbolic, work_.factor.kind, number, sizeof(T))));
}

template <class T>
void BlockMessages<T>::send_diagonal(index_t p, DenseView<const T> block, bool without_content) {
  const auto first = static_cast<std::size_t>(fan_.diagonal_goes_ptr[p]),
             end = static_cast<std::size_t>(fan_.diagonal_goes_ptr[p + 1]);
  if (first == end) return;
  const offset_t number = numbers_.diagonal(work_.supernode(p));
  SharedBytes bytes;
  if (!without_content) {
    bytes = take(number);
    const PanelParts<T> parts = work_.parts(p, {});
    std::byte* to = write<T>(block, bytes.writable().data());
    to = write(parts.d, to);
    to = write(parts.d_below, to);
    write(parts.place, to);
  }
  deliver(number, std::move(bytes), std::span(fan_.diagonal_goes_to).subspan(first, end - first));
}

template <class T>
void BlockMessages<T>::send_blocks(index_t p, bool without_content) {
  for (offset_t own = fan_.owned.own_ptr[p]; own < fan_.owned.own_ptr[p + 1]; ++own) {
    const auto first = static_cast<std::size_t>(fan_.goes_ptr[own]),
               end = static_cast<std::size_t>(fan_.goes_ptr[own + 1]);
    if (first == end) continue;
    const OwnBlock& block = fan_.owned.own[own];
    SharedBytes bytes;
    if (!without_content) bytes = packed(p, block);
    deliver(block.block, std::move(bytes), std::span(fan_.goes_to).subspan(first, end - first));
  }
}

template <class T>
SharedBytes BlockMessages<T>::packed(index_t p, const OwnBlock& block) {
  const index_t rows = work_.symbolic.blocks[block.block].count;
  SharedBytes bytes = take(block.block);
  std::byte* to = write<T>(work_.factor.rows_of(work_.factor.lower, p, block.first_row, rows),
                           bytes.writable().data());
  if (work_.factor.kind == FactorKind::lu)
    write<T>(work_.factor.rows_of(work_.factor.upper, p, block.first_row, rows), to);
  if (work_.factor.kind == FactorKind::ldlt) {
    const PairDiagonal<T> pairs = work_.pairs(work_.supernode(p));
    to = write(pairs.d, to);
    write(pairs.d_below, to);
  }
  return bytes;
}

/// If pulled, the message is an offer; a message without content offers nothing.
template <class T>
void BlockMessages<T>::deliver(offset_t number, SharedBytes bytes, std::span<const index_t> ranks) {
  if (pulls_ && bytes.size() > 0) {
    const Offer offer = transport_.offer(numbers_.count() + number, std::move(bytes));
    bytes = pool_.copy(std::as_bytes(std::span(&offer, 1)));
  }
  for (const index_t rank : ranks) transport_.send(rank, number, bytes);
}

template <class T>
DenseView<T> BlockMessages<T>::read_diagonal(index_t p, const SharedBytes& bytes) const {
  const index_t width = work_.symbolic.width(work_.supernode(p));
  const PanelParts<T> parts = work_.parts(p, {});
  const std::byte* from =
      bytes.data() + static_cast<std::size_t>(width) * width * sizeof(T);
  const auto read = [&](auto span) {
    if (!span.empty()) std::memcpy(span.data(), from, span.size_bytes());
    from += span.size_bytes();
  };
  read(parts.d);
  read(parts.d_below);
  read(parts.place);
  // The block is only read; PanelParts has one type of view for writing and for reading.
  return {const_cast<T*>(reinterpret_cast<const T*>(bytes.data())), width, width, width};
}

template <class T>
FinishedBlock<T> BlockMessages<T>::read_block(const Block& shape, index_t source,
                                              const SharedBytes& bytes) const {
  const index_t width = work_.symbolic.width(source);
  const T* const entries = reinterpret_cast<const T*>(bytes.data());
  const offset_t count = offset_t{shape.count} * width;
  const auto columns = static_cast<std::size_t>(width);
  FinishedBlock<T> found;
  found.lower = {entries, shape.count, width, shape.count};
  if (work_.factor.kind == FactorKind::lu) found.upper = {entries + count, shape.count, width, shape.count};
  if (work_.factor.kind == FactorKind::ldlt)
    found.pairs = {work_.factor.hermitian, {entries + count, columns}, {entries + count + width, columns}};
  return found;
}

#define PALMETTE_INSTANTIATE(T) template class BlockMessages<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
