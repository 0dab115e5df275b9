// A record: word 0 run and number of the message, word 1 tag, word 2 payload bytes, word 3 checksum over
// words 0 to 2 and the payload, then the payload padded with zeros to whole words.
#include "palmette/transport/one_sided_queue.hpp"

#include <algorithm>
#include <cstring>

namespace palmette {

std::string_view name_of(Publication publication) {
  return publication == Publication::checksum ? "checksum" : "counter";
}

Publication publication(std::string_view name) {
  return choice_named("publication protocol", name, publications);
}

TransportPlan transport_plan(const Traffic& traffic) {
  TransportPlan plan;
  plan.inbound.resize(traffic.num_ranks);
  // Entries are sorted by source, so each list is ascending.
  for (const TrafficEntry& one : traffic.entries)
    plan.inbound[one.destination].push_back({one.source, one.messages, one.bytes});
  return plan;
}

TransportPlan pulled_plan(const Traffic& traffic, std::vector<std::int64_t> offered_bytes) {
  TransportPlan plan = transport_plan(traffic);
  for (std::vector<Inbound>& inbound : plan.inbound)
    for (Inbound& from : inbound)
      from.payload_bytes = from.messages * static_cast<std::int64_t>(sizeof(Offer));
  plan.offered_bytes = std::move(offered_bytes);
  return plan;
}

TransportPlan with_gather(const TransportPlan& plan, std::span<const std::int64_t> payload_bytes) {
  const auto num_ranks = static_cast<index_t>(plan.inbound.size());
  TransportPlan larger{{}, plan.offered_bytes};
  for (index_t receiver = 0; receiver < num_ranks; ++receiver) {
    std::vector<Inbound> inbound;
    for (index_t source = 0; source < num_ranks; ++source)
      if (source != receiver) inbound.push_back({source, 1, payload_bytes[source]});
    for (const Inbound& given : plan.inbound[receiver]) {
      Inbound& one =
          inbound[given.source < receiver ? given.source : given.source - 1];
      one.messages += given.messages;
      one.payload_bytes += given.payload_bytes;
    }
    larger.inbound.push_back(std::move(inbound));
  }
  return larger;
}

namespace transport_detail {
namespace {

constexpr std::size_t word = 8;
constexpr std::size_t header_words = 4;
constexpr std::size_t header_bytes = header_words * word;
/// Regions start on cache lines, so that two senders never write to the same one.
constexpr std::size_t line = 64;
/// Origins of puts are kept until this much data waits for a flush.
constexpr std::size_t most_in_flight_bytes = std::size_t{1} << 22;

std::size_t padded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }
std::size_t record_bytes(std::size_t payload) { return header_bytes + padded(payload, word); }

struct Header {
  std::uint64_t words[header_words];
};

std::uint64_t key(std::uint32_t run, std::int64_t number) {
  return static_cast<std::uint64_t>(run) << 32 | static_cast<std::uint32_t>(number);
}

std::uint64_t sum_of(const Header& header, std::span<const std::byte> payload) {
  return checksum(payload, checksum(std::as_bytes(std::span(header.words, 3))));
}

}  // namespace

QueueLayout::QueueLayout(const TransportPlan& plan) {
  for (const std::vector<Inbound>& inbound : plan.inbound) {
    std::vector<Region> regions;
    std::size_t offset = padded(inbound.size() * line, line);
    for (const Inbound& from : inbound) {
      // Each payload is padded by less than a word.
      const std::size_t bytes = static_cast<std::size_t>(from.payload_bytes) +
                                static_cast<std::size_t>(from.messages) * (header_bytes + word - 1);
      const std::size_t end = offset + padded(bytes, line);
      regions.push_back({from.source, regions.size() * line, offset, end});
      offset = end;
    }
    regions_.push_back(std::move(regions));
    bytes_.push_back(offset);
  }
}

const QueueLayout::Region& QueueLayout::region(index_t receiver, index_t source) const {
  const std::vector<Region>& all = regions_[receiver];
  const auto found = std::lower_bound(all.begin(), all.end(), source,
                                      [](const Region& r, index_t wanted) { return r.source < wanted; });
  if (found == all.end() || found->source != source)
    throw UsageError("the plan lets rank " + std::to_string(source) + " send nothing to rank " +
                     std::to_string(receiver));
  return *found;
}

OneSidedQueue::OneSidedQueue(RemoteMemory& memory, const TransportPlan& plan, Publication publication)
    : memory_(memory),
      layout_(plan),
      publication_(publication),
      sending_(memory.num_ranks()),
      receiving_(layout_.regions(memory.rank()).size()) {}

void OneSidedQueue::begin(std::uint32_t run) {
  if (run <= run_)
    throw UsageError("run " + std::to_string(run) + " of a queue after run " + std::to_string(run_));
  flush();
  run_ = run;
  for (Sending& to : sending_) to = {};
  const auto regions = layout_.regions(memory_.rank());
  for (std::size_t place = 0; place < regions.size(); ++place) {
    Receiving& from = receiving_[place];
    from = {regions[place].begin, 0, from.counted_before + static_cast<std::uint64_t>(from.received)};
  }
}

void OneSidedQueue::send(index_t destination, std::int64_t tag, const SharedBytes& payload) {
  check_rank(destination, memory_.num_ranks());
  const QueueLayout::Region& region = layout_.region(destination, memory_.rank());
  Sending& to = sending_[destination];
  const std::size_t bytes = record_bytes(payload.size()), offset = region.begin + to.next;
  if (offset + bytes > region.end)
    throw UsageError("rank " + std::to_string(memory_.rank()) + " sends more to rank " +
                     std::to_string(destination) + " than the plan allows: message " +
                     std::to_string(to.sent) + " of " + std::to_string(payload.size()) + " bytes");
  SharedBytes record = pool_.take(bytes);
  std::byte* const at = record.writable().data();
  Header header{{key(run_, to.sent), static_cast<std::uint64_t>(tag), payload.size(), 0}};
  header.words[3] = sum_of(header, payload.view());
  std::memset(at + bytes - word, 0, word);
  std::memcpy(at, header.words, header_bytes);
  if (payload.size() > 0) std::memcpy(at + header_bytes, payload.data(), payload.size());
  publish(destination, region, offset, record.view());
  in_flight_.push_back(std::move(record));
  in_flight_bytes_ += bytes;
  to.next += bytes;
  ++to.sent;
  if (in_flight_bytes_ > most_in_flight_bytes) flush();
}

void OneSidedQueue::publish(index_t destination, const QueueLayout::Region& region, std::size_t offset,
                            std::span<const std::byte> record) {
  memory_.put(destination, offset, record);
  if (publication_ == Publication::checksum) return;
  memory_.flush(destination);
  memory_.add(destination, region.counter, 1);
}

bool OneSidedQueue::announced(const QueueLayout::Region& region, std::int64_t number) {
  if (publication_ == Publication::checksum) return true;
  const std::size_t place = region.counter / line;
  return memory_.read_word(region.counter) - receiving_[place].counted_before >
         static_cast<std::uint64_t>(number);
}

bool OneSidedQueue::take(const QueueLayout::Region& region, Receiving& from, Message& message) {
  if (from.next + header_bytes > region.end || !announced(region, from.received)) return false;
  Header header;
  header.words[0] = memory_.read_word(from.next);
  if (header.words[0] != key(run_, from.received)) return false;
  memory_.read(from.next, std::as_writable_bytes(std::span(header.words)));
  const std::uint64_t size = header.words[2];
  // A size that arrives before the rest of its record may be an old one.
  if (size > region.end - from.next - header_bytes || record_bytes(size) > region.end - from.next)
    return false;
  SharedBytes bytes = pool_.take(padded(size, word));
  memory_.read(from.next + header_bytes, bytes.writable());
  SharedBytes payload = size == 0 ? SharedBytes() : bytes.first(size);
  if (!intact(header.words[3], sum_of(header, payload.view()))) return false;
  message = {region.source, static_cast<std::int64_t>(header.words[1]), std::move(payload)};
  from.next += record_bytes(size);
  ++from.received;
  return true;
}

bool OneSidedQueue::poll(Message& message) {
  memory_.sync();
  const auto regions = layout_.regions(memory_.rank());
  for (std::size_t tried = 0; tried < regions.size(); ++tried) {
    const std::size_t place = (turn_ + tried) % regions.size();
    if (!take(regions[place], receiving_[place], message)) continue;
    turn_ = place + 1;
    return true;
  }
  return false;
}

void OneSidedQueue::flush() {
  if (in_flight_.empty()) return;
  for (index_t destination = 0; destination < memory_.num_ranks(); ++destination)
    if (sending_[destination].sent > 0) memory_.flush(destination);
  in_flight_.clear();
  in_flight_bytes_ = 0;
}

std::string OneSidedQueue::state() const {
  std::string text;
  const auto regions = layout_.regions(memory_.rank());
  for (std::size_t place = 0; place < regions.size(); ++place) {
    const bool begun = receiving_[place].next + header_bytes <= regions[place].end &&
                       memory_.read_word(receiving_[place].next) == key(run_, receiving_[place].received);
    if (begun)
      text += (text.empty() ? "message " : "; message ") + std::to_string(receiving_[place].received) +
              " of rank " + std::to_string(regions[place].source) + " has arrived incomplete or damaged";
  }
  return text;
}

}  // namespace transport_detail
}  // namespace palmette
