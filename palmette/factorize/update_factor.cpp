// Columns of W go up the tree in groups. A row of a group's vectors is gathered when its supernode is
// reached, and is zero afterwards; rows below return to the vectors for the supernodes further up.
#include <algorithm>
#include <cmath>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "palmette/factorize/factorize.hpp"
#include "palmette/factorize/finish.hpp"
#include "palmette/factorize/workspace.hpp"

namespace palmette {
namespace {

/// Columns that go up the tree together: their rows of a panel's slab stay in the nearest cache.
constexpr index_t most_together = 16;
/// Rotated entries of a panel that are worth several threads.
constexpr offset_t entries_worth_sharing = 1 << 18;

/// A column of W, and the supernode of its first row.
struct TreeColumn {
  index_t column;
  index_t supernode;
};

/// W with the rows of the factor, scaled as it is.
template <class T>
class TreeColumns {
 public:
  TreeColumns(const Factor<T>& factor, const SparseMatrix<T>& w) : factor_(factor), w_(w) {
    for (index_t column = 0; column < w.cols(); ++column) {
      index_t first = factor.size();
      visit(column, [&](index_t row, T) { first = std::min(first, row); });
      if (first == factor.size()) continue;
      columns.push_back({column, factor.symbolic->supernode_of[first]});
      check_places(column, first);
    }
    std::stable_sort(columns.begin(), columns.end(),
                     [](const auto& a, const auto& b) { return a.supernode < b.supernode; });
  }

  /// use(row of the factor, value) for each entry that is not zero, in the user's order.
  template <class Use>
  void visit(index_t column, const Use& use) const {
    const std::vector<index_t>& place = factor_.symbolic->row.old_to_new();
    for (offset_t entry = w_.pattern.column_ptr[column]; entry < w_.pattern.column_ptr[column + 1]; ++entry) {
      const index_t row = w_.pattern.row_index[entry];
      const T value = w_.values[entry];
      if (value == T(0)) continue;
      use(place[row], factor_.row_scale.empty() ? value : value * real_t<T>(factor_.row_scale[row]));
    }
  }

  std::vector<TreeColumn> columns;  // in the order of the tree

 private:
  void check_places(index_t column, index_t first) const {
    const SymbolicFactor& symbolic = *factor_.symbolic;
    const index_t s = symbolic.supernode_of[first];
    const auto below = symbolic.rows_below(s);
    visit(column, [&](index_t row, T) {
      if (row < symbolic.supernode_begin[s + 1] || std::binary_search(below.begin(), below.end(), row))
        return;
      const auto named = [&](index_t place) { return symbolic.row.new_to_old()[place] + 1; };
      const std::string other = std::to_string(named(first)), outside = std::to_string(named(row));
      throw UsageError("entry (" + outside + ", " + std::to_string(column + 1) +
                       ") of W has no place in the factor: W·W' would have an entry (" + outside + ", " +
                       other +
                       "), where the factor has none; use update, which takes any U and V, or "
                       "factorize a matrix that stores a zero there");
    });
  }

  const Factor<T>& factor_;
  const SparseMatrix<T>& w_;
};

template <class T>
class UpdateRun {
 public:
  UpdateRun(const TreeColumns<T>& w, const FactorChange& change, Factor<T>& factor)
      : w_(w),
        subtract_(change.sign == UpdateSign::subtract),
        team_(change.team),
        factor_(factor),
        symbolic_(*factor.symbolic),
        last_group_(symbolic_.num_supernodes(), 0),
        values_(symbolic_.n, std::min(most_together, static_cast<index_t>(w.columns.size()))) {}

  /// @returns supernode −1 if all is well
  factorize_detail::BadPivot run() {
    for (std::size_t first = 0; first < w_.columns.size(); first += most_together) {
      group_ = std::span(w_.columns)
                   .subspan(first)
                   .first(std::min<std::size_t>(most_together, w_.columns.size() - first));
      for (std::size_t nth = 0; nth < group_.size(); ++nth)
        w_.visit(group_[nth].column, [&](index_t row, T value) { values_.view()(row, nth) = value; });
      for (const index_t s : paths())
        if (const index_t failed = change(s); failed >= 0) {
          const index_t column = symbolic_.supernode_begin[s] + failed;
          return {s, column, subtract_};
        }
    }
    return {};
  }

