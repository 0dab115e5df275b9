// Solves with data from the caller: a triangle, or the factors of a matrix.
#include <algorithm>
#include <cmath>
#include <limits>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/device_checks.hpp"
#include "palmette/solver/known_matrix.hpp"
#include "palmette/solver/product_residual.hpp"
#include "palmette/solver/rank_checks.hpp"
#include "palmette/solver/rank_factors_inverse.hpp"
#include "palmette/solver/solver.hpp"
#include "palmette/solver/team_on_demand.hpp"
#include "palmette/solver/verified_answer.hpp"

namespace palmette {
namespace {

/// The triangle in question, without entries of the other side and with an explicit unit diagonal. Shared
/// with the input if that is the same.
template <class T>
std::shared_ptr<const SparseMatrix<T>> meant_triangle(std::shared_ptr<const SparseMatrix<T>> given,
                                                      const TriangleOptions& options) {
  const auto belongs = [&](index_t row, index_t column) {
    if (row == column) return !options.unit_diagonal;
    return (row > column) == options.lower;
  };
  bool same = !options.unit_diagonal && given->symmetry == Symmetry::general;
  for (index_t j = 0; j < given->cols() && same; ++j)
    for (const index_t row : given->pattern.column(j)) same = same && belongs(row, j);
  if (same) return given;
  Triplets<T> kept{given->rows(), given->cols(), {}, {}, {}};
  const auto keep = [&](index_t row, index_t column, T value) {
    kept.row.push_back(row);
    kept.column.push_back(column);
    kept.value.push_back(value);
  };
  for (index_t j = 0; j < given->cols(); ++j) {
    if (options.unit_diagonal) keep(j, j, T(1));
    for (offset_t entry = given->pattern.column_ptr[j]; entry < given->pattern.column_ptr[j + 1]; ++entry)
      if (belongs(given->pattern.row_index[entry], j))
        keep(given->pattern.row_index[entry], j, given->values[entry]);
  }
  return std::make_shared<const SparseMatrix<T>>(from_triplets(kept));
}

template <class T>
Report first_report(const SparseMatrix<T>& matrix, const TriangularSolverOptions& options) {
  Report report;
  report.matrix = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarTraits<T>::type, matrix.symmetry};
  report.version = version();
  if (!options.note_on_device.empty()) report.notes.push_back(options.note_on_device);
  return report;
}

/// Whether the method is one that takes a triangle column by column.
bool goes_by_columns(SolveMethod method) {
  const auto& rows = solve_method_list(SolveWhere::devices_by_columns);
  return std::any_of(rows.begin(), rows.end(), [&](const auto& info) { return info.method == method; });
}

/// Ranks have one device each, and always put by their network.
void check_plan_over_ranks(const PlanOptions& plan) {
  if (plan.world)
    throw UsageError("a triangle over ranks has one device on each: leave out the world of devices");
  const WorldOptions& world = plan.of_world;
  if (world.by_network || world.grid.rows != 0 || world.grid.cols != 0 || world.layers != 1)
    throw UsageError(
        "by_network, grid and layers are for a world of devices in one process; leave them out over ranks");
}

/// The ranks of a transport, before a solver exists.
struct NewRanks {
  NewRanks(Transport& transport, double watchdog_seconds)
      : team{transport, alone, {watchdog_seconds}} {
    transport.set_watchdog(watchdog_seconds);
  }

  ThreadTeam alone{1};
  RankTeam team;
};

/// Without what ranks do not have: methods and threads of a host, and vectors on a device.
TriangularSolverOptions options_of_hosts(TriangularSolverOptions given) {
  given.triangle.plan.device = nullptr;
  given.method = SolveMethod::automatic;
  given.measure = false;  // the memory of the host says nothing about devices
  return given;
}

template <class T>
void check_factors(const OwnFactors<T>& factors, const SparseMatrix<T>* matrix,
                   const TriangularSolverOptions& options) {
  check_triangle(factors.lower, options);
  check_triangle(factors.upper, options);
  if (matrix == nullptr) return;
  check_matrix(*matrix);
  if (matrix->rows() != factors.lower.rows() || matrix->cols() != factors.lower.rows())
    throw DimensionError("the factors are of order " + std::to_string(factors.lower.rows()) +
                         ", the matrix is " + std::to_string(matrix->rows()) + " x " +
                         std::to_string(matrix->cols()));
}

template <class T>
std::string note_on_ranks(GivenInverse<T>& inverse) {
  return "solved by " + std::to_string(inverse.ranks().transport.num_ranks()) + " ranks with one " +
         inverse.device()->info().kind + " device each, whose kernels put sums of rows to each other";
}

/// Of what all ranks must pass alike: with different arguments they would wait for each other's messages.
struct Fingerprint {
  std::uint64_t value = 0;

