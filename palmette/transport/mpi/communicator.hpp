// Inside `transport`: a duplicated communicator, waiting that leaves the processor to others, and the
// operations that all MPI transports share.
#pragma once

#include <mpi.h>

#include "palmette/transport/one_sided_transport.hpp"

namespace palmette::transport_detail {

/// Throws BrokenRun with MPI's own message.
void check(int code, const char* what);

class Communicator final : public Gathering {
 public:
  /// Every rank must call it.
  explicit Communicator(int fortran_handle);
  ~Communicator() override;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm get() const { return comm_; }
  index_t rank() const { return rank_; }
  index_t num_ranks() const { return num_ranks_; }
  double sum(double value) override;
  int agree(int status) override;
  void set_watchdog(double seconds) override { watchdog_seconds_ = seconds; }
  void barrier();
  /// Called repeatedly while this rank waits for others.
  void while_waiting(std::function<void()> work) { while_waiting_ = std::move(work); }
  void abandon(const std::string& why) override;

 private:
  /// Wait until the request is complete. @throws BrokenRun if that takes too long: the run is then ended
  void wait(MPI_Request& request);
  /// Tell ranks that ask that this rank waits too; `here` gets the ranks that report the same.
  void answer_roll_calls(std::vector<char>* here);
  void send_nothing(int destination, int tag) const;
  /// Which ranks are missing? Empty if the request is complete after all.
  std::string absent(MPI_Request& request);
  MPI_Comm comm_ = MPI_COMM_NULL;
  index_t rank_ = 0;
  index_t num_ranks_ = 1;
  std::vector<double> gathered_;  // length num_ranks on rank 0
  double watchdog_seconds_ = 0;
  std::function<void()> while_waiting_;
};

}  // namespace palmette::transport_detail
