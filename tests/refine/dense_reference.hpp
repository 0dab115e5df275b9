// The reference for the tests of `refine`: dense elimination with partial pivoting in any precision, and
// random systems.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "palmette/refine/compensated.hpp"
#include "palmette/refine/refine.hpp"

namespace palmette::testing {

inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// 113 bits: a long double on 64-bit ARM, where __float128 has no name.
#if __LDBL_MANT_DIG__ == 113
using quad = long double;
#else
__extension__ typedef __float128 quad;
#endif

/// The reference scalar of T: 113 bits.
template <class T>
using exact_t = std::conditional_t<is_complex_v<T>, std::complex<quad>, quad>;

template <class W>
inline constexpr bool is_complex_like = !std::is_arithmetic_v<W> && !std::is_same_v<W, quad>;

template <class To, class From>
To cast(const From& value) {
  if constexpr (is_complex_like<To>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(value.real()), static_cast<Part>(value.imag()));
  } else {
    return static_cast<To>(value);
  }
}

/// |value| as a double (the pivot search and the norms need no more).
template <class W>
double size_of(const W& value) {
  if constexpr (is_complex_like<W>)
    return std::hypot(static_cast<double>(value.real()), static_cast<double>(value.imag()));
  else return std::abs(static_cast<double>(value));
}

/// Dense column-major op(A) in the precision W.
template <class W, class T>
std::vector<W> dense(const SparseMatrix<T>& matrix, Operation operation) {
  const index_t n = matrix.rows();
  std::vector<W> result(static_cast<std::size_t>(n) * static_cast<std::size_t>(n), W{});
  for (index_t column = 0; column < n; ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry) {
      const index_t row = matrix.pattern.row_index[entry];
      T value = matrix.values[entry];
      if (operation == Operation::adjoint) value = conjugate(value);
      const std::size_t place = operation == Operation::plain ? row + static_cast<std::size_t>(column) * n
                                                              : column + static_cast<std::size_t>(row) * n;
      result[place] = cast<W>(value);
    }
  return result;
}

/// Gaussian elimination with partial pivoting, the textbook way.
template <class W>
class DenseLu {
 public:
  DenseLu(index_t n, std::vector<W> matrix)
      : n_(n), lu_(std::move(matrix)), pivot_(n_) {
    for (std::size_t step = 0; step < n_; ++step) {
      std::size_t best = step;
      for (std::size_t row = step; row < n_; ++row)
        if (size_of(at(row, step)) > size_of(at(best, step))) best = row;
      pivot_[step] = best;
      for (std::size_t column = 0; column < n_; ++column) std::swap(at(step, column), at(best, column));
      for (std::size_t row = step + 1; row < n_; ++row) {
        at(row, step) = at(row, step) / at(step, step);
        for (std::size_t column = step + 1; column < n_; ++column)
          at(row, column) = at(row, column) - at(row, step) * at(step, column);
      }
    }
  }
  void solve(W* x) {
    for (std::size_t step = 0; step < n_; ++step) std::swap(x[step], x[pivot_[step]]);
    for (std::size_t row = 0; row < n_; ++row)
      for (std::size_t column = 0; column < row; ++column) x[row] = x[row] - at(row, column) * x[column];
    for (std::size_t row = n_; row-- > 0;) {
      for (std::size_t column = row + 1; column < n_; ++column) x[row] = x[row] - at(row, column) * x[column];
      x[row] = x[row] / at(row, row);
    }
  }

 private:
  W& at(std::size_t row, std::size_t column) { return lu_[row + column * n_]; }
  std::size_t n_;
  std::vector<W> lu_;
  std::vector<std::size_t> pivot_;
};

/// The inverse of `factored` for all three operations, computed in the precision W.
template <class W, class T>
ApplyInverse<T> inverse_of(const SparseMatrix<T>& factored, int* calls = nullptr) {
  auto factors = std::make_shared<std::vector<DenseLu<W>>>();
  for (const Operation operation : {Operation::plain, Operation::transpose, Operation::adjoint})
    factors->emplace_back(factored.rows(), dense<W>(factored, operation));
  return [factors, calls](Operation operation, DenseView<T> x) {
    if (calls != nullptr) ++*calls;
    std::vector<W> work(x.rows);
    for (index_t column = 0; column < x.cols; ++column) {
      for (index_t row = 0; row < x.rows; ++row) work[row] = cast<W>(x(row, column));
      (*factors)[static_cast<std::size_t>(operation)].solve(work.data());
      for (index_t row = 0; row < x.rows; ++row) x(row, column) = cast<T>(work[row]);
    }
  };
}

