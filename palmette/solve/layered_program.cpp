// A layer's sweeps, and its exchanges with other layers. Nothing blocks: a message that arrives early is
// kept, and a step is taken when its input is there. Source: [Liu et al. 2023], Algorithm 1 for one_sync_3d,
// section 2.2 for baseline_3d.
#include "palmette/solve/layered_program.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "palmette/solve/layer_transport.hpp"

namespace palmette::solve_detail {
namespace {

/// A LayerStep by tops of the rank's exchange.
struct Meeting {
  index_t node = 0;
  index_t partner = 0;
  bool receives_up = false;
  std::vector<index_t> tops;
  offset_t rows = 0;
};

std::vector<Meeting> meetings_of(const LayerSystem& system, const SolveExchange& exchange) {
  std::vector<Meeting> result;
  for (const LayerStep& step : layer_steps(system, exchange.rank)) {
    Meeting meeting{step.node, step.partner, step.receives_up, {}, step.rows};
    for (const index_t s : step.supernodes) {
      const auto found =
          std::lower_bound(exchange.tops.begin(), exchange.tops.end(), s,
                           [](const TopSupernode& one, index_t wanted) { return one.supernode < wanted; });
      meeting.tops.push_back(static_cast<index_t>(found - exchange.tops.begin()));
    }
    result.push_back(std::move(meeting));
  }
  return result;
}

std::vector<TopRole> roles_of(const LayerSystem& system, const SolveExchange& exchange,
                              const std::vector<Meeting>& meetings) {
  std::vector<TopRole> roles(exchange.tops.size());
  for (std::size_t at = 0; at < roles.size(); ++at) {
    const TopSupernode& top = exchange.tops[at];
    if (!top.owns_diagonal || !system.is_replicated(top.supernode)) continue;
    const bool swept_here = system.method == LayeredMethod::one_sync_3d || system.leads(top.supernode);
    roles[at].is_told = true;
    roles[at].is_given = !swept_here;
    roles[at].waits_after_forward = system.method == LayeredMethod::one_sync_3d || !swept_here;
  }
  if (system.method == LayeredMethod::one_sync_3d) return roles;
  for (const Meeting& meeting : meetings)
    if (meeting.receives_up)
      for (const index_t top : meeting.tops) ++roles[top].more_row_waits;
  return roles;
}

template <class T>
class LayeredSolveProgram final : public SolveProgram<T>, private RankEvents {
 public:
  LayeredSolveProgram(RankPlanBody<T>& body, const LayerSystem& system)
      : body_(body),
        one_sync_(system.method == LayeredMethod::one_sync_3d),
        first_rank_(system.ranks.first_rank(system.layer)),
        first_tag_(kinds_of_message * system.num_supernodes_of_all),
        meetings_(meetings_of(system, body.exchange)),
        inside_(system.ranks.first_rank(system.layer), system.ranks.grid.num_ranks()),
        sweeps_(body, this),
        up_come_(meetings_.size()),
        down_left_(meetings_.size()),
        met_rows_(body.options.threads) {
    body.roles = roles_of(system, body.exchange, meetings_);
    for (const TopRole& role : body.roles) forward_at_start_ += role.waits_after_forward;
    meetings_of_top_.resize(body.exchange.tops.size());
    for (std::size_t at = 0; at < meetings_.size(); ++at)
      for (const index_t top : meetings_[at].tops)
        meetings_of_top_[top].push_back(static_cast<index_t>(at));
  }

  void reset(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport) override {
    inside_.use(transport);
    sweeps_.reset(operation, b, x, inside_);
    stride_ = padded_rhs(sizeof(T), b.cols);
    forward_left_ = forward_at_start_;
    up_ = 0;
    down_ = meetings_.size();
    std::fill(up_come_.begin(), up_come_.end(), SharedBytes());
    down_come_ = {};
    for (std::size_t at = 0; at < meetings_.size(); ++at)
      down_left_[at] = static_cast<index_t>(meetings_[at].tops.size());
    may_advance_.store(false);
    is_meeting_ = false;
    met_.store(meetings_.empty() || b.cols == 0);
  }

  void start() override { sweeps_.start(); }

  void on_message(const Message& message) override {
    if (message.tag < first_tag_)
      return sweeps_.on_message({message.source - first_rank_, message.tag, message.payload});
    const auto node = static_cast<index_t>((message.tag - first_tag_) / 2);
    const std::lock_guard lock(mutex_);
    if ((message.tag - first_tag_) % 2 == 0) {
      const auto meeting = std::find_if(meetings_.begin(), meetings_.end(),
                                        [&](const Meeting& one) { return one.node == node; });
      up_come_[meeting - meetings_.begin()] = message.payload;
    } else {
      down_come_ = message.payload;
    }
    may_advance_.store(true, std::memory_order_release);
  }

