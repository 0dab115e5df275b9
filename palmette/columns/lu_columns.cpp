// Left-looking LU: each column is solved for with the earlier columns that it reaches, which a search through
// L finds.
#include "palmette/columns/lu_columns.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// A diagonal entry becomes the pivot if it reaches this fraction of its column's largest entry, since the
/// order was computed for that place. A diagonal that was matched without looking at values deserves less
/// trust.
constexpr double diagonal_preference = 0.1, matched_preference = 0.5;
/// With pivots chosen for other values, a pivot below this fraction of its column's largest entry would let
/// elements grow.
constexpr double least_kept_pivot = 1e-4;

}  // namespace

template <class T>
LuColumns<T>::LuColumns(const SparseMatrix<T>& matrix, std::shared_ptr<const BlockOrdering> order)
    : matrix_(matrix), order_(*order), structure_(std::make_shared<ColumnStructure>()),
      factor_(std::make_shared<ColumnFactor<T>>()),
      preference_(Real(order->row == order->column ? diagonal_preference : matched_preference)),
      place_of_row_(structure_->place_of_row) {
  const auto n = static_cast<std::size_t>(matrix.cols());
  ColumnStructure& structure = *structure_;
  structure.row.resize(n);
  for (auto* pointers : {&structure.lower_ptr, &structure.upper_ptr, &structure.above_ptr})
    pointers->resize(n + 1);
  place_of_row_.assign(n, -1);
  factor_->inverse_pivot_.resize(n);
  met_by_.assign(n, -1);
  initial_place_.resize(n);
  for (std::size_t place = 0; place < n; ++place)
    initial_place_[order_.row[place]] = static_cast<index_t>(place);
  x_.assign(n, T(0));
  pruned_end_.assign(n, -1);
  next_.resize(n);
  path_.resize(n);
  reached_.resize(n);
  waiting_.resize(n);
  structure.order = std::move(order);
}

template <class T>
double scale_rows_by_powers(const SparseMatrix<T>& matrix, std::vector<real_t<T>>& scale) {
  using Real = real_t<T>;
  scale.assign(matrix.rows(), Real(0));
  const std::size_t entries = matrix.values.size();
  const index_t* const rows = matrix.pattern.row_index.data();
  for (std::size_t entry = 0; entry < entries; ++entry) {
    Real& largest = scale[rows[entry]];
    largest = std::max(largest, cheap_modulus(matrix.values[entry]));
  }
  // Exponents are limited so that scales and scaled entries stay away from the ends of the range.
  constexpr int limit = sizeof(Real) == 4 ? 60 : 500;
  double sum = 0;
  for (Real& value : scale) {
    const int exponent = value > 0 ? std::clamp(-std::ilogb(value), -limit, limit) : 0;
    sum += exponent;
    value = std::ldexp(Real(1), exponent);
  }
  return sum;
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> LuColumns<T>::run() {
  const double exponents = scale_rows_by_powers(matrix_, factor_->row_scale_);
  const offset_t expected = static_cast<offset_t>(1.1 * order_.entries);
  for (auto* rows : {&structure_->lower_row, &structure_->upper_row}) rows->resize(expected);
  for (auto* values : {&factor_->lower_, &factor_->upper_}) values->resize(expected);
  for (index_t block = 0; block < order_.num_blocks(); ++block) {
    const index_t first = order_.block_begin[block], end = order_.block_begin[block + 1];
    if (!(end - first == 1 ? factor_single(first) : factor_block(first, end))) return nullptr;
  }
  structure_->lower_row.resize(lower_size_);
  structure_->upper_row.resize(upper_size_);
  factor_->lower_.resize(lower_size_);
  factor_->upper_.resize(upper_size_);
  const bool odd = is_odd(order_.column, place_of_row_);
  factor_->pivots_ = count_.report(exponents, odd);
  factor_->structure_ = std::move(structure_);
  return std::move(factor_);
}

/// A block of one row has nothing to eliminate.
template <class T>
bool LuColumns<T>::factor_single(index_t place) {
  const Real largest = scatter(place, place);
  const index_t row = order_.row[place];
  const T pivot = x_[row];
  x_[row] = T(0);
  if (!(largest > 0) || !is_finite(pivot)) return false;
  place_of_row_[row] = place;
  structure_->row[place] = row;
  factor_->inverse_pivot_[place] = T(1) / pivot;
  count_.add(pivot);
  structure_->lower_ptr[place + 1] = lower_size_;
  structure_->upper_ptr[place + 1] = upper_size_;
  return true;
}

template <class T>
bool LuColumns<T>::factor_block(index_t first, index_t end) {
  for (index_t place = first; place < end; ++place)
    if (!factor_column(place, first, end)) return false;
  // While a block is factored, its rows of L keep their original numbers, since their places are not yet
  // known.
  for (offset_t at = structure_->lower_ptr[first]; at < lower_size_; ++at)
    structure_->lower_row[at] = place_of_row_[structure_->lower_row[at]];
  return true;
}

template <class T>
bool LuColumns<T>::factor_column(index_t place, index_t first, index_t end) {
  make_room(end - place, place - first);
  top_ = reached_end_ = end - first;
  num_waiting_ = 0;
  const SparsityPattern& pattern = matrix_.pattern;
  const index_t column = order_.column[place];
  for (const index_t row : pattern.column(column)) {
    if (initial_place_[row] < first || met_by_[row] == place) continue;
    met_by_[row] = place;
    if (place_of_row_[row] >= 0) search(place_of_row_[row], place);
    else waiting_[num_waiting_++] = row;
  }
  const Real before = scatter(place, first);
  eliminate(place);
  Real largest = 0;
  for (index_t at = 0; at < num_waiting_; ++at) largest = std::max(largest, cheap_modulus(x_[waiting_[at]]));
  if (!(largest > Real(doubtful_pivot<T>()) * before) || !(largest <= std::numeric_limits<Real>::max()))
    return false;
  keep_column(place, choose_pivot(place, largest));
  return true;
}

/// x ← the column's entries inside its block; those above are kept. @returns the largest modulus inside
template <class T>
typename LuColumns<T>::Real LuColumns<T>::scatter(index_t place, index_t first) {
  const index_t column = order_.column[place];
  const SparsityPattern& pattern = matrix_.pattern;
  Real largest = 0;
  for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
    const index_t row = pattern.row_index[entry];
    const T value = matrix_.values[entry] * factor_->row_scale_[row];
    if (initial_place_[row] < first) {
      structure_->above_row.push_back(place_of_row_[row]);
      factor_->above_.push_back(value);
    } else {
      x_[row] = value;
      largest = std::max(largest, cheap_modulus(value));
    }
  }
  structure_->above_ptr[place + 1] = static_cast<offset_t>(structure_->above_row.size());
  return largest;
}

