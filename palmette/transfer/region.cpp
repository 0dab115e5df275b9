// Regions and their chunks. Two rules make every run end and every read right:
// 1. A chunk is handed over by the task whose decrement returned one, and by no other: the returned value
//    decides, not a later look at the counter, which two tasks could both find at zero.
// 2. Bytes are counted for the epoch that they carry. A landing has room for the open epoch and the next one
//    only, so a count never belongs to two epochs; what finds no room stays with the sender and is offered
//    again. Since the open epoch always has room, its last chunk cannot be held up by later ones.
#include "palmette/transfer/region.hpp"

#include <algorithm>
#include <cstring>

namespace palmette::transfer {
namespace {

void check_writes(std::int64_t bytes, std::span<const WrittenBytes> writes) {
  std::vector<WrittenBytes> sorted(writes.begin(), writes.end());
  for (std::size_t task = 0; task < writes.size(); ++task)
    if (writes[task].begin < 0 || writes[task].end > bytes || writes[task].begin >= writes[task].end)
      throw UsageError("task " + std::to_string(task) + " writes bytes " +
                       std::to_string(writes[task].begin) + " to " + std::to_string(writes[task].end) +
                       " of a region of " + std::to_string(bytes) + " bytes; give 0 <= begin < end <= bytes");
  std::sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.begin < b.begin; });
  std::int64_t next = 0;
  for (const WrittenBytes& write : sorted) {
    if (write.begin != next)
      throw UsageError("byte " + std::to_string(std::min(write.begin, next)) + " of the region has " +
                       (write.begin < next ? "two writers" : "no writer") + "; give each byte one");
    next = write.end;
  }
  if (next != bytes)
    throw UsageError("byte " + std::to_string(next) + " of the region has no writer; give each byte one");
}

}  // namespace

RegionPlan cut_region(std::int64_t bytes, std::int64_t chunk_bytes, std::span<const WrittenBytes> writes) {
  if (bytes < 1 || chunk_bytes < 1)
    throw UsageError("a region of " + std::to_string(bytes) + " bytes in chunks of " +
                     std::to_string(chunk_bytes) + "; both need at least 1 byte");
  check_writes(bytes, writes);
  RegionPlan plan{bytes, chunk_bytes, {}, {}};
  plan.writers.resize((bytes + chunk_bytes - 1) / chunk_bytes);
  for (const WrittenBytes& write : writes) {
    auto& chunks = plan.chunks_of_task.emplace_back();
    for (std::int64_t chunk = write.begin / chunk_bytes; chunk * chunk_bytes < write.end; ++chunk) {
      chunks.push_back(static_cast<index_t>(chunk));
      ++plan.writers[chunk];
    }
  }
  return plan;
}

Landing::Landing(const RegionPlan& plan, RegionFault fault)
    : plan_(plan),
      fault_(fault),
      slots_(2 * plan.bytes),
      counted_(std::make_unique<std::atomic<std::int64_t>[]>(2 * plan.writers.size())) {}

bool Landing::accept(std::int64_t epoch, std::int64_t begin, std::span<const std::byte> piece) {
  const std::int64_t open = open_epoch();
  if (fault_ != RegionFault::epoch_unchecked) {
    if (epoch < open)
      throw Error("bytes of epoch " + std::to_string(epoch) + " arrived after its release; epoch " +
                  std::to_string(open) + " is open");
    if (epoch > open + 1) return false;
  }
  const index_t chunk = static_cast<index_t>(begin / plan_.chunk_bytes);
  std::memcpy(slots_.data() + (epoch % 2) * plan_.bytes + begin, piece.data(), piece.size());
  const std::int64_t size = static_cast<std::int64_t>(piece.size());
  // Who sees all bytes counted also sees the bytes.
  const auto order = fault_ == RegionFault::unfenced ? std::memory_order_relaxed : std::memory_order_acq_rel;
  const std::int64_t before = counted(epoch, chunk).fetch_add(size, order);
  if (before + size > plan_.size(chunk))
    throw Error("chunk " + std::to_string(chunk) + " of epoch " + std::to_string(epoch) + " got " +
                std::to_string(before + size) + " bytes, but has " + std::to_string(plan_.size(chunk)));
  return true;
}

