// Run by mpiexec: regions between processes, by every mechanism. Exit status 1 if a byte is wrong, lost or
// read twice.
#include <cstdio>

#include "tests/transfer/region_values.hpp"

namespace palmette {
namespace {

using testing_transfer::Checker;
using transfer::TransferChoice;

bool is_exchanged(Transport& transport, const TransferChoice& choice, bool runs_ahead) {
  transfer::RegionWork work = testing_transfer::region_work(50, 4000, 20);
  work.runs_ahead = runs_ahead;
  Checker checker;
  transfer::RegionProgram program(checker.attach(work, transport.rank(), choice.chunk_bytes), choice,
                                  transport);
  ThreadTeam team(1);
  drive(program, transport, team, {60});
  const bool good =
      checker.wrong == 0 && checker.reads == testing_transfer::reads_of(work, choice, transport.num_ranks());
  return transport.agree(good ? 0 : 1) == 0;
}

int run() {
  MpiSession session;
  bool good = true;
  for (const transfer::Mechanism mechanism : transfer::mechanisms)
    for (const bool runs_ahead : {false, true}) {
      const auto transport = make_mpi_two_sided(session.world());
      const bool right = is_exchanged(*transport, {mechanism, 6000, 2}, runs_ahead);
      if (transport->rank() == 0)
        std::printf("%-10s %s\n", name_of(mechanism), right ? "all chunks once, all bytes right" : "WRONG");
      good = good && right;
    }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace palmette

int main() {
  return palmette::run();
}
