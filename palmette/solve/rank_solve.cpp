// Plans of one rank, in a single layer or in one of several.
#include "palmette/solve/rank_solve.hpp"

#include "palmette/solve/layered_program.hpp"

namespace palmette {
namespace {

template <class T>
void check_layer(const std::shared_ptr<const RankFactor<T>>& factor, const LayerSystem* layer) {
  if (layer != nullptr && factor && factor->symbolic != layer->symbolic)
    throw UsageError("the factor of a plan over layers belongs to another system");
}

/// @param rows, max_rhs  b and x are rows × k, k ≤ max_rhs
template <class T>
void check_sizes(index_t rows, index_t max_rhs, DenseView<const T> b, DenseView<T> x) {
  if (b.rows != rows || x.rows != rows || b.cols != x.cols)
    throw DimensionError("this rank has " + std::to_string(rows) + " rows; b is " + std::to_string(b.rows) +
                         " × " + std::to_string(b.cols) + ", x " + std::to_string(x.rows) + " × " +
                         std::to_string(x.cols));
  if (b.cols > max_rhs)
    throw DimensionError(std::to_string(b.cols) + " right-hand sides at once in a plan for " +
                         std::to_string(max_rhs) + ": solve them in parts, or set max_rhs");
}

}  // namespace

template <class T>
struct RankSolvePlan<T>::State {
  State(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options)
      : body(solve_detail::RankPlanBody<T>::make(std::move(factor), options)) {
    if (const LayerSystem* const layer = options.layer.get()) {
      layer_rows = solve_detail::list_caller_rows(*layer, body);
      program = solve_detail::layered_program(body, *layer);
    } else {
      program = std::make_unique<solve_detail::RankSolveProgram<T>>(body);
    }
  }

  const LayerSystem* layer() const { return body.options.layer.get(); }
  std::span<const index_t> rows() const { return layer() != nullptr ? layer_rows : body.structure.row; }
  index_t num_ranks() const {
    return layer() != nullptr ? layer()->ranks.num_ranks() : body.factor->placement->num_ranks();
  }

  solve_detail::RankPlanBody<T> body;
  std::vector<index_t> layer_rows;  // empty in one layer
  std::unique_ptr<solve_detail::SolveProgram<T>> program;
};

template <class T>
RankSolvePlan<T>::RankSolvePlan(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options) {
  check_layer(factor, options.layer.get());
  state_ = std::make_unique<State>(std::move(factor), options);
}
template <class T>
RankSolvePlan<T>::~RankSolvePlan() = default;
template <class T>
RankSolvePlan<T>::RankSolvePlan(RankSolvePlan&&) noexcept = default;

template <class T>
std::span<const index_t> RankSolvePlan<T>::rows() const {
  return state_->rows();
}

template <class T>
index_t RankSolvePlan<T>::max_rhs() const {
  return state_->body.options.max_rhs;
}

template <class T>
RankProgram& RankSolvePlan<T>::begin(Operation operation, DenseView<const T> b, DenseView<T> x,
                                     Transport& transport) {
  check_sizes(static_cast<index_t>(rows().size()), max_rhs(), b, x);
  if (transport.num_ranks() != state_->num_ranks())
    throw UsageError("the transport has " + std::to_string(transport.num_ranks()) + " ranks, the plan " +
                     std::to_string(state_->num_ranks()));
  state_->program->reset(operation, b, x, transport);
  return *state_->program;
}

template <class T>
index_t RankSolvePlan<T>::guarded_blocks() const {
  return state_->body.guarded_blocks();
}

template <class T>
offset_t RankSolvePlan<T>::memory_bytes() const {
  const LayerSystem* const layer = state_->layer();
  return state_->body.memory_bytes() + static_cast<offset_t>(state_->layer_rows.size() * sizeof(index_t)) +
         (layer != nullptr ? layer->memory_bytes() : 0);
}

#define PALMETTE_INSTANTIATE(T) template class RankSolvePlan<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