  bool run_one_task(int thread) override {
    if (may_advance_.load(std::memory_order_acquire)) {
      const offset_t rows = advance();
      met_rows_[thread] = rows;
      if (rows > 0) return true;
    }
    met_rows_[thread] = 0;
    return sweeps_.run_one_task(thread);
  }

  /// Steps between layers are taken when they end, all that are possible at that time.
  int take_task() override {
    met_rows_[0] = 0;
    if (!is_meeting_ && may_advance_.load(std::memory_order_acquire)) met_rows_[0] = rows_that_can_meet();
    if (met_rows_[0] == 0) return sweeps_.take_task();
    is_meeting_ = true;
    return meeting_ticket;
  }
  void finish_task(int ticket) override {
    if (ticket != meeting_ticket) return sweeps_.finish_task(ticket);
    is_meeting_ = false;
    advance();
  }
  bool has_tickets() const override { return true; }

  bool done() const override { return met_.load(std::memory_order_acquire) && sweeps_.done(); }
  double last_cost() const override {
    return met_rows_[0] > 0 ? static_cast<double>(met_rows_[0]) * stride_ : sweeps_.last_cost();
  }
  TaskNote last_task(int thread) const override {
    const double rows = static_cast<double>(met_rows_[thread]);
    if (rows == 0) return sweeps_.last_task(thread);
    const double num_rhs = stride_;
    return {name_of(SolvePart::layers_meet),
            SweepPhase::between,
            0,
            {2 * rows * num_rhs * sizeof(T), rows * num_rhs, 0, 0, num_rhs}};
  }

  std::string waiting_for() const override {
    const std::lock_guard lock(mutex_);
    const bool upward = up_ < meetings_.size();
    if (forward_left_ == 0 && upward && meetings_[up_].receives_up)
      return "what the ranks of other layers add to shared rows, from rank " +
             std::to_string(meetings_[up_].partner);
    if (!upward && down_ > 0 && !meetings_[down_ - 1].receives_up)
      return "shared rows of the solution from rank " + std::to_string(meetings_[down_ - 1].partner);
    return sweeps_.waiting_for();
  }

 private:
  void forward_is_done(index_t top) override {
    if (!body_.roles[top].waits_after_forward) return;
    const std::lock_guard lock(mutex_);
    if (--forward_left_ == 0) may_advance_.store(true, std::memory_order_release);
  }
  void backward_is_done(index_t top) override {
    if (one_sync_) return;
    const std::lock_guard lock(mutex_);
    for (const index_t at : meetings_of_top_[top])
      if (--down_left_[at] == 0)
        may_advance_.store(true, std::memory_order_release);
  }

  /// Take all steps that are possible. @returns number of rows sent, added or received
  offset_t advance() {
    const std::lock_guard lock(mutex_);
    may_advance_.store(false, std::memory_order_relaxed);
    offset_t rows = 0;
    for (; up_ < meetings_.size() && can_go_up(up_); ++up_) {
      const Meeting& meeting = meetings_[up_];
      if (meeting.receives_up) add_contributions(meeting, up_come_[up_]);
      else send(meeting, 0);
      rows += meeting.rows;
    }
    for (; down_ > 0 && can_go_down(down_, up_); --down_) {
      const Meeting& meeting = meetings_[down_ - 1];
      if (meeting.receives_up) send(meeting, 1);
      else take_rows(meeting);
      rows += meeting.rows;
    }
    if (rows == 0 || up_ < meetings_.size() || down_ > 0) return rows;
    if (one_sync_)
      for (const index_t top : meetings_[0].tops) sweeps_.release_column(top);
    met_.store(true, std::memory_order_release);
    return rows;
  }

  /// Rows of the steps that `advance` would take now.
  offset_t rows_that_can_meet() {
    const std::lock_guard lock(mutex_);
    may_advance_.store(false, std::memory_order_relaxed);
    offset_t rows = 0;
    std::size_t up = up_, down = down_;
    for (; up < meetings_.size() && can_go_up(up); ++up) rows += meetings_[up].rows;
    for (; down > 0 && can_go_down(down, up); --down) rows += meetings_[down - 1].rows;
    return rows;
  }
  bool can_go_up(std::size_t up) const {
    const bool come = !meetings_[up].receives_up || up_come_[up].size() > 0;
    return come && (forward_left_ == 0 || (!one_sync_ && meetings_[up].receives_up));
  }
  bool can_go_down(std::size_t down, std::size_t up) const {
    const std::size_t at = down - 1;
    if (!meetings_[at].receives_up) return down_come_.size() > 0;
    return one_sync_ ? up == meetings_.size() : down_left_[at] == 0;
  }

