// Parts of A, the order that keeps a boundary last, and S out of the panels that were not eliminated.
#include "palmette/solver/schur_factor.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {

template <class T>
SparseMatrix<T> interior_of(const SparseMatrix<T>& matrix, const std::vector<char>& on_boundary) {
  SparseMatrix<T> interior;
  interior.symmetry = matrix.symmetry;
  interior.pattern.rows = interior.pattern.cols = matrix.cols();
  for (index_t column = 0; column < matrix.cols(); ++column) {
    if (on_boundary[column]) {
      interior.pattern.row_index.push_back(column);
      interior.values.push_back(T(1));
    } else {
      for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
           ++entry) {
        const index_t row = matrix.pattern.row_index[entry];
        if (on_boundary[row]) continue;
        interior.pattern.row_index.push_back(row);
        interior.values.push_back(matrix.values[entry]);
      }
    }
    interior.pattern.column_ptr.push_back(static_cast<offset_t>(interior.values.size()));
  }
  return interior;
}

template <class T>
SparseMatrix<T> coupling_of(const SparseMatrix<T>& matrix, std::span<const index_t> boundary,
                            const std::vector<char>& on_boundary) {
  SparseMatrix<T> coupling;
  coupling.pattern.rows = matrix.rows();
  coupling.pattern.cols = static_cast<index_t>(boundary.size());
  for (const index_t column : boundary) {
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      if (on_boundary[matrix.pattern.row_index[entry]]) continue;
      coupling.pattern.row_index.push_back(matrix.pattern.row_index[entry]);
      coupling.values.push_back(matrix.values[entry]);
    }
    coupling.pattern.column_ptr.push_back(static_cast<offset_t>(coupling.values.size()));
  }
  return coupling;
}

SparsityPattern with_full_boundary(const SparsityPattern& pattern, std::span<const index_t> boundary) {
  std::vector<index_t> sorted(boundary.begin(), boundary.end());
  std::sort(sorted.begin(), sorted.end());
  SparsityPattern full;
  full.rows = pattern.rows;
  full.cols = pattern.cols;
  full.row_index.reserve(pattern.row_index.size() + sorted.size() * sorted.size());
  auto next = sorted.begin();
  for (index_t column = 0; column < pattern.cols; ++column) {
    const auto rows = pattern.column(column);
    if (next != sorted.end() && *next == column) {
      std::set_union(rows.begin(), rows.end(), sorted.begin(), sorted.end(),
                     std::back_inserter(full.row_index));
      ++next;
    } else {
      full.row_index.insert(full.row_index.end(), rows.begin(), rows.end());
    }
    full.column_ptr.push_back(static_cast<offset_t>(full.row_index.size()));
  }
  return full;
}

namespace {

Permutation moved_last(const Permutation& order, std::span<const index_t> boundary,
                       const std::vector<char>& on_boundary) {
  std::vector<index_t> moved;
  for (const index_t vertex : order.new_to_old())
    if (!on_boundary[vertex]) moved.push_back(vertex);
  moved.insert(moved.end(), boundary.begin(), boundary.end());
  return Permutation(std::move(moved));
}

double power_of_two_below(double largest) {
  return largest > 0 ? std::exp2(-std::ceil(std::log2(largest))) : 1;
}

/// Scales of the boundary by the largest scaled entry that couples it with the interior.
template <class T>
void scale_boundary(Ordering& ordering, const SparseMatrix<T>& matrix, const std::vector<char>& on_boundary) {
  std::vector<double> row(matrix.rows(), 0), column(matrix.rows(), 0);
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry) {
      const index_t i = matrix.pattern.row_index[entry];
      const double modulus = double(std::abs(matrix.values[entry]));
      if (on_boundary[i] && !on_boundary[j]) row[i] = std::max(row[i], modulus * ordering.column_scale[j]);
      if (on_boundary[j] && !on_boundary[i]) column[j] = std::max(column[j], modulus * ordering.row_scale[i]);
    }
  const bool alike = matrix.symmetry != Symmetry::general;
  for (index_t k = 0; k < matrix.rows(); ++k) {
    if (!on_boundary[k]) continue;
    ordering.row_scale[k] = power_of_two_below(alike ? std::max(row[k], column[k]) : row[k]);
    ordering.column_scale[k] = alike ? ordering.row_scale[k] : power_of_two_below(column[k]);
  }
}

}  // namespace