/// A small generator of numbers in (−1, 1), the same everywhere.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed * 2654435761U + 1) {}
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(static_cast<std::int64_t>(state_ >> 11) - (std::int64_t{1} << 52)) /
           4503599627370496.0;
  }
  index_t below(index_t bound) { return static_cast<index_t>((0.5 + 0.5 * next()) * bound) % bound; }
  template <class T>
  T scalar() {
    if constexpr (is_complex_v<T>) {
      const double real = next();
      return {static_cast<real_t<T>>(real), static_cast<real_t<T>>(next())};
    } else {
      return static_cast<T>(next());
    }
  }

 private:
  std::uint64_t state_;
};

/// Random entries, `per_column` in a column in addition to the diagonal, whose modulus is at least
/// `diagonal`.
template <class T>
SparseMatrix<T> random_matrix(index_t n, index_t per_column, double diagonal, std::uint64_t seed) {
  Numbers numbers(seed);
  Triplets<T> triplets;
  triplets.rows = triplets.cols = n;
  for (index_t column = 0; column < n; ++column) {
    triplets.row.push_back(column);
    triplets.column.push_back(column);
    triplets.value.push_back(T(static_cast<real_t<T>>(diagonal)) + numbers.scalar<T>());
    for (index_t entry = 0; entry < per_column; ++entry) {
      triplets.row.push_back(numbers.below(n));
      triplets.column.push_back(column);
      triplets.value.push_back(numbers.scalar<T>());
    }
  }
  return from_triplets(triplets);
}

template <class T>
SparseMatrix<T> from_dense(index_t rows, index_t cols, const std::vector<T>& by_rows) {
  Triplets<T> triplets;
  triplets.rows = rows;
  triplets.cols = cols;
  for (index_t row = 0; row < rows; ++row)
    for (index_t column = 0; column < cols; ++column) {
      if (by_rows[row * cols + column] == T{}) continue;
      triplets.row.push_back(row);
      triplets.column.push_back(column);
      triplets.value.push_back(by_rows[row * cols + column]);
    }
  return from_triplets(triplets);
}

/// 1/(i + j + 1) rounded to T: condition about e^(3.5·n).
template <class T>
SparseMatrix<T> hilbert(index_t n) {
  std::vector<T> entries;
  for (index_t row = 0; row < n; ++row)
    for (index_t column = 0; column < n; ++column)
      entries.push_back(T(static_cast<real_t<T>>(1.0 / (row + column + 1))));
  return from_dense(n, n, entries);
}

template <class T>
DenseMatrix<T> random_dense(index_t rows, index_t cols, std::uint64_t seed) {
  Numbers numbers(seed + 77);
  DenseMatrix<T> result(rows, cols);
  for (T& value : result.values) value = numbers.scalar<T>();
  return result;
}

/// The solution in 113 bits.
template <class T>
std::vector<exact_t<T>> exact_solution(const SparseMatrix<T>& matrix, Operation operation, const T* b) {
  const index_t n = matrix.rows();
  DenseLu<exact_t<T>> lu(n, dense<exact_t<T>>(matrix, operation));
  std::vector<exact_t<T>> x(n);
  for (index_t row = 0; row < n; ++row) x[row] = cast<exact_t<T>>(b[row]);
  lu.solve(x.data());
  return x;
}

/// ‖x − x*‖∞ / ‖x‖∞, as the forward error bound bounds it.
template <class T>
double forward_error(const SparseMatrix<T>& matrix, Operation operation, const T* b, const T* x) {
  const std::vector<exact_t<T>> exact = exact_solution(matrix, operation, b);
  double difference = 0, size = 0;
  for (index_t row = 0; row < matrix.rows(); ++row) {
    difference = std::max(difference, size_of<exact_t<T>>(cast<exact_t<T>>(x[row]) - exact[row]));
    size = std::max(size, size_of(x[row]));
  }
  return difference / size;
}

inline constexpr Operation all_operations[] = {Operation::plain, Operation::transpose, Operation::adjoint};

}  // namespace palmette::testing
