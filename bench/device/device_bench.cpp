// Each solver is warmed up once, timed, and its answer verified.
#include "bench/device/device_bench.hpp"

#include <algorithm>

#include "bench/device/rivals.hpp"
#include "bench/device/vendor_library.hpp"
#include "bench/median.hpp"

namespace palmette::benchmarks {
namespace {

constexpr int solves_in_a_row = 10;

/// One system with so many right-hand sides, and how it is timed.
template <class T>
class Trial {
 public:
  Trial(const Solver<T>& solver, index_t num_rhs, int repeat, bool is_timed)
      : matrix_(*solver.matrix()),
        b_(solver.size(), num_rhs),
        x_(solver.size(), num_rhs),
        repeat_(repeat),
        is_timed_(is_timed) {
    std::uint64_t state = 12345;
    DenseMatrix<T> truth(solver.size(), num_rhs);
    for (T& value : truth.values) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      value = static_cast<T>(static_cast<real_t<T>>(double(state >> 11) / double(1ULL << 52) - 1));
    }
    multiply_add(matrix_, Operation::plain, T(1), std::as_const(truth).view(), b_.view());
  }

  index_t num_rhs() const { return b_.cols; }
  DenseView<const T> b() const { return b_.view(); }
  DenseView<T> x() { return x_.view(); }
  DenseView<const T> x() const { return x_.view(); }
  double backward_error() const {
    return verify<T>(matrix_, Operation::plain, b(), x()).backward_error;
  }

  /// @param solve  x ← A⁻¹·b
  template <class Solve>
  void measure(DeviceBenchRow& row, const Solve& solve) {
    solve();
    row.backward_error = backward_error();
    if (is_timed_) row.seconds = median_seconds(solve, 1);
  }
  template <class Work>
  double median_seconds(const Work& work, int times) const {
    std::vector<double> seconds;
    for (int turn = 0; turn < repeat_; ++turn) {
      const Stopwatch watch;
      work();
      seconds.push_back(watch.seconds() / times);
    }
    return bench::median(seconds);
  }
  bool is_timed() const { return is_timed_; }

 private:
  const SparseMatrix<T>& matrix_;
  DenseMatrix<T> b_, x_;
  int repeat_;
  bool is_timed_;
};

template <class T>
DeviceBenchRow row_of(const SolvePlan<T>& plan, const SolveMethodInfo& method, Trial<T>& trial) {
  DeviceBenchRow row;
  row.solver = method.name;
  row.num_rhs = trial.num_rhs();
  trial.measure(row, [&] {
    row.counts = plan.solve(Operation::plain, trial.b(), trial.x(), {method.method, nullptr}).device;
  });
  return row;
}

/// Columns of a device.
template <class T>
struct ColumnsThere {
  DeviceArray<T> values;
  index_t rows, cols;

  ColumnsThere(const std::shared_ptr<Device>& device, DenseView<const T> from)
      : values(device, static_cast<std::size_t>(from.rows) * static_cast<std::size_t>(from.cols)),
        rows(from.rows),
        cols(from.cols) {
    copy_to_device(*device, from, view());
  }
  OnDevice<T> view() const { return OnDevice<T>(DenseView<T>{values.data(), rows, cols, rows}); }
};

/// The same, and on a GPU between vectors that stay there.
template <class T>
DeviceBenchRow row_on_device(const SolvePlan<T>& plan, const std::shared_ptr<Device>& device,
                             const SolveMethodInfo& method, Trial<T>& trial) {
  DeviceBenchRow row = row_of(plan, method, trial);
  const ColumnsThere<T> b(device, trial.b()), x(device, std::as_const(trial).x());
  const auto solve = [&] {
    return plan.solve(Operation::plain, b.view(), x.view(), {method.method, nullptr}).device;
  };
  row.counts_on_device = solve();
  copy_from_device<T>(*device, x.view(), trial.x());
  row.backward_error = std::max(row.backward_error, trial.backward_error());
  if (trial.is_timed())
    row.device_seconds = trial.median_seconds(
        [&] {
          for (int turn = 0; turn < solves_in_a_row; ++turn) (void)solve();
          device->finish();
        },
        solves_in_a_row);
  return row;
}

/// @param make  RivalNeeds → the rival
template <class Make>
DeviceBenchRow rival_row(const std::string& name, const RivalNeeds& needs, Trial<double>& trial,
                         const Make& make) {
  DeviceBenchRow row;
  row.solver = name;
  row.num_rhs = trial.num_rhs();
  try {
    const std::unique_ptr<Rival> rival = make(needs);
    const DeviceCounts before = needs.device->counts();
    rival->solve(trial.b(), trial.x());
    row.counts = needs.device->counts() - before;
    trial.measure(row, [&] { rival->solve(trial.b(), trial.x()); });
    if (trial.is_timed())
      row.device_seconds = trial.median_seconds(
          [&] {
            for (int turn = 0; turn < solves_in_a_row; ++turn) rival->sweep();
            rival->wait();
          },
          solves_in_a_row);
  } catch (const VendorError& error) {
    row.unavailable = error.what();
  } catch (const MemoryError& error) {
    row.unavailable = error.what();
  }
  return row;
}

template <class T>
void add_rivals(const Solver<T>& solver, const RivalNeeds& needs, Trial<T>& trial,
                std::vector<DeviceBenchRow>& rows) {
  if constexpr (std::is_same_v<T, double>) {
    const auto factor = solver.factor();
    rows.push_back(rival_row("cusparse", needs, trial,
                             [&](const RivalNeeds& all) { return make_cusparse(*factor, all); }));
    rows.push_back(rival_row("cudss", needs, trial, [&](const RivalNeeds& all) {
      return make_cudss(*solver.matrix(), factor->kind, all);
    }));
  } else {
    for (const char* const name : {"cusparse", "cudss"}) {
      DeviceBenchRow row;
      row.solver = name;
      row.num_rhs = trial.num_rhs();
      row.unavailable = "the comparison is of real matrices in double precision";
      rows.push_back(std::move(row));
    }
  }
}

}  // namespace

template <class T>
std::vector<DeviceBenchRow> bench_device(const Solver<T>& solver, const std::shared_ptr<Device>& device,
                                         const DeviceBenchOptions& options) {
  const bool is_emulated = device->info().kind == "emulated";
  const auto factor = solver.factor();
  const SolvePlan<T> host = plan_solve<T>(factor);
  PlanOptions on_device;
  on_device.device = device;
  const SolvePlan<T> plan = plan_solve<T>(factor, on_device);
  std::vector<DeviceBenchRow> rows;
  for (const index_t num_rhs : options.num_rhs) {
    Trial<T> trial(solver, num_rhs, options.repeat, !is_emulated);
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::one_machine))
      if (method.method == SolveMethod::serial) rows.push_back(row_of(host, method, trial));
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::device))
      rows.push_back(row_on_device(plan, device, method, trial));
    if (!is_emulated || !options.rival_folder.empty())
      add_rivals(solver, {device, num_rhs, options.rival_folder}, trial, rows);
  }
  return rows;
}

#define PALMETTE_INSTANTIATE(T)                                                                          \
  template std::vector<DeviceBenchRow> bench_device<T>(const Solver<T>&, const std::shared_ptr<Device>&, \
                                                       const DeviceBenchOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::benchmarks