template <class T>
Ordering boundary_last(Ordering interior, const SparseMatrix<T>& matrix, std::span<const index_t> boundary,
                       const std::vector<char>& on_boundary) {
  Ordering moved = std::move(interior);
  if (!moved.paired_with_next.empty()) {
    std::vector<char> paired;
    for (index_t k = 0; k < moved.column.size(); ++k)
      if (!on_boundary[moved.column.new_to_old()[k]]) paired.push_back(moved.paired_with_next[k]);
    paired.resize(moved.paired_with_next.size(), 0);
    moved.paired_with_next = std::move(paired);
  }
  // The identity's rows were matched with its own columns, so both lose the same places.
  moved.row = moved_last(moved.row, boundary, on_boundary);
  moved.column = moved_last(moved.column, boundary, on_boundary);
  if (!moved.row_scale.empty()) scale_boundary(moved, matrix, on_boundary);
  return moved;
}

double flops_before_boundary(const SymbolicFactor& symbolic, FactorKind kind, index_t columns_last) {
  double flops = 0;
  for (index_t column = 0; column < symbolic.n - columns_last; ++column) {
    const double count = symbolic.column_count[column];
    if (kind == FactorKind::llt)
      flops += count * count;
    else if (kind == FactorKind::ldlt)
      flops += count * count + count;
    else
      flops += 2 * (count - 1) * (count - 1) + (count - 1);
  }
  return flops;
}

namespace {

/// One panel of the boundary: its columns, and which row of S each of its rows is.
template <class T>
class BoundaryPanel {
 public:
  BoundaryPanel(Factor<T>& factor, index_t supernode, index_t first_column)
      : factor_(factor),
        s_(supernode),
        width_(factor.symbolic->width(supernode)),
        rows_(static_cast<index_t>(factor.symbolic->leading_dimension(supernode))),
        column_(factor.symbolic->supernode_begin[supernode] - first_column),
        first_column_(first_column) {}

  void add_to(DenseView<T> complement) {
    const bool is_lu = factor_.kind == FactorKind::lu;
    for (index_t j = 0; j < width_; ++j)
      for (index_t i = is_lu ? 0 : j; i < rows_; ++i) {
        const T below = panel(factor_.lower)(i, j);
        complement(row(i), column_ + j) = below;
        if (is_lu && i >= width_) complement(column_ + j, row(i)) = panel(factor_.upper)(i, j);
        if (!is_lu && row(i) != column_ + j) complement(column_ + j, row(i)) = mirrored(below);
      }
  }
  void become_identity() {
    clear(factor_.lower);
    for (index_t j = 0; j < width_; ++j) panel(factor_.lower)(j, j) = T(1);
    if (factor_.kind == FactorKind::lu) clear(factor_.upper);
    const index_t begin = first_column_ + column_;
    for (index_t j = 0; j < width_; ++j) {
      if (factor_.kind != FactorKind::llt) factor_.place[begin + j] = j;
      if (factor_.kind == FactorKind::ldlt) factor_.d[begin + j] = T(1), factor_.d_below[begin + j] = T(0);
    }
  }

 private:
  T mirrored(const T& value) const { return factor_.hermitian ? conjugate(value) : value; }
  index_t row(index_t local) const {
    if (local < width_) return column_ + local;
    return factor_.symbolic->rows_below(s_)[local - width_] - first_column_;
  }
  DenseView<T> panel(PanelArray<T>& panels) const {
    return {panels.data() + factor_.symbolic->panel_offset[s_], rows_, width_, rows_};
  }
  void clear(PanelArray<T>& panels) const { std::fill_n(panel(panels).data, offset_t(rows_) * width_, T(0)); }

  Factor<T>& factor_;
  index_t s_, width_, rows_, column_, first_column_;
};

}  // namespace

template <class T>
DenseMatrix<T> take_complement(Factor<T>& factor, index_t columns_last) {
  const SymbolicFactor& symbolic = *factor.symbolic;
  const index_t first_column = symbolic.n - columns_last;
  DenseMatrix<T> complement(columns_last, columns_last);
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    if (symbolic.supernode_begin[s] < first_column) continue;
    BoundaryPanel<T> panel(factor, s, first_column);
    panel.add_to(complement.view());
    panel.become_identity();
  }
  if (factor.row_scale.empty()) return complement;
  for (index_t j = 0; j < columns_last; ++j)
    for (index_t i = 0; i < columns_last; ++i)
      complement.view()(i, j) /=
          static_cast<real_t<T>>(factor.row_scale[symbolic.row.new_to_old()[first_column + i]] *
                                 factor.column_scale[symbolic.column.new_to_old()[first_column + j]]);
  return complement;
}

#define PALMETTE_INSTANTIATE(T)                                                               \
  template SparseMatrix<T> interior_of(const SparseMatrix<T>&, const std::vector<char>&);     \
  template SparseMatrix<T> coupling_of(const SparseMatrix<T>&, std::span<const index_t>,      \
                                       const std::vector<char>&);                             \
  template Ordering boundary_last(Ordering, const SparseMatrix<T>&, std::span<const index_t>, \
                                  const std::vector<char>&);                                  \
  template DenseMatrix<T> take_complement(Factor<T>&, index_t);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
