// Inside `solver`: a supernodal factor and the panels of its plan as sections of a file.
#pragma once

#include <memory>

#include "palmette/archive/archive.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette {

/// Sections with this prefix hold the panels, which are nearly the whole file.
inline constexpr std::string_view panel_sections = "panels.";

void save_pivots(ArchiveWriter& file, const PivotReport& pivots);
/// @throws IoError
PivotReport load_pivots(const Archive& file);

/// Write everything but the structure. @param plan  of this factor; empty panels: none @throws IoError
template <class V>
void save_factor(ArchiveWriter& file, const Factor<V>& factor, const PlanValues<V>& plan);

/// Where the panels of a loaded factor are: in the map of the file, copied from it, or nowhere in memory.
enum class PanelsAre { mapped, copied, in_file };

template <class V>
struct KeptFactor {
  std::shared_ptr<const Factor<V>> factor;
  PlanValues<V> plan;  ///< empty: the plan must be made anew
};
/// What save_factor has written.
/// @param panels  mapped: they keep the file mapped. in_file: the factor has none, and of the plan's only the
///   places in the map are of use
/// @throws IoError
template <class V>
KeptFactor<V> load_factor(const std::shared_ptr<const Archive>& file,
                          std::shared_ptr<const SymbolicFactor> symbolic, PanelsAre panels);

}  // namespace palmette
