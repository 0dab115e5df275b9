// Inside `factorize`: finished blocks as messages: the layout of their bytes, and how they are sent.
#pragma once

#include "palmette/factorize/rank_work.hpp"

namespace palmette::factorize_detail {

template <class T>
class BlockMessages {
 public:
  BlockMessages(const RankWork<T>& work, BlockDelivery delivery, Transport& transport)
      : work_(work),
        fan_(work.fan),
        transport_(transport),
        numbers_(work.symbolic),
        pulls_(delivery == BlockDelivery::pull) {}

  const BlockNumbers& numbers() const { return numbers_; }
  /// If the message offers a block, start to fetch it. @returns whether it does
  bool fetches(const Message& message);
  /// Number of the block that a message holds.
  offset_t number_of(const Message& message) const {
    return message.tag >= numbers_.count() ? message.tag - numbers_.count() : message.tag;
  }

  /// Send it to all ranks that need it; without content, an empty message. @param block  diagonal block of
  /// panel p
  void send_diagonal(index_t p, DenseView<const T> block, bool without_content);
  /// Send the blocks below it.
  void send_blocks(index_t p, bool without_content);

  /// D and the pivoting order of panel p are read from the bytes of its diagonal block. @returns a view of
  /// the bytes
  DenseView<T> read_diagonal(index_t p, const SharedBytes& bytes) const;
  /// A view of the bytes of a block in the columns of `source`.
  FinishedBlock<T> read_block(const Block& shape, index_t source, const SharedBytes& bytes) const;

 private:
  SharedBytes packed(index_t p, const OwnBlock& block);
  SharedBytes take(offset_t number);
  void deliver(offset_t number, SharedBytes bytes, std::span<const index_t> ranks);

  const RankWork<T>& work_;
  const FanOut& fan_;
  Transport& transport_;
  BlockNumbers numbers_;
  bool pulls_;
  BytePool pool_;
};

}  // namespace palmette::factorize_detail
