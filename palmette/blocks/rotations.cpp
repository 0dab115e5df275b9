// One column of L at a time, with all vectors while it is in the nearest cache.
#include "palmette/blocks/rotations.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {
namespace {

/// A pivot that keeps a smaller part of its square has no correct digit left.
template <class T>
constexpr double least_remainder = 16 * unit_roundoff<T>;

/// a·b without the search for infinities that products of std::complex make.
template <class T>
inline T finite_product(const T& a, const T& b) {
  if constexpr (is_complex_v<T>)
    return T(a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real());
  else
    return a * b;
}

/// The rotation that makes v zero in the row of this pivot, which it changes.
/// @returns false if nothing positive and finite is left of the pivot
template <class T>
bool begin_rotation(bool subtract, T& pivot, const T& v, Rotation<T>& made) {
  made = {};
  const real_t<T> before = std::real(pivot), modulus = std::abs(v);
  if (modulus == 0) return true;
  if (!subtract) {
    const real_t<T> after = std::hypot(before, modulus);
    made = {before / after, v / after};
    pivot = T(after);
    return is_finite(after);
  }
  const real_t<T> part = modulus / before, remainder = (1 - part) * (1 + part);
  if (!(remainder > least_remainder<T>)) return false;
  made = {std::sqrt(remainder), v / before};
  pivot = T(made.cosine * before);
  return true;
}

template <class T>
void rotate_kernel(bool subtract, const Rotation<T>& by, index_t rows, T* __restrict column,
                   T* __restrict vector) {
  const real_t<T> cosine = by.cosine;
  const T sine = by.sine, turned = conjugate(sine);
  if (subtract) {
    const real_t<T> stretch = 1 / cosine;
    for (index_t row = 0; row < rows; ++row) {
      column[row] = (column[row] - finite_product(turned, vector[row])) * stretch;
      vector[row] = vector[row] * cosine - finite_product(sine, column[row]);
    }
    return;
  }
  for (index_t row = 0; row < rows; ++row) {
    const T before = column[row];
    column[row] = before * cosine + finite_product(turned, vector[row]);
    vector[row] = vector[row] * cosine - finite_product(sine, before);
  }
}

}  // namespace

template <class T>
index_t rotate_diagonal(bool subtract, DenseView<T> block, DenseView<T> vectors,
                        std::span<Rotation<T>> rotation) {
  for (index_t column = 0; column < block.cols; ++column)
    for (index_t v = 0; v < vectors.cols; ++v) {
      Rotation<T>& by = rotation[offset_t{column} * vectors.cols + v];
      if (!begin_rotation(subtract, block(column, column), vectors(column, v), by)) return column;
      vectors(column, v) = T(0);
      if (by.sine == T(0)) continue;
      const index_t next = column + 1;
      rotate_kernel(subtract, by, block.rows - next, block.column(column) + next, vectors.column(v) + next);
    }
  return -1;
}

template <class T>
void rotate_rows(bool subtract, std::span<const Rotation<T>> rotation, DenseView<T> rows,
                 DenseView<T> vectors) {
  for (index_t first = 0; first < rows.rows; first += rotated_rows) {
    const index_t count = std::min(rotated_rows, rows.rows - first);
    for (index_t column = 0; column < rows.cols; ++column)
      for (index_t v = 0; v < vectors.cols; ++v) {
        const Rotation<T>& by = rotation[offset_t{column} * vectors.cols + v];
        if (by.sine != T(0))
          rotate_kernel(subtract, by, count, rows.column(column) + first, vectors.column(v) + first);
      }
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                  \
  template index_t rotate_diagonal<T>(bool, DenseView<T>, DenseView<T>, std::span<Rotation<T>>); \
  template void rotate_rows<T>(bool, std::span<const Rotation<T>>, DenseView<T>, DenseView<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
