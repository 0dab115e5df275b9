// Inside `solve`: how a sweep reads its right-hand side and writes its result, with permutation, scaling and
// conjugation done on the way, so that the vectors pass through memory once.
#pragma once

#include "palmette/base/base.hpp"

namespace palmette::solve_detail {

/// Row k of a sweep's vector is row place[k] of the caller's, times scale[place[k]].
struct IndexMap {
  const index_t* place = nullptr;  // length n; null: identity
  const double* scale = nullptr;   // length n by the caller's rows; null: ones
  const index_t* back = nullptr;   // length n: the inverse of place, if available
  /// length n: scale[place[k]] for each k, which a sweep reads in order; null: it reads `scale`
  const double* scale_in_order = nullptr;

  /// The place of a caller's row, for a map that knows its inverse or is the identity.
  index_t place_of(index_t row) const { return back != nullptr ? back[row] : row; }
  double scale_of(index_t row) const { return scale != nullptr ? scale[row] : 1.0; }
};

template <class T>
inline T mapped_value(const T& value, double scale, bool conjugated) {
  const T scaled = value * static_cast<real_t<T>>(scale);
  return conjugated ? conjugate(scaled) : scaled;
}

/// Calls use(k, caller's row, scale) for k in [0, count), rows counted from `first`.
template <class Use>
inline void over_mapped_rows(const IndexMap& map, index_t first, index_t count, Use&& use) {
  for (index_t k = 0; k < count; ++k) {
    const index_t row = map.place != nullptr ? map.place[first + k] : first + k;
    use(k, row, map.scale_in_order != nullptr ? map.scale_in_order[first + k] : map.scale_of(row));
  }
}

/// The map of the vector that a sweep reads.
template <class T>
struct Reader {
  DenseView<const T> from;
  IndexMap map;
  bool conjugated = false;

  /// True if row k is row k, unchanged.
  bool direct() const {
    return map.place == nullptr && map.scale == nullptr && !(is_complex_v<T> && conjugated);
  }
  T value(index_t k, index_t column) const {
    const index_t row = map.place != nullptr ? map.place[k] : k;
    return mapped_value(from(row, column), map.scale != nullptr ? map.scale[row] : 1.0, conjugated);
  }
  /// into(k, j) ← rows first … first + count − 1 of all columns.
  void load(index_t first, index_t count, DenseView<T> into) const {
    const bool plain = map.scale == nullptr && !(is_complex_v<T> && conjugated);
    for (index_t j = 0; j < into.cols; ++j) {
      const T* const source = from.column(j);
      T* const target = into.column(j);
      if (plain && map.place == nullptr) {
        for (index_t k = 0; k < count; ++k) target[k] = source[first + k];
      } else if (plain) {
        for (index_t k = 0; k < count; ++k) target[k] = source[map.place[first + k]];
      } else if (map.place != nullptr && map.scale_in_order != nullptr) {
        const index_t* const place = map.place + first;
        const double* const scale = map.scale_in_order + first;
        for (index_t k = 0; k < count; ++k) target[k] = mapped_value(source[place[k]], scale[k], conjugated);
      } else {
        over_mapped_rows(map, first, count, [&](index_t k, index_t row, double scale) {
          target[k] = mapped_value(source[row], scale, conjugated);
        });
      }
    }
  }
};

/// The map of the vector that a sweep writes.
template <class T>
struct Writer {
  DenseView<T> to;
  IndexMap map;
  bool conjugated = false;

  void put(index_t k, index_t column, const T& given) const {
    const index_t row = map.place != nullptr ? map.place[k] : k;
    to(row, column) = mapped_value(given, map.scale != nullptr ? map.scale[row] : 1.0, conjugated);
  }
  /// True if row k goes to row k, unchanged.
  bool direct() const {
    return map.place == nullptr && map.scale == nullptr && !(is_complex_v<T> && conjugated);
  }
  /// Rows first … first + count − 1 of all columns ← given(k, j).
  void store(index_t first, index_t count, DenseView<const T> given) const {
    const bool plain = map.scale == nullptr && !(is_complex_v<T> && conjugated);
    for (index_t j = 0; j < given.cols; ++j) {
      const T* const source = given.column(j);
      T* const target = to.column(j);
      if (plain && map.place == nullptr) {
        for (index_t k = 0; k < count; ++k) target[first + k] = source[k];
      } else if (plain) {
        for (index_t k = 0; k < count; ++k) target[map.place[first + k]] = source[k];
      } else {
        over_mapped_rows(map, first, count, [&](index_t k, index_t row, double scale) {
          target[row] = mapped_value(source[k], scale, conjugated);
        });
      }
    }
  }
};

}  // namespace palmette::solve_detail
