// Inside `solve`: the state machine of one rank in a solve, alone or as one layer among several.
#pragma once

#include <atomic>
#include <mutex>
#include <queue>

#include "palmette/solve/rank_store.hpp"

namespace palmette::solve_detail {

/// The contents of a plan.
template <class T>
struct RankPlanBody {
  std::shared_ptr<const RankFactor<T>> factor;
  RankPlanOptions options;
  SolveExchange exchange;
  RankGraph graph;
  RankGroups structure;
  RankTriangles<T> triangles;
  std::vector<RankVectors<T>> vectors;  ///< by group of right-hand sides
  BytePool pool;
  // Layers only. Length groups of the structure: first row of the caller's vectors, −1: another layer has it;
  // or empty
  std::vector<index_t> caller_row = {};
  std::vector<index_t> own_row = {};  // layers only, by row of the caller's vectors: own column

  /// @throws UsageError, MemoryError as RankSolvePlan
  static RankPlanBody make(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options);
  offset_t memory_bytes() const;
  index_t guarded_blocks() const;
  index_t first_caller_row(index_t group) const {
    return caller_row.empty() ? structure.sweep->column_begin(group)
                              : caller_row[group];
  }
};

/// @throws DimensionError for more than max_rhs
inline void check_num_rhs(index_t num_rhs, index_t max_rhs) {
  if (num_rhs > max_rhs)
    throw DimensionError(std::to_string(num_rhs) + " right-hand sides at once in a plan for " +
                         std::to_string(max_rhs) + ": solve them in parts, or set max_rhs");
}

/// @throws DimensionError unless b and x are rows × k, k ≤ max_rhs
template <class T>
void check_own_rows(index_t rows, index_t max_rhs, DenseView<const T> b, DenseView<T> x) {
  if (b.rows != rows || x.rows != rows || b.cols != x.cols)
    throw DimensionError("this rank has " + std::to_string(rows) + " rows; b is " + std::to_string(b.rows) +
                         " × " + std::to_string(b.cols) + ", x " + std::to_string(x.rows) + " × " +
                         std::to_string(x.cols));
  check_num_rhs(b.cols, max_rhs);
}

/// @throws UsageError unless the transport has the plan's number of ranks
inline void check_transport(const Transport& transport, index_t num_ranks) {
  if (transport.num_ranks() != num_ranks)
    throw UsageError("the transport has " + std::to_string(transport.num_ranks()) + " ranks, the plan " +
                     std::to_string(num_ranks));
}

/// A solve for single entries.
template <class T>
struct ReachedSolve {
  std::shared_ptr<const SolveReach> reach;
  std::shared_ptr<const ReachedGraph> graph;
  std::span<const RankEntry<T>> own;  ///< as in RankEntries
  std::span<const index_t> wanted;
  index_t first_column = 0;  ///< of those entries' columns, the program's first
};

/// One solve. For single entries, x has the wanted rows, and b is not read.
template <class T>
struct ProgramRun {
  Operation operation = Operation::plain;
  DenseView<const T> b;
  DenseView<T> x;
  const ReachedSolve<T>* reached = nullptr;  ///< null: for all of x
};

/// The program of a plan.
template <class T>
class SolveProgram : public RankProgram {
 public:
  /// Before start.
  virtual void reset(const ProgramRun<T>& run, Transport& transport) = 0;
};

/// The transport numbers ranks like the placement.
template <class T>
class RankSolveProgram final : public SolveProgram<T> {
 public:
  /// @param group  of right-hand sides, whose vectors it uses
  explicit RankSolveProgram(RankPlanBody<T>& plan, index_t group = 0);

  void reset(const ProgramRun<T>& run, Transport& transport) override;
  void start() override;
  void on_message(const Message& message) override;
  bool run_one_task(int thread) override;
  int take_task() override;
  void finish_task(int ticket) override;
  bool has_tickets() const override { return true; }
  bool done() const override { return left_.load(std::memory_order_acquire) == 0; }
  /// Cost of the task that the first thread ran last.
  double last_cost() const override;
  TaskNote last_task(int thread) const override;
  std::string waiting_for() const override;

