// Z and S with one correction, their errors, and what follows from S.
#include "palmette/solver/capacitance.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "palmette/blocks/blocks.hpp"
#include "palmette/solver/long_products.hpp"

namespace palmette {
namespace {

using blas::Transpose;

/// √(max_i |a_ij|) for each unknown: multiplied by them, unknowns in different units compare.
template <class T>
std::vector<double> sizes_of_units(const WholeOrShare<T>& matrix) {
  std::vector<double> units = matrix.largest_of_columns();
  for (double& unit : units) unit = std::sqrt(unit);
  return units;
}

template <class T>
double norm_of_column(const std::vector<double>& units, const DenseMatrix<T>& x, index_t column) {
  double largest = 0;
  for (index_t i = 0; i < x.rows; ++i) {
    const double modulus = units[i] * double(std::abs(x.view()(i, column)));
    if (!(modulus <= largest)) largest = modulus;
  }
  return largest;
}

/// Largest row sum of moduli, and largest column sum.
template <class T>
double larger_norm(const DenseMatrix<T>& matrix) {
  std::vector<double> row(matrix.rows, 0);
  double largest = 0;
  for (index_t j = 0; j < matrix.cols; ++j) {
    double sum = 0;
    for (index_t i = 0; i < matrix.rows; ++i) {
      const double modulus = double(std::abs(matrix.view()(i, j)));
      sum += modulus;
      row[i] += modulus;
    }
    largest = std::max(largest, sum);
  }
  for (const double sum : row) largest = std::max(largest, sum);
  return largest;
}

/// Left for a matrix of errors E: the norm of |Z|ᵀ·E, column by column of E.
template <class T>
class ErrorThroughColumns {
 public:
  explicit ErrorThroughColumns(const DenseMatrix<T>& z) : z_(z), row_sum_(z.rows, 0), error_sum_(z.rows, 0) {
    for (index_t j = 0; j < z.cols; ++j)
      for (index_t i = 0; i < z.rows; ++i) row_sum_[i] += double(std::abs(z.view()(i, j)));
  }
  void add(const std::vector<double>& error) {
    double sum = 0;
    for (std::size_t i = 0; i < error.size(); ++i) {
      sum += row_sum_[i] * error[i];
      error_sum_[i] += error[i];
    }
    largest_ = std::max(largest_, sum);
  }
  double norm() const {
    double largest = largest_;
    for (index_t j = 0; j < z_.cols; ++j) {
      double sum = 0;
      for (index_t i = 0; i < z_.rows; ++i) sum += double(std::abs(z_.view()(i, j))) * error_sum_[i];
      largest = std::max(largest, sum);
    }
    return largest;
  }

 private:
  const DenseMatrix<T>& z_;
  std::vector<double> row_sum_, error_sum_;  // length n
  double largest_ = 0;
};

/// U(:, column) − M·z in more digits than T has.
template <class T>
class Residuals {
 public:
  Residuals(const KeptMatrix<T>& kept, const LowRankChange<T>& change)
      : kept_(kept), change_(change), sums_(kept.matrix.rows()) {
    std::vector<index_t> in_row = kept.matrix.entries_of_rows();
    for (const index_t row : change.u.pattern.row_index) ++in_row[row];
    for (const index_t count : in_row) most_terms_ = std::max(most_terms_, count);
    for (index_t k = 0; k < change.rank(); ++k)
      most_terms_ = std::max(most_terms_, static_cast<index_t>(change.v.pattern.column(k).size()));
    most_terms_ += 4;
  }

