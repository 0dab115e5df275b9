// Parts of A, the order that keeps a boundary last, and S out of the panels that were not eliminated.
#include "palmette/solver/schur_factor.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace palmette {

std::vector<char> marked(index_t n, std::span<const index_t> boundary) {
  std::vector<char> on_boundary(n, 0);
  for (const index_t unknown : boundary) {
    if (unknown < 0 || unknown >= n)
      throw UsageError("unknown " + std::to_string(unknown) +
                       " is to stay on the boundary, but the matrix is of " + "order " + std::to_string(n));
    if (on_boundary[unknown])
      throw UsageError("unknown " + std::to_string(unknown) + " is given twice for the boundary");
    on_boundary[unknown] = 1;
  }
  return on_boundary;
}

std::vector<FactorKind> kinds_to_try(FactorKind first, bool is_given) {
  if (is_given || first == FactorKind::lu) return {first};
  if (first == FactorKind::ldlt) return {first, FactorKind::lu};
  return {first, FactorKind::ldlt, FactorKind::lu};
}

template <class T>
DenseMatrix<T> trial_vector(index_t n) {
  DenseMatrix<T> v(n, 1);
  std::uint64_t state = 1;
  for (T& value : v.values) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    value = T(static_cast<real_t<T>>(double(state >> 11) / double(1ULL << 52) - 1));
  }
  return v;
}

namespace {

/// Calls keep(entry) for each entry of `pattern` that stays, −1 for those of the identity.
/// @param first  number of its first column
template <class Keep>
SparsityPattern kept_interior(const SparsityPattern& pattern, const std::vector<char>& on_boundary,
                              index_t first, const Keep& keep) {
  SparsityPattern interior;
  interior.rows = pattern.rows;
  interior.cols = pattern.cols;
  const auto add = [&](index_t row, offset_t entry) {
    interior.row_index.push_back(row);
    keep(entry);
  };
  for (index_t column = 0; column < pattern.cols; ++column) {
    if (on_boundary[first + column]) add(first + column, -1);
    else
      for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry)
        if (!on_boundary[pattern.row_index[entry]]) add(pattern.row_index[entry], entry);
    interior.column_ptr.push_back(static_cast<offset_t>(interior.row_index.size()));
  }
  return interior;
}

}  // namespace

template <class T>
SparseMatrix<T> interior_of(const SparseMatrix<T>& matrix, const std::vector<char>& on_boundary,
                            index_t first) {
  SparseMatrix<T> interior;
  interior.symmetry = matrix.symmetry;
  interior.pattern = kept_interior(matrix.pattern, on_boundary, first, [&](offset_t entry) {
    interior.values.push_back(entry == -1 ? T(1) : matrix.values[entry]);
  });
  return interior;
}

SparsityPattern interior_of(const SparsityPattern& pattern, const std::vector<char>& on_boundary) {
  return kept_interior(pattern, on_boundary, 0, [](offset_t) {});
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
/// @param alike  rows and columns get the same
template <class T>
void scale_boundary(Ordering& ordering, const WholeOrShare<T>& matrix, bool alike,
                    const std::vector<char>& on_boundary) {
  std::vector<double> row(matrix.rows(), 0), column(matrix.rows(), 0);
  matrix.visit_own([&](index_t i, index_t j, const T& value) {
    const double modulus = double(std::abs(value));
    if (on_boundary[i] && !on_boundary[j]) row[i] = std::max(row[i], modulus * ordering.column_scale[j]);
    if (on_boundary[j] && !on_boundary[i]) column[j] = std::max(column[j], modulus * ordering.row_scale[i]);
  });
  matrix.complete(std::span(row));
  matrix.complete(std::span(column));
  for (index_t k = 0; k < matrix.rows(); ++k) {
    if (!on_boundary[k]) continue;
    ordering.row_scale[k] = power_of_two_below(alike ? std::max(row[k], column[k]) : row[k]);
    ordering.column_scale[k] = alike ? ordering.row_scale[k] : power_of_two_below(column[k]);
  }
}

}  // namespace

template <class T>
Ordering boundary_last(Ordering interior, const WholeOrShare<T>& matrix, Symmetry symmetry,
                       std::span<const index_t> boundary, const std::vector<char>& on_boundary) {
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
  if (!moved.row_scale.empty())
    scale_boundary(moved, matrix, symmetry != Symmetry::general, on_boundary);
  return moved;
}