  template <class V>
  void add(std::span<const V> values) {
    value = checksum(std::as_bytes(values), value);
  }
  void add(std::initializer_list<index_t> numbers) { add(std::span(numbers.begin(), numbers.size())); }
  void add(const std::vector<double>& scale) { add(std::span(scale)); }
  void add(const Permutation& order) { add(std::span<const index_t>(order.new_to_old())); }
  template <class T>
  void add(const SparseMatrix<T>& matrix) {
    add({matrix.rows(), matrix.cols(), static_cast<index_t>(matrix.symmetry)});
    add(std::span(matrix.pattern.column_ptr));
    add(std::span(matrix.pattern.row_index));
    add(std::span(matrix.values));
  }
};

template <class T>
std::uint64_t fingerprint_of(DenseView<const T> b, const SolveRequest& request) {
  Fingerprint print;
  print.add({static_cast<index_t>(request.operation), request.max_refine_steps, request.condition ? 1 : 0,
             request.repeat});
  for (index_t j = 0; j < b.cols; ++j)
    print.add(std::span<const T>(b.column(j), static_cast<std::size_t>(b.rows)));
  return print.value;
}

template <class T>
std::uint64_t fingerprint_of(const SparseMatrix<T>& triangle, const TriangleOptions& options) {
  Fingerprint print;
  print.add({options.lower ? 1 : 0, options.unit_diagonal ? 1 : 0, options.plan.of_world.tasks_per_element});
  print.add(triangle);
  return print.value;
}

template <class T>
std::uint64_t fingerprint_of(const OwnFactors<T>& factors, const SparseMatrix<T>* matrix) {
  Fingerprint print;
  print.add({factors.lower_unit_diagonal ? 1 : 0, factors.upper_unit_diagonal ? 1 : 0,
             factors.hermitian ? 1 : 0, factors.plan.of_world.tasks_per_element, matrix != nullptr ? 1 : 0});
  print.add(factors.lower);
  print.add(factors.upper);
  print.add(factors.row);
  print.add(factors.column);
  print.add(factors.row_scale);
  print.add(factors.column_scale);
  if (matrix != nullptr) print.add(*matrix);
  return print.value;
}

}  // namespace

template <class T>
struct TriangularSolver<T>::State {
  SolvePlan<T> plan;
  std::shared_ptr<const SparseMatrix<T>> matrix;       // null: verified against the product of `factors`
  std::shared_ptr<const OwnFactors<T>> factors;        // null for a triangle
  SolveMethod method;
  TeamOnDemand team;
  BandwidthMemory bandwidth;
  std::shared_ptr<Device> device;
  std::shared_ptr<DeviceWorld> world;                   // several devices
  std::shared_ptr<GivenInverse<T>> over_ranks;          // in place of the plan
  std::unique_ptr<const DeviceMatrix<T>> matrix_there;  // null: the host verifies
  Report report;

  State(SolvePlan<T> p, const TriangularSolverOptions& options)
      : plan(std::move(p)), method(options.method), team(options.threads),
        bandwidth(options.measure, options.cache_folder),
        device(options.triangle.plan.device), world(options.triangle.plan.world) {}

  /// @param of  the matrix that reports describe
  State(std::shared_ptr<GivenInverse<T>> inverse, const SparseMatrix<T>& of,
        const TriangularSolverOptions& options)
      : State(SolvePlan<T>(), options) {
    over_ranks = std::move(inverse);
    report = first_report(of, options);
    report.notes.push_back(note_on_ranks(*over_ranks));
  }

  void verify_against(std::shared_ptr<const SparseMatrix<T>> given) {
    matrix = std::move(given);
    if (device && matrix) matrix_there = std::make_unique<const DeviceMatrix<T>>(device, matrix);
  }
  index_t size() const {
    if (!over_ranks) return plan.size();
    return factors ? factors->lower.rows() : matrix->rows();
  }
  AnswerSource<T> source(index_t num_rhs, const SolveRequest& request);
  Outcome<Report> solve_over_ranks(DenseView<const T> b, DenseView<T> x, const SolveRequest& request);
};

