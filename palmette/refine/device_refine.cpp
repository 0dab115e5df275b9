// Refinement with vectors of a device: all columns of a block at once.
#include <algorithm>

#include "palmette/refine/device_residual.hpp"
#include "palmette/refine/refinement_loop.hpp"
#include "palmette/refine/system.hpp"

namespace palmette {
namespace {

/// Columns that are refined together: as many as a solve takes together.
constexpr index_t most_columns = 64;

/// Space of RefinementLoop. Residuals that are passed on and candidates that are accepted are noted, and
/// written by one launch for all.
template <class T>
class DeviceSpace {
 public:
  DeviceSpace(const DeviceMatrix<T>& matrix, Operation operation, const DeviceInverse<T>& inverse,
              OnDevice<const T> b, OnDevice<T> x)
      : matrix_(matrix), operation_(operation), inverse_(inverse), b_(b), x_(x),
        residual_(matrix, operation, b) {}

  index_t num_columns() const { return b_.cols(); }

  template <class Judge>
  void for_each_column(const Judge& judge) {
    const std::vector<ColumnError> errors = residual_.evaluate(x_);
    for (index_t column = 0; column < num_columns(); ++column) {
      judged_ = column;
      judge(column, errors[column]);
    }
  }

  int pass_on(index_t, std::size_t) {
    passed_on_.push_back(judged_);
    return residual_.exponent(judged_);
  }

  template <class Judge>
  void correct(const std::vector<WaitingColumn>& waiting, const Judge& judge) {
    const auto count = static_cast<index_t>(waiting.size());
    reserve(count);
    const OnDevice<T> corrections = columns_of(corrections_, count);
    residual_.write_scaled(std::exchange(passed_on_, {}), corrections);
    inverse_.there(operation_, corrections);
    const std::vector<Candidate> candidates = make_candidates(waiting);
    accepted_.clear();
    for (index_t place = 0; place < count; ++place) {
      judged_ = place;
      judge(static_cast<std::size_t>(place), candidates[place]);
    }
    copy_accepted();
  }

  void accept(std::size_t place) {
    accepted_.push_back(static_cast<int>(place));
    if (alone_) copy_accepted();
  }

  std::pair<int, Candidate> krylov(index_t number, const KrylovOptions& options) {
    alone_ = true;
    const auto n = static_cast<std::size_t>(b_.rows());
    std::vector<T> b(n), x(n), start(n);
    matrix_.device()->copy_out(b.data(), b_.columns(number, 1).data(), n * sizeof(T));
    matrix_.device()->copy_out(x.data(), x_.columns(number, 1).data(), n * sizeof(T));
    Residual<T> residual(SystemMatrix<T>(matrix_.on_host()), operation_);
    residual.evaluate(b.data(), x.data());
    const int exponent = residual.write_scaled(start.data());
    const KrylovCorrection<T> found =
        flexible_gmres_cycle<T>({matrix_.on_host(), operation_, inverse_.here}, start, options);
    if (found.correction.empty()) return {found.iterations, Candidate()};
    reserve(1);
    matrix_.device()->copy_in(corrections_.data(), found.correction.data(), n * sizeof(T));
    return {found.iterations, make_candidates({{number, exponent}}).front()};
  }

 private:
  void reserve(index_t count) {
    const std::size_t entries = static_cast<std::size_t>(count) * b_.rows();
    if (corrections_.size() >= entries) return;
    corrections_ = {};
    candidates_ = {};
    corrections_ = {matrix_.device(), entries};
    candidates_ = {matrix_.device(), entries};
  }
  OnDevice<T> columns_of(const DeviceArray<T>& array, index_t count) const {
    return OnDevice<T>(DenseView<T>{array.data(), b_.rows(), count, b_.rows()});
  }

  /// candidates_ ← x + corrections, judged.
  std::vector<Candidate> make_candidates(const std::vector<WaitingColumn>& waiting) {
    const std::shared_ptr<Device>& device = matrix_.device();
    const auto count = static_cast<index_t>(waiting.size());
    column_.clear();
    std::vector<double> first, second;
    for (const WaitingColumn& one : waiting) {
      column_.push_back(one.column);
      first.push_back(PowerOfTwo(one.exponent).first);
      second.push_back(PowerOfTwo(one.exponent).second);
    }
    const DeviceArray<int> column(device, column_);
    const DeviceArray<double> firsts(device, first), seconds(device, second);
    const device::CorrectionCall<T> call{x_.data(),   x_.ld(), corrections_.data(), candidates_.data(),
                                         b_.rows(),   count,   column.data(),       firsts.data(),
                                         seconds.data()};
    device->launch({device::Kernel::correction, ScalarTraits<T>::type, 1, &call}, {0, 0, 0});
    return judged(waiting);
  }

