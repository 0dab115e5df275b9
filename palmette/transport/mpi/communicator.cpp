// Collective operations that sleep while they wait: ranks may outnumber processors, and MPI's own waiting
// spins.
#include "palmette/transport/mpi/communicator.hpp"
#include "palmette/transport/mpi_world.hpp"

#include <chrono>
#include <cstdio>
#include <numeric>
#include <thread>

#include "palmette/base/base.hpp"

namespace palmette {
namespace transport_detail {

namespace {

// Messages without content, in addition to those of programs.
constexpr int roll_call_tag = 2;
constexpr int here_tag = 3;
constexpr double roll_call_seconds = 0.5;
/// Waiting ranks check for roll calls once in this many turns.
constexpr int turns_of_roll_calls = 64;

}  // namespace

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
  if (initialized == 0)
    throw UsageError("MPI has not been initialized; make an MpiSession or call MPI_Init_thread first");
  check(MPI_Comm_dup(MPI_Comm_f2c(fortran_handle), &comm_), "MPI_Comm_dup");
  int rank = 0, num_ranks = 1;
  MPI_Comm_rank(comm_, &rank);
  MPI_Comm_size(comm_, &num_ranks);
  rank_ = rank;
  num_ranks_ = num_ranks;
  if (rank_ == 0) gathered_.resize(num_ranks);
}

Communicator::~Communicator() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0 && comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

void Communicator::wait(MPI_Request& request) {
  Stopwatch since;
  for (int turn = 0;; ++turn) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    if (while_waiting_) while_waiting_();
    wait_politely(turn);
    if (turn % turns_of_roll_calls != 0 || turn == 0) continue;
    answer_roll_calls(nullptr);
    if (watchdog_seconds_ <= 0 || since.seconds() < watchdog_seconds_) continue;
    const std::string who = absent(request);
    if (who.empty()) return;
    const std::string why = "rank " + std::to_string(rank_) + " of " + std::to_string(num_ranks_) +
                            " has waited " + text_of_seconds(since.seconds()) +
                            " for all to agree; not come: " + who;
    abandon(why);
    throw BrokenRun(why);
  }
}

void Communicator::answer_roll_calls(std::vector<char>* here) {
  for (const int tag : {roll_call_tag, here_tag})
    for (;;) {
      int found = 0;
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &found, &status), "MPI_Iprobe");
      if (found == 0) break;
      check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, tag, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
      if (here != nullptr) (*here)[status.MPI_SOURCE] = 1;
      if (tag == roll_call_tag) send_nothing(status.MPI_SOURCE, here_tag);
    }
}

void Communicator::send_nothing(int destination, int tag) const {
  MPI_Request sent = MPI_REQUEST_NULL;
  check(MPI_Isend(nullptr, 0, MPI_BYTE, destination, tag, comm_, &sent), "MPI_Isend");
  check(MPI_Request_free(&sent), "MPI_Request_free");
}

std::string Communicator::absent(MPI_Request& request) {
  std::vector<char> here(num_ranks_, 0);
  here[rank_] = 1;
  for (index_t rank = 0; rank < num_ranks_; ++rank)
    if (rank != rank_) send_nothing(rank, roll_call_tag);
  Stopwatch since;
  while (since.seconds() < roll_call_seconds) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return {};
    answer_roll_calls(&here);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::string who;
  for (index_t rank = 0; rank < num_ranks_; ++rank)
    if (here[rank] == 0)
      who += (who.empty() ? "rank " : ", rank ") + std::to_string(rank);
  return who.empty() ? "nobody: all wait" : who;
}

double Communicator::sum(double value) {
  // Rank 0 adds in the order of ranks: a reduction would choose its own order.
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Igather(&value, 1, MPI_DOUBLE, gathered_.data(), 1, MPI_DOUBLE, 0, comm_, &request),
        "MPI_Igather");
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
  MPI_Abort(comm_, 5);  // the exit code of the command for a broken run
}

}  // namespace transport_detail

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
