// SimGrid's MPI (3.32) declares matched probes but aborts when they are called, and its MPI_Iprobe finds
// messages that are still in transit: a rank that then receives one waits for it although tasks are ready to
// run. These replace both calls: a message is found once it has arrived.
#include <mpi.h>

#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace {

struct Coming {
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<char> bytes;
  int source = 0;
};

/// Shared by all ranks, which are actors of one process and switch only inside MPI.
using Place = std::pair<int, MPI_Comm>;
std::map<Place, std::vector<std::unique_ptr<Coming>>> coming;

std::vector<std::unique_ptr<Coming>>& coming_here(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return coming[{rank, comm}];
}

void receive_what_has_left(int source, int tag, MPI_Comm comm, std::vector<std::unique_ptr<Coming>>& here) {
  for (;;) {
    int found = 0, bytes = 0;
    MPI_Status status;
    MPI_Iprobe(source, tag, comm, &found, &status);
    if (found == 0) return;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    auto one = std::make_unique<Coming>();
    one->bytes.resize(bytes);
    one->source = status.MPI_SOURCE;
    MPI_Irecv(one->bytes.data(), bytes, MPI_BYTE, status.MPI_SOURCE, tag, comm, &one->request);
    here.push_back(std::move(one));
  }
}

}  // namespace

/// For bytes, one tag and any source.
extern "C" int MPI_Improbe(int source, int tag, MPI_Comm comm, int* found, MPI_Message* message,
                           MPI_Status* status) {
  std::vector<std::unique_ptr<Coming>>& here = coming_here(comm);
  receive_what_has_left(source, tag, comm, here);
  *found = 0;
  for (std::size_t at = 0; at < here.size() && *found == 0; ++at) {
    MPI_Test(&here[at]->request, found, status);
    if (*found == 0) continue;
    status->MPI_SOURCE = here[at]->source;
    status->count = static_cast<int>(here[at]->bytes.size());
    *message = here[at].release();
    here.erase(here.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return MPI_SUCCESS;
}

extern "C" int MPI_Mrecv(void* to, int count, MPI_Datatype, MPI_Message* message, MPI_Status*) {
  const std::unique_ptr<Coming> one(static_cast<Coming*>(*message));
  if (count > 0) std::memcpy(to, one->bytes.data(), count);
  *message = nullptr;
  return MPI_SUCCESS;
}
