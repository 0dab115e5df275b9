// LLᵀ of one diagonal block, and the inverse of a triangle: recursive halves down to a block that plain loops
// finish.
#include <algorithm>
#include <complex>
#include <cstring>
#include <utility>

#include "palmette/blocks/column_kernels.hpp"
#include "palmette/blocks/dense_factor.hpp"
#include "palmette/blocks/product_tile.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

using tiles::part;

/// Blocks up to this width are factored column by column.
constexpr index_t narrow_width = 24;

/// Left-looking: column j loses L(j:, :j)·L(j, :j)ᴴ, then is divided by the square root of its pivot.
template <class T>
index_t factor_narrow(DenseView<T> block) {
  for (index_t j = 0; j < block.cols; ++j) {
    T* const column = block.column(j);
    if (j > 0) {
      const DenseView<const T> left = part(block, j, 0, block.rows - j, j);
      const auto coefficient = [&](index_t k, int) { return -conjugate(left(0, k)); };
      kernels::multiply_columns<T, 1>(true, left, coefficient, column + j, block.ld);
    }
    const real_t<T> pivot = std::real(column[j]);
    if (!(pivot > 0) || !is_finite(pivot)) return j;
    const real_t<T> root = std::sqrt(pivot);
    column[j] = root;
    const real_t<T> inverse = 1 / root;
    for (index_t row = j + 1; row < block.rows; ++row) column[row] *= inverse;
  }
  return -1;
}

/// The same for `Width` columns that registers hold. What they hold above the diagonal changes no row below.
template <class T, int Width>
index_t factor_columns(DenseView<T> block) {
  using L = lanes::Lanes<T, lanes::full_width<T>>;
  typename L::Vector done[Width];
  alignas(64) real_t<T> reals[Width][L::reals];
  const auto entry = [&](int row, int column) { return reinterpret_cast<const T*>(reals[column])[row]; };
  index_t failed = -1;
  lanes::unrolled<Width>([&](auto nth) PALMETTE_INLINE {
    constexpr int j = nth, diagonal = is_complex_v<T> ? 2 * j : j;
    if (failed >= 0) return;
    T* const column = block.column(j);
    auto rest = Width == lanes::full_width<T> ? L::load(column) : L::load_first(column, Width);
    if constexpr (j > 0) {
      typename L::Sum sum;
      lanes::unrolled<j>([&](auto k) PALMETTE_INLINE { sum.add(done[k], -conjugate(entry(j, k))); });
      rest += sum.value();
    }
    const real_t<T> pivot = rest[diagonal];
    if (!(pivot > 0) || !is_finite(pivot)) {
      column[j] = pivot;
      failed = j;
      return;
    }
    const real_t<T> root = std::sqrt(pivot);
    rest *= 1 / root;
    rest[diagonal] = root;
    if constexpr (is_complex_v<T>) rest[diagonal + 1] = 0;
    done[j] = rest;
    std::memcpy(reals[j], &rest, sizeof rest);
    std::memcpy(static_cast<void*>(column), reals[j], Width * sizeof(T));
  });
  return failed;
}

/// A kernel for each number of columns.
template <class T, int... Number>
index_t factor_columns(DenseView<T> block, std::integer_sequence<int, Number...>) {
  using Kernel = index_t (*)(DenseView<T>);
  static constexpr Kernel kernels[] = {factor_columns<T, Number + 1>...};
  return kernels[block.cols - 1](block);
}
template <class T>
constexpr int register_columns = std::min(8, lanes::full_width<T>);

/// Room for the columns of a narrow block, each padded to whole registers.
template <class T>
struct NarrowColumns {
  static constexpr index_t lanes_each = lanes::full_width<T>;
  static constexpr index_t padded = (narrow_width + lanes_each - 1) / lanes_each * lanes_each;
  // Not T, since complex numbers would be set to zero for each block.
  alignas(64) real_t<T> reals[padded * narrow_width * sizeof(T) / sizeof(real_t<T>)];

  T* column(index_t k) { return reinterpret_cast<T*>(reals) + k * padded; }
};

/// −v·pivot in each lane, but the pivot itself in lane `place`, if there is such a lane.
template <class T, class L = lanes::Lanes<T, lanes::full_width<T>>>
PALMETTE_INLINE inline typename L::Vector column_of_inverse(typename L::Vector v, const T& pivot,
                                                            index_t place) {
  typename L::Vector lane_of, pivots, scaled;
  for (int lane = 0; lane < L::reals; ++lane) {
    lane_of[lane] = static_cast<real_t<T>>(is_complex_v<T> ? lane / 2 : lane);
    pivots[lane] = is_complex_v<T> && lane % 2 == 1 ? std::imag(pivot) : std::real(pivot);
  }
  if constexpr (is_complex_v<T>) {
    typename L::Sum sum;
    sum.add(-v, pivot);
    scaled = sum.value();
  } else {
    scaled = -v * pivot;
  }
  return lane_of == static_cast<real_t<T>>(place) ? pivots : scaled;
}

