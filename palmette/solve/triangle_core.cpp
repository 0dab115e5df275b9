// The choice between supernodes and rows for a given triangle, and the copy of its values into panels.
#include <algorithm>

#include "palmette/solve/device_core.hpp"
#include "palmette/solve/device_row_core.hpp"
#include "palmette/solve/element_columns_core.hpp"
#include "palmette/solve/row_core.hpp"

namespace palmette::solve_detail {
namespace {

// Supernodes pay if most entries lie in supernodes at least this wide and reading the panels does not take
// much more than reading the rows.
constexpr double least_mean_width = 8;
constexpr double most_bytes_ratio = 1.2;

template <class T>
bool supernodes_pay(const SweepGroups& structure, const LowerTriangle<T>& triangle) {
  const SymbolicFactor& symbolic = structure.symbolic();
  double weighted = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const double width = symbolic.width(s);
    weighted += width * (width * (width + 1) / 2 + width * symbolic.num_rows_below(s));
  }
  const double row_bytes = static_cast<double>(triangle.strict.nnz()) * (sizeof(T) + sizeof(index_t)) +
                           static_cast<double>(triangle.size()) * (sizeof(T) + sizeof(offset_t));
  return weighted >= least_mean_width * structure.entries() &&
         structure.entries() * sizeof(T) <= most_bytes_ratio * row_bytes;
}

/// False if the pattern is certainly not closed under elimination, or has too few entries for wide
/// supernodes: in a closed one, all rows of a column but the first are rows of the column whose number the
/// first is. O(n), where the whole analysis takes longer than a dozen solves.
bool may_be_closed(const SparsityPattern& strict) {
  if (static_cast<offset_t>(strict.row_index.size()) < strict.cols) return strict.cols <= 1;
  for (index_t column = 0; column < strict.cols; ++column) {
    const auto rows = strict.column(column);
    if (rows.size() < 2) continue;
    const auto above = strict.column(rows[0]);
    if (above.size() + 1 < rows.size() || above[0] > rows[1]) return false;
  }
  return true;
}

/// Values where a Factor of LLᵀ has them. The diagonal blocks hold ones on their diagonal if the triangle
/// does.
template <class T>
PanelArray<T> copy_into_panels(const SymbolicFactor& symbolic, const LowerTriangle<T>& triangle) {
  PanelArray<T> panels(symbolic.panel_entries());
  const SparsityPattern& pattern = triangle.strict.pattern;
  const std::vector<index_t>& new_row = symbolic.row.old_to_new();
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const auto below = symbolic.rows_below(s);
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column) {
      const index_t old_column = symbolic.column.new_to_old()[column];
      T* const target = panels.data() + symbolic.panel_offset[s] +
                        (column - symbolic.supernode_begin[s]) * symbolic.leading_dimension(s);
      target[column - symbolic.supernode_begin[s]] =
          triangle.diagonal.empty() ? T(1) : triangle.diagonal[old_column];
      for (offset_t entry = pattern.column_ptr[old_column]; entry < pattern.column_ptr[old_column + 1];
           ++entry) {
        const index_t row = new_row[pattern.row_index[entry]];
        const offset_t place =
            row < symbolic.supernode_begin[s + 1]
                ? row - symbolic.supernode_begin[s]
                : symbolic.width(s) + (std::lower_bound(below.begin(), below.end(), row) - below.begin());
        target[place] = triangle.strict.values[entry];
      }
    }
  }
  return panels;
}

template <class T>
std::shared_ptr<const SweepCore<T>> supernodal_core(std::shared_ptr<const SweepGroups> structure,
                                                    const LowerTriangle<T>& triangle, TriangleUse use,
                                                    const PlanOptions& options) {
  const auto panels =
      std::make_shared<const PanelArray<T>>(copy_into_panels(structure->symbolic(), triangle));
  SupernodalParts<T> parts;
  parts.structure = std::move(structure);
  TriangleSource<T> source;
  source.diagonal = source.below = panels->data();
  parts.lower = std::make_unique<SupernodalTriangle<T>>(*parts.structure, source, options);
  parts.lower_only = use == TriangleUse::plain || use == TriangleUse::transposed;
  parts.adjoint = use == TriangleUse::hermitian;
  parts.values_bytes = panels->bytes() + parts.structure->symbolic().memory_bytes();
  parts.values = panels;
  return make_core(std::move(parts), options);
}

}  // namespace

template <class T>
TriangleCore<T> make_triangle_core(LowerTriangle<T> triangle, TriangleUse use, const PlanOptions& options) {
  const bool by_columns = options.world && options.of_world.by_columns;
  std::optional<SymbolicFactor> closed;
  if (!by_columns && may_be_closed(triangle.strict.pattern))
    closed = analyze_triangle(triangle.strict.pattern);
  if (closed) {
    auto structure = std::make_shared<const SweepGroups>(
        std::make_shared<const SymbolicFactor>(std::move(*closed)), static_cast<int>(sizeof(T)));
    if (supernodes_pay(*structure, triangle)) {
      Permutation order = structure->symbolic().row.is_identity() ? Permutation() : structure->symbolic().row;
      return {supernodal_core(std::move(structure), triangle, use, options), std::move(order)};
    }
  }
  if (options.world) {
    using Columns = const ElementColumnsCore<T>;
    return {std::make_shared<Columns>(options.world, options.of_world, std::move(triangle)), {}};
  }
  if (options.device)
    return {std::make_shared<const DeviceRowCore<T>>(options.device, std::move(triangle),
                                                     use == TriangleUse::transposed),
            {}};
  return {std::make_shared<const RowCore<T>>(std::move(triangle), use == TriangleUse::transposed), {}};
}

#define PALMETTE_INSTANTIATE(T) \
  template TriangleCore<T> make_triangle_core<T>(LowerTriangle<T>, TriangleUse, const PlanOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