  /// @param column  −1: of zero instead of U @param bound  null, or out: the error of each entry of r, and of
  /// a
  ///   sum of n terms in which it occurs
  void of(index_t column, const T* z, T* r, std::vector<double>* bound) {
    sums_.clear();
    if (column >= 0)
      for (offset_t entry = change_.u.pattern.column_ptr[column];
           entry < change_.u.pattern.column_ptr[column + 1]; ++entry)
        sums_.add(change_.u.pattern.row_index[entry], LongScalar<T>(change_.u.values[entry]),
                  double(std::abs(change_.u.values[entry])));
    kept_.matrix.add_product({Operation::plain, -1}, z, sums_);
    if (kept_.matrix_is_changed) add_low_rank_product(change_.u, change_.v, {Operation::plain, 1}, z, sums_);
    for (std::size_t i = 0; i < sums_.sum.size(); ++i) r[i] = T(sums_.sum[i]);
    if (bound == nullptr) return;
    const double digits = double(std::numeric_limits<LongReal<T>>::epsilon()) * most_terms_;
    const double rounds = (double(sums_.sum.size()) + 2) * unit_roundoff<T>;
    for (std::size_t i = 0; i < sums_.sum.size(); ++i)
      (*bound)[i] = digits * sums_.moduli[i] + rounds * double(std::abs(r[i]));
  }

