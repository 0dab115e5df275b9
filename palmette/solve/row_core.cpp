// Row sweeps: x_r = b_r / l_rr − Σ (l_rc / l_rr)·x_c. Backward stable row by row: each quotient is rounded
// once.
#include "palmette/solve/row_core.hpp"

#include <algorithm>
#include <numeric>

#include "palmette/solve/row_kernels.hpp"
#include "palmette/solve/rhs_blocks.hpp"

namespace palmette::solve_detail {
namespace {

// Number of right-hand sides that pass side by side: whole registers; at most a cache line or two of each
// row.
template <class T>
constexpr int narrow_strip = lanes::full_width<T> < 4 ? 4 : lanes::full_width<T>;
template <class T>
constexpr int widest_strip = narrow_strip<T> < 16 ? 16 : narrow_strip<T>;

template <class T>
index_t strip_width(index_t num_rhs) {
  return num_rhs <= narrow_strip<T> ? narrow_strip<T> : widest_strip<T>;
}

/// The first right-hand side of a thread: full registers as long as each thread gets one.
template <class T>
index_t side_begin(index_t thread, index_t threads, index_t num_rhs) {
  constexpr index_t whole = narrow_strip<T>;
  const index_t even = static_cast<index_t>(offset_t{num_rhs} * thread / threads);
  return num_rhs < whole * threads || thread == threads ? even : (even + whole / 2) / whole * whole;
}

template <class T>
RowLists<T> rows_of_columns(SparseMatrix<T> columns) {
  SparseMatrix<T> rows = transpose(columns);
  return {std::move(rows.pattern.column_ptr), std::move(rows.pattern.row_index), std::move(rows.values)};
}

/// The lists of the transpose, with the given values.
template <class T>
RowLists<T> given_transpose(const RowSweep<T>& sweep, const std::vector<T>& diagonal) {
  RowLists<T> lists = lists_of(sweep, true);
  if (diagonal.empty() || !sweep.scaled) return lists;
  for (std::size_t entry = 0; entry < lists.value.size(); ++entry)
    lists.value[entry] *= diagonal[lists.column[entry]];
  return lists;
}

/// What all tasks of one sweep need.
template <class T>
class RowBody : public SweepBody {
 protected:
  RowBody(const RowSweep<T>& sweep, const std::vector<T>& diagonal, const std::vector<T>& reciprocal,
          const CoreRun<T>& run)
      : sweep_(sweep),
        diagonal_(sweep.scaled || diagonal.empty() ? nullptr : diagonal.data()),
        scale_(!sweep.scaled || reciprocal.empty() ? nullptr : reciprocal.data()),
        run_(run) {}

  struct Rows {
    index_t first, count;
  };
  Rows rows_of(index_t task) const {
    const Task& places = sweep_.rows.schedule.graph.tasks[task];
    return {sweep_.ascending ? places.first : sweep_.size() - places.last, places.last - places.first};
  }

  const RowSweep<T>& sweep_;
  const T* const diagonal_;
  const T* const scale_;
  const CoreRun<T>& run_;
};

/// One right-hand side, in place in the result if it has the triangle's numbering.
template <class T>
class RowBodyOfOne final : public RowBody<T> {
 public:
  RowBodyOfOne(const RowSweep<T>& sweep, const std::vector<T>& diagonal, const std::vector<T>& reciprocal,
               const CoreRun<T>& run, T* work)
      : RowBody<T>(sweep, diagonal, reciprocal, run),
        direct_(run.in.direct() && run.out.direct()),
        x_(direct_ ? run.out.to.data : work) {}

  void run_task(index_t task, int) override {
    const auto [first, count] = this->rows_of(task);
    const bool by_panels = this->sweep_.rows.by_panels;
    const index_t chunk = this->sweep_.rows.schedule.graph.tasks[task].chunk;
    if (!by_panels || chunk == 0) load(first, count);
    const std::vector<index_t>& segments = this->sweep_.task_segment;
    for (index_t s = segments[task]; s < segments[task + 1]; ++s)
      solve_segment(this->sweep_.segment[s], this->sweep_, this->diagonal_, x_);
    if (direct_ || (by_panels && chunk == 0)) return;
    for (index_t row = first; row < first + count; ++row) this->run_.out.put(row, 0, x_[row]);
  }

