// What does a message between two processes cost, sent or put into a one-sided queue? Measures half the time
// of a round trip, and the rate of many messages in one direction, for each size; rank 0 prints one JSON
// object for each (docs/results/ranks.md).
//
//   mpiexec -n 2 bench_ping_pong
#include <algorithm>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

#include "bench/median.hpp"
#include "palmette/transport/transport.hpp"

namespace {

using namespace palmette;

constexpr int rounds = 300;

Message receive(Transport& transport) {
  Message message;
  for (int turns = 0; !transport.poll(message); ++turns) transport.rest(turns);
  return message;
}

/// Half a round trip: the median over rounds.
double half_round_trip(Transport& transport, const SharedBytes& payload) {
  const index_t other = 1 - transport.rank();
  std::vector<double> seconds;
  for (int round = 0; round < rounds; ++round) {
    const Stopwatch watch;
    if (transport.rank() == 0) transport.send(other, round, payload);
    receive(transport);
    if (transport.rank() == 1) transport.send(other, round, payload);
    seconds.push_back(watch.seconds() / 2);
  }
  transport.flush();
  return bench::median(std::move(seconds));
}

/// Seconds for each of many messages that rank 0 sends and rank 1 acknowledges together.
double one_way(Transport& transport, const SharedBytes& payload) {
  const Stopwatch watch;
  if (transport.rank() == 0) {
    for (int round = 0; round < rounds; ++round) transport.send(1, round, payload);
    transport.flush();
    receive(transport);
  } else {
    for (int round = 0; round < rounds; ++round) receive(transport);
    transport.send(0, 0, {});
    transport.flush();
  }
  return watch.seconds() / rounds;
}

void measure(int world, const std::string& name) {
  const MpiExchange mpi = make_mpi_exchange(world, name);
  BytePool pool;
  for (const std::size_t bytes : {0u, 8u, 64u, 512u, 4096u, 16384u, 65536u, 262144u, 1048576u}) {
    RunTransport run(mpi.planned, *mpi.transport, [&] {
      const Inbound all{0, rounds + 1, static_cast<std::int64_t>((rounds + 1) * bytes)};
      return TransportPlan{{{{1, all.messages, all.payload_bytes}}, {all}}};
    });
    SharedBytes payload = pool.take(bytes);
    std::fill(payload.writable().begin(), payload.writable().end(), std::byte{7});
    double latency = 0, each = 0;
    // In the second run, no memory is touched for the first time.
    for (int time = 0; time < 2; ++time) {
      latency = half_round_trip(run.begin(), payload);
      mpi.transport->agree(0);
      each = one_way(run.begin(), payload);
      mpi.transport->agree(0);
    }
    if (mpi.transport->rank() == 0)
      std::printf("%s\n", nlohmann::ordered_json{{"transport", mpi.name},
                                                 {"bytes", bytes},
                                                 {"half_round_trip_us", 1e6 * latency},
                                                 {"one_way_us", 1e6 * each}}
                              .dump()
                              .c_str());
  }
}

}  // namespace

int main() {
  const MpiSession session;
  if (make_mpi_two_sided(session.world())->num_ranks() != 2) {
    std::fprintf(stderr, "usage: mpiexec -n 2 bench_ping_pong\n");
    return 2;
  }
  for (const MpiExchangeInfo& info : mpi_exchange_list) measure(session.world(), std::string(info.name));
  return 0;
}