 private:
  const KeptMatrix<T>& kept_;
  const LowRankChange<T>& change_;
  LongSums<T> sums_;
  index_t most_terms_ = 0;  // of a sum
};

/// Entries between −1 and 1 without pattern, the same on every machine.
template <class T>
void fill_without_pattern(DenseView<T> x) {
  std::uint64_t state = 1;
  for (index_t i = 0; i < x.rows; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    x(i, 0) = T(static_cast<real_t<T>>(double(state >> 11) / double(1ULL << 52) - 1));
  }
}

/// h ← the product of a small dense matrix and h, column by column.
template <class T>
DenseMatrix<T> product(Transpose operation, const DenseMatrix<T>& matrix, const DenseMatrix<T>& h) {
  DenseMatrix<T> g(h.rows, h.cols);
  blas::gemm<T>(operation, Transpose::no, T(1), matrix.view(), h.view(), T(0), g.view());
  return g;
}

}  // namespace

template <class T>
CapacitanceCost predicted_capacitance_cost(index_t n, offset_t nnz, index_t rank, double solve_flops) {
  const double k = rank, order = n, field = is_complex_v<T> ? 4 : 1;
  CapacitanceCost cost;
  cost.flops = 3 * (k + 1) * solve_flops + field * (4 * k * double(nnz) + 6 * k * k * order + 4 * k * k * k);
  cost.memory_bytes =
      static_cast<offset_t>((3 * k * order + 6 * k * k) * double(sizeof(T)) + 4 * order * sizeof(double));
  return cost;
}

template <class T>
void Capacitance<T>::solve_for_columns(const KeptMatrix<T>& kept) {
  const index_t n = kept.matrix.rows(), k = change_.rank();
  z_ = DenseMatrix<T>(n, k);
  for (index_t j = 0; j < k; ++j)
    for (offset_t entry = change_.u.pattern.column_ptr[j]; entry < change_.u.pattern.column_ptr[j + 1];
         ++entry)
      z_.view()(change_.u.pattern.row_index[entry], j) = change_.u.values[entry];
  kept.apply(Operation::plain, z_.view());
  correct(kept);
  s_ = DenseMatrix<T>(k, k);
  multiply_add<T>(change_.v, Operation::transpose, T(1), std::as_const(z_).view(), s_.view());
  for (index_t j = 0; j < k; ++j) s_.view()(j, j) += T(1);
  invert();
}

template <class T>
Capacitance<T> Capacitance<T>::make(const KeptMatrix<T>& kept, LowRankChange<T> change) {
  Capacitance made(std::move(change));
  made.solve_for_columns(kept);
  return made;
}

template <class T>
void Capacitance<T>::correct(const KeptMatrix<T>& kept) {
  const index_t n = z_.rows, k = z_.cols;
  Residuals<T> residuals(kept, change_);
  DenseMatrix<T> y(n, k), probe(n, 1), image(n, 1);
  for (index_t j = 0; j < k; ++j) residuals.of(j, z_.view().column(j), y.view().column(j), nullptr);
  kept.apply(Operation::plain, y.view());
  const auto measure = [&](double correction, double size) {
    if (correction > 0) contraction_ = std::max(contraction_, size > 0 ? correction / size : infinity);
    if (!std::isfinite(correction)) contraction_ = infinity;
  };
  const std::vector<double> units = sizes_of_units(kept.matrix);
  for (index_t j = 0; j < k; ++j) measure(norm_of_column(units, y, j), norm_of_column(units, z_, j));
  fill_without_pattern<T>(probe.view());
  for (index_t i = 0; i < n; ++i)
    if (units[i] > 0) probe.values[i] /= static_cast<real_t<T>>(units[i]);
  residuals.of(-1, probe.view().column(0), image.view().column(0), nullptr);
  kept.apply(Operation::plain, image.view());  // −M⁻¹·M·probe
  for (index_t i = 0; i < n; ++i) image.values[i] += probe.values[i];
  measure(norm_of_column(units, image, 0), norm_of_column(units, probe, 0));
  for (std::size_t i = 0; i < z_.values.size(); ++i) z_.values[i] += y.values[i];
}

template <class T>
void Capacitance<T>::estimate_errors(const KeptMatrix<T>& kept) {
  const index_t n = z_.rows, k = z_.cols;
  Residuals<T> residuals(kept, change_);
  DenseMatrix<T> r(n, k);
  ErrorThroughColumns<T> errors(z_);
  std::vector<double> bound(n);
  for (index_t j = 0; j < k; ++j) {
    residuals.of(j, z_.view().column(j), r.view().column(j), &bound);
    errors.add(bound);
  }
  rounding_ = errors.norm();
  DenseMatrix<T> y = r;
  kept.apply(Operation::plain, y.view());
  first_ = DenseMatrix<T>(k, k);
  second_ = DenseMatrix<T>(k, k);
  blas::gemm<T>(Transpose::adjoint, Transpose::no, T(1), z_.view(), r.view(), T(0), first_.view());
  blas::gemm<T>(Transpose::adjoint, Transpose::no, T(1), r.view(), y.view(), T(0), second_.view());
}

template <class T>
void Capacitance<T>::invert() {
  const index_t k = s_.cols;
  DenseMatrix<T> lu = s_;
  std::vector<index_t> place(k);
  const double size = larger_norm(s_);
  const auto tiny = static_cast<real_t<T>>(unit_roundoff<T> * size);
  singular_ = !std::isfinite(size) || (k > 0 && !factor_lu<T>(tiny, lu.view(), place).perturbed.empty());
  reciprocal_condition_ = singular_ ? 0 : 1;
  if (singular_ || k == 0) return;
  s_inverse_ = DenseMatrix<T>(k, k);
  for (index_t row = 0; row < k; ++row) s_inverse_.view()(row, place[row]) = T(1);
  blas::TriangularSolveCall how;
  how.diagonal = blas::Diagonal::unit;
  blas::trsm<T>(how, lu.view(), s_inverse_.view());
  how = {blas::Side::left, blas::Triangle::upper, Transpose::no, blas::Diagonal::stored};
  blas::trsm<T>(how, lu.view(), s_inverse_.view());
  reciprocal_condition_ = 1 / (size * larger_norm(s_inverse_));
  singular_ = !(reciprocal_condition_ > 10 * double(k) * unit_roundoff<T>);
}

template <class T>
void Capacitance<T>::solve(Operation operation, const ApplyInverse<T>& apply, DenseView<T> x) const {
  const index_t k = rank();
  if (k == 0) return apply(operation, x);
  DenseMatrix<T> h(k, x.cols);
  if (operation == Operation::plain) {
    apply(operation, x);
    multiply_add<T>(change_.v, Operation::transpose, T(1), x, h.view());
    const DenseMatrix<T> g = product(Transpose::no, s_inverse_, h);
    return blas::gemm<T>(Transpose::no, Transpose::no, T(-1), z_.view(), g.view(), T(1), x);
  }
  // op(A)⁻¹ = op(M)⁻¹·(I − op(Vᵀ)·op(S)⁻¹·op(Z)), and op(Vᵀ) is V for the transpose, its conjugate else.
  const bool adjoint = operation == Operation::adjoint;
  const Transpose turned = adjoint ? Transpose::adjoint : Transpose::transpose;
  blas::gemm<T>(turned, Transpose::no, T(1), z_.view(), x, T(0), h.view());
  DenseMatrix<T> g = product(turned, s_inverse_, h);
  const auto conjugate_all = [&](std::vector<T>& values) {
    for (T& value : values) value = conjugate(value);
  };
  if (!adjoint) {
    multiply_add<T>(change_.v, Operation::plain, T(-1), g.view(), x);
  } else {
    conjugate_all(g.values);
    DenseMatrix<T> part(x.rows, x.cols);
    multiply_add<T>(change_.v, Operation::plain, T(-1), std::as_const(g).view(), part.view());
    for (index_t j = 0; j < x.cols; ++j)
      for (index_t i = 0; i < x.rows; ++i) x(i, j) += conjugate(part.view()(i, j));
  }
  apply(operation, x);
}

template <class T>
typename Capacitance<T>::Signs Capacitance<T>::signs(const KeptMatrix<T>& kept,
                                                     const std::vector<int>& sign) {
  const index_t k = rank();
  estimate_errors(kept);
  DenseMatrix<T> c(k, k), half(k, k), error(k, k);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < k; ++i) {
      const auto sign_i = static_cast<real_t<T>>(sign[i]), sign_j = static_cast<real_t<T>>(sign[j]);
      c.view()(i, j) = sign_j * (s_.view()(i, j) - sign_i * first_.view()(i, j));
      error.view()(i, j) =
          T(std::abs(second_.view()(i, j)) +
            static_cast<real_t<T>>(4 * unit_roundoff<T>) * (std::abs(s_.view()(i, j)) + real_t<T>(i == j)));
    }
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < k; ++i)
      half.view()(i, j) = real_t<T>(0.5) * (c.view()(i, j) + conjugate(c.view()(j, i)));
  return count_signs<T>(half, larger_norm(error) + rounding_);
}

