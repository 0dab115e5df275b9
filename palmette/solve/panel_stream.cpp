// Which buffer a piece gets: that of the piece which is needed last of all, or not any more. Source of the
// rule: [Belady 1966].
#include "palmette/solve/panel_stream.hpp"

#include <algorithm>
#include <limits>

namespace palmette::solve_detail {
namespace {

constexpr std::size_t never = std::numeric_limits<std::size_t>::max();

}  // namespace

PanelStream::PanelStream(std::shared_ptr<PanelReader> reader, std::vector<PanelPiece> pieces,
                         std::uint64_t buffer_bytes, index_t num_buffers)
    : reader_(std::move(reader)),
      pieces_(std::move(pieces)),
      buffer_bytes_(buffer_bytes),
      buffers_(static_cast<std::size_t>(num_buffers)),
      buffer_of_(pieces_.size(), -1) {}

PanelStream::~PanelStream() { forget_threads_of_parent(); }

PanelReads PanelStream::reads() const {
  const BriefLock lock(&reads_);
  return reads_;
}

/// In a forked process a thread that waits here, or holds the mutex, exists in the parent alone: neither can
/// be used or destroyed any more.
void PanelStream::forget_threads_of_parent() {
  if (meeting_->generation == fork_generation()) return;
  auto fresh = std::make_unique<Meeting>();
  (void)meeting_.release();
  meeting_ = std::move(fresh);
  for (Buffer& buffer : buffers_) buffer.piece = -1;  // one may have been written at that moment
  std::fill(buffer_of_.begin(), buffer_of_.end(), -1);
}

std::size_t PanelStream::next_use(index_t piece, std::size_t from) const {
  for (std::size_t place = from; place < order_.size(); ++place)
    if (order_[place] == piece) return place;
  return never;
}

index_t PanelStream::free_buffer(std::size_t place) const {
  index_t best = -1;
  std::size_t best_use = place;
  for (index_t number = 0; number < static_cast<index_t>(buffers_.size()); ++number) {
    const Buffer& buffer = buffers_[number];
    if (buffer.piece == -1) return number;
    const std::size_t use = next_use(buffer.piece, computing_);
    // Of those that are not needed any more, the next pass begins with what this one took last.
    const bool is_older = best != -1 && use == best_use && buffer.last_place < buffers_[best].last_place;
    if (use > best_use || is_older) {
      best = number;
      best_use = use;
    }
  }
  return best;
}

void PanelStream::read_into(Buffer& buffer, index_t piece) {
  if (buffer.bytes.size() == 0)
    buffer.bytes = PanelArray<std::byte>(static_cast<offset_t>(buffer_bytes_ + slack_bytes));
  PanelReads done;
  const Stopwatch watch;
  for (const PanelRead& read : pieces_[piece].reads) {
    const std::int64_t cached = reader_->read(
        read.position, {buffer.bytes.data() + read.place, static_cast<std::size_t>(read.bytes)});
    done.bytes += static_cast<double>(read.bytes);
    if (cached >= 0) done.known_bytes += static_cast<double>(read.bytes);
    if (cached >= 0) done.cached_bytes += static_cast<double>(cached);
  }
  done.seconds = watch.seconds();
  const BriefLock lock(&reads_);
  reads_ = reads_ + done;
}

void PanelStream::replace(index_t number, index_t piece, std::unique_lock<std::mutex>& lock) {
  Buffer& buffer = buffers_[number];
  if (buffer.piece != -1) buffer_of_[buffer.piece] = -1;
  buffer.piece = -1;
  lock.unlock();
  read_into(buffer, piece);
  lock.lock();
  buffer.piece = piece;
  buffer_of_[piece] = number;
}

void PanelStream::read_ahead() {
  for (std::size_t place = 0; place < order_.size(); ++place) {
    std::unique_lock lock(meeting_->mutex);
    const index_t piece = order_[place];
    index_t number = -1;
    meeting_->changed.wait(lock, [&] {
      if (stops_ || place < computing_ || buffer_of_[piece] != -1) return true;
      number = free_buffer(place);
      return number != -1;
    });
    if (stops_) return;
    if (number == -1) continue;
    try {
      replace(number, piece, lock);
    } catch (...) {
      lock.lock();
      failure_ = std::current_exception();
      meeting_->changed.notify_all();
      return;
    }
    buffers_[number].last_place = place;
    meeting_->changed.notify_all();
  }
}

PanelStream::Pass::Pass(PanelStream& stream, std::vector<index_t> order) : stream_(stream) {
  stream.turn_.lock();
  stream.forget_threads_of_parent();
  stream.order_ = std::move(order);
  stream.computing_ = 0;
  stream.stops_ = false;
  stream.failure_ = nullptr;
  try {
    thread_ = std::thread([&stream] { stream.read_ahead(); });
  } catch (const std::exception&) {
    // The system refuses another thread, or memory for it: pieces are read when they are needed.
  }
}

PanelStream::Pass::~Pass() {
  if (thread_.joinable()) {
    {
      const std::lock_guard lock(stream_.meeting_->mutex);
      stream_.stops_ = true;
    }
    stream_.meeting_->changed.notify_all();
    thread_.join();
  }
  stream_.turn_.unlock();
}

const std::byte* PanelStream::Pass::take(std::size_t place) {
  std::unique_lock lock(stream_.meeting_->mutex);
  stream_.computing_ = place;
  const index_t piece = stream_.order_[place];
  if (!thread_.joinable() && stream_.buffer_of_[piece] == -1)
    stream_.replace(stream_.free_buffer(place), piece, lock);
  stream_.meeting_->changed.notify_all();
  const Stopwatch watch;
  stream_.meeting_->changed.wait(lock, [&] { return stream_.buffer_of_[piece] != -1 || stream_.failure_; });
  {
    const BriefLock brief(&stream_.reads_);
    stream_.reads_.wait_seconds += watch.seconds();
  }
  if (stream_.buffer_of_[piece] == -1) std::rethrow_exception(stream_.failure_);
  Buffer& buffer = stream_.buffers_[stream_.buffer_of_[piece]];
  buffer.last_place = place;
  return buffer.bytes.data();
}

}  // namespace palmette::solve_detail
