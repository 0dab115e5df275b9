// Small systems as PARDISO takes them, and what it answers.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "palmette/pardiso/pardiso.h"

namespace rows {

using Number = std::complex<double>;
using Dense = std::vector<std::vector<Number>>;

inline bool is_hermitian(int mtype) {
  return std::abs(mtype) == 4;
}
inline bool is_complex(int mtype) {
  return is_hermitian(mtype) || mtype == 3 || mtype == 6 || mtype == 13;
}
inline bool is_half(int mtype) {
  return std::abs(mtype) == 2 || is_hermitian(mtype) || mtype == 6;
}

/// A matrix that suits the type: a grid of side × side points, with neighbours that make it unsymmetric,
/// Hermitian or symmetric, and a diagonal of both signs where it may be indefinite.
inline Dense matrix_for(int mtype, int side = 6) {
  const int n = side * side;
  Dense A(n, std::vector<Number>(n));
  const bool definite = mtype == 2 || mtype == 4;
  const auto couple = [&](int i, int j) {
    const double re = -1 - 0.1 * ((i * 7 + j * 3) % 5);
    const double im = is_complex(mtype) ? 0.3 + 0.1 * ((i + j) % 3) : 0;
    A[i][j] = {re, im};
    A[j][i] = is_hermitian(mtype) ? std::conj(A[i][j]) : A[i][j];
    if (!is_half(mtype)) A[j][i] = Number(0.5 * re, -2 * im);
  };
  for (int p = 0; p < n; ++p) {
    const double sign = !definite && p % 3 == 1 ? -1 : 1;
    A[p][p] = Number(sign * (6.5 + 0.1 * (p % 7)), is_complex(mtype) && !is_hermitian(mtype) ? 1.0 : 0.0);
    if (p % side + 1 < side) couple(p, p + 1);
    if (p + side < n) couple(p, p + side);
  }
  if (mtype == 11 || mtype == 13) A[0][n - 1] = 2;  // an unsymmetric pattern
  return A;
}

struct System {
  int n = 0;
  std::vector<int> ia, ja;
  std::vector<double> a;  // real, or real and imaginary parts
};

inline System system_of(int mtype, const Dense& A, int base = 1) {
  System system;
  system.n = static_cast<int>(A.size());
  system.ia.push_back(base);
  for (int i = 0; i < system.n; ++i) {
    for (int j = is_half(mtype) ? i : 0; j < system.n; ++j) {
      if (A[i][j] == 0.0 && i != j) continue;
      system.ja.push_back(j + base);
      system.a.push_back(A[i][j].real());
      if (is_complex(mtype)) system.a.push_back(A[i][j].imag());
    }
    system.ia.push_back(static_cast<int>(system.ja.size()) + base);
  }
  return system;
}

/// nrhs columns, real or complex, with b_i = 1 + i mod 5 and so on.
inline std::vector<double> sides(int mtype, int n, int nrhs) {
  std::vector<double> b(std::size_t(n) * nrhs * (is_complex(mtype) ? 2 : 1));
  for (std::size_t k = 0; k < b.size(); ++k) b[k] = 1 + double(k % 5) - 0.25 * double(k % 3);
  return b;
}

/// max |op(A)·x − b| over max |b|. @param turned  0: A; 1: Aᴴ; 2: Aᵀ
inline double residual(int mtype, const Dense& A, int turned, const std::vector<double>& x,
                       const std::vector<double>& b) {
  const std::size_t n = A.size();
  const auto at = [&](const std::vector<double>& v, std::size_t k) {
    return is_complex(mtype) ? Number(v[2 * k], v[2 * k + 1]) : Number(v[k]);
  };
  double worst = 0, size = 0;
  for (std::size_t column = 0; column < x.size() / (is_complex(mtype) ? 2 : 1) / n; ++column)
    for (std::size_t i = 0; i < n; ++i) {
      Number sum = -at(b, column * n + i);
      size = std::max(size, std::abs(sum));
      for (std::size_t j = 0; j < n; ++j)
        sum += (turned == 0 ? A[i][j] : turned == 1 ? std::conj(A[j][i]) : A[j][i]) * at(x, column * n + j);
      worst = std::isnan(std::abs(sum)) ? INFINITY : std::max(worst, std::abs(sum));
    }
  return worst / size;
}

}  // namespace rows
