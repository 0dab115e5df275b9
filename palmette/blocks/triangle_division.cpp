// Division by a triangle, from the right or from the left, in halves: half of X is divided, its product with
// the rectangle between is subtracted from the other half, then that is divided. Narrow triangles keep a
// row, or columns, of X in registers.
#include <algorithm>

#include "palmette/blocks/product_tile.hpp"
#include "palmette/blocks/register_block.hpp"
#include "palmette/blocks/small_products.hpp"

namespace palmette {
namespace {

using tiles::part;

/// Triangles up to this width are divided by in loops of our own.
constexpr index_t narrow_right = 12, narrow_left = 16;

bool is_upper(const PanelDivision& how) {
  return (how.triangle == blas::Triangle::upper) == (how.op == blas::Transpose::no);
}

/// A narrow triangle as steps: what is divided in step j is its own value and Σ share[j][k]·(that of step k)
/// over the steps before, times share[j][j].
template <class T>
struct DivisionSteps {
  index_t count;
  bool forward;  ///< from the first row or column of X on; else from the last
  T share[narrow_left][narrow_left];

  DivisionSteps(blas::Side side, const PanelDivision& how, DenseView<const T> a)
      : count(a.cols), forward((side == blas::Side::right) == is_upper(how)) {
    const auto entry = [&](index_t i, index_t j) {
      if (how.op == blas::Transpose::no) return a(i, j);
      return how.op == blas::Transpose::adjoint ? conjugate(a(j, i)) : a(j, i);
    };
    for (index_t j = 0; j < count; ++j) {
      const index_t own = place(j);
      for (index_t k = 0; k < j; ++k)
        share[j][k] = -(side == blas::Side::right ? entry(place(k), own) : entry(own, place(k)));
      share[j][j] = how.diagonal == blas::Diagonal::unit ? T(1) : T(1) / entry(own, own);
    }
  }
  index_t place(index_t step) const { return forward ? step : count - 1 - step; }
};

template <class T>
void divide_narrow_right(const DivisionSteps<T>& steps, DenseView<T> x) {
  lanes::over_rows<T>(0, x.rows, [&]<int Width>(index_t row) {
    using L = lanes::Lanes<T, Width>;
    typename L::Vector done[narrow_right];
    for (index_t j = 0; j < steps.count; ++j) {
      T* const own = x.column(steps.place(j)) + row;
      typename L::Sum sum;
      for (index_t k = 0; k < j; ++k) sum.add(done[k], steps.share[j][k]);
      typename L::Sum quotient;
      quotient.add(L::load(own) + sum.value(), steps.share[j][j]);
      done[j] = quotient.value();
      L::store(done[j], own);
    }
  });
}

/// Up to `Groups` registers of columns of X side by side, whose steps do not wait for each other.
template <class T, int Groups>
void divide_columns(const DivisionSteps<T>& steps, DenseView<T> x) {
  constexpr int full = lanes::full_width<T>;
  using L = lanes::Lanes<T, full>;
  typename L::Vector line[(narrow_left + full - 1) / full * full][Groups];
  const auto over_blocks = [&](auto&& use) {
    for (int group = 0; group < Groups; ++group)
      for (index_t row = 0; row < x.rows; row += full)
        use(group, row,
            part(x, row, group * full, std::min<index_t>(full, x.rows - row),
                 std::min<index_t>(full, x.cols - group * full)));
  };
  over_blocks([&](int group, index_t row, DenseView<T> entries) {
    lanes::RegisterBlock<T> block;
    block.load_columns(entries);
    block.turn();
    for (int k = 0; k < full; ++k) line[row + k][group] = block.line[k];
  });
  for (index_t j = 0; j < steps.count; ++j) {
    auto& own = line[steps.place(j)];
    typename L::Sum sum[Groups];
    for (index_t k = 0; k < j; ++k)
      lanes::unrolled<Groups>([&](auto group) PALMETTE_INLINE {
        sum[group].add(line[steps.place(k)][group], steps.share[j][k]);
      });
    lanes::unrolled<Groups>([&](auto group) PALMETTE_INLINE {
      typename L::Sum quotient;
      quotient.add(own[group] + sum[group].value(), steps.share[j][j]);
      own[group] = quotient.value();
    });
  }
  over_blocks([&](int group, index_t row, DenseView<T> entries) {
    lanes::RegisterBlock<T> block;
    for (int k = 0; k < full; ++k) block.line[k] = line[row + k][group];
    block.turn();
    block.store_columns(entries);
  });
}

template <class T>
void divide_narrow_left(const DivisionSteps<T>& steps, DenseView<T> x) {
  constexpr index_t full = lanes::full_width<T>;
  for (index_t column = 0; column < x.cols; column += 2 * full) {
    const DenseView<T> some = x.columns(column, std::min(2 * full, x.cols - column));
    if (some.cols > full) divide_columns<T, 2>(steps, some);
    else divide_columns<T, 1>(steps, some);
  }
}

/// C ← C − A·op(B), where `b` is that part of the triangle which op() turns into k × n.
template <class T>
void subtract_right(const PanelDivision& how, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  if (how.op == blas::Transpose::no) subtract_plain<T>(a, b, c);
  else subtract_rows<T>(how.op == blas::Transpose::adjoint, a, b, c);
}
/// C ← C − op(A)·B
template <class T>
void subtract_left(const PanelDivision& how, DenseView<const T> a, DenseView<const T> b, DenseView<T> c) {
  if (how.op == blas::Transpose::no) subtract_plain<T>(a, b, c);
  else subtract_transposed<T>(how.op == blas::Transpose::adjoint, a, b, c);
}

/// A triangle in halves. `between` is the rectangle of the stored triangle.
template <class T>
struct Halves {
  index_t half, rest;
  DenseView<const T> first, second, between;