template <class T>
typename Capacitance<T>::Signs count_signs(const DenseMatrix<T>& hermitian, double error) {
  const index_t k = hermitian.cols;
  typename Capacitance<T>::Signs signs;
  // Twice LDLᵀ's own backward error, with room for the growth of rook pivoting.
  signs.bound = error + 20 * double(k) * unit_roundoff<T> * larger_norm(hermitian);
  if (!std::isfinite(signs.bound)) return signs;
  std::vector<T> d(k), below(k);
  std::vector<index_t> place(k);
  for (const int side : {1, -1}) {
    DenseMatrix<T> shifted = hermitian;
    for (index_t j = 0; j < k; ++j) shifted.view()(j, j) -= T(static_cast<real_t<T>>(side * signs.bound));
    constexpr real_t<T> zero = std::numeric_limits<real_t<T>>::min();
    factor_ldlt<T>(is_complex_v<T>, zero, shifted.view(), {d, below}, place);
    index_t& count = side > 0 ? signs.positive : signs.negative;
    for (index_t j = 0; j < k; ++j) {
      if (below[j] != T(0))
        ++count, ++j;  // a 2 × 2 pivot has one eigenvalue of each sign
      else if (side * std::real(d[j]) > zero)
        ++count;
    }
  }
  return signs;
}

#define PALMETTE_INSTANTIATE(T)                                                               \
  template class Capacitance<T>;                                                              \
  template CapacitanceCost predicted_capacitance_cost<T>(index_t, offset_t, index_t, double); \
  template typename Capacitance<T>::Signs count_signs(const DenseMatrix<T>&, double);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