/// Find all columns of L that column `place` reaches from `root`, each before those that it leads to.
template <class T>
void LuColumns<T>::search(index_t root, index_t place) {
  const offset_t* const begin = structure_->lower_ptr.data();
  const index_t* const rows = structure_->lower_row.data();
  index_t depth = 0;
  path_[0] = root;
  next_[root] = begin[root];
  while (depth >= 0) {
    const index_t at = path_[depth];
    const offset_t end = pruned_end_[at] >= 0 ? pruned_end_[at] : begin[at + 1];
    offset_t entry = next_[at];
    index_t deeper = -1;
    while (entry < end && deeper < 0) {
      const index_t row = rows[entry++];
      if (met_by_[row] == place) continue;
      met_by_[row] = place;
      deeper = place_of_row_[row];
      if (deeper < 0) waiting_[num_waiting_++] = row;
    }
    next_[at] = entry;
    if (deeper < 0) {
      reached_[--top_] = at;
      --depth;
    } else {
      next_[deeper] = begin[deeper];
      path_[++depth] = deeper;
    }
  }
}

template <class T>
void LuColumns<T>::eliminate(index_t place) {
  const offset_t* const begin = structure_->lower_ptr.data();
  const index_t* const rows = structure_->lower_row.data();
  const T* const lower = factor_->lower_.data();
  T* const x = x_.data();
  offset_t flops = 0;
  for (index_t at = top_; at < reached_end_; ++at) {
    const index_t above = reached_[at], row = structure_->row[above];
    const T value = x[row];
    x[row] = T(0);
    structure_->upper_row[upper_size_] = above;
    factor_->upper_[upper_size_++] = value;
    for (offset_t entry = begin[above]; entry < begin[above + 1]; ++entry)
      x[rows[entry]] -= lower[entry] * value;
    flops += begin[above + 1] - begin[above];
  }
  structure_->upper_ptr[place + 1] = upper_size_;
  factor_->flops_ += 2.0 * double(flops) + num_waiting_;
}

template <class T>
index_t LuColumns<T>::choose_pivot(index_t place, Real largest) const {
  const index_t diagonal = order_.row[place];
  if (place_of_row_[diagonal] < 0 && met_by_[diagonal] == place &&
      cheap_modulus(x_[diagonal]) >= preference_ * largest)
    return diagonal;
  for (index_t at = 0; at < num_waiting_; ++at)
    if (cheap_modulus(x_[waiting_[at]]) == largest) return waiting_[at];
  return diagonal;
}

template <class T>
void LuColumns<T>::keep_column(index_t place, index_t pivot_row) {
  const T pivot = x_[pivot_row], inverse = T(1) / pivot;
  x_[pivot_row] = T(0);
  for (index_t at = 0; at < num_waiting_; ++at) {
    const index_t row = waiting_[at];
    if (row == pivot_row) continue;
    structure_->lower_row[lower_size_] = row;
    factor_->lower_[lower_size_++] = x_[row] * inverse;
    x_[row] = T(0);
  }
  structure_->lower_ptr[place + 1] = lower_size_;
  place_of_row_[pivot_row] = place;
  structure_->row[place] = pivot_row;
  factor_->inverse_pivot_[place] = inverse;
  count_.add(pivot);
  prune(place, pivot_row);
}