  Halves(const PanelDivision& how, DenseView<const T> a)
      : half((a.cols / 2 + 3) / 4 * 4),
        rest(a.cols - half),
        first(part(a, 0, 0, half, half)),
        second(part(a, half, half, rest, rest)),
        between(how.triangle == blas::Triangle::lower ? part(a, half, 0, rest, half)
                                                      : part(a, 0, half, half, rest)) {}
};

template <class T>
void divide_right(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  if (a.cols <= narrow_right) return divide_narrow_right(DivisionSteps<T>(blas::Side::right, how, a), x);
  const Halves<T> parts(how, a);
  const DenseView<T> left = x.columns(0, parts.half), right = x.columns(parts.half, parts.rest);
  const bool forward = is_upper(how);
  divide_right(how, forward ? parts.first : parts.second, forward ? left : right);
  subtract_right<T>(how, forward ? left : right, parts.between, forward ? right : left);
  divide_right(how, forward ? parts.second : parts.first, forward ? right : left);
}

template <class T>
void divide_left(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  if (a.cols <= narrow_left) return divide_narrow_left(DivisionSteps<T>(blas::Side::left, how, a), x);
  const Halves<T> parts(how, a);
  const DenseView<T> upper = part(x, 0, 0, parts.half, x.cols);
  const DenseView<T> lower = part(x, parts.half, 0, parts.rest, x.cols);
  const bool forward = !is_upper(how);
  divide_left(how, forward ? parts.first : parts.second, forward ? upper : lower);
  subtract_left<T>(how, parts.between, forward ? upper : lower, forward ? lower : upper);
  divide_left(how, forward ? parts.second : parts.first, forward ? lower : upper);
}

}  // namespace

template <class T>
void solve_panel_rows(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  if (x.rows == 0) return;
  if (tiles::wide_registers || a.cols <= narrow_right) return divide_right(how, a, x);
  blas::trsm<T>({blas::Side::right, how.triangle, how.op, how.diagonal}, a, x);
}

template <class T>
void solve_panel_columns(const PanelDivision& how, DenseView<const T> a, DenseView<T> x) {
  if (x.cols == 0) return;
  if (tiles::wide_registers || a.cols <= narrow_left) return divide_left(how, a, x);
  blas::trsm<T>({blas::Side::left, how.triangle, how.op, how.diagonal}, a, x);
}

#define PALMETTE_INSTANTIATE(T)                                                                     \
  template void solve_panel_rows<T>(const PanelDivision&, DenseView<const T>, DenseView<T>);        \
  template void solve_panel_columns<T>(const PanelDivision&, DenseView<const T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
