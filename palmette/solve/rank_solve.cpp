// The state machine of one rank in a solve: counters fall as contributions and values come, tasks run when theirs are zero.
#include "palmette/solve/rank_solve.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <queue>

#include "palmette/solve/rank_store.hpp"

namespace palmette {
namespace sweep {

enum class RankTask : char { whole_forward, row_sum, column_product, column_sum, row_product, whole_backward };
enum class RankMessage : char { row_sum, forward_value, column_sum, backward_value };
constexpr std::int64_t kinds_of_message = 4;

/// Everything that a plan holds.
template <class T>
struct RankPlanBody {
  std::shared_ptr<const RankFactor<T>> factor;
  RankPlanOptions options;
  SolveExchange exchange;
  RankStructure structure;
  RankTriangles<T> triangles;
  RankVectors<T> vectors;
  BytePool pool;
};

template <class T>
class RankSolveProgram final : public RankProgram {
 public:
  explicit RankSolveProgram(RankPlanBody<T>& plan)
      : plan_(plan), exchange_(plan.exchange), row_waits_(exchange_.tops.size()), column_waits_(exchange_.tops.size()),
        whole_waits_(exchange_.wholes.size()) {
    left_at_start_ = 2 * static_cast<std::int64_t>(exchange_.wholes.size());
    for (const TopSupernode& top : exchange_.tops)
      left_at_start_ += (top.row_sum != -1) + (top.column_sum != -1) + !top.in_column.empty() + !top.in_row.empty();
    const std::vector<double> entries = sweep_entries(*plan.factor->symbolic);
    for (const WholeUnit& whole : exchange_.wholes) {
      const auto& begin = plan.factor->placement->units.group_begin;
      const auto unit = static_cast<std::size_t>(whole.unit);
      whole_entries_.push_back(std::accumulate(entries.begin() + begin[unit], entries.begin() + begin[unit + 1], 0.0));
    }
  }

  void reset(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport) {
    const FactorKind kind = plan_.factor->kind;
    const bool hermitian = kind == FactorKind::llt || plan_.factor->hermitian;
    // S = Sᴴ: the transpose is solved with conjugated vectors; S = Sᵀ: the adjoint is.
    conjugated_ = is_complex_v<T> && (kind != FactorKind::lu && hermitian ? operation == Operation::transpose : operation == Operation::adjoint);
    transposed_ = kind == FactorKind::lu && operation != Operation::plain;
    b_ = b;
    x_ = x;
    transport_ = &transport;
    stride_ = padded_sides(sizeof(T), b.cols);
    ready_ = {};
    left_.store(b.cols == 0 ? 0 : left_at_start_);
    for (std::size_t at = 0; at < exchange_.tops.size(); ++at) {
      const TopSupernode& top = exchange_.tops[at];
      if (top.row_sum != -1) row_waits_[at] = exchange_.reductions[static_cast<std::size_t>(top.row_sum)].num_waits;
      if (top.column_sum == -1) continue;
      // The root of a column also waits for its own y.
      column_waits_[at] = exchange_.reductions[static_cast<std::size_t>(top.column_sum)].num_waits + (top.owns_diagonal ? 1 : 0);
    }
    for (std::size_t at = 0; at < whole_waits_.size(); ++at) whole_waits_[at] = static_cast<index_t>(exchange_.wholes[at].contributions.size()) + 1;
  }

  void start() override {
    if (done()) return;
    load();
    const std::lock_guard lock(mutex_);
    for (std::size_t at = 0; at < exchange_.wholes.size(); ++at) push(RankTask::whole_forward, static_cast<index_t>(at));
    for (std::size_t at = 0; at < exchange_.tops.size(); ++at)
      if (exchange_.tops[at].row_sum != -1 && row_waits_[at] == 0) push(RankTask::row_sum, static_cast<index_t>(at));
  }