bool Landing::is_complete(std::int64_t epoch, index_t chunk) const {
  const std::int64_t open = open_epoch();
  return epoch >= open && epoch <= open + 1 &&
         counted(epoch, chunk).load(std::memory_order_acquire) == plan_.size(chunk);
}

bool Landing::is_complete(std::int64_t epoch) const {
  for (index_t chunk = 0; chunk < plan_.num_chunks(); ++chunk)
    if (!is_complete(epoch, chunk)) return false;
  return true;
}

std::span<const std::byte> Landing::read(std::int64_t epoch, index_t chunk) const {
  if (!is_complete(epoch, chunk))
    throw UsageError("chunk " + std::to_string(chunk) + " of epoch " + std::to_string(epoch) +
                     " is not complete; wait until is_complete says so");
  return std::span(slots_).subspan((epoch % 2) * plan_.bytes + plan_.begin(chunk), plan_.size(chunk));
}

void Landing::release(std::int64_t epoch) {
  if (epoch != open_epoch() || !is_complete(epoch))
    throw UsageError("epoch " + std::to_string(epoch) + " cannot be released; epoch " +
                     std::to_string(open_epoch()) + " is open, and must be complete");
  for (index_t chunk = 0; chunk < plan_.num_chunks(); ++chunk)
    counted(epoch, chunk).store(0, std::memory_order_relaxed);
  open_.store(epoch + 1, std::memory_order_release);
}

RegionWriter::RegionWriter(const RegionPlan& plan, const TransferChoice& choice, index_t readers,
                           ChunkLink& link, RegionFault fault)
    : plan_(plan),
      choice_(choice),
      readers_(readers),
      link_(link),
      fault_(fault),
      writers_left_(std::make_unique<std::atomic<std::int32_t>[]>(plan.writers.size())),
      jobs_(std::make_unique<std::atomic<std::uint8_t>[]>(plan.writers.size() * readers)) {
  if (choice.agents < 1) throw UsageError(std::to_string(choice.agents) + " agents; give at least 1");
  if (choice.chunk_bytes != plan.chunk_bytes)
    throw UsageError("the region was cut into chunks of " + std::to_string(plan.chunk_bytes) +
                     " bytes, the choice says " + std::to_string(choice.chunk_bytes) +
                     "; give both the same");
}

void RegionWriter::begin_epoch() {
  if (!all_sent())
    throw UsageError("epoch " + std::to_string(epoch_) + " has not been sent; wait for all_sent");
  ++epoch_;
  for (index_t chunk = 0; chunk < plan_.num_chunks(); ++chunk)
    writers_left_[chunk].store(plan_.writers[chunk], std::memory_order_relaxed);
  const std::int64_t jobs = static_cast<std::int64_t>(plan_.num_chunks()) * readers_;
  for (std::int64_t job = 0; job < jobs; ++job) jobs_[job].store(idle, std::memory_order_relaxed);
  left_.store(jobs, std::memory_order_release);
}

void RegionWriter::wrote(index_t task) {
  for (const index_t chunk : plan_.chunks_of_task[task]) {
    const std::int32_t before = writers_left_[chunk].fetch_sub(1, std::memory_order_acq_rel);
    if (before < 1)
      throw UsageError("task " + std::to_string(task) + " wrote chunk " + std::to_string(chunk) +
                       " after all its writers; call wrote once an epoch");
    const std::int32_t last = fault_ == RegionFault::counter_off_by_one ? 2 : 1;
    if (before == last) hand_over(chunk);
  }
}

