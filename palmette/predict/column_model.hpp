// Part of the door of `predict`: a plain triangle on several devices, a warp for each column, in virtual
// time: the kernels' waits, additions, loads, puts and moves of pages, without values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "palmette/base/base.hpp"
#include "palmette/matrix/matrix.hpp"

namespace palmette {

/// How sums of rows get to the device that solves for them; as the methods devices_unified, devices_zero_copy
/// and devices_pushed.
enum class SumSharing : char { unified, zero_copy, pushed };

/// Devices of one node, and what the steps of a warp cost there.
struct ColumnMachine {
  std::string name;
  int warps = 0;           ///< resident on a device
  double local_us = 0;     ///< from an addition until a waiting warp of the same device has seen it
  int rhs_at_once = 4;     ///< right-hand sides for which a warp goes through its column once
  double column_us = 0;    ///< loads of a column, division, until the first addition
  double round_us = 0;     ///< additions of 32 entries by a warp: to one sum and one counter for each
  double entry_ns = 0;     ///< additions of an entry, all warps of a device together
  double launch_us = 0;    ///< a task is a kernel; its host starts those of a device one after the other
  /// A kernel of a device begins when the one before has ended, as in one stream: fewer warps wait, and look,
  /// at a time. Else as soon as it is started and warps are free.
  bool one_after_another = false;
  double gap_us = 0;       ///< between two such kernels
  double page_us = 0;      ///< a page of managed memory moves to the device that touches it
  double page_bytes = 65536;
  /// A load from another device and its answer, one at a time; and how many a link carries.
  double remote_us = 0;
  double loads_per_us = 0;
  /// Links between two devices, rows one after another; 0: by way of the host.
  std::vector<double> links;
  double host_us = 0;           ///< as remote_us, by way of the host
  double host_loads_per_us = 0;
  double links_of_device = 0;   ///< to a switch that they share; 0: no switch, links are of pairs

  int devices = 0;  ///< the most
};

/// @throws UsageError for a name other than "dgx-1" and "dgx-2"
ColumnMachine column_machine(std::string_view name);

struct ColumnCase {
  const SparsityPattern& strict;  ///< below the diagonal
  int devices = 1;
  index_t tasks_per_device = 1;
  SumSharing sharing = SumSharing::zero_copy;
  /// The kernels run once for each most_rhs_of_run of them, one run after the other.
  index_t num_rhs = 1;
};
inline constexpr index_t most_rhs_of_run = 64;

/// One forward solve in double precision. Times are simulated, counts are of the simulated runs. Waits and
/// counters are of rows, whatever the number of right-hand sides of a run; sums are of each of them.
struct ColumnSimulation {
  double seconds = 0;
  double waiting_seconds = 0;   ///< of all warps together, columns taken and not ready
  offset_t local_additions = 0;  ///< entries in rows of their own device, once in each run
  offset_t other_additions = 0;
  offset_t sums = 0;            ///< rows and devices that add to them, other than the one that solves
  offset_t polls = 0;           ///< loads of counters of other devices
  /// Loads of counters, and of a sum for each right-hand side; or puts, of all right-hand sides together.
  offset_t messages = 0;
  offset_t bytes = 0;           ///< of those
  std::vector<offset_t> page_moves;  ///< by device

  offset_t all_page_moves() const;
};

/// @throws UsageError if the machine has fewer devices, or for numbers less than 1
/// @cost  in each run O(entries + n·devices) and, for unified memory, O(num_rhs·n) and what its pages move
ColumnSimulation simulate_columns(const ColumnCase& given, const ColumnMachine& machine);

/// The entries of a square pattern below the diagonal.
SparsityPattern strict_lower(const SparsityPattern& a);

/// Longest chain of columns that need each other, and the mean number of columns of a level.
struct ColumnLevels {
  index_t levels = 0;
  double parallelism = 0;
};
ColumnLevels column_levels(const SparsityPattern& strict);

/// Bytes on all devices together: columns and vectors that must be somewhere, and the arrays by which the
/// devices share sums, for the right-hand sides of a run.
struct ColumnBytes {
  offset_t problem = 0;
  offset_t sharing = 0;
};
ColumnBytes column_bytes(const ColumnCase& given, int scalar_bytes);

}  // namespace palmette
