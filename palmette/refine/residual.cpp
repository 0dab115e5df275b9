// Residuals by one pass over the compressed columns: scatters for A, inner products for Aᵀ and Aᴴ, and for
// the rows of a share.
#include "palmette/refine/residual.hpp"

#include <algorithm>

namespace palmette {
namespace {

constexpr double smallest_normal = std::numeric_limits<double>::min();

/// Above: a sum of products may overflow. Below: the error of a product, 2⁻¹⁰⁶ of it, may underflow.
constexpr int highest_exponent = 900;
constexpr int lowest_exponent = -800;

double power_of_two(int exponent) { return std::ldexp(1.0, exponent); }

/// max |v|·factor; infinity if any entry is not finite.
template <class T>
double largest_modulus(const T* values, std::size_t count, double factor) {
  double largest = 0;
  for (std::size_t place = 0; place < count; ++place) {
    if (!is_finite(values[place])) return infinity;
    largest = std::max(largest, modulus(widen(values[place], factor)));
  }
  return largest;
}

/// Largest row sum of |op(A)|·factor; infinity if any entry is not finite.
template <class T>
double largest_row_sum(const SparseMatrix<T>& matrix, Operation operation, double factor) {
  const SparsityPattern& pattern = matrix.pattern;
  const bool plain = operation == Operation::plain;
  std::vector<double> row_sum(plain ? pattern.rows : 0, 0.0);
  double largest = 0;
  bool finite = true;
  for (index_t column = 0; column < pattern.cols; ++column) {
    double sum = 0;
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const double size = modulus(widen(matrix.values[entry], factor));
      finite = finite && size <= std::numeric_limits<double>::max();
      if (plain) row_sum[pattern.row_index[entry]] += size;
      else sum += size;
    }
    largest = std::max(largest, sum);
  }
  for (const double sum : row_sum) largest = std::max(largest, sum);
  return finite ? largest : infinity;
}

/// The same for a share: each process sums its own rows, in the same order.
template <class T>
double largest_row_sum(const SystemMatrix<T>& matrix, Operation operation, double factor) {
  if (matrix.part == nullptr) return largest_row_sum(*matrix.whole, operation, factor);
  const SparseMatrix<T>& rows = matrix.own_rows(operation);
  const SparsityPattern& pattern = rows.pattern;
  std::vector<double> row_sum(matrix.rows(), 0.0);
  for (index_t row = 0; row < pattern.cols; ++row) {
    double sum = 0;
    for (offset_t entry = pattern.column_ptr[row]; entry < pattern.column_ptr[row + 1]; ++entry) {
      const double size = modulus(widen(rows.values[entry], factor));
      sum += size <= std::numeric_limits<double>::max() ? size : infinity;
    }
    row_sum[matrix.part->first + row] = sum;
  }
  matrix.part->complete(std::span<double>(row_sum));
  double largest = 0;
  for (const double sum : row_sum) largest = std::max(largest, sum);
  return largest;
}

}  // namespace

ScaledNorm ScaledNorm::of(double value, int exponent) {
  if (!(value <= std::numeric_limits<double>::max())) return {infinity, 0};
  int own = 0;
  const double mantissa = std::frexp(value, &own);
  return {mantissa, mantissa == 0 ? 0 : own + exponent};
}

template <class T>
ScaledNorm operator_norm(const SystemMatrix<T>& matrix, Operation operation) {
  const double norm = largest_row_sum(matrix, operation, 1.0);
  if (norm <= std::numeric_limits<double>::max()) return ScaledNorm::of(norm);
  // A row of finite entries may sum to more than the largest double; after this scaling, 2³¹ of them stay
  // below it.
  constexpr int headroom = 64;
  return ScaledNorm::of(largest_row_sum(matrix, operation, power_of_two(-headroom)), headroom);
}

template <class T>
Residual<T>::Residual(const SystemMatrix<T>& matrix, Operation operation)
    : matrix_(matrix), operation_(operation), norm_(operator_norm(matrix, operation)) {
  const bool plain = operation == Operation::plain;
  rows_.resize(plain ? matrix.rows() : matrix.cols());
  negative_x_.resize(plain ? matrix.cols() : matrix.rows());
  if constexpr (is_complex_v<T>) x_modulus_.resize(negative_x_.size());
}

int residual_shift(const ScaledNorm& norm, double b_norm, double x_norm) {
  constexpr int none = -10000;
  const int x_exponent = ScaledNorm::of(x_norm).exponent;
  const int of_product = norm.mantissa > 0 && x_norm > 0 ? norm.exponent + x_exponent : none;
  const int of_b = b_norm > 0 ? ScaledNorm::of(b_norm).exponent : none;
  const int top = std::max(of_product, of_b);
  const bool ordinary = top == none || (top <= highest_exponent && top >= lowest_exponent);
  // 2^s must be a normal double, and x·2^s a finite one.
  return std::min(ordinary ? 0 : std::clamp(-top, -1022, 1000), 1000 - x_exponent);
}

