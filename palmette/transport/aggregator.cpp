// Small messages are sent together. A packet is a sequence of records: tag (8 bytes), size (8 bytes), payload
// padded to 8 bytes. Tag `packet_tag` marks packets; a message that is sent alone keeps its own tag.
#include <atomic>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <mutex>

#include "palmette/transport/wrappers.hpp"

namespace palmette {
namespace {

constexpr std::int64_t packet_tag = std::numeric_limits<std::int64_t>::min();
constexpr std::size_t header_bytes = 16;

}  // namespace

struct Aggregator::State {
  struct Packet {
    SharedBytes bytes;
    std::size_t used = 0;
    std::int64_t number = 0;  // among all packets of this end
  };
  struct Age {
    index_t destination = 0;
    std::int64_t number = 0;  // of the packet that was opened
    std::int64_t turn = 0;
  };
  Options options;
  BytePool pool;
  std::mutex mutex;
  std::map<index_t, Packet> open;  // by destination
  std::deque<Age> ages;            // with a limit of age: by time of opening; some packets have left already
  std::int64_t packets = 0, turns = 0;
  std::atomic<std::int64_t> records{0};
  // The packet that poll is reading; only its reader uses it.
  Message opened;
  std::size_t read_at = 0;

  Packet& packet_to(index_t destination) {
    Packet& packet = open[destination];
    if (packet.bytes.size() > 0) return packet;
    packet = {pool.take(options.packet_bytes + Packing::record_bytes(options.small_bytes)), 0, packets++};
    if (options.max_age_tasks > 0) ages.push_back({destination, packet.number, turns});
    return packet;
  }
  void append(Packet& packet, std::int64_t tag, const SharedBytes& payload) {
    records.fetch_add(1, std::memory_order_relaxed);
    std::byte* const at = packet.bytes.writable().data() + packet.used;
    const std::uint64_t size = payload.size();
    std::memcpy(at, &tag, 8);
    std::memcpy(at + 8, &size, 8);
    if (size > 0) std::memcpy(at + header_bytes, payload.data(), size);
    packet.used += Packing::record_bytes(size);
  }
  void leave(Transport& inner, index_t destination, Packet& packet) {
    if (packet.used == 0) return;
    inner.send(destination, packet_tag, packet.bytes.first(packet.used));
    packet = {};
  }
  /// A task begins: packets that have waited for long enough leave.
  void next_turn(Transport& inner) {
    if (options.max_age_tasks <= 0) return;
    const std::lock_guard lock(mutex);
    for (++turns; !ages.empty() && turns - ages.front().turn >= options.max_age_tasks; ages.pop_front()) {
      Packet& packet = open[ages.front().destination];
      if (packet.number == ages.front().number) leave(inner, ages.front().destination, packet);
    }
  }
};

Aggregator::Aggregator(Transport& inner, const Options& options)
    : TransportWrapper(inner), state_(std::make_unique<State>()) {
  state_->options = options;
}
Aggregator::~Aggregator() = default;

void Aggregator::send(index_t destination, std::int64_t tag, SharedBytes payload) {
  if (tag == packet_tag) throw UsageError("the tag " + std::to_string(tag) + " is the aggregator's own");
  if (payload.size() > state_->options.small_bytes) return inner_.send(destination, tag, std::move(payload));
  check_rank(destination, num_ranks());
  const std::lock_guard lock(state_->mutex);
  State::Packet& packet = state_->packet_to(destination);
  state_->append(packet, tag, payload);
  if (packet.used >= state_->options.packet_bytes) state_->leave(inner_, destination, packet);
}

bool Aggregator::poll(Message& message) {
  State& state = *state_;
  if (state.read_at == state.opened.payload.size()) {
    state.opened = {};
    state.read_at = 0;
    if (!inner_.poll(message)) {
      state.next_turn(inner_);
      return false;
    }
    if (message.tag != packet_tag) return true;
    state.opened = std::move(message);
  }
  const std::byte* const at = state.opened.payload.data() + state.read_at;
  std::uint64_t size = 0;
  message.source = state.opened.source;
  std::memcpy(&message.tag, at, 8);
  std::memcpy(&size, at + 8, 8);
  message.payload = state.opened.payload.part(state.read_at + header_bytes, size);
  state.read_at += Packing::record_bytes(size);
  state.records.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Aggregator::flush() {
  {
    const std::lock_guard lock(state_->mutex);
    for (auto& [destination, packet] : state_->open) state_->leave(inner_, destination, packet);
  }
  inner_.flush();
}

std::int64_t Aggregator::records() const { return state_->records.load(std::memory_order_relaxed); }

void Aggregator::rest(int turns) {
  flush();
  inner_.rest(turns);
}

}  // namespace palmette
