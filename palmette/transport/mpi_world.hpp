// Ranks that are MPI processes. Declared without mpi.h, so that whoever includes the door needs no MPI; defined in the target
// palmette::mpi, which only programs that use MPI link.
#pragma once

#include "palmette/transport/one_sided_queue.hpp"
#include "palmette/transport/rank.hpp"

namespace palmette {

/// MPI from here to the end of the scope: initialized (MPI_THREAD_MULTIPLE is asked for) unless it is already, finalized if
/// initialized here.
class MpiSession {
 public:
  MpiSession();
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// MPI_COMM_WORLD as MPI_Comm_c2f gives it: how communicators pass this door.
  int world() const;

 private:
  bool finalize_ = false;
};

/// One process's end over messages: MPI_Isend, MPI_Improbe and MPI_Imrecv. Works on a duplicate of the communicator.
///
/// abandon writes its line to stderr and ends all processes of the run by MPI_Abort, since the others may be waiting inside MPI.
/// @param communicator  as MPI_Comm_c2f gives it; every rank of it must call this
/// @throws UsageError if MPI has not been initialized
std::unique_ptr<Transport> make_mpi_two_sided(int communicator);

/// One process's end over one-sided queues: passive-target windows, locked once for the life of the transport. As make_mpi_two_sided,
/// except that a run exchanges no more than the plan allows and that runs are numbered.
class MpiOneSided {
 public:
  MpiOneSided(int communicator, const TransportPlan& plan, Publication publication);
  ~MpiOneSided();
  /// Begin the next run: every rank must call it, and returns when all have.
  void begin_run();
  Transport& transport();

  /// Whether messages that are put really arrive here, whole and in time: each rank sends to its neighbours, a few sizes, and waits at most
  /// `seconds`. Every rank must call it, and gets the same answer: empty, or what did not work.
  static std::string self_test(int communicator, Publication publication, double seconds = 10);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace palmette