  void on_message(const Message& message) override {
    const auto kind = static_cast<RankMessage>(message.tag % kinds_of_message);
    const index_t number = exchange_.top_of[static_cast<std::size_t>(message.tag / kinds_of_message)];
    const TopSupernode& top = exchange_.tops[static_cast<std::size_t>(number)];
    if (kind == RankMessage::row_sum || kind == RankMessage::column_sum) {
      const bool row = kind == RankMessage::row_sum;
      const Reduction& reduction = exchange_.reductions[static_cast<std::size_t>(row ? top.row_sum : top.column_sum)];
      const auto from = std::find_if(reduction.incoming.begin(), reduction.incoming.end(), [&](const auto& one) { return one.rank == message.source; });
      std::memcpy((row ? tasks().forward_row(from->at) : tasks().backward_row(from->at)).data, message.payload.data(), message.payload.size());
      const std::lock_guard lock(mutex_);
      return row ? row_contribution(number) : column_contribution(number);
    }
    std::memcpy(tasks().value(top).data, message.payload.data(), message.payload.size());
    const bool forward = kind == RankMessage::forward_value;
    for (const index_t child : forward ? top.column_children : top.row_children) transport_->send(child, message.tag, message.payload);
    const std::lock_guard lock(mutex_);
    forward ? forward_value_is_there(number) : backward_value_is_there(number);
  }

  bool run_one_task(int member) override {
    Ready next;
    {
      const std::lock_guard lock(mutex_);
      if (ready_.empty()) return false;
      next = ready_.top();
      ready_.pop();
    }
    run(next, member);
    last_cost_.store(2 * entries_of(next) * stride_, std::memory_order_relaxed);
    left_.fetch_sub(1, std::memory_order_release);
    return true;
  }

  bool done() const override { return left_.load(std::memory_order_acquire) == 0; }
  double last_cost() const override { return last_cost_.load(std::memory_order_relaxed); }
  std::string waiting_for() const override;

 private:
  struct Ready {
    double priority = 0;
    RankTask task = RankTask::whole_forward;
    index_t number = 0;
    bool operator<(const Ready& other) const {
      if (priority != other.priority) return priority < other.priority;
      return task != other.task ? task > other.task : number > other.number;
    }
  };

  RankTasks<T> tasks() const {
    return {*plan_.factor, exchange_, plan_.structure, plan_.triangles, plan_.vectors, transposed_, stride_};
  }
  const TopSupernode& top(index_t number) const { return exchange_.tops[static_cast<std::size_t>(number)]; }

  // With mutex_ held. Forward the longest way to the root goes first; backward, whatever others wait for is nearest to the root.
  void push(RankTask task, index_t number) {
    const bool whole = task == RankTask::whole_forward || task == RankTask::whole_backward;
    const SymbolicFactor& symbolic = *plan_.factor->symbolic;
    const index_t s = whole ? plan_.factor->placement->units.group_begin[static_cast<std::size_t>(exchange_.wholes[static_cast<std::size_t>(number)].unit) + 1] - 1
                            : top(number).supernode;
    const double path = exchange_.path[static_cast<std::size_t>(s)];
    ready_.push({task <= RankTask::column_product ? path : -path / (1 + symbolic.n), task, number});
  }
  void row_contribution(index_t number) {
    if (--row_waits_[static_cast<std::size_t>(number)] == 0) push(RankTask::row_sum, number);
  }
  void column_contribution(index_t number) {
    if (--column_waits_[static_cast<std::size_t>(number)] == 0) push(RankTask::column_sum, number);
  }
  void forward_value_is_there(index_t number) {
    if (!top(number).in_column.empty()) push(RankTask::column_product, number);
  }
  void backward_value_is_there(index_t number) {
    if (!top(number).in_row.empty()) push(RankTask::row_product, number);
  }
  void whole_needs_less(index_t whole) {
    if (--whole_waits_[static_cast<std::size_t>(whole)] == 0) push(RankTask::whole_backward, whole);
  }