SymbolicFactor interior_structure(const SymbolicFactor& symbolic, index_t columns_last) {
  const index_t first_last = symbolic.n - columns_last;
  SymbolicFactor interior;
  interior.n = symbolic.n;
  interior.row = symbolic.row;
  interior.column = symbolic.column;
  interior.supernode_begin = symbolic.supernode_begin;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const bool stays = symbolic.supernode_begin[s] >= first_last;
    const std::span<const index_t> rows = symbolic.rows_below(s);
    const auto end = stays ? rows.begin() : std::lower_bound(rows.begin(), rows.end(), first_last);
    interior.row_index.insert(interior.row_index.end(), rows.begin(), end);
    interior.row_ptr.push_back(static_cast<offset_t>(interior.row_index.size()));
    const auto dropped = static_cast<index_t>(rows.end() - end);
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column) {
      const index_t parent = symbolic.column_parent[column];
      interior.column_parent.push_back(stays || parent >= first_last ? -1 : parent);
      interior.column_count.push_back(stays ? 1 : std::max(1, symbolic.column_count[column] - dropped));
    }
  }
  return completed_structure(std::move(interior));
}

offset_t factor_entries_before_boundary(const SymbolicFactor& symbolic, FactorKind kind,
                                        index_t columns_last) {
  const offset_t square = offset_t(columns_last) * columns_last;
  return factor_entries(symbolic, kind) -
         (kind == FactorKind::lu ? square : (square + columns_last) / 2);
}

void note_check(SchurReport& report, const Verification& found, std::vector<std::string> notes) {
  report.notes = std::move(notes);
  if (report.perturbed_pivots > 0)
    report.notes.push_back(std::to_string(report.perturbed_pivots) +
                           " tiny pivots of the interior were replaced");
  report.backward_error = found.backward_error;
  report.bound = found.bound;
  report.verified = found.verified;
  if (!report.verified)
    report.notes.insert(
        report.notes.begin(),
        "NOT VERIFIED: the Schur complement does not agree with the matrix; its interior may "
        "be singular");
}

void check_boundary_part(const char* what, const PartSize& given, const PartSize& needed) {
  if (given.rows == needed.rows && given.cols == needed.cols) return;
  throw DimensionError(std::string(what) + " is " + std::to_string(given.rows) + " x " +
                       std::to_string(given.cols) + "; it needs " + std::to_string(needed.rows) + " x " +
                       std::to_string(needed.cols));
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

/// One panel of the boundary. Its rows below are all later rows of S.
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
    const auto put = [&](index_t i, index_t j, const T& value) { complement(i, j) = value; };
    visit_complement<T>(factor_, part(0, width_), complement.rows, put);
    visit_complement<T>(factor_, part(width_, rows_ - width_), complement.rows, put);
  }
  void become_identity() {
    set_identity(factor_.lower);
    if (factor_.kind == FactorKind::lu) set_identity(factor_.upper);
    const index_t begin = first_column_ + column_;
    for (index_t j = 0; j < width_; ++j) {
      if (factor_.kind != FactorKind::llt) factor_.place[begin + j] = j;
      if (factor_.kind == FactorKind::ldlt) factor_.d[begin + j] = T(1), factor_.d_below[begin + j] = T(0);
    }
  }

 private:
  ComplementPart<T> part(index_t first, index_t rows) const {
    const auto some = [&](PanelArray<T>& panels) {
      return DenseView<const T>{panel(panels).data + first, rows, width_, rows_};
    };
    return {column_ + first, column_, some(factor_.lower),
            factor_.kind == FactorKind::lu ? some(factor_.upper) : DenseView<const T>{}};
  }
  DenseView<T> panel(PanelArray<T>& panels) const {
    return {panels.data() + factor_.symbolic->panel_offset[s_], rows_, width_, rows_};
  }
  /// Ones on the diagonal of this panel, zeros elsewhere.
  void set_identity(PanelArray<T>& panels) const {
    const DenseView<T> entries = panel(panels);
    std::fill_n(entries.data, offset_t(rows_) * width_, T(0));
    for (index_t j = 0; j < width_; ++j) entries(j, j) = T(1);
  }

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
  return complement;
}

#define PALMETTE_INSTANTIATE(T)                                                               \
  template DenseMatrix<T> trial_vector(index_t);                                              \
  template SparseMatrix<T> interior_of(const SparseMatrix<T>&, const std::vector<char>&,      \
                                       index_t);                                              \
  template SparseMatrix<T> coupling_of(const SparseMatrix<T>&, std::span<const index_t>,      \
                                       const std::vector<char>&);                             \
  template Ordering boundary_last(Ordering, const WholeOrShare<T>&, Symmetry,                 \
                                  std::span<const index_t>, const std::vector<char>&);        \
  template DenseMatrix<T> take_complement(Factor<T>&, index_t);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