/// For this number of right-hand sides; refers to the state and the request.
template <class T>
AnswerSource<T> TriangularSolver<T>::State::source(index_t num_rhs, const SolveRequest& request) {
  AnswerSource<T> source;
  source.matrix = matrix.get();
  source.apply = [&](Operation operation, DenseView<const T> in, DenseView<T> out) {
    if (over_ranks) return over_ranks->apply(operation, in, out);
    return plan.solve(operation, in, out, {method, team.for_work(!device && !world, request.threads)});
  };
  source.device = device;
  source.world = world;
  if (over_ranks) source.device_of_rank = over_ranks->device();
  source.matrix_there = matrix_there.get();
  source.apply_there = [&](Operation operation, OnDevice<const T> in, OnDevice<T> out) {
    return plan.solve(operation, in, out, {method, nullptr});
  };
  source.verify_product = [this](Operation operation, DenseView<const T> in, DenseView<const T> out) {
    return verify_product(*factors, operation, in, out);
  };
  source.cost = over_ranks ? over_ranks->cost(num_rhs) : plan.cost(num_rhs);
  source.guarded_blocks = plan.guarded_blocks();
  source.bandwidth = &bandwidth;
  return source;
}

/// What one rank alone cannot accept, all refuse before any waits for another.
template <class T>
Outcome<Report> TriangularSolver<T>::State::solve_over_ranks(DenseView<const T> b, DenseView<T> x,
                                                             const SolveRequest& request) {
  const RankTeam ranks = over_ranks->ranks();
  check_same_columns(ranks, b.cols);
  DenseMatrix<T> kept;
  check_on_all(ranks, [&] {
    check_right_hand_sides(size(), b, x);
    check_threads(request.threads);
    kept = copy_if_overlapping(b, x);
  });
  check_same_on_all(ranks, fingerprint_of(b, request), "b or the request", "pass the same on all ranks");
  return result_of_exchange(ranks.transport, [&] {
    const DenseView<const T> rhs = kept.values.empty() ? b : std::as_const(kept).view();
    return make_answer(source(b.cols, request), report, rhs, x, request);
  });
}

void set_device(TriangularSolverOptions& options, std::string_view name) {
  if (name != "auto" && !name.starts_with("auto@")) {
    options.triangle.plan.device = open_device(name);
    return;
  }
  const FoundGpu found = find_gpu(memory_budget(name));
  options.triangle.plan.device = found.device;
  options.note_on_device = found.device ? "solved on " + found.device->info().address() +
                                              ": given factors go to a GPU where there is one"
                                        : "solved on the host: there is no GPU (" + found.why_none + ")";
}

void set_devices(TriangularSolverOptions& options, std::string_view kind, index_t num_devices) {
  options.triangle.plan.of_world.by_columns |= goes_by_columns(options.method);
  if (num_devices == 1) return set_device(options, kind);
  options.triangle.plan.world = open_world(kind, static_cast<int>(num_devices));
}

template <class T>
TriangularSolver<T>::TriangularSolver(std::unique_ptr<State> state) : state_(std::move(state)) {}
template <class T>
TriangularSolver<T>::TriangularSolver(TriangularSolver&&) noexcept = default;
template <class T>
TriangularSolver<T>& TriangularSolver<T>::operator=(TriangularSolver&&) noexcept = default;
template <class T>
TriangularSolver<T>::~TriangularSolver() = default;

template <class T>
Outcome<TriangularSolver<T>> TriangularSolver<T>::create(std::shared_ptr<const SparseMatrix<T>> triangle,
                                                         const TriangularSolverOptions& options) {
  if (!triangle) throw UsageError("the triangle is null");
  triangle = own(std::move(triangle));
  check_triangle(*triangle, options);
  TriangleOptions planned = options.triangle;
  planned.plan.of_world.by_columns |= goes_by_columns(options.method);
  Outcome<SolvePlan<T>> plan = plan_triangle(*triangle, planned);
  if (!plan) return plan.failure();
  auto state = std::make_unique<State>(std::move(plan).value(), options);
  state->report = first_report(*triangle, options);
  state->verify_against(meant_triangle(std::move(triangle), options.triangle));
  return TriangularSolver(std::move(state));
}

