// Part of the door of `transfer`: which mechanism, chunk and number of agents is fastest on a machine, found
// by trying, and remembered in a file.
#pragma once

#include <functional>
#include <iosfwd>

#include "palmette/transfer/region.hpp"
#include "palmette/transfer/simulation.hpp"

namespace palmette::transfer {

/// What is tried.
struct ProfileSpace {
  std::vector<Mechanism> mechanisms{Mechanism::by_writer, Mechanism::polling, Mechanism::launched,
                                    Mechanism::packed};
  std::int64_t least_chunk_bytes = 4 << 10, most_chunk_bytes = 16 << 20;  ///< by doubling
  int most_agents = 16;                                                   ///< from 1, by doubling
};

struct ProfiledChoice {
  TransferChoice choice;
  double seconds = 0;
  int trials = 0;
};

using Measure = std::function<double(const TransferChoice& choice)>;

/// Every choice of the space.
/// @throws UsageError if the space is empty
ProfiledChoice sweep_choices(const ProfileSpace& space, const Measure& measure);

/// A part of the space: for each mechanism every fourth chunk with all and with one agent, then downhill by
/// single steps from the best of them. Several times fewer trials than a sweep.
ProfiledChoice profile_choices(const ProfileSpace& space, const Measure& measure);

/// Simulated seconds of a trace. by_writer is peer stores without chunks; polling starts a transfer in
/// `start_us`, launched in the launch of a kernel. Packed is not simulated: UsageError.
Measure simulated_measure(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options);

/// Measured seconds between threads of this process: one thread computes a region and sends it, `agents` help
/// with sending, one reads. The least of `repeats` runs.
struct ThreadTrial {
  std::int64_t bytes = 8 << 20;
  int epochs = 4;
  int repeats = 3;
  int passes = 4;  ///< over each value while it is computed
};
Measure thread_measure(const ThreadTrial& trial);

/// What was found for a machine.
struct TransferProfile {
  std::string machine;
  std::string kind;  ///< "measured" or "simulated"
  std::int64_t region_bytes = 0;
  ProfiledChoice best;
};

/// JSON, one profile on each line.
/// @throws UsageError if a name contains characters that JSON would have to escape
void write_profiles(std::ostream& file, std::span<const TransferProfile> profiles);
/// Of files that write_profiles has written.
/// @param name  of the file, for errors
/// @throws IoError with the line
std::vector<TransferProfile> read_profiles(std::istream& file, const std::string& name);

}  // namespace palmette::transfer