  /// Entries of the factor that a task reads.
  double entries_of(const Ready& next) const {
    if (next.task == RankTask::whole_forward || next.task == RankTask::whole_backward) return whole_entries_[static_cast<std::size_t>(next.number)];
    const TopSupernode& one = top(next.number);
    const double width = plan_.factor->symbolic->width(one.supernode);
    if (next.task == RankTask::row_sum || next.task == RankTask::column_sum) return one.owns_diagonal ? width * (width + 1) / 2 : 0;
    double entries = 0;
    for (const index_t at : next.task == RankTask::column_product ? one.in_column : one.in_row) {
      const OwnContribution& own = exchange_.own[static_cast<std::size_t>(at)];
      if (exchange_.own_is_whole[static_cast<std::size_t>(at)] == 0)
        entries += double(own.count) * plan_.factor->symbolic->width(plan_.factor->owned.panel[static_cast<std::size_t>(own.column)]);
    }
    return entries;
  }

  void run(const Ready& next, int member) {
    const RankTasks<T> all = tasks();
    switch (next.task) {
      case RankTask::whole_forward: {
        all.whole_forward(next.number, member);
        const WholeUnit& unit = exchange_.wholes[static_cast<std::size_t>(next.number)];
        const std::lock_guard lock(mutex_);
        for (const index_t at : unit.contributions) row_contribution(exchange_.top_of[static_cast<std::size_t>(exchange_.own[static_cast<std::size_t>(at)].row_supernode)]);
        return whole_needs_less(next.number);
      }
      case RankTask::row_sum: return finish_row(next.number, member);
      case RankTask::column_product: {
        for (const index_t at : top(next.number).in_column) all.block_forward(at, member);
        const std::lock_guard lock(mutex_);
        for (const index_t at : top(next.number).in_column)
          row_contribution(exchange_.top_of[static_cast<std::size_t>(exchange_.own[static_cast<std::size_t>(at)].row_supernode)]);
        return;
      }
      case RankTask::column_sum: return finish_column(next.number, member);
      case RankTask::row_product: return multiply_row(next.number, member);
      case RankTask::whole_backward:
        all.whole_backward(next.number, member);
        return store_group(plan_.structure.group_of_whole[static_cast<std::size_t>(next.number)]);
    }
  }

  void finish_row(index_t number, int member) {
    const Reduction& reduction = exchange_.reductions[static_cast<std::size_t>(top(number).row_sum)];
    const RankTasks<T> all = tasks();
    const SideRows<T> store{plan_.vectors.forward.data(), stride_};
    all.add_up(reduction, store);
    if (reduction.parent != -1) return send_sum(reduction, store, RankMessage::row_sum);
    all.diagonal_forward(number, member);
    send_value(number, top(number).column_children, RankMessage::forward_value);
    const std::lock_guard lock(mutex_);
    forward_value_is_there(number);
    column_contribution(number);
  }

  void finish_column(index_t number, int member) {
    const Reduction& reduction = exchange_.reductions[static_cast<std::size_t>(top(number).column_sum)];
    const RankTasks<T> all = tasks();
    const SideRows<T> store{plan_.vectors.backward.data(), stride_};
    all.add_up(reduction, store);
    if (reduction.parent != -1) return send_sum(reduction, store, RankMessage::column_sum);
    all.diagonal_backward(number, member);
    send_value(number, top(number).row_children, RankMessage::backward_value);
    store_group(plan_.structure.group_of_top[static_cast<std::size_t>(number)]);
    const std::lock_guard lock(mutex_);
    backward_value_is_there(number);
  }

  void multiply_row(index_t number, int member) {
    const RankTasks<T> all = tasks();
    for (const index_t at : top(number).in_row)
      if (exchange_.own_is_whole[static_cast<std::size_t>(at)] == 0) all.block_backward(at, member);
    const std::lock_guard lock(mutex_);
    for (const index_t at : top(number).in_row) {
      const OwnContribution& own = exchange_.own[static_cast<std::size_t>(at)];
      if (exchange_.own_is_whole[static_cast<std::size_t>(at)] != 0) whole_needs_less(own.column);
      else column_contribution(exchange_.top_of[static_cast<std::size_t>(plan_.factor->owned.panel[static_cast<std::size_t>(own.column)])]);
    }
  }

