// Elimination of the pattern alone, column by column.
#include <algorithm>

#include "palmette/batch/batch.hpp"

namespace palmette {
namespace {

/// The entries of column j of the permuted matrix, as rows of the factor.
template <class T>
void scatter_columns(const SparseMatrix<T>& first, BatchStructure& made) {
  std::vector<index_t> place(first.rows());
  for (index_t k = 0; k < made.n; ++k) place[made.row[k]] = k;
  for (index_t j = 0; j < made.n; ++j) {
    const index_t column = made.column[j];
    for (offset_t entry = first.pattern.column_ptr[column]; entry < first.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = first.pattern.row_index[entry];
      if (made.symmetric && place[row] < j) continue;
      made.scatter_entry.push_back(entry);
      made.scatter_row.push_back(place[row]);
      made.scatter_scale.push_back(made.row_scale[row] * made.column_scale[column]);
    }
    made.scatter_ptr.push_back(static_cast<offset_t>(made.scatter_entry.size()));
  }
}

/// Rows of L and U, and the flops: column j is that of A and those of L(:, k) for all k in U(:, j).
void eliminate(const SparsityPattern& placed, BatchStructure& made) {
  std::vector<char> present(made.n, 0);
  for (index_t j = 0; j < made.n; ++j) {
    std::fill(present.begin(), present.end(), 0);
    present[j] = 1;
    for (const index_t row : placed.column(j)) present[row] = 1;
    for (index_t k = 0; k < j; ++k) {
      if (!present[k]) continue;
      made.upper_row.push_back(k);
      for (offset_t entry = made.lower_ptr[k]; entry < made.lower_ptr[k + 1]; ++entry)
        present[made.lower_row[entry]] = 1;
      made.flops += 2 * double(made.lower_ptr[k + 1] - made.lower_ptr[k]);
    }
    for (index_t row = j + 1; row < made.n; ++row)
      if (present[row]) made.lower_row.push_back(row);
    made.upper_ptr.push_back(static_cast<offset_t>(made.upper_row.size()));
    made.lower_ptr.push_back(static_cast<offset_t>(made.lower_row.size()));
    made.flops += double(made.lower_ptr[j + 1] - made.lower_ptr[j]);
  }
}

/// Where row j of L lies in its columns, so that a column begins where it is needed.
void find_row_entries(BatchStructure& made) {
  made.flops = 0;
  for (index_t j = 0; j < made.n; ++j)
    for (offset_t entry = made.upper_ptr[j]; entry < made.upper_ptr[j + 1]; ++entry) {
      const index_t k = made.upper_row[entry];
      const auto begin = made.lower_row.begin() + made.lower_ptr[k],
                 end = made.lower_row.begin() + made.lower_ptr[k + 1];
      const offset_t found = std::lower_bound(begin, end, j) - made.lower_row.begin();
      made.entry_in_row.push_back(found);
      made.flops += 2 * double(made.lower_ptr[k + 1] - found) + 1;
    }
  made.flops += double(made.lower_row.size());
}

}  // namespace

template <class T>
Outcome<BatchStructure> batch_structure(const SparseMatrix<T>& first, FactorKind kind,
                                        const OrderOptions& ordering) {
  if (first.rows() != first.cols())
    throw DimensionError("a batch needs square matrices; these are " + std::to_string(first.rows()) + " × " +
                         std::to_string(first.cols()));
  OrderOptions options = ordering;
  options.pivot_need = kind == FactorKind::lu ? PivotNeed::unsymmetric : PivotNeed::none;
  const Outcome<Ordering> found = order(first, options);
  if (!found) return found.failure();
  BatchStructure made;
  made.n = first.rows();
  made.symmetric = kind != FactorKind::lu;
  made.positive = kind == FactorKind::llt;
  made.adjoint = first.symmetry == Symmetry::hermitian || made.positive;
  made.pattern = first.pattern;
  made.row = found.value().row.new_to_old();
  made.column = found.value().column.new_to_old();
  const auto scales = [&](const std::vector<double>& given) {
    return given.empty() ? std::vector<double>(made.n, 1) : given;
  };
  made.row_scale = scales(found.value().row_scale);
  made.column_scale = scales(found.value().column_scale);
  scatter_columns(first, made);
  const SparseMatrix<T> permuted = permute(first, found.value().row, found.value().column);
  eliminate(permuted.pattern, made);
  if (made.symmetric) find_row_entries(made);
  made.nnz_factor = static_cast<offset_t>(made.lower_row.size()) + made.n +
                    (made.symmetric ? 0 : static_cast<offset_t>(made.upper_row.size()));
  return made;
}

#define PALMETTE_INSTANTIATE(T) \
  template Outcome<BatchStructure> batch_structure(const SparseMatrix<T>&, FactorKind, const OrderOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
