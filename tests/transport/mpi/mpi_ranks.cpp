// Run by mpiexec with any number of processes: a random graph of tasks over every MPI transport must give the
// serial values. One line for each transport on rank 0; exit status 1 if any value differs.
#include <cstdio>
#include <cstring>
#include <memory>

#include "palmette/transport/transport.hpp"
#include "tests/transport/dag_program.hpp"

namespace palmette {
namespace {

using testing_transport::Dag;
using testing_transport::DagProgram;

constexpr double watchdog_seconds = 60;
constexpr std::size_t payload_bytes = 5000;

/// Values of this rank that differ from the serial ones, over all ranks.
double wrong_values(const Dag& dag, Transport& transport, int threads) {
  DagProgram program(dag, transport, payload_bytes);
  ThreadTeam team(threads);
  drive(program, transport, team, {watchdog_seconds});
  const std::vector<std::uint64_t> expected = testing_transport::serial_values(dag);
  double wrong = 0;
  for (const auto& [task, value] : program.results()) wrong += value != expected[task] ? 1 : 0;
  return transport.sum(wrong);
}

bool report(bool first, const char* name, double wrong) {
  if (first) std::printf("%-24s %s\n", name, wrong == 0 ? "all values as in a serial run" : "WRONG VALUES");
  return wrong == 0;
}

bool two_sided(int world, const Dag& dag) {
  const auto transport = make_mpi_two_sided(world);
  bool good = true;
  for (const int threads : {1, 2})
    good = report(transport->rank() == 0, "mpi_two_sided", wrong_values(dag, *transport, threads)) && good;
  // 1e16 + 1 + … + 1 − 1e16: the result depends on the order of ranks.
  const index_t last = transport->num_ranks() - 1, rank = transport->rank();
  const double term = last == 0 ? 0 : rank == 0 ? 1e16 : rank == last ? -1e16 : 1;
  good = report(rank == 0, "sum in order of ranks", transport->sum(term)) && good;
  return transport->agree(good ? 0 : 1) == 0;
}

/// Payloads that lie in other memory go from there to there, mixed with others, in any number.
bool from_other_memory(int world) {
  constexpr std::int64_t messages = 300;
  const auto transport = make_mpi_two_sided(world);
  transport->set_watchdog(watchdog_seconds);
  const index_t rank = transport->rank(), ranks = transport->num_ranks();
  std::size_t held = 0;
  const auto there = std::make_shared<BytePool>(
      ByteMemory{[&](std::size_t bytes) { return held += bytes, static_cast<void*>(new char[bytes]); },
                 [&](void* memory, std::size_t bytes) { held -= bytes, delete[] static_cast<char*>(memory); },
                 true});
  double wrong = transport->carry_from(there) ? 0 : 1;
  wrong += transport->carry_from(std::make_shared<BytePool>(
               ByteMemory{there->memory().allocate, there->memory().release, false}))
               ? 1
               : 0;  // the MPI of a test takes no addresses that the host cannot read
  BytePool here;
  const auto size_of = [](std::int64_t tag) { return static_cast<std::size_t>(1 + tag * 37 % 5000); };
  for (std::int64_t tag = 0; tag < messages; ++tag) {
    SharedBytes payload = (tag % 2 == 0 ? *there : here).take(size_of(tag));
    std::memset(payload.writable().data(), static_cast<int>((tag + rank) % 100), payload.size());
    transport->send((rank + 1) % ranks, tag, payload);
  }
  transport->flush();
  Message message;
  int turns = 0;
  for (std::int64_t left = messages; left > 0;) {
    if (!transport->poll(message)) {
      transport->rest(turns++);
      continue;
    }
    --left;
    const auto expected = static_cast<std::byte>((message.tag + message.source) % 100);
    wrong += message.payload.size() == size_of(message.tag) ? 0 : 1;
    wrong += message.payload.lies_elsewhere() == (message.tag % 2 == 0) ? 0 : 1;
    for (const std::byte byte : message.payload.view()) wrong += byte == expected ? 0 : 1;
  }
  message = {};
  transport->agree(0);
  wrong += held > 0 ? 0 : 1;
  return report(rank == 0, "mpi_two_sided, elsewhere", transport->sum(wrong));
}

/// More messages than a rank hands to MPI at a time: all ranks send to all without receiving, then receive;
/// after that rank 0 sends to all and goes on to wait for an agreement. Each message arrives exactly once.
bool floods(int world) {
  constexpr std::int64_t messages = 2000;
  constexpr std::size_t bytes = 600;
  const auto transport = make_mpi_two_sided(world);
  transport->set_watchdog(watchdog_seconds);
  const index_t rank = transport->rank(), ranks = transport->num_ranks();
  BytePool pool;
  const auto send_all = [&] {
    for (std::int64_t tag = 0; tag < messages; ++tag)
      for (index_t other = 0; other < ranks; ++other)
        transport->send(other, tag, pool.take(tag % 3 == 0 ? 0 : bytes));
    transport->flush();
  };
  double wrong = 0;
  const auto receive_from = [&](index_t sources) {
    std::vector<int> seen(static_cast<std::size_t>(messages) * static_cast<std::size_t>(ranks));
    Message message;
    int turns = 0;
    for (std::int64_t left = messages * sources; left > 0;) {
      if (!transport->poll(message)) {
        transport->rest(turns++);
        continue;
      }
      turns = 0;
      --left;
      wrong += message.payload.size() == (message.tag % 3 == 0 ? 0 : bytes) ? 0 : 1;
      wrong += seen[static_cast<std::size_t>(message.source * messages + message.tag)]++ == 0 ? 0 : 1;
    }
  };
  send_all();
  receive_from(ranks);
  transport->agree(0);
  if (rank == 0) send_all();
  if (rank != 0) receive_from(1);
  transport->agree(0);
  if (rank == 0) receive_from(1);
  return report(rank == 0, "mpi_two_sided, floods", transport->sum(wrong));
}

bool one_sided(int world, const Dag& dag, Publication publication) {
  const std::string fault = MpiOneSided::self_test(world, publication);
  MpiOneSided ranks(world, testing_transport::plan_of(dag, payload_bytes), publication);
  Transport& transport = ranks.transport();
  const bool first = transport.rank() == 0;
  if (!fault.empty()) {
    if (first) std::printf("%-24s self-test: %s\n", "mpi_rma", fault.c_str());
    return false;
  }
  bool good = true;
  for (int run = 0; run < 3; ++run) {
    ranks.begin_run();
    good = report(first, publication == Publication::checksum ? "mpi_rma checksum" : "mpi_rma counter",
                  wrong_values(dag, transport, 1)) &&
           good;
  }
  return transport.agree(good ? 0 : 1) == 0;
}

/// With zero patience, every test of one-sided queues between several ranks fails.
bool falls_back(int world) {
  const MpiExchange impatient = make_mpi_exchange(world, "mpi_rma", 0),
                    usual = make_mpi_exchange(world, "mpi_rma_counter");
  const bool alone = impatient.transport->num_ranks() == 1;
  const bool good =
      (alone ? impatient.name == "mpi_rma"
             : impatient.name == "mpi_two_sided" && !impatient.planned && !impatient.note.empty()) &&
      usual.name == "mpi_rma_counter" && usual.planned && usual.note.empty();
  if (usual.transport->rank() == 0)
    std::printf("%-24s %s\n", "fallback", good ? "to messages, and said so" : "WRONG");
  return usual.transport->agree(good ? 0 : 1) == 0;
}

int run() {
  MpiSession session;
  const int world = session.world();
  const index_t ranks = make_mpi_two_sided(world)->num_ranks();
  const Dag dag = testing_transport::random_dag(150, ranks, 0.04, 17);
  bool good = two_sided(world, dag);
  good = from_other_memory(world) && good;
  good = floods(world) && good;
  good = one_sided(world, dag, Publication::checksum) && good;
  good = one_sided(world, dag, Publication::counter) && good;
  good = falls_back(world) && good;
  return good ? 0 : 1;
}

}  // namespace
}  // namespace palmette

int main() { return palmette::run(); }