  std::int64_t tag(RankMessage kind, index_t supernode) const { return supernode * kinds_of_message + static_cast<std::int64_t>(kind); }

  void send_sum(const Reduction& reduction, SideRows<const T> store, RankMessage kind) {
    SharedBytes bytes = plan_.pool.take(static_cast<std::size_t>(reduction.outgoing_rows * stride_) * sizeof(T));
    tasks().write_result(reduction, store, reinterpret_cast<T*>(bytes.writable().data()));
    transport_->send(reduction.parent, tag(kind, reduction.supernode), std::move(bytes));
  }
  void send_value(index_t number, const std::vector<index_t>& children, RankMessage kind) {
    if (children.empty()) return;
    const TopSupernode& one = top(number);
    const auto size = static_cast<std::size_t>(plan_.factor->symbolic->width(one.supernode) * stride_) * sizeof(T);
    const SharedBytes bytes = plan_.pool.copy({reinterpret_cast<const std::byte*>(tasks().value(one).data), size});
    for (const index_t child : children) transport_->send(child, tag(kind, one.supernode), bytes);
  }

  void load() {
    const auto rows = static_cast<index_t>(plan_.structure.row.size());
    Reader<T> reader{b_, {}, conjugated_};
    load_sides<T>(reader, 0, rows, {plan_.vectors.own.data(), stride_});
  }
  void store_group(index_t group) {
    const SweepStructure& sweep = *plan_.structure.sweep;
    const index_t begin = sweep.column_begin(group);
    Writer<T> writer{x_, {}, conjugated_};
    store_sides<T>(writer, begin, sweep.num_columns(group), SideRows<const T>{plan_.vectors.own.data() + offset_t{begin} * stride_, stride_});
  }

  RankPlanBody<T>& plan_;
  const SolveExchange& exchange_;
  Transport* transport_ = nullptr;
  DenseView<const T> b_;
  DenseView<T> x_;
  bool conjugated_ = false;
  bool transposed_ = false;
  index_t stride_ = 1;
  std::int64_t left_at_start_ = 0;
  mutable std::mutex mutex_;
  std::vector<index_t> row_waits_;     // by number of top supernode: contributions that have not come
  std::vector<index_t> column_waits_;
  std::vector<index_t> whole_waits_;   // by number of whole unit: x above, and its own y
  std::vector<double> whole_entries_;  // of the factor, by number of whole unit
  std::priority_queue<Ready> ready_;
  std::atomic<std::int64_t> left_{0};
  std::atomic<double> last_cost_{0};
};

template <class T>
std::string RankSolveProgram<T>::waiting_for() const {
  const std::lock_guard lock(mutex_);
  const auto among = [](const Reduction& reduction) {
    std::string text;
    for (const Reduction::Incoming& one : reduction.incoming) text += (text.empty() ? " among them those of rank " : ", ") + std::to_string(one.rank);
    return text;
  };
  for (std::size_t at = 0; at < exchange_.tops.size(); ++at) {
    const TopSupernode& one = exchange_.tops[at];
    if (one.row_sum != -1 && row_waits_[at] > 0)
      return std::to_string(row_waits_[at]) + " contributions to block row " + std::to_string(one.supernode) +
             among(exchange_.reductions[static_cast<std::size_t>(one.row_sum)]);
  }
  for (std::size_t at = exchange_.tops.size(); at-- > 0;) {
    const TopSupernode& one = exchange_.tops[at];
    if (one.column_sum != -1 && column_waits_[at] > 0)
      return std::to_string(column_waits_[at]) + " contributions to block column " + std::to_string(one.supernode) +
             among(exchange_.reductions[static_cast<std::size_t>(one.column_sum)]);
  }
  return "values of supernodes from the ranks that own their diagonal blocks";
}

}  // namespace sweep

template <class T>
struct RankSolvePlan<T>::State {
  sweep::RankPlanBody<T> body;
  sweep::RankSolveProgram<T> program{body};
};

namespace {

index_t widest(const SymbolicFactor& symbolic) {
  index_t result = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) result = std::max(result, symbolic.width(s));
  return result;
}

template <class T>
sweep::RankPlanBody<T> make_body(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options) {
  if (!factor || !factor->symbolic) throw UsageError("a plan over ranks was given no factor: factorize first, and check that it succeeded");
  if (options.most_sides < 1) throw UsageError("a plan for " + std::to_string(options.most_sides) + " right-hand sides; there must be at least 1");
  if (options.members < 1) throw UsageError("a plan for " + std::to_string(options.members) + " threads; there must be at least 1");
  blas::use_one_thread();
  SolveExchange exchange = solve_exchange(*factor->symbolic, *factor->placement, options.trees, factor->owned.rank);
  sweep::RankStructure structure(*factor->symbolic, *factor->placement, factor->owned, exchange, sizeof(T));
  sweep::RankTriangles<T> triangles(*factor, structure, options.plan);
  sweep::RankVectors<T> vectors(structure, exchange, widest(*factor->symbolic), padded_sides(sizeof(T), options.most_sides), options.members);
  return {std::move(factor), options, std::move(exchange), std::move(structure), std::move(triangles), std::move(vectors), {}};
}

}  // namespace

