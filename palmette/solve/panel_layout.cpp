// Two passes over the supernodes, and room for the bundles.
#include "palmette/solve/panel_layout.hpp"

namespace palmette::solve_detail {

offset_t entries_held(const SweepGroups& structure, index_t s, int scalar_bytes, bool permuted) {
  const SymbolicFactor& symbolic = structure.symbolic();
  const index_t width = symbolic.width(s);
  const offset_t entries = width > packed_width
                               ? offset_t{width} * width
                               : packed_entries(scalar_bytes, width, symbolic.num_rows_below(s), permuted);
  if (structure.bundles().holds(s)) return entries;
  const offset_t lanes = packed_rows(scalar_bytes);
  return (entries + lanes - 1) / lanes * lanes;
}

PanelLayout panel_layout(const SweepGroups& structure, int scalar_bytes, bool permuted) {
  const SymbolicFactor& symbolic = structure.symbolic();
  const SupernodeBundles& bundles = structure.bundles();
  const index_t count = symbolic.num_supernodes();
  PanelLayout layout;
  layout.offset.resize(count);
  for (const bool bundled : {false, true})
    for (index_t s = 0; s < count; ++s)
      if (bundles.holds(s) == bundled) {
        layout.offset[s] = layout.panels_end;
        layout.panels_end += entries_held(structure, s, scalar_bytes, permuted);
      }
  // A register that is loaded from a whole line takes one request.
  constexpr offset_t line_scalars = 16;
  layout.bundles = (layout.panels_end + packed_slack + line_scalars - 1) / line_scalars * line_scalars;
  layout.end = layout.bundles + bundles.entries(permuted) + packed_slack;
  return layout;
}

}  // namespace palmette::solve_detail
