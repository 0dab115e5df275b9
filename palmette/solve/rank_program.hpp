// Inside `solve`: the state machine of one rank in a solve, alone or as one layer among several.
#pragma once

#include <atomic>
#include <mutex>
#include <queue>

#include "palmette/solve/rank_store.hpp"

namespace palmette::solve_detail {

enum class RankMessage : char { row_sum, forward_value, column_sum, backward_value };
constexpr std::int64_t kinds_of_message = 4;

/// Properties of the diagonal block of a supernode that other layers hold too. All are false if there is only
/// one layer.
struct TopRole {
  bool waits_after_forward = false;  ///< its part of the backward sweep begins when it is released
  /// another layer sweeps it: here contributions are only added up, and its solution is given
  bool is_given = false;
  bool is_told = false;              ///< RankEvents is notified
  index_t more_row_waits = 0;        ///< contributions from other layers
};

/// Receives notifications about supernodes that several layers hold.
class RankEvents {
 public:
  virtual ~RankEvents() = default;
  /// Its rows hold y or, if another layer sweeps it, what this layer adds to its right-hand side.
  virtual void forward_is_done(index_t top) = 0;
  /// Its rows hold x.
  virtual void backward_is_done(index_t top) = 0;
};

/// The contents of a plan.
template <class T>
struct RankPlanBody {
  std::shared_ptr<const RankFactor<T>> factor;
  RankPlanOptions options;
  SolveExchange exchange;
  RankGroups structure;
  RankTriangles<T> triangles;
  RankVectors<T> vectors;
  BytePool pool;
  // Layers only.
  std::vector<TopRole> roles = {};          // length exchange.tops, or empty
  // length groups of the structure: first row of the caller's vectors, −1: another layer has it; or empty
  std::vector<index_t> caller_row = {};

  /// @throws UsageError, MemoryError as RankSolvePlan
  static RankPlanBody make(std::shared_ptr<const RankFactor<T>> factor, const RankPlanOptions& options);
  offset_t memory_bytes() const;
  index_t guarded_blocks() const;
  TopRole role(index_t top) const { return roles.empty() ? TopRole{} : roles[top]; }
  index_t first_caller_row(index_t group) const {
    return caller_row.empty() ? structure.sweep->column_begin(group)
                              : caller_row[group];
  }
};

/// The program of a plan.
template <class T>
class SolveProgram : public RankProgram {
 public:
  /// Before start.
  virtual void reset(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport) = 0;
};

/// The transport numbers ranks like the placement.
template <class T>
class RankSolveProgram final : public SolveProgram<T> {
 public:
  explicit RankSolveProgram(RankPlanBody<T>& plan, RankEvents* events = nullptr);

  void reset(Operation operation, DenseView<const T> b, DenseView<T> x, Transport& transport) override;
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
  /// Rows of a supernode whose diagonal block is here; only the notified object writes them until they are
  /// released.
  RhsRows<T> rows_of_top(index_t top) const;
  /// Call this after adding a contribution from another layer to them.
  void release_row(index_t top);
  /// Call this when they hold the complete y, or the given x.
  void release_column(index_t top);

 private:
  struct Ready {
    double priority = 0;
    SolvePart task = SolvePart::whole_forward;
    index_t number = 0;
    index_t portion = 0;  ///< of products: number in SolveExchange::portions
    bool operator<(const Ready& other) const {
      if (priority != other.priority) return priority < other.priority;
      if (task != other.task) return task > other.task;
      return number != other.number ? number > other.number : portion > other.portion;
    }
  };

  RankTasks<T> tasks() const {
    return {*plan_.factor, exchange_, plan_.structure, plan_.triangles, plan_.vectors, transposed_, stride_};
  }
  const TopSupernode& top(index_t number) const { return exchange_.tops[number]; }

  /// The ready task of highest priority; false if there is none.
  bool take(Ready& next);
  // With mutex_ held.
  void push(SolvePart task, index_t number);
  void row_contribution(index_t number) {
    if (--row_waits_[number] == 0) push(SolvePart::row_sum, number);
  }
  void column_contribution(index_t number) {
    if (--column_waits_[number] == 0) push(SolvePart::column_sum, number);
  }
  void forward_value_is_there(index_t number) {
    push_portions(SolvePart::column_product, number, top(number).column_portions);
  }
  void backward_value_is_there(index_t number) {
    push_portions(SolvePart::row_product, number, top(number).row_portions);
  }
  void push_portions(SolvePart task, index_t number, ArrayPart portions) {
    for (index_t k = portions.begin; k < portions.end; ++k)
      ready_.push({exchange_.portions[k].urgency, task, number, k});
  }
  void whole_needs_less(index_t whole) {
    if (--whole_waits_[whole] == 0) push(SolvePart::whole_backward, whole);
  }

  /// What a task reads.
  FactorWork work_of(const Ready& next) const;
  /// For a whole subtree, the last one.
  index_t supernode_of(const Ready& next) const;
  void run(const Ready& next, int thread);
  void finish_row(index_t number, int thread);
  void finish_column(index_t number, int thread);
  void multiply_column(const Ready& next, int thread);
  void multiply_row(const Ready& next, int thread);

  std::int64_t tag(RankMessage kind, index_t supernode) const {
    return supernode * kinds_of_message + static_cast<std::int64_t>(kind);
  }
  void send_sum(const Reduction& reduction, RhsRows<const T> store, RankMessage kind);
  void send_value(index_t number, ArrayPart children, RankMessage kind);
  void load();
  void store_group(index_t group);

  RankPlanBody<T>& plan_;
  const SolveExchange& exchange_;
  RankEvents* events_ = nullptr;
  Transport* transport_ = nullptr;
  DenseView<const T> b_;
  DenseView<T> x_;
  bool conjugated_ = false;
  bool transposed_ = false;
  index_t stride_ = 1;
  std::int64_t left_at_start_ = 0;
  mutable std::mutex mutex_;
  std::vector<index_t> row_waits_;     // by number of top supernode: contributions that have not arrived
  std::vector<index_t> column_waits_;
  std::vector<index_t> whole_waits_;   // by number of whole unit: x above, and its own y
  std::vector<Ready> last_;            // by thread: its last task
  std::priority_queue<Ready> ready_;
  std::vector<Ready> taken_;           // by ticket
  std::vector<int> free_tickets_;
  std::atomic<std::int64_t> left_{0};
};

}  // namespace palmette::solve_detail
