// Plans of one rank, in a single layer or in one of several.
#include "palmette/solve/rank_solve.hpp"

#include <algorithm>
#include <optional>

#include "palmette/solve/device_rank_program.hpp"
#include "palmette/solve/grouped_program.hpp"
#include "palmette/solve/layered_program.hpp"

namespace palmette {
namespace {

template <class T>
void check_layer(const std::shared_ptr<const RankFactor<T>>& factor, const LayerSystem* layer) {
  if (layer != nullptr && factor && factor->symbolic != layer->symbolic)
    throw UsageError("the factor of a plan over layers belongs to another system");
}

void check_options(bool has_factor, const RankPlanOptions& options) {
  if (!has_factor)
    throw UsageError(
        "the factor of a plan over ranks is null; call factorize first and check that it "
        "succeeded");
  if (options.max_rhs < 1)
    throw UsageError("a plan for " + std::to_string(options.max_rhs) +
                     " right-hand sides; there must be at least 1");
  if (options.rhs_groups < 1 || (options.rhs_groups > 1 && options.device))
    throw UsageError("right-hand sides in " + std::to_string(options.rhs_groups) + " groups" +
                     (options.device ? " on a device, which takes them together" : "") + "; there must be " +
                     (options.device ? "1" : "at least 1"));
  if (options.threads < 1)
    throw UsageError("a plan for " + std::to_string(options.threads) + " threads; there must be at least 1");
}

}  // namespace

double carried_seconds(MemoryKind kind, std::size_t bytes, const Link& link, const Cluster& device) {
  const double native = link.seconds(bytes);
  if (kind != MemoryKind::reference) return native;
  if (device.bus_gbs <= 0)
    throw UsageError("the machine " + device.name + " does not say how fast its bus is: give bus_gbs");
  return native + 2 * (device.bus_latency_us * 1e-6 + static_cast<double>(bytes) / (device.bus_gbs * 1e9));
}

template <class T>
struct RankSolvePlan<T>::State {
  State(std::shared_ptr<const RankFactor<T>> given, const RankPlanOptions& wanted)
      : factor(std::move(given)), options(wanted) {
    check_options(factor && factor->symbolic, options);
    if (options.device) {
      auto made = std::make_unique<solve_detail::DeviceRankProgram<T>>(factor, options);
      on_device = made.get();
      rows = made->rows();
      program = std::move(made);
      return;
    }
    using Body = solve_detail::RankPlanBody<T>;
    body.reset(new Body(Body::make(factor, options)));  // it cannot be moved
    rows = layer() != nullptr ? solve_detail::list_caller_rows(*layer(), *body) : body->structure.row;
    std::vector<std::unique_ptr<solve_detail::SolveProgram<T>>> groups;
    for (index_t group = 0; group < options.rhs_groups; ++group) groups.push_back(program_of(group));
    program = solve_detail::grouped_program(std::move(groups), options.threads);
  }
  std::unique_ptr<solve_detail::SolveProgram<T>> program_of(index_t group) const {
    if (layer() != nullptr) return solve_detail::layered_program(*body, *layer(), group);
    return std::make_unique<solve_detail::RankSolveProgram<T>>(*body, group);
  }

  const LayerSystem* layer() const { return options.layer.get(); }

  /// Rows of the layer's system among these rows of the whole matrix.
  std::vector<index_t> rows_here(std::span<const index_t> whole) const {
    if (layer() == nullptr) return {whole.begin(), whole.end()};
    std::vector<index_t> here;
    for (const index_t row : whole) {
      const auto place = std::lower_bound(layer()->row.begin(), layer()->row.end(), row);
      if (place != layer()->row.end() && *place == row)
        here.push_back(static_cast<index_t>(place - layer()->row.begin()));
    }
    return here;
  }
  SolveReach reach_of(const RankEntries<T>& entries) const {
    const SymbolicFactor& symbolic = *factor->symbolic;
    std::vector<index_t> given = rows_here(entries.given), wanted = rows_here(entries.wanted);
    for (index_t s = 0; layer() != nullptr && s < symbolic.num_supernodes(); ++s) {
      if (!layer()->is_replicated(s)) continue;
      given.push_back(symbolic.supernode_begin[s]);
      wanted.push_back(symbolic.supernode_begin[s]);
    }
    return SolveReach(symbolic, factor->placement->units, given, wanted);
  }
  index_t num_ranks() const {
    return layer() != nullptr ? layer()->ranks.num_ranks() : factor->placement->num_ranks();
  }

