// Messages by MPI_Isend and matched probes. A message on the wire has its tag in 16 bytes, then the payload.
// A payload that lies on a device follows in an MPI message of its own, from its address and to an address of
// the receiver's device; MPI keeps those of two ranks in order, so that they need no numbers.
// Getting an offer means requesting a message from its owner, which answers when it polls, and while it waits
// for an agreement.
#include <cstring>
#include <deque>
#include <limits>

#include "palmette/transport/held_offers.hpp"
#include "palmette/transport/mpi/outbox.hpp"
#include "palmette/transport/mpi_world.hpp"

#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace palmette {
namespace {

using transport_detail::check;

constexpr std::size_t header_bytes = 16;
constexpr int wire_tag = 1;
constexpr int request_tag = 4;  // 2 and 3: Communicator
constexpr int device_tag = 5;
constexpr int turns_of_a_yield = 16;             // wait_politely yields at the last of them
constexpr std::size_t sends_between_tests = 16;  // of a rank that sends without polling

/// Whether this MPI sends from the addresses of GPUs, as it says itself.
bool mpi_takes_device_memory() {
#if defined(MPIX_GPU_SUPPORT_CUDA)
  int cuda = 0, hip = 0;
  MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &cuda);
  MPIX_GPU_query_support(MPIX_GPU_SUPPORT_HIP, &hip);
  return cuda != 0 || hip != 0;
#elif defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

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
  bool carry_from(const std::shared_ptr<BytePool>& pool) override {
    if (!pool->memory().host_reads && !mpi_takes_device_memory()) return false;
    on_device_ = pool;
    return true;
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
    if (take_finished(message)) return true;
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
    Header header;
    std::memcpy(&header, wire.data(), sizeof header);
    message.tag = header.tag;
    if (header.bytes_on_device > 0) {
      expect_on_device(message.source, header);
      return take_finished(message);
    }
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
  struct Header {
    std::int64_t tag = 0;
    std::int64_t bytes_on_device = 0;  ///< of a payload that follows
  };
  static_assert(sizeof(Header) == header_bytes);
  /// A payload under way to the device.
  struct Following {
    Message message;
    MPI_Request request;
  };

  // All with mutex_ held.
  void send_bytes(index_t destination, std::int64_t tag, const SharedBytes& payload) {
    check_rank(destination, num_ranks());
    if (payload.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()) - header_bytes)
      throw UsageError("a message of " + std::to_string(payload.size()) + " bytes: MPI counts to 2^31 − 1");
    const bool follows = payload.lies_elsewhere();
    const std::size_t here = follows ? 0 : payload.size();
    const Header header{tag, static_cast<std::int64_t>(payload.size() - here)};
    SharedBytes wire = pool_.take(header_bytes + here);
    std::byte* const at = wire.writable().data();
    std::memcpy(at, &header, sizeof header);
    if (here > 0) std::memcpy(at + header_bytes, payload.data(), here);
    post_or_wait(destination, wire_tag, std::move(wire));
    if (follows) post_or_wait(destination, device_tag, payload);
  }
  void expect_on_device(index_t source, const Header& header) {
    if (!on_device_) throw UsageError("a payload on a device has come to a rank that has named none");
    Following next{{source, header.tag, on_device_->take(static_cast<std::size_t>(header.bytes_on_device))},
                   MPI_REQUEST_NULL};
    check(MPI_Irecv(next.message.payload.writable().data(), static_cast<int>(header.bytes_on_device),
                    MPI_BYTE, source, device_tag, communicator_.get(), &next.request),
          "MPI_Irecv");
    following_.push_back(std::move(next));
  }
  bool take_finished(Message& message) {
    for (auto next = following_.begin(); next != following_.end(); ++next) {
      int is_here = 0;
      check(MPI_Test(&next->request, &is_here, MPI_STATUS_IGNORE), "MPI_Test");
      if (is_here == 0) continue;
      message = std::move(next->message);
      following_.erase(next);
      return true;
    }
    return false;
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
  std::shared_ptr<BytePool> on_device_;
  std::deque<Following> following_;
  transport_detail::HeldOffers offers_;
};

}  // namespace

std::unique_ptr<Transport> make_mpi_two_sided(int communicator) {
  return std::make_unique<TwoSided>(communicator);
}

}  // namespace palmette
