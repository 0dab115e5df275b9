// Row sweeps: x_r = (b_r − Σ l_rc·x_c) / l_rr, with the sum in ascending order of c whatever the schedule.
#include "palmette/solve/row_core.hpp"

#include <algorithm>
#include <numeric>

#include "palmette/solve/narrow_kernels.hpp"

namespace palmette::sweep {
namespace {

/// Rows in natural order.
template <class T>
struct RowLists {
  std::vector<offset_t> ptr;
  std::vector<index_t> column;
  std::vector<T> value;
};

template <class T>
RowLists<T> rows_of_columns(const SparseMatrix<T>& columns) {
  SparseMatrix<T> rows = transpose(columns);
  return {std::move(rows.pattern.column_ptr), std::move(rows.pattern.row_index), std::move(rows.values)};
}

template <class T>
RowSweep<T> make_sweep(const RowLists<T>& lists, bool ascending) {
  RowSweep<T> sweep;
  sweep.ascending = ascending;
  const double entry_bytes = sizeof(T) + sizeof(index_t);
  sweep.rows = make_row_schedule({lists.ptr, lists.column, ascending, entry_bytes, 3.0 * sizeof(T) + 12});
  const index_t n = static_cast<index_t>(lists.ptr.size()) - 1;
  sweep.place_ptr.assign(static_cast<std::size_t>(n) + 1, 0);
  sweep.column.reserve(lists.column.size());
  sweep.value.reserve(lists.value.size());
  for (index_t place = 0; place < n; ++place) {
    const index_t row = sweep.row_at(place);
    sweep.column.insert(sweep.column.end(), lists.column.begin() + lists.ptr[row], lists.column.begin() + lists.ptr[row + 1]);
    sweep.value.insert(sweep.value.end(), lists.value.begin() + lists.ptr[row], lists.value.begin() + lists.ptr[row + 1]);
    sweep.place_ptr[place + 1] = static_cast<offset_t>(sweep.column.size());
  }
  return sweep;
}

/// The lists of the transpose, from a sweep in any order.
template <class T>
RowLists<T> transposed_lists(const RowSweep<T>& sweep) {
  const index_t n = sweep.size();
  RowLists<T> lists;
  lists.ptr.assign(static_cast<std::size_t>(n) + 1, 0);
  lists.column.resize(sweep.column.size());
  lists.value.resize(sweep.value.size());
  for (const index_t column : sweep.column) ++lists.ptr[column + 1];
  std::partial_sum(lists.ptr.begin(), lists.ptr.end(), lists.ptr.begin());
  std::vector<index_t> place_of(static_cast<std::size_t>(n));
  for (index_t place = 0; place < n; ++place) place_of[sweep.row_at(place)] = place;
  std::vector<offset_t> next(lists.ptr);
  for (index_t row = 0; row < n; ++row)
    for (offset_t entry = sweep.place_ptr[place_of[row]]; entry < sweep.place_ptr[place_of[row] + 1]; ++entry) {
      const offset_t target = next[sweep.column[entry]]++;
      lists.column[target] = row;
      lists.value[target] = sweep.value[entry];
    }
  return lists;
}

/// b − Σ a·x over one row: four partial sums for long rows, since each addition waits for the one before it.
template <class T>
inline T row_remainder(T b, const T* a, const index_t* column, offset_t count, const T* x) {
  offset_t entry = 0;
  if (count >= 8) {
    T part[3] = {T(0), T(0), T(0)};
    for (; entry + 4 <= count; entry += 4) {
      subtract_product(b, a[entry], x[column[entry]]);
      for (int lane = 0; lane < 3; ++lane) subtract_product(part[lane], a[entry + 1 + lane], x[column[entry + 1 + lane]]);
    }
    b += part[0] + (part[1] + part[2]);
  }
  for (; entry < count; ++entry) subtract_product(b, a[entry], x[column[entry]]);
  return b;
}

template <class T>
class RowBody final : public SweepBody {
 public:
  RowBody(const RowSweep<T>& sweep, const std::vector<T>& diagonal, const CoreRun<T>& run)
      : sweep_(sweep), diagonal_(diagonal.empty() ? nullptr : diagonal.data()), run_(run), work_(run.space.work.data()) {}

  void run_task(index_t task, int) override {
    const Task& chunk = sweep_.rows.schedule.graph.tasks[task];
    if (run_.num_rhs() > 1) return solve_many(chunk);
    if (!run_.in.direct() || !run_.out.direct()) return solve_one(chunk, work_, true);
    solve_one(chunk, run_.out.to.data, false);
  }

