// The state machine of one rank in a solve: counters of its RankGraph decrease as tasks end and messages
// arrive; a task runs when its counter is zero.
#include "palmette/solve/rank_program.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "palmette/solve/grouped_program.hpp"

namespace palmette::solve_detail {

template <class T>
RankSolveProgram<T>::RankSolveProgram(RankPlanBody<T>& plan, index_t group)
    : plan_(plan),
      vectors_(plan.vectors[group]),
      exchange_(plan.exchange),
      graph_(plan.graph),
      waits_(graph_.tasks.size()),
      last_(plan.options.threads) {}

template <class T>
void RankSolveProgram<T>::reset(const ProgramRun<T>& run, Transport& transport) {
  const Operation operation = run.operation;
  const FactorKind kind = plan_.factor->kind;
  const bool hermitian = kind == FactorKind::llt || plan_.factor->hermitian;
  // S = Sᴴ: the transpose is solved with conjugated vectors; S = Sᵀ: the adjoint is.
  conjugated_ = is_complex_v<T> && (kind != FactorKind::lu && hermitian ? operation == Operation::transpose
                                                                        : operation == Operation::adjoint);
  transposed_ = kind == FactorKind::lu && operation != Operation::plain;
  b_ = run.b;
  x_ = run.x;
  reached_ = run.reached;
  transport_ = &transport;
  stride_ = padded_rhs(sizeof(T), b_.cols);
  ready_ = {};
  taken_.clear();
  free_tickets_.clear();
  ready_meeting_ = -1;
  may_meet_.store(false, std::memory_order_relaxed);
  const std::size_t num_tasks = reached_ != nullptr ? reached_->graph->tasks.size() : graph_.tasks.size();
  left_.store(b_.cols == 0 ? 0 : static_cast<std::int64_t>(num_tasks));
  if (reached_ != nullptr)
    waits_ = reached_->graph->num_waits;
  else
    for (index_t task = 0; task < graph_.num_tasks(); ++task) waits_[task] = graph_.tasks[task].num_waits;
}

template <class T>
void RankSolveProgram<T>::start() {
  if (done()) return;
  load();
  const std::lock_guard lock(mutex_);
  for (index_t task = 0; task < graph_.num_tasks(); ++task)
    if (waits_[task] == 0) make_ready(task);
}

template <class T>
void RankSolveProgram<T>::on_message(const Message& message) {
  const auto kind = static_cast<SolveMessage>(message.tag % num_messages_within);
  const index_t task = graph_.receiver_of(kind, static_cast<index_t>(message.tag / num_messages_within));
  const TopSupernode& top = exchange_.tops[graph_.tasks[task].number];
  const std::size_t bytes = message.payload.size();
  if (is_relay(graph_.tasks[task].part)) {
    std::memcpy(tasks().value(top).data, message.payload.data(), bytes);
    for (const LocalMessage& one : graph_.messages_of(task))
      if (rows_of(one) > 0) transport_->send(one.rank, message.tag, message.payload);
    {
      const std::lock_guard lock(mutex_);
      finish(task);
    }
    // Where only ranks behind this one need the value, the relay is all that this rank has to do.
    left_.fetch_sub(1, std::memory_order_release);
    return;
  }
  const bool row = kind == SolveMessage::row_sum;
  const auto incoming =
      exchange_.of(exchange_.incoming, exchange_.reductions[row ? top.row_sum : top.column_sum].incoming);
  const auto from = std::find_if(incoming.begin(), incoming.end(),
                                 [&](const IncomingSum& one) { return one.rank == message.source; });
  if (row && reached_ != nullptr)
    tasks().read_parts(from->parts, reinterpret_cast<const T*>(message.payload.data()));
  else
    std::memcpy((row ? tasks().forward_row(from->at) : tasks().backward_row(from->at)).data,
                message.payload.data(), bytes);
  arrived(task);
}

template <class T>
void RankSolveProgram<T>::arrived(index_t task) {
  const std::lock_guard lock(mutex_);
  satisfy(task);
}

template <class T>
void RankSolveProgram<T>::make_ready(index_t task) {
  if (!graph_.is_meeting(task)) return ready_.push({graph_.tasks[task].urgency, task});
  ready_meeting_ = task;
  may_meet_.store(true, std::memory_order_release);
}

template <class T>
index_t RankSolveProgram<T>::take() {
  const std::lock_guard lock(mutex_);
  if (ready_.empty()) return -1;
  const index_t task = ready_.top().task;
  ready_.pop();
  return task;
}

template <class T>
int RankSolveProgram<T>::take_task() {
  const index_t task = take();
  if (task == -1) return -1;
  last_[0] = task;
  if (free_tickets_.empty()) {
    taken_.push_back(task);
    return static_cast<int>(taken_.size()) - 1;
  }
  const int ticket = free_tickets_.back();
  free_tickets_.pop_back();
  taken_[ticket] = task;
  return ticket;
}

template <class T>
void RankSolveProgram<T>::finish_task(int ticket) {
  run(taken_[ticket], 0);
  free_tickets_.push_back(ticket);
  left_.fetch_sub(1, std::memory_order_release);
}

template <class T>
bool RankSolveProgram<T>::run_one_task(int thread) {
  const index_t task = take();
  if (task == -1) return false;
  run(task, thread);
  last_[thread] = task;
  left_.fetch_sub(1, std::memory_order_release);
  return true;
}

template <class T>
index_t RankSolveProgram<T>::take_meeting() {
  const std::lock_guard lock(mutex_);
  may_meet_.store(false, std::memory_order_relaxed);
  return std::exchange(ready_meeting_, -1);
}

template <class T>
void RankSolveProgram<T>::met(index_t meeting) {
  {
    const std::lock_guard lock(mutex_);
    finish(meeting);
  }
  left_.fetch_sub(1, std::memory_order_release);
}

template <class T>
offset_t RankSolveProgram<T>::rows_that_can_meet() const {
  const std::lock_guard lock(mutex_);
  offset_t rows = 0;
  const auto follows = [this](index_t task) { return graph_.is_meeting(task) && waits_[task] == 1; };
  for (index_t task = ready_meeting_; task != -1;) {
    rows += graph_.steps[graph_.tasks[task].number].rows;
    const auto next = graph_.next_of(task);
    const auto found = std::find_if(next.begin(), next.end(), follows);
    task = found == next.end() ? -1 : *found;
  }
  return rows;
}

template <class T>
index_t RankSolveProgram<T>::waits_of(index_t task) const {
  const std::lock_guard lock(mutex_);
  return waits_[task];
}

template <class T>
RhsRows<T> RankSolveProgram<T>::rows_of_top(index_t number) const {
  const index_t group = plan_.structure.group_of_top[number];
  return {vectors_.own.data() + offset_t{plan_.structure.sweep->column_begin(group)} * stride_, stride_};
}

template <class T>
double RankSolveProgram<T>::last_cost() const {
  return 2 * work_of(exchange_, graph_, last_[0]).entries * stride_;
}

template <class T>
TaskNote RankSolveProgram<T>::last_task(int thread) const {
  const LocalTask& last = graph_.tasks[last_[thread]];
  return {name_of(last.part), is_forward(last.part) ? SweepPhase::forward : SweepPhase::backward,
          last.supernode,
          work_of(exchange_, graph_, last_[thread]).with_rhs(sizeof(T), is_complex_v<T> ? 8 : 2, b_.cols)};
}

template <class T>
void RankSolveProgram<T>::run(index_t task, int thread) {
  const LocalTask& one = graph_.tasks[task];
  switch (one.part) {
    case SolvePart::whole_forward: tasks().whole_forward(one.number, thread); break;
    case SolvePart::row_sum: finish_row(one, thread); break;
    case SolvePart::column_product: multiply_column(one, thread); break;
    case SolvePart::column_sum: finish_column(one, thread); break;
    case SolvePart::row_product: multiply_row(one, thread); break;
    case SolvePart::whole_backward:
      tasks().whole_backward(one.number, thread);
      store_group(plan_.structure.group_of_whole[one.number]);
      break;
    // Relays are handled as their message arrives, and meetings by the program around this one.
    case SolvePart::forward_relay:
    case SolvePart::backward_relay:
    case SolvePart::layers_meet: return;
  }
  const std::lock_guard lock(mutex_);
  finish(task);
}

template <class T>
void RankSolveProgram<T>::finish_row(const LocalTask& task, int thread) {
  const Reduction& reduction = exchange_.reductions[top(task.number).row_sum];
  const RankTasks<T> all = tasks();
  const RhsRows<T> store{vectors_.forward.data(), stride_};
  all.add_up(reduction, store);
  if (reduction.parent != -1) return send_sum(task, reduction, store);
  if (graph_.is_given[task.number] != 0) return all.gather_forward(task.number);
  all.diagonal_forward(task.number, thread);
  send_value(task);
}

template <class T>
void RankSolveProgram<T>::finish_column(const LocalTask& task, int thread) {
  const Reduction& reduction = exchange_.reductions[top(task.number).column_sum];
  const RankTasks<T> all = tasks();
  const RhsRows<T> store{vectors_.backward.data(), stride_};
  all.add_up(reduction, store);
  if (reduction.parent != -1) return send_sum(task, reduction, store);
  if (graph_.is_given[task.number] != 0) all.pass_on(task.number);
  else all.diagonal_backward(task.number, thread);
  send_value(task);
  store_group(plan_.structure.group_of_top[task.number]);
}

template <class T>
void RankSolveProgram<T>::multiply_column(const LocalTask& task, int thread) const {
  const Portion& portion = exchange_.portions[task.portion];
  const index_t first = top(task.number).below.begin;
  const RankTasks<T> all = tasks();
  for (index_t k = portion.begin; k < portion.end; ++k) all.block_forward(first + k, thread);
}

template <class T>
void RankSolveProgram<T>::multiply_row(const LocalTask& task, int thread) const {
  const Portion& portion = exchange_.portions[task.portion];
  const RankTasks<T> all = tasks();
  for (const index_t block :
       exchange_.left_of(top(task.number)).subspan(portion.begin, portion.end - portion.begin))
    if (exchange_.own_is_whole[block] == 0 && all.is_asked_for(exchange_.own[block]))
      all.block_backward(block, thread);
}

template <class T>
void RankSolveProgram<T>::send_sum(const LocalTask& task, const Reduction& reduction,
                                   RhsRows<const T> store) {
  for (const LocalMessage& one : SolveExchange::of(graph_.messages, task.messages)) {
    SharedBytes bytes = plan_.pool.take(static_cast<std::size_t>(rows_of(one) * stride_) * sizeof(T));
    tasks().write_result(reduction, store, reinterpret_cast<T*>(bytes.writable().data()));
    transport_->send(one.rank, tag(one.kind, task.supernode), std::move(bytes));
  }
}

template <class T>
void RankSolveProgram<T>::send_value(const LocalTask& task) {
  const auto messages = SolveExchange::of(graph_.messages, task.messages);
  if (messages.empty()) return;
  const auto size = static_cast<std::size_t>(messages.front().rows * stride_) * sizeof(T);
  const SharedBytes bytes =
      plan_.pool.copy({reinterpret_cast<const std::byte*>(tasks().value(top(task.number)).data), size});
  for (const LocalMessage& one : messages)
    if (rows_of(one) > 0) transport_->send(one.rank, tag(one.kind, task.supernode), bytes);
}

template <class T>
void RankSolveProgram<T>::load() {
  if (reached_ != nullptr) return load_entries();
  const SweepGroups& sweep = *plan_.structure.sweep;
  Reader<T> reader{b_, {}, conjugated_};
  if (plan_.caller_row.empty())
    return load_rhs<T>(reader, 0, static_cast<index_t>(plan_.structure.row.size()),
                       {vectors_.own.data(), stride_});
  for (std::size_t group = 0; group < plan_.caller_row.size(); ++group) {
    const auto number = static_cast<index_t>(group);
    const index_t count = sweep.num_columns(number);
    const RhsRows<T> into{vectors_.own.data() + offset_t{sweep.column_begin(number)} * stride_, stride_};
    if (plan_.caller_row[group] == -1) std::fill_n(into.data, offset_t{count} * stride_, T(0));
    else load_rhs<T>(reader, plan_.caller_row[group], count, into);
  }
}

/// What is visited is zero except for the entries.
template <class T>
void RankSolveProgram<T>::load_entries() {
  const SweepGroups& sweep = *plan_.structure.sweep;
  const SolveReach& reach = *reached_->reach;
  const RhsRows<T> own{vectors_.own.data(), stride_};
  const auto clear = [&](index_t group) {
    std::fill_n(own.row(sweep.column_begin(group)), offset_t{sweep.num_columns(group)} * stride_, T(0));
  };
  for (std::size_t at = 0; at < exchange_.wholes.size(); ++at) {
    const index_t unit = exchange_.wholes[at].unit;
    if (reach.forward_group(unit) || reach.backward_group(unit)) clear(plan_.structure.group_of_whole[at]);
  }
  for (std::size_t at = 0; at < exchange_.tops.size(); ++at) {
    const TopSupernode& one = exchange_.tops[at];
    if (one.owns_diagonal && (reach.forward(one.supernode) || reach.backward(one.supernode)))
      clear(plan_.structure.group_of_top[at]);
  }
  for (const RankEntry<T>& one : reached_->own) {
    const index_t column = one.column - reached_->first_column;
    if (column < 0 || column >= b_.cols) continue;
    own.row(plan_.own_row.empty() ? one.row : plan_.own_row[one.row])[column] =
        conjugated_ ? conjugate(one.value) : one.value;
  }
}

template <class T>
void RankSolveProgram<T>::store_entries(index_t first_row, index_t count, RhsRows<const T> from) {
  const std::span<const index_t> wanted = reached_->wanted;
  for (auto next = std::lower_bound(wanted.begin(), wanted.end(), first_row);
       next != wanted.end() && *next < first_row + count; ++next) {
    const T* const row = from.row(*next - first_row);
    for (index_t column = 0; column < x_.cols; ++column)
      x_(static_cast<index_t>(next - wanted.begin()), column) =
          conjugated_ ? conjugate(row[column]) : row[column];
  }
}

template <class T>
void RankSolveProgram<T>::store_group(index_t group) {
  const SweepGroups& sweep = *plan_.structure.sweep;
  const index_t begin = sweep.column_begin(group), row = plan_.first_caller_row(group);
  if (row == -1) return;
  if (reached_ != nullptr)
    return store_entries(row, sweep.num_columns(group),
                         {vectors_.own.data() + offset_t{begin} * stride_, stride_});
  Writer<T> writer{x_, {}, conjugated_};
  store_rhs<T>(writer, row, sweep.num_columns(group),
               RhsRows<const T>{vectors_.own.data() + offset_t{begin} * stride_, stride_});
}

template <class T>
std::string RankSolveProgram<T>::waiting_for() const {
  const std::lock_guard lock(mutex_);
  const auto among = [this](const Reduction& reduction) {
    std::string text;
    for (const IncomingSum& one : exchange_.of(exchange_.incoming, reduction.incoming))
      text += (text.empty() ? " among them those of rank " : ", ") + std::to_string(one.rank);
    return text;
  };
  const auto sum = [this](std::size_t at, SolveMessage kind) {
    return graph_.receiver[at][static_cast<int>(kind)];
  };
  for (std::size_t at = 0; at < exchange_.tops.size(); ++at) {
    const TopSupernode& one = exchange_.tops[at];
    const index_t task = sum(at, SolveMessage::row_sum);
    if (task != -1 && waits_[task] > 0)
      return std::to_string(waits_[task]) + " contributions to block row " + std::to_string(one.supernode) +
             among(exchange_.reductions[one.row_sum]);
  }
  for (std::size_t at = exchange_.tops.size(); at-- > 0;) {
    const TopSupernode& one = exchange_.tops[at];
    const index_t task = sum(at, SolveMessage::column_sum);
    if (task != -1 && waits_[task] > 0)
      return std::to_string(waits_[task]) + " contributions to block column " +
             std::to_string(one.supernode) + among(exchange_.reductions[one.column_sum]);
  }
  return "values of supernodes from the ranks that own their diagonal blocks";
}

namespace {

index_t widest(const SymbolicFactor& symbolic) {
  index_t result = 0;
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) result = std::max(result, symbolic.width(s));
  return result;
}

}  // namespace

