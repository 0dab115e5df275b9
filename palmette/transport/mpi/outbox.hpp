// Inside `transport`: the sends of one rank, of which MPI holds a bounded number at a time.
#pragma once

#include <mpi.h>

#include <array>
#include <deque>
#include <vector>

#include "palmette/transport/mpi/communicator.hpp"

namespace palmette::transport_detail {

/// Sends that are to be started, and those that MPI has started. MPI libraries look through what they could
/// not deliver yet whenever they make progress, so that each message costs more the more are outstanding;
/// what exceeds the bound therefore waits here. Not for several threads at a time.
class Outbox {
 public:
  explicit Outbox(MPI_Comm comm) : comm_(comm) {}
  void add(index_t destination, int tag, SharedBytes wire);
  /// Start as many sends as there is room for, without asking which others are complete.
  void post();
  /// Return the buffers of some complete sends to their pool, and start others in their place.
  void advance();
  /// As `advance`, until no more can be started for now.
  void advance_all();
  /// Starts everything and waits until it is complete.
  void finish();
  bool empty() const { return waiting_.empty() && requests_.empty(); }
  std::size_t outstanding() const { return requests_.size(); }
  std::size_t waiting() const { return waiting_.size(); }

 private:
  struct Waiting {
    index_t destination;
    int tag;
    SharedBytes wire;
  };
  static constexpr std::size_t most_outstanding = 256;
  static constexpr std::size_t tested_at_once = 32;
  void start(Waiting send);
  std::size_t forget_complete();
  void forget(std::size_t at);

  MPI_Comm comm_;
  std::deque<Waiting> waiting_;
  std::vector<MPI_Request> requests_;
  std::vector<SharedBytes> on_the_wire_;  // beside requests_
  std::size_t next_test_ = 0;             // in requests_
  std::array<int, tested_at_once> finished_{};
};

}  // namespace palmette::transport_detail