template <class T>
RankSolvePlan<T>::RankSolvePlan(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options)
    : state_(new State{make_body(std::move(factor), options)}) {}
template <class T>
RankSolvePlan<T>::~RankSolvePlan() = default;
template <class T>
RankSolvePlan<T>::RankSolvePlan(RankSolvePlan&&) noexcept = default;

template <class T>
std::span<const index_t> RankSolvePlan<T>::rows() const {
  return state_->body.structure.row;
}

template <class T>
index_t RankSolvePlan<T>::most_sides() const {
  return state_->body.options.most_sides;
}

template <class T>
RankProgram& RankSolvePlan<T>::begin(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport) {
  const auto rows_here = static_cast<index_t>(rows().size());
  if (b.rows != rows_here || x.rows != rows_here || b.cols != x.cols)
    throw DimensionError("this rank has " + std::to_string(rows_here) + " rows; b is " + std::to_string(b.rows) + " × " +
                         std::to_string(b.cols) + ", x " + std::to_string(x.rows) + " × " + std::to_string(x.cols));
  if (b.cols > most_sides())
    throw DimensionError(std::to_string(b.cols) + " right-hand sides at once in a plan for " + std::to_string(most_sides()) +
                         ": solve them in parts, or set most_sides");
  if (transport.num_ranks() != state_->body.factor->placement->num_ranks())
    throw UsageError("the transport has " + std::to_string(transport.num_ranks()) + " ranks, the placement " +
                     std::to_string(state_->body.factor->placement->num_ranks()));
  state_->program.reset(operation, b, x, transport);
  return state_->program;
}

template <class T>
index_t RankSolvePlan<T>::guarded_blocks() const {
  const sweep::RankTriangles<T>& triangles = state_->body.triangles;
  return triangles.lower->guarded_blocks() + (triangles.upper ? triangles.upper->guarded_blocks() : 0);
}

template <class T>
offset_t RankSolvePlan<T>::memory_bytes() const {
  const sweep::RankPlanBody<T>& body = state_->body;
  return body.exchange.memory_bytes() + body.structure.memory_bytes() + body.vectors.memory_bytes() + body.triangles.lower->memory_bytes() +
         (body.triangles.upper ? body.triangles.upper->memory_bytes() : 0) + (body.triangles.diagonal ? body.triangles.diagonal->memory_bytes() : 0);
}

#define PALMETTE_INSTANTIATE(T) template class RankSolvePlan<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
