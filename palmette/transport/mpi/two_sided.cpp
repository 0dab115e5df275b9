// Messages by MPI_Isend and matched probes. A message on the wire has its tag in 16 bytes, then the payload.
// Getting an offer means requesting a message from its owner, which answers when it polls, and while it waits
// for an agreement.
#include <cstring>
#include <limits>

#include "palmette/transport/held_offers.hpp"
#include "palmette/transport/mpi/outbox.hpp"
#include "palmette/transport/mpi_world.hpp"

namespace palmette {
namespace {

using transport_detail::check;

constexpr std::size_t header_bytes = 16;
constexpr int wire_tag = 1;
constexpr int request_tag = 4;  // 2 and 3: Communicator
constexpr int turns_of_a_yield = 16;             // wait_politely yields at the last of them
constexpr std::size_t sends_between_tests = 16;  // of a rank that sends without polling

class TwoSided final : public Transport {
 public:
  explicit TwoSided(int communicator) : communicator_(communicator), outbox_(communicator_.get()) {
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    any_thread_ = level >= MPI_THREAD_SERIALIZED;
    communicator_.while_waiting([this] {
      const std::lock_guard lock(mutex_);
      outbox_.advance();
      answer_requests();
    });
  }
  ~TwoSided() override {
    int finalized = 0;
    MPI_Finalized(&finalized);
    if (finalized == 0) outbox_.finish();
  }
  index_t rank() const override { return communicator_.rank(); }
  index_t num_ranks() const override { return communicator_.num_ranks(); }

  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    const std::lock_guard lock(mutex_);
    send_bytes(destination, tag, payload);
  }
  Offer offer(std::int64_t tag, SharedBytes bytes) override { return offers_.hold(tag, std::move(bytes)); }
  void get(index_t source, const Offer& offer) override {
    check_rank(source, num_ranks());
    const std::lock_guard lock(mutex_);
    post_or_wait(source, request_tag, pool_.copy(std::as_bytes(std::span(&offer, 1))));
  }

  bool poll(Message& message) override {
    const std::lock_guard lock(mutex_);
    outbox_.advance();
    answer_requests();
    int found = 0;
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(MPI_ANY_SOURCE, wire_tag, communicator_.get(), &found, &matched, &status),
          "MPI_Improbe");
    if (found == 0) return false;
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    SharedBytes wire = pool_.take(bytes);
    check(MPI_Mrecv(wire.writable().data(), bytes, MPI_BYTE, &matched, MPI_STATUS_IGNORE), "MPI_Mrecv");
    message.source = status.MPI_SOURCE;
    std::memcpy(&message.tag, wire.data(), sizeof message.tag);
    message.payload = static_cast<std::size_t>(bytes) == header_bytes
                          ? SharedBytes()
                          : wire.part(header_bytes, static_cast<std::size_t>(bytes) - header_bytes);
    return true;
  }
  void flush() override {
    const std::lock_guard lock(mutex_);
    outbox_.advance_all();
  }
  /// Does not sleep while sends wait for their turn: the next poll starts some of them.
  void rest(int turns) override {
    const auto sends_wait = [this] {
      const std::lock_guard lock(mutex_);
      return outbox_.waiting() > 0;
    };
    wait_politely(sends_wait() ? turns % turns_of_a_yield : turns);
  }
  double sum(double value) override { return communicator_.sum(value); }
  int agree(int status) override {
    const int largest = communicator_.agree(status);
    offers_.forget();
    return largest;
  }
  void set_watchdog(double seconds) override { communicator_.set_watchdog(seconds); }
  void abandon(const std::string& why) override { communicator_.abandon(why); }

 private:
  // All with mutex_ held.
  void send_bytes(index_t destination, std::int64_t tag, const SharedBytes& payload) {
    check_rank(destination, num_ranks());
    if (payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) - header_bytes)
      throw UsageError("a message of " + std::to_string(payload.size()) + " bytes: MPI counts to 2^31 − 1");
    SharedBytes wire = pool_.take(header_bytes + payload.size());
    std::byte* const at = wire.writable().data();
    std::memset(at, 0, header_bytes);
    std::memcpy(at, &tag, sizeof tag);
    if (payload.size() > 0) std::memcpy(at + header_bytes, payload.data(), payload.size());
    post_or_wait(destination, wire_tag, std::move(wire));
  }
  /// MPI may belong to the thread that polls: then only that thread starts sends.
  void post_or_wait(index_t destination, int tag, SharedBytes wire) {
    outbox_.add(destination, tag, std::move(wire));
    if (!any_thread_) return;
    if (outbox_.waiting() % sends_between_tests == 0) outbox_.advance();
    else outbox_.post();
  }
  /// Ranks that request an offer get it as a message.
  void answer_requests() {
    while (!offers_.empty()) {
      int found = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, request_tag, communicator_.get(), &found, &status), "MPI_Iprobe");
      if (found == 0) return;
      Offer offer;
      check(MPI_Recv(&offer, sizeof offer, MPI_BYTE, status.MPI_SOURCE, request_tag, communicator_.get(),
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
      send_bytes(status.MPI_SOURCE, offer.tag, offers_.look_up(offer));
    }
  }

  transport_detail::Communicator communicator_;
  transport_detail::Outbox outbox_;
  bool any_thread_ = false;
  std::mutex mutex_;
  BytePool pool_;
  transport_detail::HeldOffers offers_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_two_sided(int communicator) {
  return std::make_unique<TwoSided>(communicator);
}

}  // namespace palmette
