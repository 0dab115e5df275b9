// Vectors of answers on the host and on devices.
#include "palmette/solver/answer_vectors.hpp"

#include <algorithm>

namespace palmette {
namespace {

template <class T>
std::vector<double> norms_of(DenseView<const T> columns) {
  std::vector<double> norms(columns.cols, 0);
  for (index_t j = 0; j < columns.cols; ++j)
    for (index_t i = 0; i < columns.rows; ++i)
      norms[j] =
          std::max(norms[j], double(std::abs(columns(i, j))));
  return norms;
}

template <class T>
std::size_t entries_of(const DenseView<T>& columns) {
  return static_cast<std::size_t>(columns.rows) * columns.cols;
}

template <class T>
OnDevice<T> columns_in(const DeviceArray<T>& room, std::size_t from, index_t rows, index_t cols) {
  return OnDevice<T>(DenseView<T>{room.data() + from, rows, cols, rows});
}

template <class T>
DenseMatrix<T> fetched(Device& device, OnDevice<const T> columns) {
  DenseMatrix<T> here(columns.rows(), columns.cols());
  copy_from_device(device, columns, here.view());
  return here;
}

}  // namespace

template <class T>
Verification VectorsHere<T>::refine_or_verify(Operation operation, const ApplyInverse<T>& apply,
                                              const RefineOptions* options) {
  if (!source_.has_matrix()) return source_.verify_product(operation, b_, x_);
  return source_.with_matrix([&](const auto& matrix) {
    if (options == nullptr) return verify(matrix, operation, b_, DenseView<const T>(x_));
    return refine(matrix, operation, apply, b_, x_, *options);
  });
}

template <class T>
ColumnNorms VectorsHere<T>::norms() {
  return {norms_of(b_), norms_of(DenseView<const T>(x_))};
}

template <class T>
VectorsThere<T>::VectorsThere(const AnswerSource<T>& source, OnDevice<const T> b, OnDevice<T> x)
    : source_(source), b_there_(b), x_there_(x) {}

template <class T>
VectorsThere<T>::VectorsThere(const AnswerSource<T>& source, DenseView<const T> b, DenseView<T> x)
    : source_(source),
      room_(source.device, 2 * entries_of(b)),
      b_there_(columns_in(room_, 0, b.rows, b.cols)),
      x_there_(columns_in(room_, entries_of(b), b.rows, b.cols)),
      b_here_(b),
      x_here_(x) {}

template <class T>
SolveTrace VectorsThere<T>::solve(Operation operation) {
  const DeviceCounts before = device().counts();
  if (is_callers_host())
    copy_to_device(device(), *b_here_, OnDevice<T>(columns_in(room_, 0, b_there_.rows(), num_columns())));
  SolveTrace trace = source_.apply_there(operation, b_there_, x_there_);
  if (is_callers_host()) fetch_x();
  device().finish();
  trace.device = device().counts() - before;
  return trace;
}

template <class T>
Verification VectorsThere<T>::refine_or_verify(Operation operation, const ApplyInverse<T>& apply,
                                               const RefineOptions* options) {
  if (source_.matrix_there == nullptr)
    return source_.verify_product(operation, b(), DenseView<const T>(x()));
  if (options == nullptr)
    return verify<T>(*source_.matrix_there, operation, b_there_, x_there_);
  const DeviceInverse<T> inverse{
      [&](Operation op, OnDevice<T> in_out) { source_.apply_there(op, in_out, in_out); }, apply};
  const Verification found =
      refine<T>(*source_.matrix_there, operation, inverse, b_there_, x_there_, *options);
  if (found.refine_steps > 0) x_is_fetched_ = false;
  return found;
}

template <class T>
ColumnNorms VectorsThere<T>::norms() {
  return {infinity_norms<T>(source_.device, b_there_), infinity_norms<T>(source_.device, x_there_)};
}

template <class T>
void VectorsThere<T>::fetch_x() {
  if (is_callers_host()) copy_from_device(device(), OnDevice<const T>(x_there_), *x_here_);
  else fetched_x_ = fetched<T>(device(), x_there_);
  x_is_fetched_ = true;
}

template <class T>
DenseView<const T> VectorsThere<T>::b() {
  if (is_callers_host()) return *b_here_;
  if (!fetched_b_) fetched_b_ = fetched<T>(device(), b_there_);
  return std::as_const(*fetched_b_).view();
}

template <class T>
DenseView<T> VectorsThere<T>::x() {
  if (!x_is_fetched_) fetch_x();
  return is_callers_host() ? *x_here_ : fetched_x_->view();
}

template <class T>
void VectorsThere<T>::x_was_changed() {
  copy_to_device(device(), DenseView<const T>(x()), x_there_);
}

template <class T>
void VectorsThere<T>::finish() {
  if (is_callers_host() && !x_is_fetched_) fetch_x();
  device().finish();
}

#define PALMETTE_INSTANTIATE(T)   \
  template class VectorsHere<T>;  \
  template class VectorsThere<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