template <class T>
ColumnError Residual<T>::evaluate(const T* b, const T* x) {
  // A quarter, since the modulus of a finite complex number may be more than the largest double.
  const double b_norm = largest_modulus(b, rows_.size(), 0.25);
  const double x_norm = largest_modulus(x, negative_x_.size(), 0.25);
  error_ = {};
  if (!norm_.finite() || b_norm == infinity || x_norm == infinity) return error_;
  error_.shift = residual_shift(norm_, b_norm, x_norm);
  const double factor = power_of_two(error_.shift);
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const wide_t<T> start = widen(b[row], factor);
    rows_[row] = {ProductSum<T>(start), modulus(start)};
  }
  for (std::size_t place = 0; place < negative_x_.size(); ++place) {
    negative_x_[place] = widen(x[place], -factor);
    if constexpr (is_complex_v<T>) x_modulus_[place] = modulus(negative_x_[place]);
  }
  if (matrix_.part != nullptr) {
    subtract(matrix_.own_rows(operation_), matrix_.part->first);
    complete();
  } else if (operation_ == Operation::plain) {
    subtract_plain();
  } else {
    subtract(*matrix_.whole, 0);
  }
  error_.solution_norm = std::ldexp(x_norm, error_.shift + 2);
  return measure(std::ldexp(b_norm, error_.shift + 2), error_.solution_norm);
}

template <class T>
void Residual<T>::subtract_plain() {
  const SparseMatrix<T>& matrix = *matrix_.whole;
  const SparsityPattern& pattern = matrix.pattern;
  for (index_t column = 0; column < pattern.cols; ++column) {
    const wide_t<T> x = negative_x_[column];
    const double x_modulus = modulus(x);
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const wide_t<T> value = widen(matrix.values[entry]);
      Row& row = rows_[pattern.row_index[entry]];
      row.residual.add_product(value, x);
      row.magnitude += modulus(value) * x_modulus;
    }
  }
}

template <class T>
template <bool conjugated>
void Residual<T>::subtract_rows(const SparseMatrix<T>& rows, index_t first) {
  const SparsityPattern& pattern = rows.pattern;
  for (index_t column = 0; column < pattern.cols; ++column) {
    Row sum = rows_[first + column];
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const index_t place = pattern.row_index[entry];
      wide_t<T> value = widen(rows.values[entry]);
      if constexpr (conjugated) value = conjugate(value);
      sum.residual.add_product(value, negative_x_[place]);
      if constexpr (is_complex_v<T>) sum.magnitude += modulus(value) * x_modulus_[place];
      else sum.magnitude += modulus(value) * modulus(negative_x_[place]);
    }
    rows_[first + column] = sum;
  }
}

template <class T>
void Residual<T>::subtract(const SparseMatrix<T>& rows, index_t first) {
  if (operation_ == Operation::adjoint) subtract_rows<true>(rows, first);
  else subtract_rows<false>(rows, first);
}

template <class T>
void Residual<T>::complete() {
  struct Sum {
    wide_t<T> residual;
    double magnitude;
  };
  std::vector<Sum> sums(rows_.size());
  const auto begin = static_cast<std::size_t>(matrix_.part->first),
             end = begin + static_cast<std::size_t>(matrix_.part->count());
  for (std::size_t row = begin; row < end; ++row)
    sums[row] = {rows_[row].residual.value(), rows_[row].magnitude};
  matrix_.part->complete(std::span<Sum>(sums));
  for (std::size_t row = 0; row < rows_.size(); ++row)
    rows_[row] = {ProductSum<T>(sums[row].residual), sums[row].magnitude};
}

template <class T>
Forgiveness forgiveness(index_t cols, int shift) {
  const double working_tiny = static_cast<double>(std::numeric_limits<real_t<T>>::min());
  const double entries = static_cast<double>(cols) + 1;
  const double forgiven = entries * std::max(std::ldexp(working_tiny, shift), smallest_normal);
  return {forgiven, forgiven / unit_roundoff<T>};
}

double backward_error_of(const ScaledNorm& norm, double residual_norm, double x_norm, double b_norm) {
  const ScaledNorm of_x = ScaledNorm::of(x_norm);
  const double product = std::ldexp(norm.mantissa * of_x.mantissa, norm.exponent + of_x.exponent);
  return residual_norm == 0 ? 0 : residual_norm / (product + b_norm);
}

template <class T>
ColumnError Residual<T>::measure(double b_norm, double x_norm) {
  const auto [forgiven, suspicious] =
      forgiveness<T>(static_cast<index_t>(negative_x_.size()), error_.shift);
  double componentwise = 0;
  for (const Row& row : rows_) {
    const double size = modulus(row.residual.value());
    if (!(size <= std::numeric_limits<double>::max())) return error_;
    error_.residual_norm = std::max(error_.residual_norm, size);
    if (size == 0) continue;
    componentwise =
        std::max(componentwise, size / (row.magnitude + (row.magnitude < suspicious ? forgiven : 0.0)));
  }
  error_.backward = backward_error_of(norm_, error_.residual_norm, x_norm, b_norm);
  error_.componentwise = componentwise;
  return error_;
}

template <class T>
int Residual<T>::write_scaled(T* to) const {
  const int exponent = ScaledNorm::of(error_.residual_norm).exponent;
  // In two factors, since a single power of two may lie outside the range even if the result does not.
  const double first = power_of_two(-exponent / 2), second = power_of_two(-exponent - (-exponent / 2));
  for (std::size_t row = 0; row < rows_.size(); ++row)
    to[row] = narrow<T>(rows_[row].residual.value() * first * second);
  return exponent - error_.shift;
}

#define PALMETTE_INSTANTIATE(T)                                            \
  template ScaledNorm operator_norm(const SystemMatrix<T>&, Operation);    \
  template Forgiveness forgiveness<T>(index_t, int);                       \
  template class Residual<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
