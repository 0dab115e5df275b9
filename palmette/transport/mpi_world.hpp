// Ranks that are MPI processes. Declared without mpi.h, so that code which includes the door needs no MPI;
// defined in the target palmette::mpi, which only programs that use MPI link.
#pragma once

#include <optional>
#include <string_view>

#include "palmette/transport/one_sided_queue.hpp"
#include "palmette/transport/planned.hpp"
#include "palmette/transport/rank.hpp"

namespace palmette {

/// MPI during the lifetime of this object: initialized (requesting MPI_THREAD_MULTIPLE) unless it already is,
/// and finalized if it was initialized here.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// MPI_COMM_WORLD as MPI_Comm_c2f returns it, the form in which communicators pass this door.
  int world() const;

 private:
  bool finalize_ = false;
};

/// One process's end over messages: MPI_Isend, MPI_Improbe and MPI_Imrecv. Uses a duplicate of the
/// communicator.
///
/// abandon writes its line to stderr and ends all processes of the run by MPI_Abort, since the others may be
/// waiting inside MPI.
/// @param communicator  as MPI_Comm_c2f gives it; every rank of it must call this
/// @throws UsageError if MPI has not been initialized
std::unique_ptr<Transport> make_mpi_two_sided(int communicator);

/// One process's end over one-sided queues: passive-target windows, locked once for the life of the
/// transport. As make_mpi_two_sided, except that a run exchanges no more than the plan allows and that runs
/// are numbered. No process may send to itself.
class MpiOneSided final : public PlannedTransport {
 public:
  /// Every rank must call it, with the same plan.
  /// @throws MemoryError on all ranks if windows of these sizes cannot be allocated
  MpiOneSided(int communicator, const TransportPlan& plan, Publication publication);
  ~MpiOneSided() override;
  void begin_run() override;
  Transport& transport() override;
  std::size_t memory_bytes() const override;

  /// Test whether messages that are put really arrive, complete and in time: each rank sends messages of a
  /// few sizes to its neighbours, and waits at most `seconds`. Every rank must call it, and gets the same
  /// answer: empty, or what did not work.
  static std::string self_test(int communicator, Publication publication, double seconds = 10);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// How the processes of a run exchange messages.
struct MpiExchange {
  std::unique_ptr<Transport> transport;  ///< messages: for agreements, and everything without a plan
  /// one-sided queues for runs that have a plan; empty if everything uses messages
  PlannedTransports planned;
  std::string name;                      ///< what is used, as in mpi_exchange_list
  std::string note;                      ///< why it is not what was asked for; else empty
};

struct MpiExchangeInfo {
  std::string_view name;
  std::optional<Publication> queues;  ///< one-sided ones, published so; empty: messages
};
/// The one list of exchanges between MPI processes, the default first; also for builds without MPI, which
/// name what they lack.
inline constexpr MpiExchangeInfo mpi_exchange_list[] = {{"mpi_two_sided", {}},
                                                        {"mpi_rma", Publication::checksum},
                                                        {"mpi_rma_counter", Publication::counter}};
constexpr std::string_view name_of(const MpiExchangeInfo& exchange) { return exchange.name; }

/// The exchange of this name. One-sided queues are tested first; if they fail, messages are used instead and
/// `note` says so. Every rank must call it, and gets the same.
/// @param communicator  as MPI_Comm_c2f gives it; must outlive the result
/// @param seconds       time limit of that test
/// @throws UsageError listing the names
MpiExchange make_mpi_exchange(int communicator, const std::string& name, double seconds = 10);

}  // namespace palmette
