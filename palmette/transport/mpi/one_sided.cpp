// Remote memory as an MPI window: allocated by MPI (in Open MPI twenty times faster than memory of our own),
// locked once for all ranks.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <optional>
#include <thread>

#include "palmette/base/base.hpp"
#include "palmette/transport/mpi/communicator.hpp"
#include "palmette/transport/mpi_world.hpp"

namespace palmette {
namespace {

using transport_detail::check;

class WindowMemory final : public transport_detail::RemoteMemory {
 public:
  WindowMemory(transport_detail::Communicator& communicator, std::size_t bytes)
      : communicator_(communicator), bytes_(bytes) {
    // We check whether there is memory; a failure is no reason to end the run.
    MPI_Comm_set_errhandler(communicator.get(), MPI_ERRORS_RETURN);
    const int code = MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, communicator.get(),
                                      &base_, &window_);
    MPI_Comm_set_errhandler(communicator.get(), MPI_ERRORS_ARE_FATAL);
    if (communicator.agree(code == MPI_SUCCESS ? 0 : 1) != 0)
      throw MemoryError("MPI gives no window of " + std::to_string(bytes) + " bytes on rank " +
                        std::to_string(communicator.rank()));
    if (bytes > 0) std::memset(base_, 0, bytes);
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
    check(MPI_Win_sync(window_), "MPI_Win_sync");
  }
  ~WindowMemory() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized != 0) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  std::size_t bytes() const { return bytes_; }
  MPI_Win handle() const { return window_; }
  std::byte* base() const { return static_cast<std::byte*>(base_); }
  /// Makes what this rank has written into its own memory visible to others.
  void fence_own() { check(MPI_Win_sync(window_), "MPI_Win_sync"); }
  index_t rank() const override { return communicator_.rank(); }
  index_t num_ranks() const override { return communicator_.num_ranks(); }
  void put(index_t destination, std::size_t offset, std::span<const std::byte> bytes) override {
    const int words = static_cast<int>(bytes.size() / 8);
    check(MPI_Put(bytes.data(), words, MPI_UINT64_T, destination, static_cast<MPI_Aint>(offset), words,
                  MPI_UINT64_T, window_),
          "MPI_Put");
  }
  void add(index_t destination, std::size_t offset, std::uint64_t value) override {
    check(MPI_Accumulate(&value, 1, MPI_UINT64_T, destination, static_cast<MPI_Aint>(offset), 1, MPI_UINT64_T,
                         MPI_SUM, window_),
          "MPI_Accumulate");
    flush(destination);  // `value` must live until then
  }
  void flush(index_t destination) override { check(MPI_Win_flush(destination, window_), "MPI_Win_flush"); }
  void flush_local(index_t destination) override {
    check(MPI_Win_flush_local(destination, window_), "MPI_Win_flush_local");
  }
  void sync() override {
    check(MPI_Win_sync(window_), "MPI_Win_sync");
    // Some MPIs move one-sided data only while their target calls into them.
    if (++syncs_ % 16 != 0) return;
    int flag = 0;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, communicator_.get(), &flag, MPI_STATUS_IGNORE),
          "MPI_Iprobe");
  }
  void read(std::size_t offset, std::span<std::byte> bytes) override {
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
      const std::uint64_t word = read_word(offset + at);
      std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
    }
  }
  /// Others write while we read, so each word is read atomically.
  std::uint64_t read_word(std::size_t offset) override {
    auto* const word = reinterpret_cast<std::uint64_t*>(static_cast<std::byte*>(base_) + offset);
    return std::atomic_ref<std::uint64_t>(*word).load(std::memory_order_acquire);
  }

 private:
  const transport_detail::Communicator& communicator_;
  std::size_t bytes_;
  MPI_Win window_ = MPI_WIN_NULL;
  void* base_ = nullptr;
  unsigned syncs_ = 0;
};

