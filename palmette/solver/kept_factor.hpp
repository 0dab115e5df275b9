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

void save_replaced(ArchiveWriter& file, const std::vector<ReplacedPivot>& replaced);
/// @throws IoError
std::vector<ReplacedPivot> load_replaced(const Archive& file, index_t n);

/// All of an array of panels.
template <class V>
std::span<const V> span_over(const PanelArray<V>& panels) {
  return {panels.data(), static_cast<std::size_t>(panels.size())};
}
/// A section of panels where it lies in the map of the file, which they then keep mapped, or a copy.
/// @throws IoError
template <class V>
PanelArray<V> load_panels(const std::shared_ptr<const Archive>& file, std::string_view name, bool map);

/// D, row exchanges and scalings of a Factor or RankFactor.
template <class AnyFactor>
void save_pivoting(ArchiveWriter& file, const AnyFactor& factor) {
  file.add("factor.d", factor.d);
  file.add("factor.d_below", factor.d_below);
  file.add("factor.place", factor.place);
  file.add("factor.row_scale", factor.row_scale);
  file.add("factor.column_scale", factor.column_scale);
}
/// @param factor  has kind and symbolic @param n  of the matrix @throws IoError if they do not fit
template <class V, class AnyFactor>
void load_pivoting(const Archive& file, index_t n, AnyFactor& factor);

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
