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

template <class T>
class LayeredSolveProgram final : public SolveProgram<T> {
 public:
  LayeredSolveProgram(RankPlanBody<T>& body, const LayerSystem& system, index_t group)
      : body_(body),
        first_rank_(system.ranks.first_rank(system.layer)),
        first_tag_(num_messages_within * system.num_supernodes_of_all),
        inside_(system.ranks.first_rank(system.layer), system.ranks.grid.num_ranks()),
        sweeps_(body, group),
        came_(2 * body.graph.steps.size()),
        met_rows_(body.options.threads) {}

  void reset(const ProgramRun<T>& run, Transport& transport) override {
    inside_.use(transport);
    sweeps_.reset(run, inside_);
    stride_ = padded_rhs(sizeof(T), run.b.cols);
    std::fill(came_.begin(), came_.end(), SharedBytes());
    is_meeting_ = false;
  }

  void start() override { sweeps_.start(); }

  void on_message(const Message& message) override {
    if (message.tag < first_tag_)
      return sweeps_.on_message({message.source - first_rank_, message.tag, message.payload});
    const auto node = static_cast<index_t>((message.tag - first_tag_) / 2);
    index_t step = 0;
    while (graph().steps[step].node != node) ++step;
    const bool up = (message.tag - first_tag_) % 2 == 0;
    const index_t meeting = up ? graph().meeting_up(step) : graph().meeting_down(step);
    came(meeting) = message.payload;
    sweeps_.arrived(meeting);
  }

  bool run_one_task(int thread) override {
    met_rows_[thread] = sweeps_.may_meet() ? meet() : 0;
    return met_rows_[thread] > 0 || sweeps_.run_one_task(thread);
  }

  /// Meetings are held when they end, all that are possible at that time.
  int take_task() override {
    met_rows_[0] = 0;
    if (!is_meeting_ && sweeps_.may_meet()) met_rows_[0] = sweeps_.rows_that_can_meet();
    if (met_rows_[0] == 0) return sweeps_.take_task();
    is_meeting_ = true;
    return meeting_ticket;
  }
  void finish_task(int ticket) override {
    if (ticket != meeting_ticket) return sweeps_.finish_task(ticket);
    is_meeting_ = false;
    meet();
  }
  bool has_tickets() const override { return true; }

  bool done() const override { return sweeps_.done(); }
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
    for (index_t meeting = graph().first_meeting; meeting < graph().num_tasks(); ++meeting) {
      // Before the counter is zero, no other thread takes the message.
      const bool waits_for_one = graph().receives(meeting) && sweeps_.waits_of(meeting) == 1;
      if (!waits_for_one || came_of(meeting).size() > 0) continue;
      const LayerStep& step = graph().steps[graph().tasks[meeting].number];
      return (graph().is_up(meeting) ? "what the ranks of other layers add to shared rows, from rank "
                                     : "shared rows of the solution from rank ") +
             std::to_string(step.partner);
    }
    return sweeps_.waiting_for();
  }

 private:
  const RankGraph& graph() const { return body_.graph; }
  const SharedBytes& came_of(index_t meeting) const { return came_[meeting - graph().first_meeting]; }
  SharedBytes& came(index_t meeting) { return came_[meeting - graph().first_meeting]; }

  /// Hold all meetings that are possible. @returns number of rows sent, added or received
  offset_t meet() {
    offset_t rows = 0;
    for (index_t meeting = sweeps_.take_meeting(); meeting != -1; meeting = sweeps_.take_meeting()) {
      const LayerStep& step = graph().steps[graph().tasks[meeting].number];
      if (!graph().receives(meeting)) send(meeting, step);
      else if (graph().is_up(meeting)) add_rows(step, came(meeting));
      else take_rows(step, came(meeting));
      rows += step.rows;
      sweeps_.met(meeting);
    }
    return rows;
  }

  RhsRows<T> rows_of(index_t supernode) const {
    return sweeps_.rows_of_top(body_.exchange.top_of(supernode));
  }
  offset_t length(index_t supernode) const {
    return offset_t{body_.factor->symbolic->width(supernode)} * stride_;
  }
  void add_rows(const LayerStep& step, SharedBytes& bytes) {
    const T* from = reinterpret_cast<const T*>(bytes.data());
    for (const index_t s : step.supernodes) {
      T* const to = rows_of(s).data;
      for (offset_t k = 0; k < length(s); ++k) to[k] += from[k];
      from += length(s);
    }
    bytes = {};
  }
  void take_rows(const LayerStep& step, SharedBytes& bytes) {
    const T* from = reinterpret_cast<const T*>(bytes.data());
    for (const index_t s : step.supernodes) {
      std::copy_n(from, length(s), rows_of(s).data);
      from += length(s);
    }
    bytes = {};
  }
  void send(index_t meeting, const LayerStep& step) {
    SharedBytes bytes = pool_.take(static_cast<std::size_t>(step.rows * stride_) * sizeof(T));
    T* to = reinterpret_cast<T*>(bytes.writable().data());
    for (const index_t s : step.supernodes) to = std::copy_n(rows_of(s).data, length(s), to);
    const int downward = graph().is_up(meeting) ? 0 : 1;
    inside_.outside().send(step.partner, first_tag_ + 2 * step.node + downward, std::move(bytes));
  }

  static constexpr int meeting_ticket = std::numeric_limits<int>::max();
  RankPlanBody<T>& body_;
  const index_t first_rank_;
  // of messages between layers: 2·node upward, 2·node + 1 downward, from here on
  const std::int64_t first_tag_;
  LayerTransport inside_;
  RankSolveProgram<T> sweeps_;
  BytePool pool_;
  index_t stride_ = 1;
  std::vector<SharedBytes> came_;        // by meeting: its message
  bool is_meeting_ = false;              // its ticket is taken
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
  body.own_row.clear();
  for (index_t group = 0; group < sweep.num_groups(); ++group) {
    body.caller_row.push_back(
        elsewhere[group] != 0 ? -1 : static_cast<index_t>(rows.size()));
    if (elsewhere[group] != 0) continue;
    for (index_t k = 0; k < sweep.num_columns(group); ++k) {
      const index_t row = body.structure.row[sweep.column_begin(group) + k];
      rows.push_back(system.row[row]);
      body.own_row.push_back(sweep.column_begin(group) + k);
    }
  }
  return rows;
}

template <class T>
std::unique_ptr<SolveProgram<T>> layered_program(RankPlanBody<T>& body, const LayerSystem& system,
                                                 index_t group) {
  return std::make_unique<LayeredSolveProgram<T>>(body, system, group);
}

#define PALMETTE_INSTANTIATE(T)                                                         \
  template std::vector<index_t> list_caller_rows(const LayerSystem&, RankPlanBody<T>&); \
  template std::unique_ptr<SolveProgram<T>> layered_program(RankPlanBody<T>&, const LayerSystem&, index_t);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
