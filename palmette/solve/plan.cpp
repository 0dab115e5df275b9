// SolvePlan: the public interface of PlanBody. An empty plan (default-constructed or moved from) is the plan
// of a 0 × 0 matrix.
#include "palmette/solve/plan_body.hpp"

namespace palmette {

template <class T>
SolvePlan<T>::SolvePlan()
    : body_(std::make_unique<solve_detail::PlanBody<T>>(0, std::vector<solve_detail::Stage<T>>{})) {}
template <class T>
SolvePlan<T>::SolvePlan(std::unique_ptr<const solve_detail::PlanBody<T>> body) : body_(std::move(body)) {}
template <class T>
SolvePlan<T>::SolvePlan(SolvePlan&&) noexcept = default;
template <class T>
SolvePlan<T>& SolvePlan<T>::operator=(SolvePlan&&) noexcept = default;
template <class T>
SolvePlan<T>::~SolvePlan() = default;

template <class T>
index_t SolvePlan<T>::size() const {
  return body_ ? body_->size() : 0;
}

template <class T>
SolveTrace SolvePlan<T>::solve(Operation operation, DenseView<const T> b, DenseView<T> x,
                               const SolveRun& run) const {
  if (!body_) return SolvePlan().solve(operation, b, x, run);
  const InMode mode(body_->mode());
  return body_->solve(operation, b, x, run);
}

template <class T>
SolveTrace SolvePlan<T>::solve(Operation operation, OnDevice<const T> b, OnDevice<T> x,
                               const SolveRun& run) const {
  if (!body_) return SolvePlan().solve(operation, b, x, run);
  const InMode mode(body_->mode());
  return body_->solve(operation, b, x, run);
}

template <class T>
SolveTrace SolvePlan<T>::solve_part(FactorPart part, Operation operation, DenseView<const T> b,
                                    DenseView<T> x, const SolveRun& run) const {
  if (!body_) return SolvePlan().solve_part(part, operation, b, x, run);
  const InMode mode(body_->mode());
  return body_->solve_part(part, operation, b, x, run);
}

template <class T>
EntryTrace SolvePlan<T>::solve_entries(Operation operation, const SparseMatrix<T>& b,
                                       const WantedEntries& wanted, DenseView<T> x,
                                       const SolveRun& run) const {
  if (!body_) return SolvePlan().solve_entries(operation, b, wanted, x, run);
  const InMode mode(body_->mode());
  return body_->solve_entries(operation, {b, wanted.columns, wanted.rows, x}, run);
}

template <class T>
SolveCost SolvePlan<T>::cost(index_t num_rhs) const {
  return body_ ? body_->cost(num_rhs) : SolveCost{};
}

template <class T>
PlanValues<T> SolvePlan<T>::values() const {
  return body_ ? body_->values() : PlanValues<T>{};
}

template <class T>
index_t SolvePlan<T>::guarded_blocks() const {
  return body_ ? body_->guarded_blocks() : 0;
}

template <class T>
offset_t SolvePlan<T>::memory_bytes() const {
  return body_ ? body_->memory_bytes() : 0;
}

#define PALMETTE_INSTANTIATE(T) template class SolvePlan<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