  std::shared_ptr<const RankFactor<T>> factor;
  RankPlanOptions options;
  std::unique_ptr<solve_detail::RankPlanBody<T>> body;  // without a device
  std::vector<index_t> rows;
  std::unique_ptr<solve_detail::SolveProgram<T>> program;
  std::optional<solve_detail::ReachedSolve<T>> reached;     // the last solve for single entries
  solve_detail::DeviceRankProgram<T>* on_device = nullptr;  // the program, if it is that
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
  return state_->rows;
}

template <class T>
RankProgram* RankSolvePlan<T>::preparation(Transport& transport) {
  return state_->on_device != nullptr ? &state_->on_device->preparation(transport) : nullptr;
}

template <class T>
void RankSolvePlan<T>::load() {
  if (state_->on_device != nullptr) state_->on_device->load();
}

template <class T>
void RankSolvePlan<T>::reserve(index_t num_rhs) {
  if (state_->on_device != nullptr) state_->on_device->reserve(num_rhs);
}

template <class T>
void RankSolvePlan<T>::recover(Transport& transport) {
  if (state_->on_device != nullptr) state_->on_device->recover(transport);
}

template <class T>
MemoryKind RankSolvePlan<T>::memory_kind() const {
  return state_->on_device != nullptr ? state_->on_device->memory_kind() : MemoryKind::automatic;
}

template <class T>
CarriedCounts RankSolvePlan<T>::carried() const {
  return state_->on_device != nullptr ? state_->on_device->carried() : CarriedCounts();
}

template <class T>
index_t RankSolvePlan<T>::max_rhs() const {
  return state_->options.max_rhs;
}

template <class T>
RankProgram& RankSolvePlan<T>::begin(Operation operation, DenseView<const T> b, DenseView<T> x,
                                     Transport& transport) {
  solve_detail::check_own_rows<T>(static_cast<index_t>(rows().size()), max_rhs(), b, x);
  solve_detail::check_transport(transport, state_->num_ranks());
  state_->program->reset({operation, b, x}, transport);
  return *state_->program;
}

template <class T>
RankProgram& RankSolvePlan<T>::begin_entries(Operation operation, const RankEntries<T>& entries,
                                             DenseView<T> x, Transport& transport) {
  if (state_->on_device != nullptr)
    throw UsageError("the factor of this plan lies on a device, which solves whole systems: use begin");
  const auto num_wanted = static_cast<index_t>(entries.own_wanted.size());
  solve_detail::check_own_rows<T>(num_wanted, max_rhs(), x, x);
  solve_detail::check_transport(transport, state_->num_ranks());
  const solve_detail::RankPlanBody<T>& body = *state_->body;
  auto reach = std::make_shared<const SolveReach>(state_->reach_of(entries));
  auto graph = std::make_shared<const ReachedGraph>(
      reached_graph(body.exchange, body.graph, body.factor->placement->units, *reach));
  state_->reached.emplace(
      solve_detail::ReachedSolve<T>{std::move(reach), std::move(graph), entries.own, entries.own_wanted});
  state_->program->reset({operation, x, x, &*state_->reached}, transport);
  return *state_->program;
}

template <class T>
RankCounts RankSolvePlan<T>::entry_counts() const {
  if (!state_->reached) return {};
  const solve_detail::ReachedSolve<T>& last = *state_->reached;
  return {last.reach->entries(), last.graph->num_messages, last.graph->sent_rows};
}

template <class T>
RankCounts RankSolvePlan<T>::counts() const {
  RankCounts counts{2.0 * static_cast<double>(state_->factor->symbolic->panel_entries()), 0, 0};
  if (!state_->body) return counts;
  for (const LocalMessage& one : state_->body->graph.messages) {
    ++counts.messages;
    counts.rows += one.rows;
  }
  return counts;
}

template <class T>
index_t RankSolvePlan<T>::guarded_blocks() const {
  return state_->on_device != nullptr ? state_->on_device->guarded_blocks() : state_->body->guarded_blocks();
}

template <class T>
offset_t RankSolvePlan<T>::memory_bytes() const {
  const LayerSystem* const layer = state_->layer();
  const offset_t plan =
      state_->on_device != nullptr ? state_->on_device->memory_bytes() : state_->body->memory_bytes();
  return plan + static_cast<offset_t>(state_->rows.size() * sizeof(index_t)) +
         (layer != nullptr ? layer->memory_bytes() : 0);
}

#define PALMETTE_INSTANTIATE(T) template class RankSolvePlan<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
