// Part of the door of `solve`: options of all plans.
#pragma once

#include <memory>
#include <span>

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
  /// A kernel that has looked for a message or a task this often, about a microsecond each, ends the solve
  /// and says who waits for whom; 0: it waits for ever
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
};

/// One triangle of a plan on the host: the panels that were computed from those of the factor.
template <class T>
struct TriangleValues {
  std::span<const T> panels;    ///< 64-byte aligned; empty: none
  std::span<const char> forms;  ///< length num_supernodes: how a panel is stored
  /// supernodes whose factor has changed since: all panels are copied, and theirs are computed anew
  std::span<const index_t> changed = {};
};

/// What a plan on the host computed from a factor, as a file keeps it.
template <class T>
struct PlanValues {
  TriangleValues<T> lower;
  TriangleValues<T> upper;                      ///< LU only
  std::shared_ptr<const void> owner = nullptr;  ///< keeps them alive for a plan that is made with them
};

}  // namespace palmette
