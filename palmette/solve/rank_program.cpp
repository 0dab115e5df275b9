// The state machine of one rank in a solve: counters decrease as contributions and values arrive; a task runs
// when its counter is zero.
#include "palmette/solve/rank_program.hpp"

#include <algorithm>
#include <cstring>

namespace palmette::solve_detail {

template <class T>
RankSolveProgram<T>::RankSolveProgram(RankPlanBody<T>& plan, RankEvents* events)
    : plan_(plan),
      exchange_(plan.exchange),
      events_(events),
      row_waits_(exchange_.tops.size()),
      column_waits_(exchange_.tops.size()),
      whole_waits_(exchange_.wholes.size()) {
  left_at_start_ = 2 * static_cast<std::int64_t>(exchange_.wholes.size());
  for (const TopSupernode& top : exchange_.tops)
    left_at_start_ += (top.row_sum != -1) + (top.column_sum != -1) +
                      top.column_portions.size() + top.row_portions.size();
  last_.resize(plan.options.threads);
}

template <class T>
void RankSolveProgram<T>::reset(Operation operation, DenseView<const T> b, DenseView<T> x,
                                Transport& transport) {
  const FactorKind kind = plan_.factor->kind;
  const bool hermitian = kind == FactorKind::llt || plan_.factor->hermitian;
  // S = Sᴴ: the transpose is solved with conjugated vectors; S = Sᵀ: the adjoint is.
  conjugated_ = is_complex_v<T> && (kind != FactorKind::lu && hermitian ? operation == Operation::transpose
                                                                        : operation == Operation::adjoint);
  transposed_ = kind == FactorKind::lu && operation != Operation::plain;
  b_ = b;
  x_ = x;
  transport_ = &transport;
  stride_ = padded_rhs(sizeof(T), b.cols);
  ready_ = {};
  taken_.clear();
  free_tickets_.clear();
  left_.store(b.cols == 0 ? 0 : left_at_start_);
  for (std::size_t at = 0; at < exchange_.tops.size(); ++at) {
    const TopSupernode& top = exchange_.tops[at];
    if (top.row_sum != -1)
      row_waits_[at] = exchange_.reductions[top.row_sum].num_waits +
                       plan_.role(static_cast<index_t>(at)).more_row_waits;
    if (top.column_sum == -1) continue;
    // The root of a column also waits for its own y.
    column_waits_[at] = exchange_.reductions[top.column_sum].num_waits +
                        (top.owns_diagonal ? 1 : 0);
  }
  for (std::size_t at = 0; at < whole_waits_.size(); ++at)
    whole_waits_[at] = exchange_.wholes[at].contributions.size() + 1;
}

template <class T>
void RankSolveProgram<T>::start() {
  if (done()) return;
  load();
  const std::lock_guard lock(mutex_);
  for (std::size_t at = 0; at < exchange_.wholes.size(); ++at)
    push(SolvePart::whole_forward, static_cast<index_t>(at));
  for (std::size_t at = 0; at < exchange_.tops.size(); ++at)
    if (exchange_.tops[at].row_sum != -1 && row_waits_[at] == 0)
      push(SolvePart::row_sum, static_cast<index_t>(at));
}

template <class T>
void RankSolveProgram<T>::on_message(const Message& message) {
  const auto kind = static_cast<RankMessage>(message.tag % kinds_of_message);
  const index_t number = exchange_.top_of(static_cast<index_t>(message.tag / kinds_of_message));
  const TopSupernode& top = exchange_.tops[number];
  if (kind == RankMessage::row_sum || kind == RankMessage::column_sum) {
    const bool row = kind == RankMessage::row_sum;
    const Reduction& reduction =
        exchange_.reductions[row ? top.row_sum : top.column_sum];
    const auto incoming = exchange_.of(exchange_.incoming, reduction.incoming);
    const auto from = std::find_if(incoming.begin(), incoming.end(),
                                   [&](const IncomingSum& one) { return one.rank == message.source; });
    std::memcpy((row ? tasks().forward_row(from->at) : tasks().backward_row(from->at)).data,
                message.payload.data(), message.payload.size());
    const std::lock_guard lock(mutex_);
    return row ? row_contribution(number) : column_contribution(number);
  }
  std::memcpy(tasks().value(top).data, message.payload.data(), message.payload.size());
  const bool forward = kind == RankMessage::forward_value;
  for (const index_t child : exchange_.of(exchange_.ranks, forward ? top.column_children : top.row_children))
    transport_->send(child, message.tag, message.payload);
  const std::lock_guard lock(mutex_);
  forward ? forward_value_is_there(number) : backward_value_is_there(number);
}

template <class T>
bool RankSolveProgram<T>::take(Ready& next) {
  const std::lock_guard lock(mutex_);
  if (ready_.empty()) return false;
  next = ready_.top();
  ready_.pop();
  return true;
}

template <class T>
int RankSolveProgram<T>::take_task() {
  Ready next;
  if (!take(next)) return -1;
  last_[0] = next;
  if (free_tickets_.empty()) {
    taken_.push_back(next);
    return static_cast<int>(taken_.size()) - 1;
  }
  const int ticket = free_tickets_.back();
  free_tickets_.pop_back();
  taken_[ticket] = next;
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
  Ready next;
  if (!take(next)) return false;
  run(next, thread);
  last_[thread] = next;
  left_.fetch_sub(1, std::memory_order_release);
  return true;
}

template <class T>
RhsRows<T> RankSolveProgram<T>::rows_of_top(index_t number) const {
  const index_t group = plan_.structure.group_of_top[number];
  return {plan_.vectors.own.data() + offset_t{plan_.structure.sweep->column_begin(group)} * stride_, stride_};
}

template <class T>
void RankSolveProgram<T>::release_row(index_t number) {
  const std::lock_guard lock(mutex_);
  row_contribution(number);
}

template <class T>
void RankSolveProgram<T>::release_column(index_t number) {
  const std::lock_guard lock(mutex_);
  column_contribution(number);
}

template <class T>
void RankSolveProgram<T>::push(SolvePart task, index_t number) {
  const bool whole = task == SolvePart::whole_forward || task == SolvePart::whole_backward;
  const Urgency& urgency =
      whole ? exchange_.wholes[number].urgency : top(number).urgency;
  ready_.push({is_forward(task) ? urgency.forward : urgency.backward, task, number});
}

template <class T>
FactorWork RankSolveProgram<T>::work_of(const Ready& next) const {
  switch (next.task) {
    case SolvePart::whole_forward:
    case SolvePart::whole_backward: return exchange_.wholes[next.number].work;
    case SolvePart::column_product:
    case SolvePart::row_product: return exchange_.portions[next.portion].work;
    // The triangle of a supernode that another layer sweeps is not read.
    default: return plan_.role(next.number).is_given ? FactorWork{} : top(next.number).diagonal;
  }
}

template <class T>
index_t RankSolveProgram<T>::supernode_of(const Ready& next) const {
  if (next.task != SolvePart::whole_forward && next.task != SolvePart::whole_backward)
    return top(next.number).supernode;
  return plan_.factor->placement->units.group_begin[exchange_.wholes[next.number].unit + 1] - 1;
}

template <class T>
double RankSolveProgram<T>::last_cost() const {
  return 2 * work_of(last_[0]).entries * stride_;
}

template <class T>
TaskNote RankSolveProgram<T>::last_task(int thread) const {
  const Ready& last = last_[thread];
  return {name_of(last.task), is_forward(last.task) ? SweepPhase::forward : SweepPhase::backward,
          supernode_of(last), work_of(last).with_rhs(sizeof(T), is_complex_v<T> ? 8 : 2, b_.cols)};
}

template <class T>
void RankSolveProgram<T>::run(const Ready& next, int thread) {
  const RankTasks<T> all = tasks();
  switch (next.task) {
    case SolvePart::whole_forward: {
      all.whole_forward(next.number, thread);
      const std::lock_guard lock(mutex_);
      for (const OwnContribution& one : exchange_.contributions_of(exchange_.wholes[next.number]))
        row_contribution(one.row_top);
      return whole_needs_less(next.number);
    }
    case SolvePart::row_sum: return finish_row(next.number, thread);
    case SolvePart::column_product: return multiply_column(next, thread);
    case SolvePart::column_sum: return finish_column(next.number, thread);
    case SolvePart::row_product: return multiply_row(next, thread);
    case SolvePart::whole_backward:
      all.whole_backward(next.number, thread);
      return store_group(plan_.structure.group_of_whole[next.number]);
    // Relays are handled as their message arrives, and exchanges of layers by the program around this one.
    case SolvePart::forward_relay:
    case SolvePart::backward_relay:
    case SolvePart::layers_meet: return;
  }
}

template <class T>
void RankSolveProgram<T>::finish_row(index_t number, int thread) {
  const Reduction& reduction = exchange_.reductions[top(number).row_sum];
  const RankTasks<T> all = tasks();
  const RhsRows<T> store{plan_.vectors.forward.data(), stride_};
  all.add_up(reduction, store);
  if (reduction.parent != -1) return send_sum(reduction, store, RankMessage::row_sum);
  const TopRole role = plan_.role(number);
  if (role.is_given) {
    all.gather_forward(number);
  } else {
    all.diagonal_forward(number, thread);
    send_value(number, top(number).column_children, RankMessage::forward_value);
  }
  {
    const std::lock_guard lock(mutex_);
    if (!role.is_given) forward_value_is_there(number);
    if (!role.waits_after_forward) column_contribution(number);
  }
  if (role.is_told) events_->forward_is_done(number);
}

template <class T>
void RankSolveProgram<T>::finish_column(index_t number, int thread) {
  const Reduction& reduction = exchange_.reductions[top(number).column_sum];
  const RankTasks<T> all = tasks();
  const RhsRows<T> store{plan_.vectors.backward.data(), stride_};
  all.add_up(reduction, store);
  if (reduction.parent != -1) return send_sum(reduction, store, RankMessage::column_sum);
  const TopRole role = plan_.role(number);
  if (role.is_given) all.pass_on(number);
  else all.diagonal_backward(number, thread);
  send_value(number, top(number).row_children, RankMessage::backward_value);
  store_group(plan_.structure.group_of_top[number]);
  {
    const std::lock_guard lock(mutex_);
    backward_value_is_there(number);
  }
  if (role.is_told) events_->backward_is_done(number);
}

template <class T>
void RankSolveProgram<T>::multiply_column(const Ready& next, int thread) {
  const Portion& portion = exchange_.portions[next.portion];
  const index_t first = top(next.number).below.begin;
  const RankTasks<T> all = tasks();
  for (index_t k = portion.begin; k < portion.end; ++k) all.block_forward(first + k, thread);
  const std::lock_guard lock(mutex_);
  for (index_t k = portion.begin; k < portion.end; ++k) row_contribution(exchange_.own[first + k].row_top);
}

template <class T>
void RankSolveProgram<T>::multiply_row(const Ready& next, int thread) {
  const Portion& portion = exchange_.portions[next.portion];
  const std::span<const index_t> blocks =
      exchange_.left_of(top(next.number)).subspan(portion.begin, portion.end - portion.begin);
  const RankTasks<T> all = tasks();
  for (const index_t block : blocks)
    if (exchange_.own_is_whole[block] == 0) all.block_backward(block, thread);
  const std::lock_guard lock(mutex_);
  for (const index_t block : blocks) {
    const OwnContribution& own = exchange_.own[block];
    if (exchange_.own_is_whole[block] != 0) whole_needs_less(own.column);
    else column_contribution(own.column_top);
  }
}

template <class T>
void RankSolveProgram<T>::send_sum(const Reduction& reduction, RhsRows<const T> store, RankMessage kind) {
  SharedBytes bytes =
      plan_.pool.take(static_cast<std::size_t>(reduction.outgoing_rows * stride_) * sizeof(T));
  tasks().write_result(reduction, store, reinterpret_cast<T*>(bytes.writable().data()));
  transport_->send(reduction.parent, tag(kind, reduction.supernode), std::move(bytes));
}

template <class T>
void RankSolveProgram<T>::send_value(index_t number, ArrayPart children, RankMessage kind) {
  if (children.size() == 0) return;
  const TopSupernode& one = top(number);
  const auto size =
      static_cast<std::size_t>(plan_.factor->symbolic->width(one.supernode) * stride_) * sizeof(T);
  const SharedBytes bytes =
      plan_.pool.copy({reinterpret_cast<const std::byte*>(tasks().value(one).data), size});
  for (const index_t child : exchange_.of(exchange_.ranks, children))
    transport_->send(child, tag(kind, one.supernode), bytes);
}

template <class T>
void RankSolveProgram<T>::load() {
  const SweepGroups& sweep = *plan_.structure.sweep;
  Reader<T> reader{b_, {}, conjugated_};
  if (plan_.caller_row.empty())
    return load_rhs<T>(reader, 0, static_cast<index_t>(plan_.structure.row.size()),
                         {plan_.vectors.own.data(), stride_});
  for (std::size_t group = 0; group < plan_.caller_row.size(); ++group) {
    const auto number = static_cast<index_t>(group);
    const index_t count = sweep.num_columns(number);
    const RhsRows<T> into{plan_.vectors.own.data() + offset_t{sweep.column_begin(number)} * stride_,
                           stride_};
    if (plan_.caller_row[group] == -1) std::fill_n(into.data, offset_t{count} * stride_, T(0));
    else load_rhs<T>(reader, plan_.caller_row[group], count, into);
  }
}

template <class T>
void RankSolveProgram<T>::store_group(index_t group) {
  const SweepGroups& sweep = *plan_.structure.sweep;
  const index_t begin = sweep.column_begin(group), row = plan_.first_caller_row(group);
  if (row == -1) return;
  Writer<T> writer{x_, {}, conjugated_};
  store_rhs<T>(writer, row, sweep.num_columns(group),
                 RhsRows<const T>{plan_.vectors.own.data() + offset_t{begin} * stride_, stride_});
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
  for (std::size_t at = 0; at < exchange_.tops.size(); ++at) {
    const TopSupernode& one = exchange_.tops[at];
    if (one.row_sum != -1 && row_waits_[at] > 0)
      return std::to_string(row_waits_[at]) + " contributions to block row " + std::to_string(one.supernode) +
             among(exchange_.reductions[one.row_sum]);
  }
  for (std::size_t at = exchange_.tops.size(); at-- > 0;) {
    const TopSupernode& one = exchange_.tops[at];
    if (one.column_sum != -1 && column_waits_[at] > 0)
      return std::to_string(column_waits_[at]) + " contributions to block column " +
             std::to_string(one.supernode) +
             among(exchange_.reductions[one.column_sum]);
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
  RankGroups structure(*factor->symbolic, *factor->placement, factor->owned, exchange, sizeof(T));
  RankTriangles<T> triangles(*factor, structure, options.plan);
  RankVectors<T> vectors(structure, exchange, widest(*factor->symbolic),
                         padded_rhs(sizeof(T), options.max_rhs), options.threads);
  return {std::move(factor),
          options,
          std::move(exchange),
          std::move(structure),
          std::move(triangles),
          std::move(vectors),
          {},
          {},
          {}};
}

template <class T>
offset_t RankPlanBody<T>::memory_bytes() const {
  return exchange.memory_bytes() + structure.memory_bytes() + vectors.memory_bytes() +
         triangles.lower->memory_bytes() + (triangles.upper ? triangles.upper->memory_bytes() : 0) +
         (triangles.diagonal ? triangles.diagonal->memory_bytes() : 0) +
         static_cast<offset_t>(caller_row.size() * sizeof(index_t));
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