  void add_contributions(const Meeting& meeting, SharedBytes& bytes) {
    const T* from = reinterpret_cast<const T*>(bytes.data());
    for (const index_t top : meeting.tops) {
      const offset_t count = offset_t{width(top)} * stride_;
      T* const to = sweeps_.rows_of_top(top).data;
      for (offset_t k = 0; k < count; ++k) to[k] += from[k];
      from += count;
      if (!one_sync_) sweeps_.release_row(top);
    }
    bytes = {};
  }
  void take_rows(const Meeting& meeting) {
    const T* from = reinterpret_cast<const T*>(down_come_.data());
    for (const index_t top : meeting.tops) {
      const offset_t count = offset_t{width(top)} * stride_;
      std::copy_n(from, count, sweeps_.rows_of_top(top).data);
      from += count;
      if (!one_sync_) sweeps_.release_column(top);
    }
    down_come_ = {};
  }
  void send(const Meeting& meeting, int downward) {
    SharedBytes bytes = pool_.take(static_cast<std::size_t>(meeting.rows * stride_) * sizeof(T));
    T* to = reinterpret_cast<T*>(bytes.writable().data());
    for (const index_t top : meeting.tops)
      to = std::copy_n(sweeps_.rows_of_top(top).data, offset_t{width(top)} * stride_, to);
    inside_.outside().send(meeting.partner, first_tag_ + 2 * meeting.node + downward, std::move(bytes));
  }
  index_t width(index_t top) const {
    return body_.factor->symbolic->width(body_.exchange.tops[top].supernode);
  }

  static constexpr int meeting_ticket = std::numeric_limits<int>::max();
  RankPlanBody<T>& body_;
  const bool one_sync_;
  const index_t first_rank_;
  // of messages between layers: 2·node upward, 2·node + 1 downward, from here on
  const std::int64_t first_tag_;
  const std::vector<Meeting> meetings_;  // deepest first; all receive upwards, except possibly the last
  LayerTransport inside_;
  RankSolveProgram<T> sweeps_;
  BytePool pool_;
  index_t stride_ = 1;
  std::vector<std::vector<index_t>> meetings_of_top_;
  index_t forward_at_start_ = 0;

  mutable std::mutex mutex_;
  index_t forward_left_ = 0;             // shared supernodes whose forward part is not done
  std::size_t up_ = 0;                   // meetings that have been upward
  std::size_t down_ = 0;                 // meetings that have not been downward
  std::vector<SharedBytes> up_come_;     // by meeting
  SharedBytes down_come_;
  std::vector<index_t> down_left_;       // by meeting: supernodes without solution
  std::atomic<bool> may_advance_{false};
  bool is_meeting_ = false;              // its ticket is taken
  std::atomic<bool> met_{false};
  std::vector<offset_t> met_rows_;       // by thread: of its last task, if that was a meeting
};

}  // namespace

template <class T>
std::vector<index_t> list_caller_rows(const LayerSystem& system, RankPlanBody<T>& body) {
  const SweepGroups& sweep = *body.structure.sweep;
  std::vector<char> elsewhere(sweep.num_groups(), 0);
  for (std::size_t at = 0; at < body.exchange.tops.size(); ++at) {
    const TopSupernode& top = body.exchange.tops[at];
    if (top.owns_diagonal && !system.leads(top.supernode))
      elsewhere[body.structure.group_of_top[at]] = 1;
  }
  std::vector<index_t> rows;
  for (index_t group = 0; group < sweep.num_groups(); ++group) {
    body.caller_row.push_back(
        elsewhere[group] != 0 ? -1 : static_cast<index_t>(rows.size()));
    if (elsewhere[group] != 0) continue;
    for (index_t k = 0; k < sweep.num_columns(group); ++k) {
      const index_t row = body.structure.row[sweep.column_begin(group) + k];
      rows.push_back(system.row[row]);
    }
  }
  return rows;
}

template <class T>
std::unique_ptr<SolveProgram<T>> layered_program(RankPlanBody<T>& body, const LayerSystem& system) {
  return std::make_unique<LayeredSolveProgram<T>>(body, system);
}

#define PALMETTE_INSTANTIATE(T)                                                     \
  template std::vector<index_t> list_caller_rows(const LayerSystem&, RankPlanBody<T>&); \
  template std::unique_ptr<SolveProgram<T>> layered_program(RankPlanBody<T>&, const LayerSystem&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
