// From panels to compressed columns: L by its columns, U by its rows (Uᵀ has the structure of L) and then
// transposed.
#include "palmette/solver/extract.hpp"

#include <string>

#include "palmette/solve/solve.hpp"

namespace palmette {
namespace {

/// Compressed columns that grow at their end.
template <class T>
struct GrowingColumns {
  std::vector<offset_t> column_ptr = {0};
  std::vector<index_t> row_index;
  std::vector<T> values;

  void add(index_t row, T value) {
    if (value == T(0)) return;
    row_index.push_back(row);
    values.push_back(value);
  }
  void end_column() { column_ptr.push_back(static_cast<offset_t>(row_index.size())); }
  SparseMatrix<T> finish(index_t n) const {
    return from_compressed_columns<T>(n, n, column_ptr, row_index, values);
  }
};

/// Scale factors in the order of a permutation; ones where there are none.
std::vector<double> permuted_scale(const std::vector<double>& scale, const Permutation& order) {
  std::vector<double> permuted(order.size(), 1.0);
  if (scale.empty()) return permuted;
  for (index_t k = 0; k < order.size(); ++k) permuted[k] = scale[order.new_to_old()[k]];
  return permuted;
}

/// The maps for reading both triangles. Scales are powers of two, so their quotients are exact.
template <class T>
struct Reading {
  const Factor<T>& factor;
  const Permutation& pivoting;  // new_to_old: pivoted row → row of the stored structure
  std::vector<double> row_scale;     // by pivoted row
  std::vector<double> column_scale;  // by column

  T scaled(T value, double factor_of_two) const { return value * static_cast<real_t<T>>(factor_of_two); }

  /// r⁻¹·L·r with unit diagonal; r⁻¹·L of LLᵀ.
  SparseMatrix<T> lower() const {
    const SymbolicFactor& symbolic = *factor.symbolic;
    const bool unit = factor.kind != FactorKind::llt;
    GrowingColumns<T> columns;
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
      const index_t begin = symbolic.supernode_begin[s], width = symbolic.width(s);
      for (index_t local = 0; local < width; ++local) {
        const index_t k = begin + local;
        const T* panel =
            factor.lower.data() + symbolic.panel_offset[s] + local * symbolic.leading_dimension(s);
        const double of_column = unit ? row_scale[k] : 1;
        columns.add(k, unit ? T(1) : scaled(panel[local], 1 / row_scale[k]));
        for (index_t below = local + 1; below < width; ++below)
          columns.add(begin + below, scaled(panel[below], of_column / row_scale[begin + below]));
        const auto rows = symbolic.rows_below(s);
        for (std::size_t place = 0; place < rows.size(); ++place) {
          const index_t row = pivoting.old_to_new()[rows[place]];
          columns.add(row, scaled(panel[width + static_cast<index_t>(place)], of_column / row_scale[row]));
        }
        columns.end_column();
      }
    }
    return columns.finish(factor.size());
  }

  /// r⁻¹·D·r⁻¹ of LDLᵀ, with its blocks of two; the identity of LLᵀ.
  SparseMatrix<T> diagonal() const {
    GrowingColumns<T> columns;
    const auto below = [&](index_t k) {
      return k < 0 || factor.d_below.empty() ? T(0)
                                             : scaled(factor.d_below[k], 1 / row_scale[k] / row_scale[k + 1]);
    };
    for (index_t k = 0; k < factor.size(); ++k) {
      columns.add(k - 1, factor.hermitian ? conjugate(below(k - 1)) : below(k - 1));
      columns.add(k, factor.d.empty() ? T(1) : scaled(factor.d[k], 1 / row_scale[k] / row_scale[k]));
      columns.add(k + 1, k + 1 < factor.size() ? below(k) : T(0));
      columns.end_column();
    }
    return columns.finish(factor.size());
  }

  SparseMatrix<T> upper() const {
    const SymbolicFactor& symbolic = *factor.symbolic;
    GrowingColumns<T> rows_of_u;
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
      const index_t begin = symbolic.supernode_begin[s], width = symbolic.width(s);
      const offset_t ld = symbolic.leading_dimension(s);
      for (index_t local = 0; local < width; ++local) {
        const index_t k = begin + local;
        const T* block = factor.lower.data() + symbolic.panel_offset[s];
        for (index_t right = local; right < width; ++right)
          rows_of_u.add(begin + right,
                        scaled(block[local + right * ld], 1 / row_scale[k] / column_scale[begin + right]));
        const T* beside = factor.upper.data() + symbolic.panel_offset[s] + local * ld + width;
        const auto columns = symbolic.rows_below(s);
        for (std::size_t place = 0; place < columns.size(); ++place)
          rows_of_u.add(columns[place],
                        scaled(beside[place], 1 / row_scale[k] / column_scale[columns[place]]));
        rows_of_u.end_column();
      }
    }
    return transpose(rows_of_u.finish(factor.size()));
  }
};

}  // namespace

template <class T>
FactorOrder order_of(const Factor<T>& factor) {
  if (!factor.symbolic) return {};
  return {factor.symbolic->row.then(Permutation(pivoted_places(factor))),
          factor.kind == FactorKind::lu ? factor.symbolic->column
                                        : factor.symbolic->column.then(Permutation(pivoted_places(factor)))};
}

template <class T>
ExtractedLdl<T> extract_ldl(const Factor<T>& factor) {
  if (factor.kind == FactorKind::lu)
    throw UsageError("a factor of kind lu has no L and D; extract L and U");
  ExtractedLdl<T> result;
  if (!factor.symbolic) return result;
  const Permutation pivoting(pivoted_places(factor));
  result.order = order_of(factor).row;
  const Reading<T> reading{factor, pivoting, permuted_scale(factor.row_scale, result.order), {}};
  result.lower = reading.lower();
  result.diagonal = reading.diagonal();
  return result;
}

template <class T>
ExtractedLu<T> extract_lu(const Factor<T>& factor) {
  if (factor.kind != FactorKind::lu)
    throw UsageError("a factor of kind " + std::string(name_of(factor.kind)) + " is not L·U"
                     "; factorize with kind lu");
  ExtractedLu<T> result;
  if (!factor.symbolic) return result;
  const Permutation pivoting(pivoted_places(factor));
  result.row = factor.symbolic->row.then(pivoting);
  result.column = factor.symbolic->column;
  const Reading<T> reading{factor, pivoting, permuted_scale(factor.row_scale, result.row),
                           permuted_scale(factor.column_scale, result.column)};
  result.lower = reading.lower();
  result.upper = reading.upper();
  return result;
}

#define PALMETTE_INSTANTIATE(T)                             \
  template FactorOrder order_of(const Factor<T>&);          \
  template ExtractedLdl<T> extract_ldl(const Factor<T>&);   \
  template ExtractedLu<T> extract_lu(const Factor<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
