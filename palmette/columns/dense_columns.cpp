// Fills a dense matrix and passes it to the dense kernels of `blocks`.
#include "palmette/columns/dense_columns.hpp"

#include <algorithm>

#include "palmette/columns/lu_columns.hpp"
#include "palmette/columns/pivots.hpp"

namespace palmette {
namespace {

/// diag(scale)·A as a dense matrix. @param scale  empty: ones
template <class T>
PanelArray<T> filled(const SparseMatrix<T>& matrix, const std::vector<real_t<T>>& scale) {
  const offset_t n = matrix.cols();
  PanelArray<T> dense = matrix.nnz() == n * n ? PanelArray<T>(n * n, Uninitialised()) : PanelArray<T>(n * n);
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      dense.data()[n * column + row] =
          scale.empty() ? matrix.values[entry] : matrix.values[entry] * scale[row];
    }
  return dense;
}

}  // namespace

template <class T>
std::shared_ptr<const ColumnFactor<T>> DenseColumns<T>::run(const SparseMatrix<T>& matrix,
                                                            std::shared_ptr<const BlockOrdering> order,
                                                            FactorKind kind) {
  blas::use_one_thread();
  const index_t n = matrix.cols();
  const bool llt = kind == FactorKind::llt;
  auto structure = std::make_shared<ColumnStructure>();
  auto made = std::make_shared<ColumnFactor<T>>();
  made->kind_ = kind;
  const double exponents = llt ? 0 : scale_rows_by_powers(matrix, made->row_scale_);
  made->dense_ = filled(matrix, made->row_scale_);
  const DenseView<T> block{made->dense_.data(), n, n, n};
  structure->row.resize(n);
  structure->place_of_row.resize(n);
  if (llt) {
    if (factor_llt<T>(block) >= 0) return nullptr;
    structure->row = order->row;
  } else {
    // The largest entry of each scaled row is near one: a pivot below this is doubtful.
    const auto tiny = real_t<T>(doubtful_pivot<T>());
    if (!factor_lu<T>(tiny, block, structure->row).perturbed.empty()) return nullptr;
  }
  PivotCount count;
  made->inverse_pivot_.resize(n);
  for (index_t place = 0; place < n; ++place) {
    const T pivot = block(place, place);
    if (!is_finite(pivot) || pivot == T(0)) return nullptr;
    made->inverse_pivot_[place] = T(1) / pivot;
    count.add(llt ? pivot * pivot : pivot);
    structure->place_of_row[structure->row[place]] = place;
  }
  made->flops_ = double(n) * n * n / (llt ? 3 : 1.5);
  made->pivots_ = count.report(exponents, !llt && is_odd(order->column, structure->place_of_row));
  if (llt) made->pivots_.inertia.positive = n;
  structure->order = std::move(order);
  made->structure_ = std::move(structure);
  return made;
}

#define PALMETTE_INSTANTIATE(T) template class DenseColumns<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
