// Does a message cost more while many others are on their way? Rank 0 sends many messages without a pause,
// then waits until rank 1 has received them all; prints one JSON object for each number of messages
// (docs/results/ranks.md).
//
//   mpiexec -n 2 bench_flood [BYTES]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <nlohmann/json.hpp>

#include "palmette/transport/transport.hpp"

namespace {

using namespace palmette;

constexpr int repeats = 5;

void receive(Transport& transport, int count) {
  Message message;
  for (int turns = 0; count > 0;) {
    if (transport.poll(message)) turns = 0, --count;
    else transport.rest(turns++);
  }
}

struct Flood {
  double post_us = 0;  ///< a message, until all are posted
  double all_us = 0;   ///< a message, until all have been received
  double processor_us = 0;  ///< of both ranks, a message; other programs on this machine change it little
};

Flood flood(Transport& transport, const SharedBytes& payload, int count) {
  transport.agree(0);
  const std::clock_t begin = std::clock();
  const Stopwatch watch;
  Flood found;
  if (transport.rank() == 0) {
    for (int message = 0; message < count; ++message) transport.send(1, message, payload);
    transport.flush();
    found.post_us = 1e6 * watch.seconds() / count;
    receive(transport, 1);
  } else {
    receive(transport, count);
    transport.send(0, 0, {});
    transport.flush();
  }
  found.all_us = 1e6 * watch.seconds() / count;
  const double processor_seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  found.processor_us = 1e6 * transport.sum(processor_seconds) / count;
  return found;
}

void measure(Transport& transport, std::size_t bytes, int count) {
  BytePool pool;
  SharedBytes payload = pool.take(bytes);
  std::fill(payload.writable().begin(), payload.writable().end(), std::byte{7});
  std::vector<double> post, all, processor;
  for (int repeat = 0; repeat <= repeats; ++repeat) {
    const Flood one = flood(transport, payload, count);
    if (repeat == 0) continue;  // touches memory for the first time
    post.push_back(one.post_us);
    all.push_back(one.all_us);
    processor.push_back(one.processor_us);
  }
  std::sort(post.begin(), post.end());
  std::sort(all.begin(), all.end());
  std::sort(processor.begin(), processor.end());
  if (transport.rank() != 0) return;
  const nlohmann::ordered_json row = {{"messages", count},
                                      {"bytes", bytes},
                                      {"post_us", post[repeats / 2]},
                                      {"us", all[repeats / 2]},
                                      {"least_us", all.front()},
                                      {"most_us", all.back()},
                                      {"processor_us", processor[repeats / 2]},
                                      {"least_processor_us", processor.front()}};
  std::printf("%s\n", row.dump().c_str());
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession session;
  const std::unique_ptr<Transport> transport = make_mpi_two_sided(session.world());
  if (transport->num_ranks() != 2) {
    std::fprintf(stderr, "usage: mpiexec -n 2 bench_flood [BYTES]\n");
    return 2;
  }
  const auto bytes = static_cast<std::size_t>(argc > 1 ? std::atoi(argv[1]) : 512);
  for (const int count : {500, 2000, 8000, 16000, 32000, 64000}) measure(*transport, bytes, count);
  return 0;
}