/// Column j of the inverse is −L₂₂⁻¹·l·L_jj⁻¹; j descends, so the columns to its right are already inverted.
/// Registers hold rows: above the diagonal the inverse has zeros, which change no sum.
template <class T>
void invert_narrow_lower(bool unit_diagonal, DenseView<T> a) {
  using L = lanes::Lanes<T, lanes::full_width<T>>;
  constexpr index_t lanes_each = lanes::full_width<T>;
  NarrowColumns<T> inverse;
  for (index_t j = a.cols - 1; j >= 0; --j) {
    T* const column = a.column(j);
    T* const into = inverse.column(j);
    const T pivot = unit_diagonal ? T(1) : T(1) / column[j];
    for (index_t first = j / lanes_each * lanes_each; first < a.rows; first += lanes_each) {
      typename L::Sum sum;
      for (index_t k = std::min<index_t>(a.rows, first + lanes_each) - 1; k > j; --k)
        sum.add(L::load(inverse.column(k) + first), column[k]);
      L::store(column_of_inverse<T>(sum.value(), pivot, j - first), into + first);
    }
    const index_t stored = unit_diagonal ? j + 1 : j;
    std::copy(into + stored, into + a.rows, column + stored);
  }
}

template <class T>
void invert_narrow_upper(bool unit_diagonal, DenseView<T> a) {
  // Column j of the inverse of U is −U₁₁⁻¹·u·U_jj⁻¹; the columns to its left are already inverted.
  for (index_t j = 0; j < a.cols; ++j) {
    const T pivot = unit_diagonal ? T(1) : T(1) / a(j, j);
    if (!unit_diagonal) a(j, j) = pivot;
    for (index_t row = 0; row < j; ++row) {
      T sum = unit_diagonal ? a(row, j) : T(0);
      for (index_t k = unit_diagonal ? row + 1 : row; k < j; ++k) sum += a(row, k) * a(k, j);
      a(row, j) = -sum * pivot;
    }
  }
}

template <class T>
void negate(DenseView<T> a) {
  for (index_t column = 0; column < a.cols; ++column)
    for (index_t row = 0; row < a.rows; ++row) a(row, column) = -a(row, column);
}

/// First the off-diagonal quarter, by two triangular solves with the halves before they are inverted; then
/// the halves.
template <class T>
void invert_halves(bool lower, bool unit_diagonal, DenseView<T> a) {
  if (a.cols <= narrow_width)
    return lower ? invert_narrow_lower(unit_diagonal, a) : invert_narrow_upper(unit_diagonal, a);
  const index_t half = a.cols / 2, rest = a.cols - half;
  const DenseView<T> first = part(a, 0, 0, half, half), second = part(a, half, half, rest, rest);
  const DenseView<T> between = lower ? part(a, half, 0, rest, half) : part(a, 0, half, half, rest);
  PanelDivision how;
  how.triangle = lower ? blas::Triangle::lower : blas::Triangle::upper;
  how.diagonal = unit_diagonal ? blas::Diagonal::unit : blas::Diagonal::stored;
  solve_panel_columns<T>(how, lower ? second : first, between);
  solve_panel_rows<T>(how, lower ? first : second, between);
  negate(between);
  invert_halves(lower, unit_diagonal, first);
  invert_halves(lower, unit_diagonal, second);
}

}  // namespace

template <class T>
index_t factor_llt(DenseView<T> block) {
  if (block.cols > 0 && block.cols <= register_columns<T>)
    return factor_columns(block, std::make_integer_sequence<int, register_columns<T>>());
  if (block.cols <= narrow_width) return factor_narrow(block);
  const index_t half = (block.cols / 2 + 7) / 8 * 8, rest = block.cols - half;
  const DenseView<T> first = part(block, 0, 0, half, half);
  if (const index_t failed = factor_llt(first); failed >= 0) return failed;
  const DenseView<T> below = part(block, half, 0, rest, half), second = part(block, half, half, rest, rest);
  solve_panel_rows<T>({blas::Triangle::lower, blas::Transpose::adjoint, blas::Diagonal::stored}, first,
                      below);
  subtract_lower<T>(true, below, second);
  const index_t failed = factor_llt(second);
  return failed < 0 ? -1 : half + failed;
}

template <class T>
index_t invert_triangle(bool lower, bool unit_diagonal, DenseView<T> block) {
  if (!unit_diagonal)
    for (index_t k = 0; k < block.cols; ++k)
      if (block(k, k) == T(0)) return k;
  invert_halves(lower, unit_diagonal, block);
  return -1;
}

#define PALMETTE_INSTANTIATE(T)                     \
  template index_t factor_llt<T>(DenseView<T>);     \
  template index_t invert_triangle<T>(bool, bool, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
