// Collective verbs that sleep while they wait: ranks may outnumber processors, and MPI's own waiting spins.
#include "palmette/transport/mpi/communicator.hpp"
#include "palmette/transport/mpi_world.hpp"

#include <cstdio>
#include <numeric>

namespace palmette {
namespace transporting {

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw BrokenRun(std::string(what) + ": " + text);
}

Communicator::Communicator(int fortran_handle) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) throw UsageError("MPI has not been initialized; make an MpiSession or call MPI_Init_thread first");
  check(MPI_Comm_dup(MPI_Comm_f2c(fortran_handle), &comm_), "MPI_Comm_dup");
  int rank = 0, num_ranks = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &num_ranks);
  rank_ = rank;
  num_ranks_ = num_ranks;
  if (rank_ == 0) gathered_.resize(static_cast<std::size_t>(num_ranks));
}

Communicator::~Communicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Communicator::wait(MPI_Request& request) const {
  for (int turn = 0;; ++turn) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    wait_politely(turn);
  }
}

double Communicator::sum(double value) {
  // Added by rank 0 in the order of ranks: a reduction would choose its own.
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igather(&value, 1, MPI_DOUBLE, gathered_.data(), 1, MPI_DOUBLE, 0, comm_, &request), "MPI_Igather");
  wait(request);
  double total = std::accumulate(gathered_.begin(), gathered_.end(), 0.0);
  check(MPI_Ibcast(&total, 1, MPI_DOUBLE, 0, comm_, &request), "MPI_Ibcast");
  wait(request);
  return total;
}

int Communicator::agree(int status) {
  MPI_Request request = MPI_REQUEST_NULL;
  int largest = status;
  check(MPI_Iallreduce(&status, &largest, 1, MPI_INT, MPI_MAX, comm_, &request), "MPI_Iallreduce");
  wait(request);
  return largest;
}

void Communicator::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
  wait(request);
}

void Communicator::abandon(const std::string& why) {
  std::fprintf(stderr, "palmette: %s\n", why.c_str());
  MPI_Abort(comm_, 1);
}

}  // namespace transporting

MpiSession::MpiSession() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return;
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  finalize_ = true;
}

MpiSession::~MpiSession() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalize_ && finalized == 0) MPI_Finalize();
}

int MpiSession::world() const { return static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)); }

}  // namespace palmette
