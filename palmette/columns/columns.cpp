// The door's functions: the choice of the factorization, the sweeps, and the memory of a factor.
#include "palmette/columns/columns.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>

#include "palmette/columns/dense_columns.hpp"
#include "palmette/columns/llt_columns.hpp"
#include "palmette/columns/lu_columns.hpp"

namespace palmette {
namespace {

/// Number of right-hand sides that pass through the factor together.
constexpr int wide = 8;

/// Number of products (entries times right-hand sides) that take some 100 µs: twice what it costs to wake a
/// team.
constexpr offset_t least_shared_products = 200000;

/// What a sweep reads.
template <class T>
struct SweepParts {
  const ColumnStructure& structure;
  // dense factor, which replaces the three members before it; or null
  const T *lower, *upper, *above, *dense, *inverse_pivot;
  const std::vector<real_t<T>>& row_scale;
  bool symmetric;  ///< LLᵀ: the backward sweep is with the adjoint of lower
};

/// `count` right-hand sides side by side: row k at w + k·count.
template <int count, class T>
void subtract_times(T* __restrict target, const T& value, const T* __restrict source) {
  for (int rhs = 0; rhs < count; ++rhs) target[rhs] -= value * source[rhs];
}

template <bool conjugated, class T>
T turned(const T& value) {
  if constexpr (conjugated) return conjugate(value);
  else return value;
}

template <int count, class T>
void scale_row(T* row, const T& factor) {
  for (int rhs = 0; rhs < count; ++rhs) row[rhs] *= factor;
}

/// w ← L⁻¹·w within [first, end); `stored` divides by the diagonal (LLᵀ).
template <int count, bool stored, class T>
void lower_forward_kernel(const SweepParts<T>& parts, index_t first, index_t end, T* w) {
  const offset_t* const ptr = parts.structure.lower_ptr.data();
  const index_t* const rows = parts.structure.lower_row.data();
  for (index_t place = first; place < end; ++place) {
    T* const own = w + offset_t{place} * count;
    if constexpr (stored) scale_row<count>(own, parts.inverse_pivot[place]);
    T kept[count];
    std::copy_n(own, count, kept);
    for (offset_t entry = ptr[place]; entry < ptr[place + 1]; ++entry)
      subtract_times<count>(w + offset_t{rows[entry]} * count, parts.lower[entry], kept);
  }
}

/// w ← L⁻ᵀ·w, or with the conjugate.
template <int count, bool stored, bool conjugated, class T>
void lower_backward_kernel(const SweepParts<T>& parts, index_t first, index_t end, T* w) {
  const offset_t* const ptr = parts.structure.lower_ptr.data();
  const index_t* const rows = parts.structure.lower_row.data();
  for (index_t place = end - 1; place >= first; --place) {
    T* const own = w + offset_t{place} * count;
    T sum[count];
    std::copy_n(own, count, sum);
    for (offset_t entry = ptr[place]; entry < ptr[place + 1]; ++entry)
      subtract_times<count>(sum, turned<conjugated>(parts.lower[entry]), w + offset_t{rows[entry]} * count);
    if constexpr (stored) scale_row<count>(sum, parts.inverse_pivot[place]);
    std::copy_n(sum, count, own);
  }
}

/// w ← U⁻¹·w within [first, end), then update the rows above with the entries above the block.
template <int count, class T>
void upper_backward_kernel(const SweepParts<T>& parts, index_t first, index_t end, T* w) {
  const ColumnStructure& structure = parts.structure;
  for (index_t place = end - 1; place >= first; --place) {
    T* const own = w + offset_t{place} * count;
    scale_row<count>(own, parts.inverse_pivot[place]);
    T kept[count];
    std::copy_n(own, count, kept);
    for (offset_t entry = structure.upper_ptr[place]; entry < structure.upper_ptr[place + 1]; ++entry)
      subtract_times<count>(w + offset_t{structure.upper_row[entry]} * count, parts.upper[entry], kept);
    for (offset_t entry = structure.above_ptr[place]; entry < structure.above_ptr[place + 1]; ++entry)
      subtract_times<count>(w + offset_t{structure.above_row[entry]} * count, parts.above[entry], kept);
  }
}

/// The transpose of upper_backward.
template <int count, bool conjugated, class T>
void upper_forward_kernel(const SweepParts<T>& parts, index_t first, index_t end, T* w) {
  const ColumnStructure& structure = parts.structure;
  for (index_t place = first; place < end; ++place) {
    T* const own = w + offset_t{place} * count;
    T sum[count];
    std::copy_n(own, count, sum);
    for (offset_t entry = structure.above_ptr[place]; entry < structure.above_ptr[place + 1]; ++entry)
      subtract_times<count>(sum, turned<conjugated>(parts.above[entry]),
                            w + offset_t{structure.above_row[entry]} * count);
    for (offset_t entry = structure.upper_ptr[place]; entry < structure.upper_ptr[place + 1]; ++entry)
      subtract_times<count>(sum, turned<conjugated>(parts.upper[entry]),
                            w + offset_t{structure.upper_row[entry]} * count);
    scale_row<count>(sum, turned<conjugated>(parts.inverse_pivot[place]));
    std::copy_n(sum, count, own);
  }
}

/// Σ a_i·w_i over `rows` rows for each right-hand side, subtracted from sum; eight partial sums if there is
/// one.
template <int count, bool conjugated, class T>
void subtract_dense_product(const T* a, const T* w, index_t rows, T* sum) {
  index_t row = 0;
  if constexpr (count == 1) {
    T partial[8] = {};
    for (; row + 8 <= rows; row += 8)
      for (int lane = 0; lane < 8; ++lane) partial[lane] += turned<conjugated>(a[row + lane]) * w[row + lane];
    for (int lane = 0; lane < 4; ++lane) partial[lane] += partial[lane + 4];
    sum[0] -= (partial[0] + partial[1]) + (partial[2] + partial[3]);
  }
  for (; row < rows; ++row) subtract_times<count>(sum, turned<conjugated>(a[row]), w + offset_t{row} * count);
}

/// w_i ← w_i − a_i·kept over `rows` rows.
template <int count, class T>
void subtract_dense_column(const T* __restrict a, const T* kept, index_t rows, T* __restrict w) {
  if constexpr (count == 1) {
    const T value = kept[0];
    for (index_t row = 0; row < rows; ++row) w[row] -= a[row] * value;
  } else {
    for (index_t row = 0; row < rows; ++row) subtract_times<count>(w + offset_t{row} * count, a[row], kept);
  }
}

/// w ← L⁻¹·w, then w ← U⁻¹·w (LU only), by columns.
template <int count, class T>
void dense_plain_kernel(const SweepParts<T>& parts, T* w) {
  const index_t n = parts.structure.size();
  T kept[count];
  for (index_t place = 0; place < n; ++place) {
    T* const own = w + offset_t{place} * count;
    if (parts.symmetric) scale_row<count>(own, parts.inverse_pivot[place]);
    std::copy_n(own, count, kept);
    subtract_dense_column<count>(parts.dense + offset_t{n} * place + place + 1, kept, n - place - 1,
                                 own + count);
  }
  for (index_t place = n - 1; place >= 0 && !parts.symmetric; --place) {
    T* const own = w + offset_t{place} * count;
    scale_row<count>(own, parts.inverse_pivot[place]);
    std::copy_n(own, count, kept);
    subtract_dense_column<count>(parts.dense + offset_t{n} * place, kept, place, w);
  }
}

/// w ← U⁻ᵀ·w (LU only), then w ← L⁻ᵀ·w, or with conjugates, by inner products.
template <int count, bool conjugated, class T>
void dense_transposed_kernel(const SweepParts<T>& parts, T* w) {
  const index_t n = parts.structure.size();
  for (index_t place = 0; place < n && !parts.symmetric; ++place) {
    T* const own = w + offset_t{place} * count;
    subtract_dense_product<count, conjugated>(parts.dense + offset_t{n} * place, w, place, own);
    scale_row<count>(own, turned<conjugated>(parts.inverse_pivot[place]));
  }
  for (index_t place = n - 1; place >= 0; --place) {
    T* const own = w + offset_t{place} * count;
    subtract_dense_product<count, conjugated>(parts.dense + offset_t{n} * place + place + 1, own + count,
                                              n - place - 1, own);
    if (parts.symmetric) scale_row<count>(own, parts.inverse_pivot[place]);
  }
}

template <int count, class T>
void plain_sweeps(const SweepParts<T>& parts, T* w) {
  if (parts.dense != nullptr) return dense_plain_kernel<count>(parts, w);
  const std::vector<index_t>& begin = parts.structure.order->block_begin;
  for (std::size_t block = begin.size() - 1; block-- > 0;) {
    if (begin[block + 1] - begin[block] > 1)
      lower_forward_kernel<count, false>(parts, begin[block], begin[block + 1], w);
    upper_backward_kernel<count>(parts, begin[block], begin[block + 1], w);
  }
}

template <int count, bool conjugated, class T>
void transposed_sweeps(const SweepParts<T>& parts, T* w) {
  if (parts.dense != nullptr) return dense_transposed_kernel<count, conjugated>(parts, w);
  const std::vector<index_t>& begin = parts.structure.order->block_begin;
  for (std::size_t block = 0; block + 1 < begin.size(); ++block) {
    upper_forward_kernel<count, conjugated>(parts, begin[block], begin[block + 1], w);
    if (begin[block + 1] - begin[block] > 1)
      lower_backward_kernel<count, false, conjugated>(parts, begin[block], begin[block + 1], w);
  }
}

/// Complex LLᴴ: the inverse of the transpose is that of the conjugate, so the vectors are conjugated.
template <int count, class T>
void symmetric_sweeps(const SweepParts<T>& parts, T* w) {
  if (parts.dense != nullptr) {
    dense_plain_kernel<count>(parts, w);
    return dense_transposed_kernel<count, is_complex_v<T>>(parts, w);
  }
  lower_forward_kernel<count, true>(parts, 0, parts.structure.size(), w);
  lower_backward_kernel<count, true, is_complex_v<T>>(parts, 0, parts.structure.size(), w);
}

/// How the vectors before and after the sweeps are numbered and scaled.
template <class T>
struct Side {
  const std::vector<index_t>& place;
  const std::vector<real_t<T>>* scale;
  bool conjugated;

