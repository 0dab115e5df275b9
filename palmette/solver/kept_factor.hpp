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

template <class V>
struct KeptFactor {
  std::shared_ptr<const Factor<V>> factor;
  PlanValues<V> plan;  ///< empty: the plan must be made anew
};
/// What save_factor has written.
/// @param map  panels stay where they lie in the file, and keep it mapped; otherwise they are copied
/// @throws IoError
template <class V>
KeptFactor<V> load_factor(const std::shared_ptr<const Archive>& file,
                          std::shared_ptr<const SymbolicFactor> symbolic, bool map);

}  // namespace palmette