  std::vector<Candidate> judged(const std::vector<WaitingColumn>& waiting) {
    const std::shared_ptr<Device>& device = matrix_.device();
    const auto count = static_cast<index_t>(waiting.size());
    const OnDevice<const T> candidates = columns_of(candidates_, count);
    const std::vector<double> of_x = scaled_norms(device, candidates);
    const std::vector<double> of_correction =
        scaled_norms(device, OnDevice<const T>(columns_of(corrections_, count)));
    const std::vector<ColumnError> errors = residual_.evaluate(candidates, column_);
    std::vector<Candidate> found(waiting.size());
    for (std::size_t k = 0; k < found.size(); ++k) {
      found[k].finite = of_x[k] <= std::numeric_limits<double>::max();
      found[k].error = errors[k];
      found[k].relative_size = relative_size(of_correction[k], of_x[k], waiting[k].exponent);
    }
    return found;
  }

  /// x ← the candidates that were accepted
  void copy_accepted() {
    const std::vector<int> from = std::exchange(accepted_, {});
    if (from.empty()) return;
    std::vector<int> to;
    for (const int place : from) to.push_back(column_[place]);
    const std::shared_ptr<Device>& device = matrix_.device();
    const DeviceArray<int> to_there(device, to), from_there(device, from);
    const device::ColumnCopy<T> call{x_.data(), x_.ld(), candidates_.data(), x_.rows(),
                                     static_cast<int>(from.size()), to_there.data(), from_there.data()};
    device->launch({device::Kernel::copy_columns, ScalarTraits<T>::type, 1, &call}, {0, 0, 0});
  }

  const DeviceMatrix<T>& matrix_;
  Operation operation_;
  const DeviceInverse<T>& inverse_;
  OnDevice<const T> b_;
  OnDevice<T> x_;
  DeviceResidual<T> residual_;
  DeviceArray<T> corrections_, candidates_;  // n × waiting
  std::vector<int> column_;                  // of x, to which the candidates belong
  std::vector<int> passed_on_, accepted_;    // noted, not yet written
  int judged_ = 0;                           // number of the residual that a judge sees
  bool alone_ = false;                       // one column after the other: nothing is noted
};

/// The worst of both.
void add(const Verification& more, Verification& sum) {
  sum.backward_error = std::max(sum.backward_error, more.backward_error);
  sum.componentwise_backward_error =
      std::max(sum.componentwise_backward_error, more.componentwise_backward_error);
  sum.refine_steps = std::max(sum.refine_steps, more.refine_steps);
  sum.stalled = sum.stalled || more.stalled;
  sum.verified = sum.verified && more.verified;
}

/// Calls each(first, count) for blocks of columns, at least one, and adds up what it returns.
template <class Each>
Verification over_blocks(index_t columns, const Each& each) {
  Verification sum = each(0, std::min(columns, most_columns));
  for (index_t first = most_columns; first < columns; first += most_columns)
    add(each(first, std::min(columns - first, most_columns)), sum);
  return sum;
}

template <class T>
void check(const DeviceMatrix<T>& matrix, Operation operation, OnDevice<const T> b, OnDevice<const T> x) {
  check_sizes<T>(SystemMatrix<T>(matrix.on_host()), operation, b.addresses(), x.addresses());
}

}  // namespace

template <class T>
Verification refine(const DeviceMatrix<T>& matrix, Operation operation, const DeviceInverse<T>& inverse,
                    OnDevice<const T> b, OnDevice<T> x, const RefineOptions& options) {
  check_square<T>(SystemMatrix<T>(matrix.on_host()));
  check<T>(matrix, operation, b, x);
  return over_blocks(b.cols(), [&](index_t first, index_t count) {
    DeviceSpace<T> space(matrix, operation, inverse, b.columns(first, count), x.columns(first, count));
    return RefinementLoop<T, DeviceSpace<T>>(space, options).run();
  });
}

template <class T>
Verification verify(const DeviceMatrix<T>& matrix, Operation operation, OnDevice<const T> b,
                    OnDevice<const T> x, double bound) {
  check<T>(matrix, operation, b, x);
  Verification result;
  result.bound = bound > 0 ? bound : verification_bound(unit_roundoff<T>);
  for (index_t first = 0; first < b.cols(); first += most_columns) {
    const index_t count = std::min(b.cols() - first, most_columns);
    DeviceResidual<T> residual(matrix, operation, b.columns(first, count));
    for (const ColumnError& error : residual.evaluate(x.columns(first, count))) {
      result.backward_error = std::max(result.backward_error, error.backward);
      result.componentwise_backward_error =
          std::max(result.componentwise_backward_error, error.componentwise);
    }
  }
  result.verified = result.backward_error <= result.bound;
  return result;
}

template <class T>
std::vector<double> infinity_norms(const std::shared_ptr<Device>& device, OnDevice<const T> columns) {
  std::vector<double> norms = quarter_norms(device, columns);
  for (double& norm : norms) norm *= 4;
  return norms;
}

#define PALMETTE_INSTANTIATE(T)                                                                           \
  template Verification refine(const DeviceMatrix<T>&, Operation, const DeviceInverse<T>&,                \
                               OnDevice<const T>, OnDevice<T>, const RefineOptions&);                     \
  template Verification verify(const DeviceMatrix<T>&, Operation, OnDevice<const T>, OnDevice<const T>,   \
                               double);                                                                   \
  template std::vector<double> infinity_norms<T>(const std::shared_ptr<Device>&, OnDevice<const T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