  double flops() const { return flops_; }
  std::vector<index_t> changed() const {
    std::vector<index_t> supernodes;
    for (index_t s = 0; s < symbolic_.num_supernodes(); ++s)
      if (last_group_[s] > 0) supernodes.push_back(s);
    return supernodes;
  }

 private:
  /// The supernodes on the paths of the group, ascending.
  std::vector<index_t> paths() {
    std::vector<index_t> path;
    ++num_groups_;
    for (const TreeColumn& begin : group_)
      for (index_t s = begin.supernode; s != -1 && last_group_[s] != num_groups_; s = symbolic_.parent[s]) {
        last_group_[s] = num_groups_;
        path.push_back(s);
      }
    std::sort(path.begin(), path.end());
    return path;
  }

  /// Columns of the group whose paths lead through s: [first, end).
  std::pair<index_t, index_t> columns_through(index_t s) const {
    const auto before = [](const TreeColumn& begin, index_t number) { return begin.supernode < number; };
    const auto first = std::lower_bound(group_.begin(), group_.end(), symbolic_.first_descendant[s], before);
    const auto end = std::lower_bound(first, group_.end(), s + 1, before);
    return {static_cast<index_t>(first - group_.begin()), static_cast<index_t>(end - group_.begin())};
  }

  /// @returns as rotate_diagonal
  index_t change(index_t s) {
    const auto [first, end] = columns_through(s);
    const index_t width = symbolic_.width(s), below = symbolic_.num_rows_below(s), count = end - first;
    const offset_t ld = symbolic_.leading_dimension(s);
    local_.resize(static_cast<std::size_t>(ld * count));
    rotation_.resize(static_cast<std::size_t>(offset_t{width} * count));
    const DenseView<T> vectors{local_.data(), static_cast<index_t>(ld), count, ld};
    move_rows(s, first, vectors, [](T& value, T& local) { local = std::exchange(value, T(0)); });
    T* const panel = factor_.lower.data() + symbolic_.panel_offset[s];
    const index_t failed =
        rotate_diagonal<T>(subtract_, {panel, width, width, ld}, {vectors.data, width, count, ld}, rotation_);
    if (failed >= 0) return failed;
    rotate_below({panel + width, below, width, ld}, {vectors.data + width, below, count, ld});
    move_rows(s, first, vectors, [](T& value, T& local) { value = local; });
    flops_ += (is_complex_v<T> ? 20.0 : 6.0) * count * width * (0.5 * width + below);
    return -1;
  }

  void rotate_below(DenseView<T> rows, DenseView<T> vectors) {
    const offset_t entries = offset_t{rows.rows} * rows.cols * vectors.cols;
    if (team_ == nullptr || entries < entries_worth_sharing)
      return rotate_rows<T>(subtract_, rotation_, rows, vectors);
    team_->share_parts((rows.rows + rotated_rows - 1) / rotated_rows, [&](int piece) {
      const index_t first = piece * rotated_rows, count = std::min(rotated_rows, rows.rows - first);
      rotate_rows<T>(subtract_, rotation_, {rows.data + first, count, rows.cols, rows.ld},
                     {vectors.data + first, count, vectors.cols, vectors.ld});
    });
  }

  /// move(value of the group's vectors, local value) for the rows of a panel.
  template <class Move>
  void move_rows(index_t s, index_t first_vector, DenseView<T> local, const Move& move) {
    const index_t width = symbolic_.width(s), begin = symbolic_.supernode_begin[s];
    const auto below = symbolic_.rows_below(s);
    for (index_t v = 0; v < local.cols; ++v) {
      T* const values = values_.view().column(first_vector + v);
      T* const into = local.column(v);
      for (index_t k = 0; k < width; ++k) move(values[begin + k], into[k]);
      for (std::size_t k = 0; k < below.size(); ++k) move(values[below[k]], into[width + k]);
    }
  }

