// Measured time of a region between threads of this process.
#include <algorithm>
#include <cstring>
#include <limits>
#include <thread>

#include "palmette/transfer/profile.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::transfer {
namespace {

constexpr std::int64_t task_bytes = 4096;

std::vector<WrittenBytes> writes_of(std::int64_t bytes) {
  std::vector<WrittenBytes> writes;
  for (std::int64_t begin = 0; begin < bytes; begin += task_bytes)
    writes.push_back({begin, std::min(begin + task_bytes, bytes)});
  return writes;
}

void compute(std::span<std::byte> bytes, int passes) {
  for (int pass = 0; pass < passes; ++pass)
    for (std::byte& one : bytes) one = static_cast<std::byte>(static_cast<int>(one) * 5 + 1);
}

/// The reader looks at every byte, as a program would.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (const std::byte one : bytes) sum += static_cast<std::uint64_t>(one);
  return sum;
}

struct Trial {
  const ThreadTrial& options;
  const RegionPlan& plan;
  std::vector<WrittenBytes> writes;
  std::vector<std::byte> source;
  Landing landing;
  std::uint64_t sum = 0;

  void read() {
    std::vector<char> used(plan.num_chunks());
    int turns = 0;
    for (std::int64_t epoch = 0; epoch < options.epochs; ++epoch) {
      std::fill(used.begin(), used.end(), 0);
      for (index_t left = plan.num_chunks(); left > 0;) {
        bool found = false;
        for (index_t chunk = 0; chunk < plan.num_chunks(); ++chunk) {
          if (used[chunk] || !landing.is_complete(epoch, chunk)) continue;
          sum += sum_of(landing.read(epoch, chunk));
          used[chunk] = 1;
          found = true;
          --left;
        }
        turns = found ? 0 : turns + 1;
        if (!found) wait_politely(turns);
      }
      landing.release(epoch);
    }
  }
  void write(RegionWriter& writer, bool helps) {
    for (int epoch = 0; epoch < options.epochs; ++epoch) {
      writer.begin_epoch();
      for (std::size_t task = 0; task < writes.size(); ++task) {
        const std::int64_t begin = writes[task].begin;
        compute(std::span(source).subspan(begin, writes[task].end - begin), options.passes);
        writer.wrote(static_cast<index_t>(task));
      }
      for (int turns = 1; !writer.all_sent(); ++turns)
        if (!helps || !writer.progress(0)) wait_politely(turns);
    }
  }
};

/// Joins its threads even if the writer throws.
struct Threads {
  std::vector<std::thread> running;
  std::atomic<bool> stop{false};
  void join() {
    for (std::thread& one : running) one.join();
    running.clear();
  }
  ~Threads() {
    stop = true;
    join();
  }
};

double seconds_of(const ThreadTrial& options, const TransferChoice& choice, const RegionPlan& plan) {
  Trial trial{options, plan, writes_of(options.bytes), std::vector<std::byte>(options.bytes), Landing(plan)};
  ThreadLink link(trial.source, {&trial.landing});
  RegionWriter writer(plan, choice, 1, link);
  Threads agents, reader;
  const double begin = clock_seconds();
  reader.running.emplace_back([&] { trial.read(); });
  const bool helps = choice.mechanism == Mechanism::by_writer;
  for (int agent = 0; !helps && agent < choice.agents; ++agent)
    agents.running.emplace_back([&, agent] {
      for (int turns = 1; !agents.stop; ++turns)
        if (writer.progress(agent))
          turns = 0;
        else
          wait_politely(turns);
    });
  trial.write(writer, helps);
  reader.join();
  const double seconds = clock_seconds() - begin;
  // Used, so that no compiler drops the reads.
  return trial.sum == std::numeric_limits<std::uint64_t>::max() ? 0 : seconds;
}

}  // namespace

Measure thread_measure(const ThreadTrial& trial) {
  if (trial.bytes < 1 || trial.epochs < 1 || trial.repeats < 1 || trial.passes < 0)
    throw UsageError("a trial needs at least 1 byte, 1 epoch, 1 repeat and 0 passes");
  return [trial](const TransferChoice& choice) {
    const RegionPlan plan = cut_region(trial.bytes, choice.chunk_bytes, writes_of(trial.bytes));
    double least = infinity;
    for (int repeat = 0; repeat < trial.repeats; ++repeat)
      least = std::min(least, seconds_of(trial, choice, plan));
    return least;
  };
}

}  // namespace palmette::transfer