/// Blocks of a run are contiguous in a window; others get them from there.
class WindowOffers final : public transport_detail::OneSidedOffers {
 public:
  WindowOffers(transport_detail::Communicator& communicator, const TransportPlan& plan)
      : communicator_(communicator),
        room_(plan.offered_bytes.empty()
                  ? 0
                  : static_cast<std::size_t>(
                        plan.offered_bytes[communicator.rank()])) {
    if (!plan.offered_bytes.empty()) window_.emplace(communicator, room_);
  }
  ~WindowOffers() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0 && !requests_.empty())
      MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  std::size_t bytes() const { return room_; }
  void begin() { used_ = 0; }

  Offer hold(std::int64_t tag, const SharedBytes& bytes) override {
    const std::size_t place = used_;
    if (bytes.size() > room_ - used_ || !window_)
      throw UsageError("rank " + std::to_string(communicator_.rank()) +
                       " offers more than the plan allows: " + std::to_string(bytes.size()) +
                       " bytes, with " + std::to_string(room_ - used_) + " left");
    constexpr auto line = static_cast<std::size_t>(offer_line_bytes);
    used_ = std::min(room_, used_ + (bytes.size() + line - 1) / line * line);
    if (bytes.size() > 0) std::memcpy(window_->base() + place, bytes.data(), bytes.size());
    window_->fence_own();
    return {tag, place, bytes.size()};
  }
  void get(index_t source, const Offer& offer) override {
    if (!window_ || offer.bytes > static_cast<std::uint64_t>(std::numeric_limits<int>::max()))
      throw UsageError("an offer of " + std::to_string(offer.bytes) +
                       " bytes: " + (window_ ? "MPI counts to 2^31 − 1" : "the plan offers nothing"));
    SharedBytes bytes = pool_.take(offer.bytes);
    const int count = static_cast<int>(offer.bytes);
    requests_.push_back(MPI_REQUEST_NULL);
    check(MPI_Rget(bytes.writable().data(), count, MPI_BYTE, source, static_cast<MPI_Aint>(offer.place),
                   count, MPI_BYTE, window_->handle(), &requests_.back()),
          "MPI_Rget");
    coming_.push_back({source, offer.tag, std::move(bytes)});
  }
  bool poll(Message& message) override {
    if (requests_.empty()) return false;
    int which = MPI_UNDEFINED, done = 0;
    check(MPI_Testany(static_cast<int>(requests_.size()), requests_.data(), &which, &done, MPI_STATUS_IGNORE),
          "MPI_Testany");
    if (done == 0 || which == MPI_UNDEFINED) return false;
    message = std::move(coming_[which]);
    requests_[which] = requests_.back();
    requests_.pop_back();
    if (static_cast<std::size_t>(which) + 1 < coming_.size())
      coming_[which] = std::move(coming_.back());
    coming_.pop_back();
    return true;
  }

 private:
  const transport_detail::Communicator& communicator_;
  std::size_t room_;
  std::size_t used_ = 0;
  std::optional<WindowMemory> window_;
  BytePool pool_;
  std::vector<MPI_Request> requests_;
  std::vector<Message> coming_;  // beside requests_
};

/// Each rank sends messages of these sizes to its next two neighbours.
constexpr std::size_t test_sizes[] = {0, 8, 100, 4096, 70000};

TransportPlan test_plan(index_t num_ranks) {
  TransportPlan plan;
  for (index_t receiver = 0; receiver < num_ranks; ++receiver) {
    std::vector<Inbound> inbound;
    for (index_t source = 0; source < num_ranks; ++source) {
      const index_t ahead = (receiver - source + num_ranks) % num_ranks;
      if (ahead != 1 && ahead != 2) continue;
      std::int64_t bytes = 0;
      for (const std::size_t size : test_sizes) bytes += static_cast<std::int64_t>(size);
      inbound.push_back({source, static_cast<std::int64_t>(std::size(test_sizes)), bytes});
    }
    plan.inbound.push_back(std::move(inbound));
  }
  return plan;
}

std::byte pattern(index_t source, std::int64_t tag, std::size_t at) {
  return static_cast<std::byte>(31 * static_cast<std::size_t>(source) + 7 * static_cast<std::size_t>(tag) +
                                at % 251);
}

bool as_sent(const Message& message) {
  if (message.tag < 0 || message.tag >= static_cast<std::int64_t>(std::size(test_sizes))) return false;
  if (message.payload.size() != test_sizes[message.tag]) return false;
  for (std::size_t at = 0; at < message.payload.size(); ++at)
    if (message.payload.view()[at] != pattern(message.source, message.tag, at)) return false;
  return true;
}