/// If L(pivot_row, j) and U(j, place) are both present, column `place` leads to everything beyond it that
/// column j leads to. Searches then need only the pivotal part of column j, which is moved to its front.
template <class T>
void LuColumns<T>::prune(index_t place, index_t pivot_row) {
  index_t* const rows = structure_->lower_row.data();
  T* const values = factor_->lower_.data();
  for (offset_t at = structure_->upper_ptr[place]; at < upper_size_; ++at) {
    const index_t above = structure_->upper_row[at];
    if (pruned_end_[above] >= 0) continue;
    offset_t head = structure_->lower_ptr[above], tail = structure_->lower_ptr[above + 1];
    if (std::find(rows + head, rows + tail, pivot_row) == rows + tail) continue;
    while (head < tail) {
      if (place_of_row_[rows[head]] >= 0) {
        ++head;
        continue;
      }
      --tail;
      std::swap(rows[head], rows[tail]);
      std::swap(values[head], values[tail]);
    }
    pruned_end_[above] = tail;
  }
}

template <class T>
void LuColumns<T>::make_room(index_t lower, index_t upper) {
  const auto grow = [](PanelVector<index_t>& rows, PanelVector<T>& values, offset_t needed) {
    if (static_cast<offset_t>(rows.size()) >= needed) return;
    const auto size = static_cast<std::size_t>(1.4 * double(needed)) + 16;
    rows.resize(size);
    values.resize(size);
  };
  grow(structure_->lower_row, factor_->lower_, lower_size_ + lower);
  grow(structure_->upper_row, factor_->upper_, upper_size_ + upper);
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> LuColumns<T>::run_again(const SparseMatrix<T>& matrix,
                                                               const ColumnFactor<T>& known) {
  const ColumnStructure& structure = known.structure();
  const std::vector<index_t>& columns = structure.order->column;
  auto made = std::make_shared<ColumnFactor<T>>();
  made->structure_ = known.structure_;
  made->flops_ = known.flops_;
  made->lower_.resize(known.lower_.size());
  made->upper_.resize(known.upper_.size());
  made->above_.resize(known.above_.size());
  made->inverse_pivot_.resize(known.inverse_pivot_.size());
  const double exponents = scale_rows_by_powers(matrix, made->row_scale_);
  std::vector<T> x(columns.size(), T(0));  // by place
  PivotCount count;
  for (index_t block = 0; block < structure.order->num_blocks(); ++block)
    for (index_t place = structure.order->block_begin[block]; place < structure.order->block_begin[block + 1];
         ++place) {
      const index_t first = structure.order->block_begin[block], column = columns[place];
      offset_t above = structure.above_ptr[place];
      Real before = 0;
      for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
           ++entry) {
        const index_t row = matrix.pattern.row_index[entry], at = structure.place_of_row[row];
        const T value = matrix.values[entry] * made->row_scale_[row];
        if (at < first) {
          made->above_[above++] = value;
          continue;
        }
        x[at] = value;
        before = std::max(before, cheap_modulus(value));
      }
      for (offset_t at = structure.upper_ptr[place]; at < structure.upper_ptr[place + 1]; ++at) {
        const index_t row = structure.upper_row[at];
        const T value = x[row];
        x[row] = T(0);
        made->upper_[at] = value;
        for (offset_t entry = structure.lower_ptr[row]; entry < structure.lower_ptr[row + 1]; ++entry)
          x[structure.lower_row[entry]] -= made->lower_[entry] * value;
      }
      const T pivot = x[place];
      x[place] = T(0);
      const Real size = cheap_modulus(pivot);
      if (!(size > Real(doubtful_pivot<T>()) * before) || !is_finite(pivot)) return nullptr;
      const T inverse = T(1) / pivot;
      made->inverse_pivot_[place] = inverse;
      count.add(pivot);
      Real largest = 0;
      for (offset_t entry = structure.lower_ptr[place]; entry < structure.lower_ptr[place + 1]; ++entry) {
        T& value = x[structure.lower_row[entry]];
        largest = std::max(largest, cheap_modulus(value));
        made->lower_[entry] = value * inverse;
        value = T(0);
      }
      if (!(size >= Real(least_kept_pivot) * largest)) return nullptr;
    }
  made->pivots_ = count.report(exponents, is_odd(columns, structure.place_of_row));
  return made;
}

#define PALMETTE_INSTANTIATE(T)                                                          \
  template double scale_rows_by_powers(const SparseMatrix<T>&, std::vector<real_t<T>>&); \
  template class LuColumns<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
