// What rivals share: right-hand sides in and solutions out, in the rival's order.
#include "bench/device/rivals.hpp"

namespace palmette::benchmarks {

Rival::Rival(std::shared_ptr<Device> device, index_t n, index_t num_rhs)
    : device_(std::move(device)),
      n_(n),
      num_rhs_(num_rhs),
      b_(device_, static_cast<std::size_t>(n) * static_cast<std::size_t>(num_rhs)),
      x_(device_, static_cast<std::size_t>(n) * static_cast<std::size_t>(num_rhs)) {}

void Rival::solve(DenseView<const double> b, DenseView<double> x) {
  if (b.rows != n_ || x.rows != n_ || b.cols != num_rhs_ || x.cols != num_rhs_)
    throw DimensionError("the rival was made for " + std::to_string(n_) + " x " + std::to_string(num_rhs_));
  DenseMatrix<double> ordered(n_, num_rhs_);
  for (index_t rhs = 0; rhs < num_rhs_; ++rhs)
    for (index_t row = 0; row < n_; ++row)
      ordered.view()(row, rhs) = b(row_.size() == 0 ? row : row_.new_to_old()[row], rhs);
  device_->copy_in(b_.data(), ordered.values.data(), b_.bytes());
  sweep();
  device_->copy_out(ordered.values.data(), x_.data(), x_.bytes());
  for (index_t rhs = 0; rhs < num_rhs_; ++rhs)
    for (index_t row = 0; row < n_; ++row)
      x(column_.size() == 0 ? row : column_.new_to_old()[row], rhs) = ordered.view()(row, rhs);
}

void Rival::wait() {
  double first = 0;
  if (n_ > 0) device_->copy_out(&first, x_.data(), sizeof first);
}

}  // namespace palmette::benchmarks