template <class T>
RankPlanBody<T> RankPlanBody<T>::make(std::shared_ptr<const RankFactor<T>> factor,
                                      const RankPlanOptions& options) {
  blas::use_one_thread();
  SolveExchange exchange = options.structure ? options.structure->exchange(factor->owned.rank)
                                             : solve_exchange(*factor->symbolic, *factor->placement,
                                                              options.trees, factor->owned.rank);
  RankGraph graph = rank_graph(exchange, *factor->symbolic, options.layer.get());
  RankGroups structure(*factor->symbolic, *factor->placement, factor->owned, exchange, sizeof(T));
  RankTriangles<T> triangles(*factor, structure, options.plan);
  const index_t most = widest_group(options.max_rhs, options.rhs_groups, sizeof(T));
  std::vector<RankVectors<T>> vectors;
  for (index_t group = 0; group < options.rhs_groups; ++group)
    vectors.emplace_back(structure, exchange, widest(*factor->symbolic), padded_rhs(sizeof(T), most),
                         options.threads);
  return {std::move(factor),
          options,
          std::move(exchange),
          std::move(graph),
          std::move(structure),
          std::move(triangles),
          std::move(vectors),
          {},
          {}};
}

template <class T>
offset_t RankPlanBody<T>::memory_bytes() const {
  offset_t of_vectors = 0;
  for (const RankVectors<T>& one : vectors) of_vectors += one.memory_bytes();
  return exchange.memory_bytes() + graph.memory_bytes() + structure.memory_bytes() + of_vectors +
         triangles.lower->memory_bytes() + (triangles.upper ? triangles.upper->memory_bytes() : 0) +
         (triangles.diagonal ? triangles.diagonal->memory_bytes() : 0) +
         static_cast<offset_t>((caller_row.size() + own_row.size()) * sizeof(index_t));
}

template <class T>
index_t RankPlanBody<T>::guarded_blocks() const {
  return triangles.lower->guarded_blocks() + (triangles.upper ? triangles.upper->guarded_blocks() : 0);
}

#define PALMETTE_INSTANTIATE(T)      \
  template class RankSolveProgram<T>; \
  template struct RankPlanBody<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
