// Regions between ranks.
#include "palmette/transfer/region_ranks.hpp"

#include <algorithm>
#include <cstring>

namespace palmette::transfer {
namespace {

struct Header {
  std::int64_t epoch, chunks;
};

std::vector<index_t> all_but(index_t rank, index_t ranks) {
  std::vector<index_t> others;
  for (index_t other = 0; other < ranks; ++other)
    if (other != rank) others.push_back(other);
  return others;
}

}  // namespace

bool TransportLink::put(const ChunkPacket& packet, std::size_t&) {
  std::size_t bytes = sizeof(Header) + packet.chunks.size() * sizeof(std::int64_t);
  for (const index_t chunk : packet.chunks) bytes += plan_.size(chunk);
  SharedBytes payload = pool_.take(bytes);
  std::byte* at = payload.writable().data();
  const Header header{packet.epoch, static_cast<std::int64_t>(packet.chunks.size())};
  std::memcpy(at, &header, sizeof header);
  at += sizeof header;
  for (const std::int64_t chunk : packet.chunks) {
    std::memcpy(at, &chunk, sizeof chunk);
    at += sizeof chunk;
  }
  for (const index_t chunk : packet.chunks) {
    std::memcpy(at, source_.data() + plan_.begin(chunk), plan_.size(chunk));
    at += plan_.size(chunk);
  }
  transport_.send(readers_[packet.reader], 0, std::move(payload));
  return true;
}

void RegionReceiver::on_message(const Message& message) {
  if (!accept(message)) held_.push_back(message);
}

bool RegionReceiver::accept(const Message& message) {
  const RegionPlan& plan = landing_.plan();
  const std::size_t size = message.payload.size();
  Header header{};
  if (size >= sizeof header) std::memcpy(&header, message.payload.data(), sizeof header);
  const std::byte* chunks = message.payload.data() + sizeof header;
  std::size_t at = sizeof header + header.chunks * sizeof(std::int64_t);
  for (std::int64_t k = 0; k < header.chunks; ++k) {
    std::int64_t chunk = -1;
    if (at <= size) std::memcpy(&chunk, chunks + k * sizeof chunk, sizeof chunk);
    if (chunk < 0 || chunk >= plan.num_chunks() || at + plan.size(chunk) > size)
      throw Error("a message of " + std::to_string(size) + " bytes from rank " +
                  std::to_string(message.source) + " is no packet of this region; give all ranks one plan");
    // All chunks of a packet have one epoch, so the first one decides whether there is room.
    if (!landing_.accept(header.epoch, plan.begin(chunk),
                         message.payload.view().subspan(at, plan.size(chunk))))
      return false;
    at += plan.size(chunk);
  }
  return true;
}

void RegionReceiver::release(std::int64_t epoch) {
  landing_.release(epoch);
  std::erase_if(held_, [&](const Message& message) { return accept(message); });
}

RegionProgram::RegionProgram(const RegionWork& work, const TransferChoice& choice, Transport& transport)
    : work_(work),
      plan_(cut_region(work.bytes, choice.chunk_bytes, work.writes)),
      own_(work.bytes),
      others_(all_but(transport.rank(), transport.num_ranks())),
      link_(plan_, own_, transport, others_),
      writer_(plan_, choice, static_cast<index_t>(others_.size()), link_, work.fault),
      agents_(choice.agents) {
  for (std::size_t k = 0; k < others_.size(); ++k) {
    receivers_.push_back(std::make_unique<RegionReceiver>(plan_, work.fault));
    is_used_.emplace_back(plan_.num_chunks());
  }
}

void RegionProgram::start() {
  begin_next_epoch();
}

void RegionProgram::on_message(const Message& message) {
  const std::lock_guard lock(mutex_);
  const auto found = std::lower_bound(others_.begin(), others_.end(), message.source);
  receivers_[found - others_.begin()]->on_message(message);
}

bool RegionProgram::all_read(std::int64_t epoch) const {
  return std::all_of(receivers_.begin(), receivers_.end(),
                     [&](const auto& one) { return one->landing().open_epoch() > epoch; });
}

bool RegionProgram::begin_next_epoch() {
  const std::int64_t epoch = writer_.epoch();
  const bool is_written = epoch < 0 || next_task_ == static_cast<index_t>(work_.writes.size());
  if (epoch + 1 >= work_.epochs || !is_written || !writer_.all_sent()) return false;
  if (!work_.runs_ahead && !all_read(epoch)) return false;
  writer_.begin_epoch();
  next_task_ = 0;
  return true;
}

bool RegionProgram::run_one_task(int) {
  const std::lock_guard lock(mutex_);
  for (int turn = 0; turn < agents_; ++turn) {
    next_agent_ = (next_agent_ + 1) % agents_;
    if (writer_.progress(next_agent_)) return true;
  }
  if (read_some() || begin_next_epoch()) return true;
  if (next_task_ == static_cast<index_t>(work_.writes.size())) return false;
  work_.compute(next_task_, writer_.epoch(), own_);
  writer_.wrote(next_task_++);
  return true;
}

bool RegionProgram::read_some() {
  for (std::size_t place = 0; place < others_.size(); ++place) {
    RegionReceiver& receiver = *receivers_[place];
    const Landing& landing = receiver.landing();
    const std::int64_t epoch = landing.open_epoch();
    std::vector<char>& used = is_used_[place];
    for (index_t chunk = 0; chunk < plan_.num_chunks(); ++chunk) {
      if (used[chunk] || !landing.is_complete(epoch, chunk)) continue;
      work_.use(others_[place], epoch, chunk, landing.read(epoch, chunk));
      used[chunk] = 1;
      if (std::find(used.begin(), used.end(), 0) == used.end()) {
        receiver.release(epoch);
        std::fill(used.begin(), used.end(), 0);
      }
      return true;
    }
  }
  return false;
}

bool RegionProgram::done() const {
  const std::lock_guard lock(mutex_);
  return writer_.epoch() + 1 == work_.epochs && next_task_ == static_cast<index_t>(work_.writes.size()) &&
         writer_.all_sent() && all_read(work_.epochs - 1);
}

std::string RegionProgram::waiting_for() const {
  for (std::size_t place = 0; place < others_.size(); ++place) {
    const Landing& landing = receivers_[place]->landing();
    for (index_t chunk = 0; chunk < plan_.num_chunks(); ++chunk)
      if (landing.open_epoch() < work_.epochs && !landing.is_complete(landing.open_epoch(), chunk))
        return "chunk " + std::to_string(chunk) + " of epoch " + std::to_string(landing.open_epoch()) +
               " of rank " + std::to_string(others_[place]);
  }
  return "its own tasks and agents";
}

}  // namespace palmette::transfer
