// Part of the door of `solve`: options of all plans.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "palmette/blocks/blocks.hpp"
#include "palmette/place/place.hpp"

namespace palmette {

class Device;
class DeviceWorld;
class ThreadTeam;

/// How a plan uses several devices.
struct WorldOptions {
  /// rows × columns elements; no columns: one column, all elements of the world
  ProcessGrid grid = {0, 0};
  /// so many of these grids, each of which sweeps its part of a supernodal factor and a copy of the top of
  /// the tree; they add up what they share once in a solve. The last bits of x depend on the number
  index_t layers = 1;
  LayeredMethod layered_method = LayeredMethod::one_sync_3d;  ///< of several layers
  TreeShape trees = TreeShape::binary;
  WholeSubtrees subtrees = {};  ///< which lie on one element
  /// Messages by the network of the world instead of stores to the memory of other elements.
  bool by_network = false;
  /// A kernel that has looked this often for the same message, task or sum of a row, about a microsecond
  /// each, ends the solve and says who waits for whom; 0: it waits for ever
  std::int64_t most_polls = 600'000'000;
  /// Plain triangles go column by column, even where supernodes would pay.
  bool by_columns = false;
  /// Of those: their columns are cut into so many tasks for each element, which are dealt in turn.
  index_t tasks_per_element = 8;
};

struct PlanOptions {
  bool invert_diagonal_blocks = true;
  /// A diagonal block whose inverse grows beyond this (‖B⁻¹‖₁·‖B‖₁ > limit) is not inverted; solves use
  /// substitution.
  double inverse_growth_limit = 1e8;
  /// builds the plan, whose bits do not depend on it; null: only the caller's thread
  ThreadTeam* team = nullptr;
  /// holds the factor and solves with it; null: the host
  std::shared_ptr<Device> device = nullptr;
  /// several devices hold the factor of a supernodal plan and solve with it; null: one device, or the host
  std::shared_ptr<DeviceWorld> world = nullptr;
  WorldOptions of_world = {};
  /// in which a solve on the host reads panels; its bits do not depend on it. Empty: that of the processor
  std::optional<ReadingOrder> reading_order = {};
};

/// One triangle of a plan on the host: the panels that were computed from those of the factor.
template <class T>
struct TriangleValues {
  std::span<const T> panels;    ///< 64-byte aligned; empty: none
  std::span<const char> forms;  ///< length num_supernodes: how a panel is stored
  /// supernodes whose factor has changed since: all panels are copied, and theirs are computed anew
  std::span<const index_t> changed = {};
};

/// Reads a file of panels; not always in the same thread, but one call at a time.
class PanelReader {
 public:
  virtual ~PanelReader() = default;
  /// @returns how many of the bytes the system had in memory; −1: unknown
  /// @throws IoError
  virtual std::int64_t read(std::uint64_t position, std::span<std::byte> to) = 0;
};

/// What was read from a file of panels, in bytes and seconds.
struct PanelReads {
  double bytes = 0;
  double known_bytes = 0;   ///< of which it is known whether the system had them in memory
  double cached_bytes = 0;  ///< that it had
  double seconds = 0;       ///< of reading, beside computing
  double wait_seconds = 0;  ///< that computing waited for panels

  PanelReads operator+(const PanelReads& more) const {
    return {bytes + more.bytes, known_bytes + more.known_bytes, cached_bytes + more.cached_bytes,
            seconds + more.seconds, wait_seconds + more.wait_seconds};
  }
  PanelReads operator-(const PanelReads& before) const {
    return {bytes - before.bytes, known_bytes - before.known_bytes, cached_bytes - before.cached_bytes,
            seconds - before.seconds, wait_seconds - before.wait_seconds};
  }
};

/// Panels that stay in a file and are read for each sweep.
struct PanelsInFile {
  std::shared_ptr<PanelReader> reader;
  // positions of arrays in the layout of Factor and TriangleValues
  std::uint64_t lower = 0;
  std::uint64_t upper = 0;  ///< LU only
  std::uint64_t plan_lower = 0;
  std::uint64_t plan_upper = 0;    ///< LU only
  std::uint64_t memory_bytes = 0;  ///< for panels in memory; see least_panel_memory
};

/// What a plan on the host computed from a factor, as a file keeps it.
template <class T>
struct PlanValues {
  TriangleValues<T> lower;
  TriangleValues<T> upper;                      ///< LU only
  std::shared_ptr<const void> owner = nullptr;  ///< keeps them alive for a plan that is made with them
  /// The plan reads its panels and those of the factor from here; of `panels` it looks at the sizes alone.
  std::shared_ptr<const PanelsInFile> file = nullptr;
};

}  // namespace palmette