void RegionWriter::hand_over(index_t chunk) {
  for (index_t reader = 0; reader < readers_; ++reader) {
    const std::int64_t job = static_cast<std::int64_t>(reader) * plan_.num_chunks() + chunk;
    jobs_[job].store(ready, std::memory_order_release);
    if (choice_.mechanism == Mechanism::by_writer && take(job)) send(reader, std::span(&chunk, 1));
    if (choice_.mechanism == Mechanism::launched) {
      const std::lock_guard lock(queue_mutex_);
      queue_.push_back(job);
    }
  }
}

bool RegionWriter::take(std::int64_t job) {
  std::uint8_t expected = ready;
  if (jobs_[job].load(std::memory_order_relaxed) != ready) return false;
  if (fault_ == RegionFault::taken_twice) return true;
  return jobs_[job].compare_exchange_strong(expected, taken, std::memory_order_acquire);
}

/// What the reader had no room for is ready again.
bool RegionWriter::send(index_t reader, std::span<const index_t> chunks) {
  std::size_t sent = 0;
  const bool all = link_.put({reader, epoch_, chunks}, sent);
  if (all) sent = chunks.size();
  if (sent > 0) packets_.fetch_add(1, std::memory_order_relaxed);
  for (std::size_t k = sent; k < chunks.size(); ++k) {
    const std::int64_t job = static_cast<std::int64_t>(reader) * plan_.num_chunks() + chunks[k];
    jobs_[job].store(ready, std::memory_order_release);
    if (choice_.mechanism == Mechanism::launched) {
      const std::lock_guard lock(queue_mutex_);
      queue_.push_back(job);
    }
  }
  // Last: after it the epoch may be over.
  if (sent > 0) left_.fetch_sub(static_cast<std::int64_t>(sent), std::memory_order_acq_rel);
  return sent > 0;
}

bool RegionWriter::progress(int agent) {
  if (all_sent()) return false;
  switch (choice_.mechanism) {
    case Mechanism::by_writer:
    case Mechanism::polling:
      return scan(agent);
    case Mechanism::launched:
      return from_queue();
    case Mechanism::packed:
      return gather(agent);
  }
  return false;
}

bool RegionWriter::scan(int agent) {
  bool any = false;
  const std::int64_t jobs = static_cast<std::int64_t>(plan_.num_chunks()) * readers_;
  for (std::int64_t job = agent; job < jobs; job += choice_.agents) {
    if (!take(job)) continue;
    const index_t chunk = static_cast<index_t>(job % plan_.num_chunks());
    any = send(static_cast<index_t>(job / plan_.num_chunks()), std::span(&chunk, 1)) || any;
  }
  return any;
}

bool RegionWriter::from_queue() {
  std::int64_t job = -1;
  {
    const std::lock_guard lock(queue_mutex_);
    if (queue_.empty()) return false;
    job = queue_.front();
    queue_.pop_front();
  }
  if (!take(job)) return false;
  const index_t chunk = static_cast<index_t>(job % plan_.num_chunks());
  return send(static_cast<index_t>(job / plan_.num_chunks()), std::span(&chunk, 1));
}

bool RegionWriter::gather(int agent) {
  bool any = false;
  std::vector<index_t> chunks;
  for (index_t reader = agent; reader < readers_; reader += choice_.agents) {
    chunks.clear();
    for (index_t chunk = 0; chunk < plan_.num_chunks(); ++chunk)
      if (take(static_cast<std::int64_t>(reader) * plan_.num_chunks() + chunk)) chunks.push_back(chunk);
    if (!chunks.empty()) any = send(reader, chunks) || any;
  }
  return any;
}

bool ThreadLink::put(const ChunkPacket& packet, std::size_t& taken) {
  Landing& landing = *readers_[packet.reader];
  const RegionPlan& plan = landing.plan();
  for (taken = 0; taken < packet.chunks.size(); ++taken) {
    const index_t chunk = packet.chunks[taken];
    if (!landing.accept(packet.epoch, plan.begin(chunk),
                        source_.subspan(plan.begin(chunk), plan.size(chunk))))
      return false;
  }
  return true;
}

}  // namespace palmette::transfer
