// Inside `solver`: factors whose panels stay in their file, within a budget of memory.
#pragma once

#include "palmette/archive/archive.hpp"
#include "palmette/solve/solve.hpp"
#include "palmette/solver/report.hpp"

namespace palmette {

/// The caller's budget, not the file, is to blame.
class MemoryBudgetError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// What is wanted of a solver whose panels stay in its file.
struct OutOfCore {
  offset_t memory_budget = 0;  ///< bytes; 0: panels are mapped, or copied
  offset_t other_bytes = 0;    ///< matrix and structure
  double disk_gbs = 0;         ///< of the disk; 0: unknown
  bool measure = false;        ///< the disk's rate, if it is unknown
};

template <class V>
struct OutOfCorePlan {
  SolvePlan<V> plan;
  PanelFileReport facts;  ///< the budget, and the rate of the disk
};

/// The plan of a factor whose panels stay in the file.
/// @param factor  without panels @param known  where the plan's panels lie in the map
/// @throws MemoryBudgetError naming the least budget; UsageError if panels do not fit the structure
template <class V>
OutOfCorePlan<V> plan_out_of_core(const std::shared_ptr<const Archive>& file,
                                  std::shared_ptr<const Factor<V>> factor,
                                  std::shared_ptr<const PlanStructure> structure, PlanValues<V> known,
                                  const OutOfCore& wanted);

/// A solve's figures. @param facts  buffers and rate of the disk
PanelFileReport panel_file_report(const PanelFileReport& facts, const PanelReads& reads);

/// Empty if less than 5 % of the bytes came from the page cache.
std::string note_on_cache(const PanelFileReport& report);

}  // namespace palmette