 private:
  void load(index_t first, index_t count) {
    const T* const b = this->run_.in.from.data;
    if (!direct_)
      for (index_t row = first; row < first + count; ++row) x_[row] = this->run_.in.value(row, 0);
    else if (this->scale_ == nullptr && b != x_) std::copy_n(b + first, count, x_ + first);
    if (this->scale_ == nullptr) return;
    const T* const from = direct_ ? b : x_;
    for (index_t row = first; row < first + count; ++row) x_[row] = product(from[row], this->scale_[row]);
  }

  const bool direct_;
  T* const x_;
};

/// Right-hand sides first_rhs … of a strip; those of a row lie side by side in the work array.
template <class T, int NumRhs>
class RowBodyOfStrip final : public RowBody<T> {
 public:
  RowBodyOfStrip(const RowSweep<T>& sweep, const std::vector<T>& diagonal, const std::vector<T>& reciprocal,
                 const CoreRun<T>& run, Strip strip, T* work)
      : RowBody<T>(sweep, diagonal, reciprocal, run), first_(strip.first), count_(strip.count), x_(work) {}

  void run_task(index_t task, int) override {
    const auto [first, count] = this->rows_of(task);
    load(first, count);
    solve_strip_kernel<T, NumRhs>(this->sweep_, task, this->diagonal_, x_);
    store(first, count);
  }

 private:
  void load(index_t first, index_t count) {
    T* const target = x_ + offset_t{first} * NumRhs;
    const T* const scale = this->scale_ != nullptr ? this->scale_ + first : nullptr;
    if (this->run_.in.direct())
      return rhs_into_rows<T, NumRhs>(this->run_.in.from.columns(first_, count_), first, count, scale,
                                       target);
    for (index_t k = 0; k < count; ++k)
      for (index_t rhs = 0; rhs < NumRhs; ++rhs) {
        const T value = rhs < count_ ? this->run_.in.value(first + k, first_ + rhs) : T(0);
        target[k * NumRhs + rhs] = scale != nullptr ? product(value, scale[k]) : value;
      }
  }

  void store(index_t first, index_t count) const {
    const T* const source = x_ + offset_t{first} * NumRhs;
    if (this->run_.out.direct())
      return rows_into_rhs<T, NumRhs>(source, count, this->run_.out.to.columns(first_, count_), first);
    for (index_t k = 0; k < count; ++k)
      for (index_t rhs = 0; rhs < count_; ++rhs)
        this->run_.out.put(first + k, first_ + rhs, source[k * NumRhs + rhs]);
  }

