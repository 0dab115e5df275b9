// Refinement with vectors of the host: one column after the other.
#include "palmette/refine/refine.hpp"

#include "palmette/refine/krylov.hpp"
#include "palmette/refine/refinement_loop.hpp"
#include "palmette/refine/system.hpp"

namespace palmette {
namespace {

/// Space of RefinementLoop, with work vectors for one column.
template <class T>
class HostSpace {
 public:
  HostSpace(const InvertibleOperator<T>& inverse, DenseView<const T> b, DenseView<T> x)
      : inverse_(inverse), b_(b), x_(x), residual_(inverse.matrix, inverse.operation), candidate_(b.rows) {}

  index_t num_columns() const { return b_.cols; }

  template <class Judge>
  void for_each_column(const Judge& judge) {
    for (index_t number = 0; number < b_.cols; ++number)
      judge(number, residual_.evaluate(b_.column(number), x_.column(number)));
  }

  int pass_on(index_t, std::size_t place) {
    const std::size_t begin = place * candidate_.size();
    if (corrections_.size() < begin + candidate_.size()) corrections_.resize(begin + candidate_.size());
    return residual_.write_scaled(corrections_.data() + begin);
  }

  template <class Judge>
  void correct(const std::vector<WaitingColumn>& waiting, const Judge& judge) {
    const auto rows = static_cast<index_t>(candidate_.size());
    inverse_.apply(inverse_.operation,
                   {corrections_.data(), rows, static_cast<index_t>(waiting.size()), rows});
    for (std::size_t place = 0; place < waiting.size(); ++place) {
      column_ = waiting[place].column;
      const T* const correction = corrections_.data() + place * candidate_.size();
      Candidate candidate = make_candidate(correction, waiting[place].exponent);
      if (candidate.finite) candidate.relative_size = size_of(correction, waiting[place].exponent);
      judge(place, candidate);
    }
  }

  void accept(std::size_t) { std::copy(candidate_.begin(), candidate_.end(), x_.column(column_)); }

  std::pair<int, Candidate> krylov(index_t number, const KrylovOptions& options) {
    column_ = number;
    std::vector<T> start(candidate_.size());
    residual_.evaluate(b_.column(number), x_.column(number));
    const int exponent = residual_.write_scaled(start.data());
    const KrylovCorrection<T> found = flexible_gmres_cycle(inverse_, start, options);
    if (found.correction.empty()) return {found.iterations, Candidate()};
    return {found.iterations, make_candidate(found.correction.data(), exponent)};
  }

 private:
  /// candidate_ ← x + correction·2^exponent, in column_
  Candidate make_candidate(const T* correction, int exponent) {
    const PowerOfTwo power(exponent);
    const T* const x = x_.column(column_);
    Candidate candidate{true, {}, 0};
    for (std::size_t row = 0; row < candidate_.size(); ++row) {
      candidate_[row] = narrow<T>(widen(x[row]) + widen(correction[row], power.first) * power.second);
      candidate.finite = candidate.finite && is_finite(candidate_[row]);
    }
    if (candidate.finite) candidate.error = residual_.evaluate(b_.column(column_), candidate_.data());
    return candidate;
  }

  double size_of(const T* correction, int exponent) const {
    double of_x = 0, of_correction = 0;
    for (std::size_t row = 0; row < candidate_.size(); ++row) {
      of_x = std::max(of_x, static_cast<double>(cheap_modulus(candidate_[row])));
      of_correction = std::max(of_correction, static_cast<double>(cheap_modulus(correction[row])));
    }
    return relative_size(of_correction, of_x, exponent);
  }

  InvertibleOperator<T> inverse_;
  DenseView<const T> b_;
  DenseView<T> x_;
  Residual<T> residual_;
  std::vector<T> candidate_;    // length n: the x being judged
  std::vector<T> corrections_;  // n × waiting: residuals, then corrections in their place
  index_t column_ = 0;          // to which candidate_ belongs
};

template <class T>
Verification refined(const InvertibleOperator<T>& inverse, DenseView<const T> b, DenseView<T> x,
                     const RefineOptions& options) {
  HostSpace<T> space(inverse, b, x);
  return RefinementLoop<T, HostSpace<T>>(space, options).run();
}

}  // namespace

template <class T>
Verification refine(const SparseMatrix<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                    DenseView<const T> b, DenseView<T> x, const RefineOptions& options) {
  check_square<T>(matrix);
  check_sizes<T>(matrix, operation, b, x);
  return refined<T>({matrix, operation, apply}, b, x, options);
}

template <class T>
Verification refine(const MatrixShare<T>& matrix, Operation operation, const ApplyInverse<T>& apply,
                    DenseView<const T> b, DenseView<T> x, const RefineOptions& options) {
  check_sizes<T>(matrix, operation, b, x);
  return refined<T>({matrix, operation, apply}, b, x, options);
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template Verification refine(const SparseMatrix<T>&, Operation, const ApplyInverse<T>&,                    \
                               DenseView<const T>, DenseView<T>, const RefineOptions&);                      \
  template Verification refine(const MatrixShare<T>&, Operation, const ApplyInverse<T>&, DenseView<const T>, \
                               DenseView<T>, const RefineOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
