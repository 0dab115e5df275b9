// Inside `solve`: panels that stay in a file. A thread reads them piece by piece into a few buffers, in the
// order in which the sweeps of a solve need them, ahead of the thread that computes.
#pragma once

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/solve/panel_window.hpp"
#include "palmette/solve/plan_options.hpp"

namespace palmette::solve_detail {

/// The panels of the supernodes [begin, end), which are in memory together.
struct PanelPiece {
  index_t begin = 0;
  index_t end = 0;
  std::vector<PanelRead> reads;
};

/// Buffers for pieces of a file. Pieces stay in them until their room is needed: a backward sweep begins with
/// what the forward sweep has read last. One pass at a time; others wait.
class PanelStream {
 public:
  /// @param pieces        in any order, each of at most buffer_bytes
  /// @param num_buffers   at least fewest_buffers, or one for each piece
  PanelStream(std::shared_ptr<PanelReader> reader, std::vector<PanelPiece> pieces, std::uint64_t buffer_bytes,
              index_t num_buffers);
  ~PanelStream();

  /// One is computed with, one has been read, one is being read.
  static constexpr index_t fewest_buffers = 3;
  /// Bytes behind the last of a buffer that loads of whole registers may touch.
  static constexpr std::uint64_t slack_bytes = 256;

  const PanelPiece& piece(index_t number) const { return pieces_[number]; }
  index_t num_pieces() const { return static_cast<index_t>(pieces_.size()); }
  offset_t memory_bytes() const {
    return static_cast<offset_t>((buffer_bytes_ + slack_bytes) * buffers_.size());
  }
  PanelReads reads() const;

  /// The pieces in the order of one solve. Its thread ends with it.
  class Pass {
   public:
    /// @param order  numbers of pieces; a piece may occur several times
    Pass(PanelStream& stream, std::vector<index_t> order);
    ~Pass();
    Pass(const Pass&) = delete;
    Pass& operator=(const Pass&) = delete;

    /// The buffer of the piece at this place of the order, once it has been read; those at earlier places may
    /// go. Places ascend from call to call. @throws whatever the reader has thrown
    const std::byte* take(std::size_t place);

   private:
    PanelStream& stream_;
    std::thread thread_;  // not joinable: the computing thread reads
  };

 private:
  struct Buffer {
    PanelArray<std::byte> bytes;
    index_t piece = -1;          ///< that it holds; −1: none
    std::size_t last_place = 0;  ///< of the order at which it was taken last
  };

  void read_ahead();
  /// A buffer that may be overwritten for the piece at this place; −1: none now.
  index_t free_buffer(std::size_t place) const;
  std::size_t next_use(index_t piece, std::size_t from) const;
  void read_into(Buffer& buffer, index_t piece);
  /// Overwrites a buffer with this piece. @param lock  of the meeting; open while the piece is read
  void replace(index_t number, index_t piece, std::unique_lock<std::mutex>& lock);

  const std::shared_ptr<PanelReader> reader_;
  const std::vector<PanelPiece> pieces_;
  const std::uint64_t buffer_bytes_;

  /// Where the two threads of a pass meet.
  struct Meeting {
    std::mutex mutex;
    std::condition_variable changed;
    const std::uint32_t generation = fork_generation();
  };
  void forget_threads_of_parent();

  ProcessMutex turn_;  // held by a pass
  std::unique_ptr<Meeting> meeting_ = std::make_unique<Meeting>();  // its mutex guards everything below
  std::vector<Buffer> buffers_;
  std::vector<index_t> buffer_of_;  // length num_pieces; −1: not in memory
  std::vector<index_t> order_;
  std::size_t computing_ = 0;  ///< place of the order that is computed with
  bool stops_ = false;
  std::exception_ptr failure_;
  PanelReads reads_;  // guarded by a BriefLock
};

}  // namespace palmette::solve_detail