 private:
  /// One right-hand side; x in the triangle's own numbering, which is where `out` wants it unless `mapped`.
  void solve_one(const Task& chunk, T* x, bool mapped) {
    const T* const b = run_.in.from.data;
    for (index_t place = chunk.first; place < chunk.last; ++place) {
      const index_t row = sweep_.row_at(place);
      const offset_t begin = sweep_.place_ptr[place];
      T value = row_remainder(mapped ? run_.in.value(row, 0) : b[row], sweep_.value.data() + begin,
                              sweep_.column.data() + begin, sweep_.place_ptr[place + 1] - begin, x);
      if (diagonal_ != nullptr) value /= diagonal_[row];
      x[row] = value;
      if (mapped) run_.out.put(row, 0, value);
    }
  }

  /// Several right-hand sides: those of a row lie side by side in the work array, so that one entry serves them all.
  void solve_many(const Task& chunk) {
    for (index_t place = chunk.first; place < chunk.last; ++place) {
      index_t side = 0;
      for (; side + 16 <= run_.num_rhs(); side += 16) solve_strip<16>(place, side);
      if (side + 8 <= run_.num_rhs()) solve_strip<8>(place, side), side += 8;
      if (side + 4 <= run_.num_rhs()) solve_strip<4>(place, side), side += 4;
      for (; side < run_.num_rhs(); ++side) solve_strip<1>(place, side);
    }
  }

  template <int Sides>
  void solve_strip(index_t place, index_t first_side) {
    const index_t row = sweep_.row_at(place);
    const offset_t stride = run_.num_rhs();
    T sum[Sides];
    for (int side = 0; side < Sides; ++side) sum[side] = run_.in.value(row, first_side + side);
    for (offset_t entry = sweep_.place_ptr[place]; entry < sweep_.place_ptr[place + 1]; ++entry) {
      const T* const x = work_ + sweep_.column[entry] * stride + first_side;
      const T value = sweep_.value[entry];
      for (int side = 0; side < Sides; ++side) subtract_product(sum[side], value, x[side]);
    }
    T* const result = work_ + row * stride + first_side;
    for (int side = 0; side < Sides; ++side) {
      result[side] = diagonal_ != nullptr ? sum[side] / diagonal_[row] : sum[side];
      run_.out.put(row, first_side + side, result[side]);
    }
  }

  const RowSweep<T>& sweep_;
  const T* diagonal_;
  const CoreRun<T>& run_;
  T* work_;
};

}  // namespace

template <class T>
offset_t RowSweep<T>::memory_bytes() const {
  const auto bytes = [](const auto& list) { return static_cast<offset_t>(list.size() * sizeof(list[0])); };
  return bytes(place_ptr) + bytes(column) + bytes(value) + bytes(rows.order) + rows.schedule.memory_bytes();
}

template <class T>
RowCore<T>::RowCore(LowerTriangle<T> triangle, bool transposed_first)
    : n_(triangle.size()), diagonal_(std::move(triangle.diagonal)), first_transposed_(transposed_first) {
  // The columns of L are the rows of Lᵀ.
  if (transposed_first)
    first_ = make_sweep<T>({std::move(triangle.strict.pattern.column_ptr), std::move(triangle.strict.pattern.row_index),
                            std::move(triangle.strict.values)}, false);
  else
    first_ = make_sweep(rows_of_columns(triangle.strict), true);
}

template <class T>
const RowSweep<T>& RowCore<T>::sweep(bool transposed) const {
  if (transposed == first_transposed_) return first_;
  std::call_once(second_once_, [this] {
    second_ = make_sweep(transposed_lists(first_), !first_.ascending);
    second_made_.store(true, std::memory_order_release);
  });
  return second_;
}

template <class T>
void RowCore<T>::solve(bool transposed, const CoreRun<T>& run) const {
  const RowSweep<T>& rows = sweep(transposed);
  RowBody<T> body(rows, diagonal_, run);
  const SweepSchedule& schedule = rows.rows.schedule;
  run_sweep(run.method, {schedule, run.space.state(run.slot + (transposed ? 1 : 0), schedule), body, run.team});
}

template <class T>
CoreCost RowCore<T>::cost() const {
  CoreCost cost;
  const double entries = static_cast<double>(first_.column.size());
  const double rows = diagonal_.empty() ? 0.0 : n_;
  cost.flops = is_complex_v<T> ? 8 * entries + 11 * rows : 2 * entries + rows;
  cost.bytes = first_.rows.schedule.graph.total_cost();
  cost.critical_path_bytes = first_.rows.schedule.graph.critical_path();
  return cost;
}

template <class T>
offset_t RowCore<T>::memory_bytes() const {
  const offset_t second = second_made_.load(std::memory_order_acquire) ? second_.memory_bytes() : 0;
  return static_cast<offset_t>(diagonal_.size() * sizeof(T)) + first_.memory_bytes() + second;
}

#define PALMETTE_INSTANTIATE(T) \
  template struct RowSweep<T>;  \
  template class RowCore<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::sweep
