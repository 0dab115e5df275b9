// Agreement by a status; pieces by one message to each other rank.
#include "palmette/transport/together.hpp"

#include <exception>

namespace palmette {
namespace {

/// Done when a piece of every rank that gives one has arrived.
class Gather final : public RankProgram {
 public:
  /// @param gives      by rank
  /// @param piece_for  what each rank gets; called with every rank
  template <class PieceFor>
  Gather(Transport& transport, std::vector<char> gives, const PieceFor& piece_for)
      : transport_(transport), gives_(std::move(gives)), pieces_(transport.num_ranks()) {
    for (index_t rank = 0; rank < transport.num_ranks(); ++rank) outgoing_.push_back(piece_for(rank));
    pieces_[transport.rank()] =
        outgoing_[transport.rank()];
  }
  void start() override {
    const index_t rank = transport_.rank(), num_ranks = transport_.num_ranks();
    has_come_.assign(pieces_.size(), 0);
    has_come_[rank] = 1;
    index_t missing = 0;
    for (index_t other = 0; other < num_ranks; ++other)
      missing += other != rank && gives_[other] != 0 ? 1 : 0;
    missing_.store(missing, std::memory_order_release);
    if (gives_[rank] == 0) return;
    // Each rank begins with its neighbour, so that not all messages go to rank 0 first.
    for (index_t step = 1; step < num_ranks; ++step) {
      const index_t other = (rank + step) % num_ranks;
      transport_.send(other, 0, std::move(outgoing_[other]));
    }
    transport_.flush();
  }
  void on_message(const Message& message) override {
    const auto source = static_cast<std::size_t>(message.source);
    pieces_[source] = message.payload;
    has_come_[source] = 1;
    missing_.fetch_sub(1, std::memory_order_release);
  }
  bool run_one_task(int) override { return false; }
  bool done() const override { return missing_.load(std::memory_order_acquire) == 0; }
  std::string waiting_for() const override {
    for (std::size_t rank = 0; rank < has_come_.size(); ++rank)
      if (has_come_[rank] == 0 && gives_[rank] != 0) return "the piece of rank " + std::to_string(rank);
    return "nothing";
  }
  std::vector<SharedBytes> take() { return std::move(pieces_); }

 private:
  Transport& transport_;
  const std::vector<char> gives_;      // by rank
  std::vector<SharedBytes> outgoing_;  // by rank, until sent
  std::vector<SharedBytes> pieces_;  // by rank
  std::vector<char> has_come_;       // by rank
  std::atomic<index_t> missing_{0};
};

std::string reason_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception without a name";
  }
}

std::string name_of_rank(const Transport& transport, index_t rank) {
  return "rank " + std::to_string(rank) + " of " + std::to_string(transport.num_ranks());
}

}  // namespace

void agree_after(Transport& transport, const std::function<void()>& work) {
  std::exception_ptr thrown;
  try {
    work();
  } catch (...) {
    thrown = std::current_exception();
  }
  const int worst = transport.agree(thrown ? transport.num_ranks() - transport.rank() : 0);
  if (thrown) std::rethrow_exception(thrown);
  if (worst != 0)
    throw BrokenRun(name_of_rank(transport, transport.num_ranks() - worst) +
                    " could not go on, so no rank does");
}

void exchange(Transport& transport, const std::function<void()>& work) {
  try {
    work();
  } catch (const BrokenRun&) {
    throw;
  } catch (const AgreedError&) {
    throw;
  } catch (...) {
    transport.abandon(name_of_rank(transport, transport.rank()) + ": " + reason_of(std::current_exception()));
    throw;
  }
  transport.agree(0);
}

std::vector<SharedBytes> gather_from_all(Transport& transport, ThreadTeam& team, SharedBytes mine,
                                         const DriveOptions& options) {
  const std::vector<char> all(transport.num_ranks(), 1);
  return gather_from(all, transport, team, std::move(mine), options);
}

std::vector<SharedBytes> gather_from(std::span<const char> gives, Transport& transport, ThreadTeam& team,
                                     SharedBytes mine, const DriveOptions& options) {
  if (gives.size() != static_cast<std::size_t>(transport.num_ranks()))
    throw UsageError(std::to_string(gives.size()) + " ranks that give pieces or not, among " +
                     std::to_string(transport.num_ranks()));
  Gather gather(transport, {gives.begin(), gives.end()}, [&](index_t) { return mine; });
  drive(gather, transport, team, options);
  return gather.take();
}

std::vector<SharedBytes> deal_to_all(Transport& transport, ThreadTeam& team,
                                     const std::vector<SharedBytes>& pieces, const DriveOptions& options) {
  if (pieces.size() != static_cast<std::size_t>(transport.num_ranks()))
    throw UsageError(std::to_string(pieces.size()) + " pieces for " + std::to_string(transport.num_ranks()) +
                     " ranks");
  Gather gather(transport, std::vector<char>(pieces.size(), 1), [&](index_t rank) { return pieces[rank]; });
  drive(gather, transport, team, options);
  return gather.take();
}

}  // namespace palmette