  // For layers.
  /// Rows of a supernode whose diagonal block is here. From its sum on, only meetings write them until the
  /// tasks behind those begin.
  RhsRows<T> rows_of_top(index_t top) const;
  /// False as long as no meeting can run.
  bool may_meet() const { return may_meet_.load(std::memory_order_acquire); }
  /// The meeting that can run now, −1 if there is none: meetings run one after the other.
  index_t take_meeting();
  /// Rows of the meeting that can run now and of those behind it that wait for nothing else.
  offset_t rows_that_can_meet() const;
  /// Number of tasks and messages that a task waits for.
  index_t waits_of(index_t task) const;
  /// A message for a task has been stored.
  void arrived(index_t task);
  /// A meeting has run.
  void met(index_t meeting);

 private:
  /// The task with the largest urgency is first, then that with the smallest number.
  struct Ready {
    double urgency = 0;
    index_t task = 0;
    bool operator<(const Ready& other) const {
      return urgency != other.urgency ? urgency < other.urgency : task > other.task;
    }
  };

  RankTasks<T> tasks() const {
    return {
        *plan_.factor, exchange_,   plan_.structure, plan_.triangles,
        vectors_,      transposed_, stride_,         reached_ != nullptr ? reached_->reach.get() : nullptr};
  }
  const TopSupernode& top(index_t number) const { return exchange_.tops[number]; }

  /// The ready task of highest urgency; −1 if there is none.
  index_t take();
  // With mutex_ held.
  void make_ready(index_t task);
  void satisfy(index_t task) {
    if (waits_[task] > 0 && --waits_[task] == 0) make_ready(task);
  }
  /// A task is done: those that wait for it wait for one less.
  void finish(index_t task) {
    for (const index_t to : graph_.next_of(task)) satisfy(to);
  }

  void run(index_t task, int thread);
  void finish_row(const LocalTask& task, int thread);
  void finish_column(const LocalTask& task, int thread);
  void multiply_column(const LocalTask& task, int thread) const;
  void multiply_row(const LocalTask& task, int thread) const;

  static std::int64_t tag(SolveMessage kind, index_t supernode) {
    return supernode * num_messages_within + static_cast<std::int64_t>(kind);
  }
  void send_sum(const LocalTask& task, const Reduction& reduction, RhsRows<const T> store);
  void send_value(const LocalTask& task);
  /// Of a message of the graph; 0: it is not sent.
  offset_t rows_of(const LocalMessage& one) const {
    return reached_ != nullptr ? reached_->graph->message_rows[&one - graph_.messages.data()] : one.rows;
  }
  void load();
  void load_entries();
  void store_group(index_t group);
  void store_entries(index_t first_row, index_t count, RhsRows<const T> from);

  RankPlanBody<T>& plan_;
  RankVectors<T>& vectors_;
  const SolveExchange& exchange_;
  const RankGraph& graph_;
  Transport* transport_ = nullptr;
  DenseView<const T> b_;
  DenseView<T> x_;
  const ReachedSolve<T>* reached_ = nullptr;
  bool conjugated_ = false;
  bool transposed_ = false;
  index_t stride_ = 1;
  mutable std::mutex mutex_;
  std::vector<index_t> waits_;         // by task; −1: it does not run
  std::vector<index_t> last_;          // by thread: its last task
  std::priority_queue<Ready> ready_;
  index_t ready_meeting_ = -1;
  std::atomic<bool> may_meet_{false};
  std::vector<index_t> taken_;         // by ticket
  std::vector<int> free_tickets_;
  std::atomic<std::int64_t> left_{0};
};

}  // namespace palmette::solve_detail