template <class T>
Outcome<TriangularSolver<T>> TriangularSolver<T>::create(std::shared_ptr<const SparseMatrix<T>> triangle,
                                                         const TriangularSolverOptions& given,
                                                         Transport& transport) {
  const TriangularSolverOptions options = options_of_hosts(given);
  NewRanks ranks(transport, given.watchdog_seconds);
  check_on_all(ranks.team, [&] {
    if (!triangle) throw UsageError("the triangle is null");
    triangle = own(std::move(triangle));
    check_triangle(*triangle, options);
    check_plan_over_ranks(given.triangle.plan);
  });
  check_same_on_all(ranks.team, fingerprint_of(*triangle, given.triangle), "the triangle or its options",
                    "pass the same on all ranks");
  auto inverse = RankTriangleInverse<T>::create(transport, *triangle, given);
  if (!inverse) return inverse.failure();
  auto state = std::make_unique<State>(std::move(inverse).value(), *triangle, options);
  state->verify_against(meant_triangle(std::move(triangle), options.triangle));
  return TriangularSolver(std::move(state));
}

template <class T>
Outcome<TriangularSolver<T>> TriangularSolver<T>::from_factors(std::shared_ptr<const OwnFactors<T>> factors,
                                                               std::shared_ptr<const SparseMatrix<T>> matrix,
                                                               const TriangularSolverOptions& given) {
  if (!factors) throw UsageError("the factors are null");
  TriangularSolverOptions options = given;
  options.triangle.plan = factors->plan;
  factors = own(std::move(factors));
  matrix = own(std::move(matrix));
  check_factors(*factors, matrix.get(), options);
  Outcome<SolvePlan<T>> plan = plan_own_factors(*factors);
  if (!plan) return plan.failure();
  auto state = std::make_unique<State>(std::move(plan).value(), options);
  state->report = first_report(matrix ? *matrix : factors->lower, options);
  state->verify_against(std::move(matrix));
  state->factors = std::move(factors);
  return TriangularSolver(std::move(state));
}

template <class T>
Outcome<TriangularSolver<T>> TriangularSolver<T>::from_factors(std::shared_ptr<const OwnFactors<T>> factors,
                                                               std::shared_ptr<const SparseMatrix<T>> matrix,
                                                               const TriangularSolverOptions& given,
                                                               Transport& transport) {
  const TriangularSolverOptions options = options_of_hosts(given);
  NewRanks ranks(transport, given.watchdog_seconds);
  check_on_all(ranks.team, [&] {
    if (!factors) throw UsageError("the factors are null");
    factors = own(std::move(factors));
    matrix = own(std::move(matrix));
    check_factors(*factors, matrix.get(), options);
    check_plan_over_ranks(factors->plan);
  });
  check_same_on_all(ranks.team, fingerprint_of(*factors, matrix.get()), "the factors, A or the options",
                    "pass the same on all ranks");
  std::optional<Outcome<void>> checked;
  check_on_all(ranks.team, [&] { checked = check_own_factors(*factors); });
  if (!*checked) return checked->failure();
  auto inverse = RankFactorsInverse<T>::create(transport, factors, given);
  if (!inverse) return inverse.failure();
  auto state =
      std::make_unique<State>(std::move(inverse).value(), matrix ? *matrix : factors->lower, options);
  state->verify_against(std::move(matrix));
  state->factors = std::move(factors);
  return TriangularSolver(std::move(state));
}

template <class T>
Outcome<Report> TriangularSolver<T>::solve(DenseView<const T> b, DenseView<T> x,
                                           const SolveRequest& request) {
  if (state_->over_ranks) return state_->solve_over_ranks(b, x, request);
  check_right_hand_sides(size(), b, x);
  check_threads(request.threads);
  const DenseMatrix<T> kept = copy_if_overlapping(b, x);
  const DenseView<const T> rhs = kept.values.empty() ? b : kept.view();
  return make_answer(state_->source(b.cols, request), state_->report, rhs, x, request);
}

template <class T>
Outcome<Report> TriangularSolver<T>::solve(OnDevice<const T> b, OnDevice<T> x, const SolveRequest& request) {
  if (state_->over_ranks)
    throw UsageError(
        "b and x lie on a device, but a triangle over ranks takes and returns whole vectors on the host: "
        "copy them there");
  check_vectors_on(state_->device, size(), b, x, request);
  const CopyThere<T> kept = copy_if_overlapping(state_->device, b, x);
  return make_answer(state_->source(b.cols(), request), state_->report, kept.or_else(b), x, request);
}

template <class T>
index_t TriangularSolver<T>::size() const {
  return state_->size();
}
template <class T>
std::shared_ptr<Device> TriangularSolver<T>::device() const {
  return state_->device;
}
template <class T>
const Report& TriangularSolver<T>::report() const {
  return state_->report;
}

#define PALMETTE_INSTANTIATE(T) template class TriangularSolver<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