void send_patterns(Transport& transport, BytePool& pool) {
  for (const index_t ahead : {1, 2}) {
    if (ahead >= transport.num_ranks()) continue;
    for (std::size_t tag = 0; tag < std::size(test_sizes); ++tag) {
      SharedBytes payload = pool.take(test_sizes[tag]);
      for (std::size_t at = 0; at < payload.size(); ++at)
        payload.writable()[at] = pattern(transport.rank(), static_cast<std::int64_t>(tag), at);
      transport.send((transport.rank() + ahead) % transport.num_ranks(), static_cast<std::int64_t>(tag),
                     payload);
    }
  }
  transport.flush();
}

}  // namespace

struct MpiOneSided::State {
  State(int comm, const TransportPlan& plan, Publication publication)
      : communicator(comm),
        memory(communicator, transport_detail::QueueLayout(plan).window_bytes(communicator.rank())),
        queue(memory, plan, publication),
        offers(communicator, plan),
        transport(memory, communicator, queue, offers) {
    communicator.barrier();
  }
  transport_detail::Communicator communicator;
  WindowMemory memory;
  transport_detail::OneSidedQueue queue;
  WindowOffers offers;
  transport_detail::OneSidedTransport transport;
  std::uint32_t run = 0;
};

MpiOneSided::MpiOneSided(int communicator, const TransportPlan& plan, Publication publication)
    : state_(std::make_unique<State>(communicator, plan, publication)) {}
MpiOneSided::~MpiOneSided() = default;

void MpiOneSided::begin_run() {
  state_->offers.begin();
  state_->queue.begin(++state_->run);
}

Transport& MpiOneSided::transport() { return state_->transport; }
std::size_t MpiOneSided::memory_bytes() const { return state_->memory.bytes() + state_->offers.bytes(); }

std::string MpiOneSided::self_test(int communicator, Publication publication, double seconds) {
  transport_detail::Communicator plain(communicator);
  if (plain.num_ranks() < 2) return {};
  const TransportPlan plan = test_plan(plain.num_ranks());
  MpiOneSided one_sided(communicator, plan, publication);
  BytePool pool;
  bool good = true;
  std::int64_t missing = 0;
  for (int run = 0; run < 3; ++run) {
    one_sided.begin_run();
    send_patterns(one_sided.transport(), pool);
    missing = 0;
    for (const Inbound& from : plan.inbound[plain.rank()]) missing += from.messages;
    Stopwatch since;
    Message message;
    for (int turns = 0; missing > 0 && since.seconds() < seconds;) {
      if (!one_sided.transport().poll(message)) {
        one_sided.transport().rest(turns++);
        continue;
      }
      good = good && as_sent(message);
      --missing;
    }
    if (plain.agree(missing > 0 ? 1 : 0) != 0) break;
  }
  const int fault = plain.agree(missing > 0 ? 2 : good ? 0 : 1);
  if (fault == 0) return {};
  return fault == 2 ? "one-sided messages did not arrive in " + text_of_seconds(seconds)
                    : "one-sided messages arrived changed";
}

MpiExchange make_mpi_exchange(int communicator, const std::string& name, double seconds) {
  const MpiExchangeInfo wanted = choice_named("exchange between MPI processes", name, mpi_exchange_list);
  MpiExchange exchange{make_mpi_two_sided(communicator), {}, name, {}};
  if (!wanted.queues) return exchange;
  const Publication publication = *wanted.queues;
  const std::string fault = MpiOneSided::self_test(communicator, publication, seconds);
  if (!fault.empty()) {
    exchange.name = mpi_exchange_list[0].name;
    exchange.note = exchange.name + " instead of " + name + ", which failed its test at the start: " + fault;
    return exchange;
  }
  exchange.planned = [communicator,
                      publication](const TransportPlan& plan) -> std::unique_ptr<PlannedTransport> {
    try {
      return std::make_unique<MpiOneSided>(communicator, plan, publication);
    } catch (const MemoryError&) {
      return nullptr;
    }
  };
  return exchange;
}

}  // namespace palmette
