// The plan of one rank with a plain triangle.
#include "palmette/solve/rank_triangle.hpp"

#include <cmath>

#include "palmette/solve/column_rank_program.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette {

template <class T>
RankTrianglePlan<T>::RankTrianglePlan(std::unique_ptr<solve_detail::ColumnRankProgram<T>> program)
    : program_(std::move(program)) {}
template <class T>
RankTrianglePlan<T>::~RankTrianglePlan() = default;
template <class T>
RankTrianglePlan<T>::RankTrianglePlan(RankTrianglePlan&&) noexcept = default;

template <class T>
std::span<const index_t> RankTrianglePlan<T>::rows() const {
  return program_->rows();
}
template <class T>
index_t RankTrianglePlan<T>::max_rhs() const {
  return program_->max_rhs();
}
template <class T>
void RankTrianglePlan<T>::reserve(Operation operation, index_t num_rhs) {
  if (num_rhs < 0)
    throw UsageError("memory for " + std::to_string(num_rhs) +
                     " right-hand sides; there cannot be fewer than 0");
  solve_detail::check_num_rhs(num_rhs, max_rhs());
  program_->reserve(operation, num_rhs);
}
template <class T>
void RankTrianglePlan<T>::allocate() {
  program_->allocate();
}
template <class T>
void RankTrianglePlan<T>::check() {
  program_->check();
}
template <class T>
void RankTrianglePlan<T>::recover(Transport& transport, double watchdog_seconds) {
  program_->recover(transport, watchdog_seconds);
}

template <class T>
RankProgram& RankTrianglePlan<T>::begin(Operation operation, DenseView<const T> b, DenseView<T> x,
                                        Transport& transport) {
  solve_detail::check_own_rows<T>(static_cast<index_t>(rows().size()), max_rhs(), b, x);
  solve_detail::check_transport(transport, program_->num_ranks());
  program_->reset({operation, b, x}, transport);
  return *program_;
}

template <class T>
SolveCost RankTrianglePlan<T>::cost(index_t num_rhs) const {
  const double runs = std::ceil(static_cast<double>(num_rhs) / max_rhs());
  const solve_detail::CoreCost one = program_->cost();
  return {one.flops * num_rhs, one.bytes * runs + 2.0 * program_->size() * num_rhs * sizeof(T), 0};
}
template <class T>
PutTraffic RankTrianglePlan<T>::put_traffic(Operation operation, index_t num_rhs) const {
  return program_->put_traffic(operation, num_rhs);
}
template <class T>
offset_t RankTrianglePlan<T>::symmetric_bytes(index_t num_rhs) const {
  return program_->symmetric_bytes(num_rhs);
}
template <class T>
offset_t RankTrianglePlan<T>::launches() const {
  return program_->launches();
}
template <class T>
offset_t RankTrianglePlan<T>::memory_bytes() const {
  return program_->memory_bytes();
}

template <class T>
Outcome<RankTrianglePlan<T>> plan_rank_triangle(const SparseMatrix<T>& triangle,
                                                const RankTriangleOptions& options) {
  auto read = solve_detail::read_triangle(
      triangle,
      {options.lower, options.unit_diagonal, solve_detail::WrongSide::ignored, "the triangle"});
  if (!read.ok()) return read.failure();
  return RankTrianglePlan<T>(
      std::make_unique<solve_detail::ColumnRankProgram<T>>(std::move(read).value(), options));
}

#define PALMETTE_INSTANTIATE(T)                                                      \
  template class RankTrianglePlan<T>;                                                \
  template Outcome<RankTrianglePlan<T>> plan_rank_triangle<T>(const SparseMatrix<T>&, \
                                                              const RankTriangleOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