  T scaled(const T& value, index_t row) const {
    const T turned_value = is_complex_v<T> && conjugated ? conjugate(value) : value;
    return scale != nullptr ? turned_value * (*scale)[row] : turned_value;
  }
};

template <int count, class T>
void load(const Side<T>& side, DenseView<const T> b, T* w) {
  const auto n = static_cast<index_t>(side.place.size());
  const T* from[count];
  for (index_t rhs = 0; rhs < count; ++rhs) from[rhs] = b.column(std::min(rhs, b.cols - 1));
  for (index_t place = 0; place < n; ++place)
    for (index_t rhs = 0; rhs < count; ++rhs)
      w[offset_t{place} * count + rhs] = side.scaled(from[rhs][side.place[place]], side.place[place]);
}

template <int count, class T>
void store(const Side<T>& side, const T* w, DenseView<T> x) {
  const auto n = static_cast<index_t>(side.place.size());
  for (index_t place = 0; place < n; ++place)
    for (index_t rhs = 0; rhs < x.cols; ++rhs)
      x(side.place[place], rhs) = side.scaled(w[offset_t{place} * count + rhs], side.place[place]);
}

template <int count, class T>
void solve_block(const SweepParts<T>& parts, Operation operation, DenseView<const T> b, DenseView<T> x,
                 T* w) {
  const std::vector<index_t>&rows = parts.structure.row, &columns = parts.structure.order->column;
  if (parts.symmetric) {
    const Side<T> side{rows, nullptr, operation == Operation::transpose};
    load<count>(side, b, w);
    symmetric_sweeps<count>(parts, w);
    return store<count>(side, w, x);
  }
  const Side<T> row_side{rows, &parts.row_scale, false}, column_side{columns, nullptr, false};
  const bool plain = operation == Operation::plain;
  load<count>(plain ? row_side : column_side, b, w);
  if (plain) plain_sweeps<count>(parts, w);
  else if (operation == Operation::adjoint) transposed_sweeps<count, is_complex_v<T>>(parts, w);
  else transposed_sweeps<count, false>(parts, w);
  store<count>(plain ? column_side : row_side, w, x);
}

}  // namespace

offset_t ColumnStructure::memory_bytes() const {
  return bytes_of(row) + bytes_of(place_of_row) + bytes_of(lower_ptr) + bytes_of(upper_ptr) +
         bytes_of(above_ptr) + bytes_of(lower_row) + bytes_of(upper_row) + bytes_of(above_row);
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> ColumnFactor<T>::create(const SparseMatrix<T>& matrix,
                                                               std::shared_ptr<const BlockOrdering> order,
                                                               FactorKind kind) {
  const SubnormalsAsZero scope;
  if (order->dense && kind != FactorKind::ldlt) return DenseColumns<T>::run(matrix, std::move(order), kind);
  if (kind == FactorKind::llt) return LltColumns<T>(matrix, std::move(order)).run();
  if (kind == FactorKind::lu) return LuColumns<T>(matrix, std::move(order)).run();
  throw UsageError("no factorization of kind " + std::string(name_of(kind)) +
                   " by columns exists; use llt or lu");
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> ColumnFactor<T>::refactor(const SparseMatrix<T>& matrix) const {
  const SubnormalsAsZero scope;
  if (structure_->order->dense) return DenseColumns<T>::run(matrix, structure_->order, kind_);
  return kind_ == FactorKind::llt ? LltColumns<T>::run_again(matrix, *this)
                                  : LuColumns<T>::run_again(matrix, *this);
}

template <class T>
int ColumnFactor<T>::solve(Operation operation, DenseView<const T> b, DenseView<T> x,
                           ThreadTeam* team) const {
  const index_t n = size();
  if (b.rows != n || x.rows != n || b.cols != x.cols)
    throw DimensionError("the right-hand side is " + std::to_string(b.rows) + " × " + std::to_string(b.cols) +
                         ", the solution " + std::to_string(x.rows) + " × " + std::to_string(x.cols) +
                         ", the matrix has " + std::to_string(n) + " rows");
  if (n == 0 || b.cols == 0) return 1;
  const SubnormalsAsZero scope;
  const SweepParts<T> parts{*structure_,   lower_.data(),         upper_.data(), above_.data(),
                            dense_.data(), inverse_pivot_.data(), row_scale_,    kind_ == FactorKind::llt};
  const auto rows_of = [n](int count) { return std::unique_ptr<T[]>(new T[std::size_t(n) * count]); };
  if (b.cols == 1) return solve_block<1>(parts, operation, b, x, rows_of(1).get()), 1;
  std::atomic<index_t> next{0};
  const auto take_blocks = [&](int) {
    std::unique_ptr<T[]> w;
    for (index_t first = next.fetch_add(wide); first < b.cols; first = next.fetch_add(wide)) {
      if (w == nullptr) w = rows_of(wide);
      const index_t count = std::min<index_t>(wide, b.cols - first);
      solve_block<wide>(parts, operation, b.columns(first, count), x.columns(first, count), w.get());
    }
  };
  // Blocks are taken one by one, so that the caller, which begins first, seldom waits for the others.
  if (team != nullptr && b.cols > wide && entries() * b.cols >= least_shared_products)
    return team->share(std::ref(take_blocks));
  take_blocks(0);
  return 1;
}

template <class T>
offset_t ColumnFactor<T>::entries() const {
  const offset_t n = size();
  if (dense_.size() > 0) return kind_ == FactorKind::llt ? n * (n + 1) / 2 : n * n;
  return static_cast<offset_t>(lower_.size() + upper_.size() + above_.size()) + n;
}

template <class T>
offset_t ColumnFactor<T>::memory_bytes() const {
  return structure_->memory_bytes() + bytes_of(lower_) + bytes_of(upper_) + bytes_of(above_) +
         dense_.bytes() + bytes_of(inverse_pivot_) + bytes_of(row_scale_);
}

#define PALMETTE_INSTANTIATE(T) template class ColumnFactor<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
