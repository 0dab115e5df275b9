// Square blocks of scalars turned between columns and rows in registers, so that each cache line of a column
// is touched once.
#pragma once

#include <utility>

#include "palmette/blocks/lanes.hpp"

namespace palmette::lanes {

/// W × W scalars for registers of W.
template <class T>
struct RegisterBlock {
  static constexpr int width = full_width<T>;
  using L = Lanes<T, width>;
  using Vector = typename L::Vector;

  Vector line[width];

  /// line[k] ← column k of `from`, at most W × W; zeros where it has no more columns or rows.
  PALMETTE_INLINE void load_columns(DenseView<const T> from) {
    for (int k = 0; k < width; ++k) {
      line[k] = Vector{};
      if (k >= from.cols) continue;
      line[k] = from.rows == width ? L::load(from.column(k)) : L::load_first(from.column(k), from.rows);
    }
  }
  /// Column k of `to` ← line[k], as far as `to` has columns and rows.
  PALMETTE_INLINE void store_columns(DenseView<T> to) const {
    for (int k = 0; k < width && k < to.cols; ++k)
      if (to.rows == width) L::store(line[k], to.column(k));
      else L::store_first(line[k], to.rows, to.column(k));
  }
  /// Lines become columns.
  PALMETTE_INLINE void turn() { exchange<1>(); }

 private:
  static constexpr int reals_each = L::reals / width;

  /// Exchanges the scalars of line k whose place has bit `Distance` with those of line k + Distance whose
  /// place does not.
  template <int Distance>
  PALMETTE_INLINE void exchange() {
    if constexpr (Distance < width) {
      for (int k = 0; k < width; ++k)
        if ((k & Distance) == 0)
          exchange_pair<Distance>(line[k], line[k + Distance], std::make_integer_sequence<int, L::reals>());
      exchange<2 * Distance>();
    }
  }
  template <int Distance, int... Lane>
  PALMETTE_INLINE static void exchange_pair(Vector& first, Vector& second,
                                            std::integer_sequence<int, Lane...>) {
    constexpr int step = Distance * reals_each;  // a power of two, as the number of reals of a scalar
    const Vector a = first, b = second;
    first = __builtin_shufflevector(a, b, ((Lane & step) != 0 ? L::reals + Lane - step : Lane)...);
    second = __builtin_shufflevector(a, b, ((Lane & step) != 0 ? L::reals + Lane : Lane + step)...);
  }
};

}  // namespace palmette::lanes