  const index_t first_, count_;
  T* const x_;
};

}  // namespace

template <class T>
RowCore<T>::RowCore(LowerTriangle<T> triangle, bool transposed_first)
    : n_(triangle.size()), diagonal_(std::move(triangle.diagonal)), first_transposed_(transposed_first) {
  reciprocal_.reserve(diagonal_.size());
  for (const T& d : diagonal_) reciprocal_.push_back(T(1) / d);
  // The columns of L are the rows of Lᵀ.
  if (transposed_first)
    first_ =
        make_row_sweep<T>({std::move(triangle.strict.pattern.column_ptr),
                           std::move(triangle.strict.pattern.row_index), std::move(triangle.strict.values)},
                          diagonal_, false);
  else
    first_ = make_row_sweep(rows_of_columns(std::move(triangle.strict)), diagonal_, true);
}

template <class T>
const RowSweep<T>& RowCore<T>::sweep(bool transposed) const {
  if (transposed == first_transposed_) return first_;
  if (second_made_.load(std::memory_order_acquire)) return second_;
  const std::lock_guard lock(making_);
  if (second_made_.load(std::memory_order_relaxed)) return second_;
  second_ = make_row_sweep(given_transpose(first_, diagonal_), diagonal_, !first_.ascending);
  second_made_.store(true, std::memory_order_release);
  return second_;
}

template <class T>
WorkspaceNeed RowCore<T>::workspace_need(index_t num_rhs) const {
  return {0, 0, offset_t{n_} * (num_rhs == 1 ? 1 : strip_width<T>(num_rhs))};
}

template <class T>
template <class RunBody>
void RowCore<T>::with_body(const RowSweep<T>& rows, const CoreRun<T>& run, Strip strip, T* work,
                           RunBody&& run_body) const {
  // A single right-hand side has its own kernels, and its own bits.
  if (run.num_rhs() == 1) return run_body(RowBodyOfOne<T>(rows, diagonal_, reciprocal_, run, work));
  if (strip.count <= narrow_strip<T>)
    return run_body(RowBodyOfStrip<T, narrow_strip<T>>(rows, diagonal_, reciprocal_, run, strip, work));
  run_body(RowBodyOfStrip<T, widest_strip<T>>(rows, diagonal_, reciprocal_, run, strip, work));
}

template <class T>
void RowCore<T>::solve(bool transposed, const CoreRun<T>& run) const {
  const RowSweep<T>& rows = sweep(transposed);
  const SweepSchedule& schedule = rows.rows.schedule;
  const index_t threads = member_count(run.team);
  const auto over_strips = [&](index_t begin, index_t end, T* work, auto&& run_body) {
    for (index_t rhs = begin; rhs < end; rhs += widest_strip<T>)
      with_body(rows, run, {rhs, std::min<index_t>(widest_strip<T>, end - rhs)}, work, run_body);
  };
  // Fewer than fill a register form one strip, for one thread and for several.
  if (threads > 1 && run.num_rhs() > narrow_strip<T>) {
    // Right-hand sides are independent: each thread takes its own through all rows, and none waits.
    const auto take_rhs = [&](int thread) {
      const index_t begin = side_begin<T>(thread, threads, run.num_rhs()),
                    end = side_begin<T>(thread + 1, threads, run.num_rhs());
      over_strips(begin, end, run.workspace.thread(thread), [&](auto&& body) {
        for (index_t task = 0; task < schedule.graph.num_tasks(); ++task) body.run_task(task, thread);
      });
    };
    return run.workspace.called(run.team->share_parts(threads, take_rhs));
  }
  if (threads > 1 && run.method != SolveMethod::serial && run.num_rhs() == 1 && rows.scaled &&
      rows.rows.panels.panel_bits != PanelChoice::none)
    return solve_by_panels(transposed, run);
  EngineState& state = run.workspace.state(run.slot + (transposed ? 1 : 0), schedule);
  over_strips(0, run.num_rhs(), run.workspace.thread(0), [&](auto&& body) {
    run.workspace.called(run_sweep(run.method, {schedule, state, body, run.team}));
  });
}

template <class T>
void RowCore<T>::solve_by_panels(bool transposed, const CoreRun<T>& run) const {
  Panels& panels = panels_[transposed];
  if (!panels.made.load(std::memory_order_acquire)) {
    const RowSweep<T>& rows = sweep(transposed);
    const std::lock_guard lock(making_);
    if (!panels.made.load(std::memory_order_relaxed)) {
      panels.sweep = cut_into_panels(rows);
      panels.made.store(true, std::memory_order_release);
    }
  }
  const SweepSchedule& schedule = panels.sweep.rows.schedule;
  EngineState& state = run.workspace.state(run.slot + 2 + (transposed ? 1 : 0), schedule);
  with_body(panels.sweep, run, {0, 1}, run.workspace.thread(0),
            [&](auto&& body) {
              run.workspace.called(run_sweep(run.method, {schedule, state, body, run.team}));
            });
}

template <class T>
CoreCost RowCore<T>::cost() const {
  CoreCost cost;
  const double entries = static_cast<double>(first_.column.size());
  const double rows = diagonal_.empty() ? 0.0 : n_;
  cost.flops = is_complex_v<T> ? 8 * entries + 11 * rows : 2 * entries + rows;
  cost.bytes = first_.rows.schedule.graph.total_cost();
  cost.critical_path_bytes = first_.rows.schedule.graph.critical_path();
  if (first_.scaled)
    cost.critical_path_bytes_of_one = std::min(cost.critical_path_bytes, first_.rows.panels.serial_bytes);
  cost.rhs_to_share = narrow_strip<T> + 1;
  return cost;
}

template <class T>
offset_t RowCore<T>::memory_bytes() const {
  offset_t second = second_made_.load(std::memory_order_acquire) ? second_.memory_bytes() : 0;
  for (const Panels& panels : panels_)
    if (panels.made.load(std::memory_order_acquire)) second += panels.sweep.memory_bytes();
  return static_cast<offset_t>((diagonal_.size() + reciprocal_.size()) * sizeof(T)) + first_.memory_bytes() +
         second;
}

#define PALMETTE_INSTANTIATE(T) template class RowCore<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
