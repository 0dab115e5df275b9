// Plans of one rank, for a single layer.
#include "palmette/solve/rank_solve.hpp"

#include "palmette/solve/rank_program.hpp"

namespace palmette {

template <class T>
struct RankSolvePlan<T>::State {
  sweep::RankPlanBody<T> body;
  sweep::RankSolveProgram<T> program{body};
};

template <class T>
RankSolvePlan<T>::RankSolvePlan(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options)
    : state_(new State{sweep::make_rank_body(std::move(factor), options)}) {}
template <class T>
RankSolvePlan<T>::~RankSolvePlan() = default;
template <class T>
RankSolvePlan<T>::RankSolvePlan(RankSolvePlan&&) noexcept = default;

template <class T>
std::span<const index_t> RankSolvePlan<T>::rows() const {
  return state_->body.structure.row;
}

template <class T>
index_t RankSolvePlan<T>::max_rhs() const {
  return state_->body.options.max_rhs;
}

template <class T>
RankProgram& RankSolvePlan<T>::begin(Operation operation, DenseView<const T> b, DenseView<T> x,
                                     Transport& transport) {
  sweep::check_sides(static_cast<index_t>(rows().size()), max_rhs(), b, x);
  if (transport.num_ranks() != state_->body.factor->placement->num_ranks())
    throw UsageError("the transport has " + std::to_string(transport.num_ranks()) + " ranks, the placement " +
                     std::to_string(state_->body.factor->placement->num_ranks()));
  state_->program.reset(operation, b, x, transport);
  return state_->program;
}

template <class T>
index_t RankSolvePlan<T>::guarded_blocks() const {
  return sweep::guarded_blocks_of(state_->body);
}

template <class T>
offset_t RankSolvePlan<T>::memory_bytes() const {
  return sweep::memory_bytes_of(state_->body);
}

#define PALMETTE_INSTANTIATE(T) template class RankSolvePlan<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
