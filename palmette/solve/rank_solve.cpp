// Plans of one rank, in a single layer or in one of several.
#include "palmette/solve/rank_solve.hpp"

#include <algorithm>
#include <limits>
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

void check_number(index_t number, index_t end, const char* what) {
  if (number < 0 || number >= end)
    throw UsageError("a solve for single entries: " + std::string(what) + " " + std::to_string(number) +
                     " is not from 0 to " + std::to_string(end - 1));
}

/// Ascending. @throws UsageError if one is not below n
std::vector<index_t> sorted_rows(std::span<const index_t> rows, index_t n, const char* what) {
  std::vector<index_t> sorted(rows.begin(), rows.end());
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty()) {
    check_number(sorted.front(), n, what);
    check_number(sorted.back(), n, what);
  }
  return sorted;
}

/// @param n     order of the whole matrix, or more
/// @param rows  of this rank
template <class T>
void check_entries(const RankEntries<T>& entries, index_t n, std::span<const index_t> rows, index_t num_rhs) {
  const std::vector<index_t> given = sorted_rows(entries.given, n, "given row"),
                             wanted = sorted_rows(entries.wanted, n, "wanted row");
  const auto num_rows = static_cast<index_t>(rows.size());
  const auto check_among = [&](const std::vector<index_t>& all, index_t number, const char* what) {
    if (!std::binary_search(all.begin(), all.end(), rows[number]))
      throw UsageError("row " + std::to_string(rows[number]) + " of this rank is not among the " + what +
                       " rows; pass those of all ranks");
  };
  for (const RankEntry<T>& one : entries.own) {
    check_number(one.row, num_rows, "this rank's row");
    check_number(one.column, num_rhs, "right-hand side");
    check_among(given, one.row, "given");
  }
  for (std::size_t k = 0; k < entries.own_wanted.size(); ++k) {
    const index_t number = entries.own_wanted[k];
    check_number(number, num_rows, "this rank's wanted row");
    check_among(wanted, number, "wanted");
    if (k > 0 && number <= entries.own_wanted[k - 1])
      throw UsageError("the wanted rows of a rank are not ascending: " + std::to_string(number) +
                       " follows " + std::to_string(entries.own_wanted[k - 1]));
  }
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
  /// End of the rows of the whole matrix; a layer knows its own alone, and leaves out others.
  index_t end_of_rows() const {
    return layer() != nullptr ? std::numeric_limits<index_t>::max() : factor->symbolic->n;
  }
  /// What is sent for one right-hand side is sent for each group that has some, in rows of its padded width.
  RankCounts sent(double entries, std::int64_t messages, offset_t message_rows, index_t num_rhs) const {
    RankCounts counts{entries, 0, 0};
    const index_t groups = options.rhs_groups;
    for (index_t group = 0; group < groups; ++group) {
      const index_t width = solve_detail::first_rhs_of_group(num_rhs, groups, group + 1, sizeof(T)) -
                            solve_detail::first_rhs_of_group(num_rhs, groups, group, sizeof(T));
      if (width == 0) continue;
      counts.messages += messages;
      counts.scalars += message_rows * padded_rhs(sizeof(T), width);
    }
    return counts;
  }

  std::shared_ptr<const RankFactor<T>> factor;
  RankPlanOptions options;
  std::unique_ptr<solve_detail::RankPlanBody<T>> body;  // without a device
  std::vector<index_t> rows;
  std::unique_ptr<solve_detail::SolveProgram<T>> program;
  std::optional<solve_detail::ReachedSolve<T>> reached;     // the last solve for single entries
  index_t reached_rhs = 0;                                  // its right-hand sides
  solve_detail::DeviceRankProgram<T>* on_device = nullptr;  // the program, if it is that
};

template <class T>
RankSolvePlan<T>::RankSolvePlan(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options) {
  check_layer(factor, options.layer.get());
  const SubnormalsAsZero scope;
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
  const SubnormalsAsZero scope;
  if (state_->on_device != nullptr) state_->on_device->load();
}

template <class T>
void RankSolvePlan<T>::reserve(index_t num_rhs) {
  if (state_->on_device != nullptr) state_->on_device->reserve(num_rhs);
}

template <class T>
void RankSolvePlan<T>::allocate() {
  if (state_->on_device != nullptr) state_->on_device->allocate();
}

template <class T>
void RankSolvePlan<T>::check() {
  if (state_->on_device != nullptr) state_->on_device->check();
}

template <class T>
void RankSolvePlan<T>::recover(Transport& transport, double watchdog_seconds) {
  if (state_->on_device != nullptr) state_->on_device->recover(transport, watchdog_seconds);
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
  check_entries(entries, state_->end_of_rows(), rows(), x.cols);
  const solve_detail::RankPlanBody<T>& body = *state_->body;
  auto reach = std::make_shared<const SolveReach>(state_->reach_of(entries));
  auto graph = std::make_shared<const ReachedGraph>(
      reached_graph(body.exchange, body.graph, body.factor->placement->units, *reach));
  state_->reached.emplace(
      solve_detail::ReachedSolve<T>{std::move(reach), std::move(graph), entries.own, entries.own_wanted});
  state_->reached_rhs = x.cols;
  state_->program->reset({operation, x, x, &*state_->reached}, transport);
  return *state_->program;
}

template <class T>
RankCounts RankSolvePlan<T>::entry_counts() const {
  if (!state_->reached) return {};
  const solve_detail::ReachedSolve<T>& last = *state_->reached;
  return state_->sent(last.reach->entries(), last.graph->num_messages, last.graph->sent_rows,
                      state_->reached_rhs);
}

template <class T>
RankCounts RankSolvePlan<T>::counts(index_t num_rhs) const {
  const double entries = 2.0 * static_cast<double>(state_->factor->symbolic->panel_entries());
  if (!state_->body) return {entries, 0, 0};
  offset_t rows = 0;
  const std::vector<LocalMessage>& messages = state_->body->graph.messages;
  for (const LocalMessage& one : messages) rows += one.rows;
  return state_->sent(entries, static_cast<std::int64_t>(messages.size()), rows, num_rhs);
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
