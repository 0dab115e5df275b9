// Residuals of single equations, in double precision.
#include "palmette/solver/entry_check.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

namespace palmette {

template <class T>
EquationRows<T> EquationRows<T>::of(const SparseMatrix<T>& matrix, Symmetry symmetry, Operation operation,
                                    TransposeOnDemand<T>& transposed) {
  // Column i of A holds row i of Aᵀ, and of A itself if that is symmetric.
  if (operation != Operation::plain) return {matrix, operation == Operation::adjoint};
  if (symmetry == Symmetry::general) return {transposed.get(matrix), false};
  return {matrix, symmetry == Symmetry::hermitian};
}

std::vector<index_t> sorted_once(std::vector<index_t> rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

std::vector<index_t> unknowns_of(const SparsityPattern& equations, std::span<const index_t> rows,
                                 index_t first) {
  std::vector<index_t> unknowns;
  for (const index_t row : rows) {
    const auto column = equations.column(row - first);
    unknowns.insert(unknowns.end(), column.begin(), column.end());
  }
  return sorted_once(std::move(unknowns));
}

template <class T>
EquationSizes sizes_of_equations(const EquationRows<T>& equations, std::span<const index_t> rows,
                                 const KnownEntries<T>& known) {
  using Wide = with_precision_t<T, double>;
  const SparsityPattern& pattern = equations.columns.pattern;
  EquationSizes sizes;
  for (const index_t row : rows) {
    Wide rest = 0;
    const auto place = std::lower_bound(known.b_row.begin(), known.b_row.end(), row);
    if (place != known.b_row.end() && *place == row)
      rest = static_cast<Wide>(known.b_value[place - known.b_row.begin()]);
    sizes.size_of_b = std::max(sizes.size_of_b, static_cast<double>(std::abs(rest)));
    double sum = 0;
    const index_t place_of_row = row - equations.first;
    for (offset_t e = pattern.column_ptr[place_of_row]; e < pattern.column_ptr[place_of_row + 1]; ++e) {
      const auto at = std::lower_bound(known.unknown.begin(), known.unknown.end(), pattern.row_index[e]);
      const Wide x = static_cast<Wide>(known.x[at - known.unknown.begin()]);
      Wide a = static_cast<Wide>(equations.columns.values[e]);
      if (equations.conjugated) a = conjugate(a);
      rest -= a * x;
      sum += std::abs(a);
      sizes.size_of_x = std::max(sizes.size_of_x, static_cast<double>(std::abs(x)));
    }
    // A comparison with NaN is false, and would hide it.
    const double residual = std::abs(rest);
    sizes.residual = std::isfinite(residual) ? std::max(sizes.residual, residual) : infinity;
    sizes.row_sum = std::max(sizes.row_sum, sum);
  }
  return sizes;
}

double EquationSizes::error() const {
  if (residual == 0 || residual == infinity) return residual;
  return residual / (row_sum * size_of_x + size_of_b);
}

EquationSizes EquationSizes::with(const EquationSizes& others) const {
  return {std::max(residual, others.residual), std::max(row_sum, others.row_sum),
          std::max(size_of_x, others.size_of_x), std::max(size_of_b, others.size_of_b)};
}

template <class T>
double WholeEquations<T>::error(std::span<const index_t> rows,
                                std::span<const KnownEntries<T>> columns) const {
  double worst = 0;
  for (const KnownEntries<T>& one : columns) worst = std::max(worst, error_of_equations(rows_, rows, one));
  return worst;
}

#define PALMETTE_INSTANTIATE(T)                                                               \
  template struct EquationRows<T>;                                                            \
  template class WholeEquations<T>;                                                           \
  template EquationSizes sizes_of_equations(const EquationRows<T>&, std::span<const index_t>, \
                                            const KnownEntries<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