  const TreeColumns<T>& w_;
  const bool subtract_;
  ThreadTeam* const team_;
  Factor<T>& factor_;
  const SymbolicFactor& symbolic_;
  std::vector<index_t> last_group_;  // length num_supernodes: that changed it, counted from 1; 0: none
  index_t num_groups_ = 0;
  DenseMatrix<T> values_;  // n × (columns of a group)
  std::span<const TreeColumn> group_;
  std::vector<T> local_;
  std::vector<Rotation<T>> rotation_;
  double flops_ = 0;
};

/// The factor as it is, in the memory of one that is no longer used if that fits.
template <class T>
std::unique_ptr<Factor<T>> copy_of(const Factor<T>& factor, ThreadTeam* team,
                                   factorize_detail::KeptMemory<T>& kept) {
  std::unique_ptr<Factor<T>> spare = kept.spare->take();
  auto copy = std::make_unique<Factor<T>>();
  copy->kind = factor.kind;
  copy->hermitian = factor.hermitian;
  copy->symbolic = factor.symbolic;
  if (spare && spare->lower.size() == factor.lower.size())
    copy->lower = std::move(spare->lower);
  else
    copy->lower = PanelArray<T>(factor.lower.size(), Uninitialised());
  copy_panels<T>({factor.lower.data(), static_cast<std::size_t>(factor.lower.size())}, team, copy->lower);
  copy->row_scale = factor.row_scale;
  copy->column_scale = factor.column_scale;
  copy->pivots = factor.pivots;
  copy->seconds = factor.seconds;
  copy->flops = factor.flops;
  return copy;
}

template <class T>
void count_pivots(Factor<T>& factor) {
  if (factor.size() == 0) return;
  const SymbolicFactor& symbolic = *factor.symbolic;
  factorize_detail::PivotTally tally;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    for (index_t k = 0; k < symbolic.width(s); ++k)
      tally.add_square(static_cast<double>(std::real(
          factor.lower.data()[symbolic.panel_offset[s] + k * (symbolic.leading_dimension(s) + 1)])));
  PivotReport& pivots = factor.pivots;
  pivots.smallest_pivot = tally.smallest;
  pivots.largest_pivot = tally.largest;
  pivots.log_abs_determinant = tally.log_modulus();
  for (const double scale : factor.row_scale) pivots.log_abs_determinant -= std::log(scale);
  for (const double scale : factor.column_scale) pivots.log_abs_determinant -= std::log(scale);
}

template <class T>
void check_request(const Factor<T>& factor, const SparseMatrix<T>& w) {
  if (factor.kind != FactorKind::llt)
    throw UsageError("the factor is of kind " + std::string(name_of(factor.kind)) +
                     ", but only a factor of kind llt can be updated; use update, which keeps the factor and "
                     "takes every kind, or factorize the new matrix");
  if (w.rows() != factor.size())
    throw DimensionError("W has " + std::to_string(w.rows()) + " rows, but the matrix is of order " +
                         std::to_string(factor.size()));
  check_matrix(w);
}

NumericalFailure failure_of_update(const factorize_detail::BadPivot& bad, const SymbolicFactor& symbolic) {
  NumericalFailure failure = factorize_detail::failure_at(bad, symbolic);
  const std::string column = std::to_string(failure.column + 1);
  failure.message =
      bad.finite
          ? "A - W·W' is not positive definite to working precision: the pivot of column " + column +
                " would not be positive; the factor of A is kept"
          : "the pivot of column " + column + " of A + W·W' would not be finite; the factor of A is kept";
  return failure;
}

template <class T>
Outcome<ChangedFactor<T>> changed_factor(const std::shared_ptr<factorize_detail::KeptMemory<T>>& kept,
                                         const Factor<T>& factor, const SparseMatrix<T>& w,
                                         const FactorChange& change) {
  check_request(factor, w);
  const SubnormalsAsZero scope;
  const TreeColumns<T> columns(factor, w);
  std::unique_ptr<Factor<T>> copy = copy_of(factor, change.team, *kept);
  UpdateRun<T> run(columns, change, *copy);
  const factorize_detail::BadPivot bad = run.run();
  if (bad.supernode >= 0) {
    kept->spare->give_back(std::move(copy));
    return failure_of_update(bad, *factor.symbolic);
  }
  count_pivots(*copy);
  return ChangedFactor<T>{returning(kept->spare, std::move(copy)), run.changed(),
                          static_cast<index_t>(columns.columns.size()), run.flops()};
}

}  // namespace

template <class T>
Outcome<ChangedFactor<T>> update_factor(FactorizeMemory<T>& memory, const Factor<T>& factor,
                                        const SparseMatrix<T>& w, const FactorChange& change) {
  try {
    return changed_factor(memory.kept(), factor, w, change);
  } catch (const std::bad_alloc&) {
    throw MemoryError("update_factor: no memory left for the new factor");
  }
}

#define PALMETTE_INSTANTIATE(T)                                                              \
  template Outcome<ChangedFactor<T>> update_factor<T>(FactorizeMemory<T>&, const Factor<T>&, \
                                                      const SparseMatrix<T>&, const FactorChange&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
