// The profiler.
#include "palmette/transfer/profile.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

namespace palmette::transfer {
namespace {

/// Choices by their steps; each is measured once.
class Trials {
 public:
  Trials(const ProfileSpace& space, const Measure& measure) : space_(space), measure_(measure) {
    if (space.mechanisms.empty() || space.least_chunk_bytes < 1 || space.most_agents < 1 ||
        space.most_chunk_bytes < space.least_chunk_bytes)
      throw UsageError(
          "the profile has nothing to try; give a mechanism, an agent, and sizes of chunks in "
          "ascending order");
    for (std::int64_t size = space.least_chunk_bytes; size <= space.most_chunk_bytes; size *= 2) ++chunks;
    for (int one = 1; one <= space.most_agents; one *= 2) ++agents;
    best.seconds = infinity;
  }
  double at(Mechanism mechanism, int chunk, int agent) {
    const auto key = std::make_tuple(static_cast<int>(mechanism), chunk, agent);
    const auto found = seconds_.find(key);
    if (found != seconds_.end()) return found->second;
    const TransferChoice choice{mechanism, space_.least_chunk_bytes << chunk, 1 << agent};
    const double seconds = measure_(choice);
    ++best.trials;
    if (seconds < best.seconds) best.choice = choice, best.seconds = seconds;
    return seconds_[key] = seconds;
  }
  int chunks = 0, agents = 0;
  ProfiledChoice best;

 private:
  const ProfileSpace& space_;
  const Measure& measure_;
  std::map<std::tuple<int, int, int>, double> seconds_;
};

void go_downhill(Trials& trials, Mechanism mechanism, int chunk, int agent) {
  constexpr int steps[][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};
  for (bool moved = true; moved;) {
    moved = false;
    const double here = trials.at(mechanism, chunk, agent);
    for (const auto& step : steps) {
      const int c = chunk + step[0], a = agent + step[1];
      if (c < 0 || c >= trials.chunks || a < 0 || a >= trials.agents) continue;
      if (trials.at(mechanism, c, a) >= here) continue;
      chunk = c, agent = a;
      moved = true;
      break;
    }
  }
}

}  // namespace

ProfiledChoice sweep_choices(const ProfileSpace& space, const Measure& measure) {
  Trials trials(space, measure);
  for (const Mechanism mechanism : space.mechanisms)
    for (int chunk = 0; chunk < trials.chunks; ++chunk)
      for (int agent = 0; agent < trials.agents; ++agent) trials.at(mechanism, chunk, agent);
  return trials.best;
}

ProfiledChoice profile_choices(const ProfileSpace& space, const Measure& measure) {
  Trials trials(space, measure);
  for (const Mechanism mechanism : space.mechanisms)
    for (int chunk = 0; chunk < trials.chunks; chunk += 4)
      for (const int agent : {0, trials.agents - 1}) trials.at(mechanism, chunk, agent);
  const TransferChoice start = trials.best.choice;
  go_downhill(trials, start.mechanism,
              std::bit_width(static_cast<std::uint64_t>(start.chunk_bytes / space.least_chunk_bytes)) - 1,
              std::bit_width(static_cast<unsigned>(start.agents)) - 1);
  return trials.best;
}

Measure simulated_measure(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options) {
  // Without chunks their size and agents change nothing.
  const auto by_writer = std::make_shared<std::optional<double>>();
  return [&trace, fabric, options, by_writer](const TransferChoice& choice) {
    const bool is_inline = choice.mechanism == Mechanism::by_writer;
    if (is_inline && *by_writer) return **by_writer;
    if (choice.mechanism == Mechanism::packed)
      throw UsageError(
          "packed transfers are not simulated; leave the mechanism out, or measure it on threads");
    ReplayOptions with = options;
    with.paradigm = Paradigm::proact;
    with.proact.is_inline = is_inline;
    with.proact.chunk_bytes = choice.chunk_bytes;
    with.proact.agents = choice.agents;
    if (choice.mechanism == Mechanism::launched) with.proact.start_us = options.device.launch_us;
    const double seconds = simulate_transfers(trace, fabric, with).seconds;
    if (is_inline) *by_writer = seconds;
    return seconds;
  };
}

}  // namespace palmette::transfer
