// The door's function: checks, allocation, the run, and the report.
#include "palmette/factorize/factorize.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "palmette/factorize/assemble.hpp"
#include "palmette/factorize/program.hpp"

namespace palmette {
namespace {

using factorize_detail::failure_at;
using factorize_detail::Offload;
using factorize_detail::PivotTally;
using factorize_detail::Program;
using factorize_detail::Work;
using factorize_detail::Workspace;

/// At most this many columns with replaced pivots are listed.
constexpr std::size_t listed_columns = 1000;

void check_size(std::string_view what, std::int64_t size, index_t n, bool may_be_empty) {
  if (size == n || (may_be_empty && size == 0)) return;
  throw DimensionError("factorize: " + std::string(what) + " has size " + std::to_string(size) +
                       ", the structure has " + std::to_string(n) + "; analyze this matrix's own pattern");
}

template <class T>
void check_arguments(const SparseMatrix<T>& matrix, const SymbolicFactor* symbolic,
                     const Ordering& ordering) {
  if (symbolic == nullptr) throw UsageError("factorize: the structure is missing; call analyze first");
  check_size("the matrix's rows", matrix.rows(), symbolic->n, false);
  check_size("the matrix's columns", matrix.cols(), symbolic->n, false);
  check_size("the row scaling", static_cast<std::int64_t>(ordering.row_scale.size()), symbolic->n, true);
  check_size("the column scaling", static_cast<std::int64_t>(ordering.column_scale.size()), symbolic->n,
             true);
}

/// Allocate the arrays whose size differs; keep the others.
template <class T>
void prepare_factor(Factor<T>& factor, const SparseMatrix<T>& matrix,
                    std::shared_ptr<const SymbolicFactor> symbolic, const Ordering& ordering,
                    FactorKind kind) {
  const auto n = static_cast<std::size_t>(symbolic->n);
  const offset_t entries = symbolic->panel_entries();
  factor.kind = kind;
  factor.hermitian =
      is_complex_v<T> &&
      (kind == FactorKind::llt || (kind == FactorKind::ldlt && matrix.symmetry == Symmetry::hermitian));
  if (factor.lower.size() != entries) factor.lower = PanelArray<T>(entries, Uninitialised());
  const offset_t upper_entries = kind == FactorKind::lu ? entries : 0;
  if (factor.upper.size() != upper_entries) factor.upper = PanelArray<T>(upper_entries, Uninitialised());
  factor.d.resize(kind == FactorKind::ldlt ? n : 0);
  factor.d_below.resize(kind == FactorKind::ldlt ? n : 0);
  factor.place.resize(kind != FactorKind::llt ? n : 0);
  factor.row_scale = ordering.row_scale;
  factor.column_scale = ordering.column_scale;
  factor.symbolic = std::move(symbolic);
}

NumericalFailure zero_matrix() {
  NumericalFailure failure;
  failure.kind = FailureKind::numerically_singular;
  failure.row = failure.column = 0;
  failure.message = "every entry of the matrix is zero: it has no inverse";
  return failure;
}

double sum_of_logs(const std::vector<double>& scales) {
  double sum = 0;
  for (const double scale : scales) sum += std::log(scale);
  return sum;
}

/// det A = (parities)·Π pivots / Π scales, since P_r·R·A·C·P_cᵀ = L·U.
PivotReport report_of(const PivotTally& tally, const Ordering& ordering, bool odd_permutation,
                      const SymbolicFactor& symbolic) {
  PivotReport report;
  report.perturbed = static_cast<index_t>(tally.replacements.size());
  for (const ReplacedPivot& pivot : tally.replacements)
    report.perturbed_columns.push_back(symbolic.column.new_to_old()[pivot.column]);
  std::sort(report.perturbed_columns.begin(), report.perturbed_columns.end());
  report.perturbed_columns.resize(std::min(report.perturbed_columns.size(), listed_columns));
  report.perturbed_columns.shrink_to_fit();
  if (symbolic.n == 0) return report;
  report.smallest_pivot = tally.smallest;
  report.largest_pivot = tally.largest;
  report.log_abs_determinant =
      tally.log_modulus() - sum_of_logs(ordering.row_scale) - sum_of_logs(ordering.column_scale);
  report.determinant_sign = (odd_permutation ? -tally.sign : tally.sign) / std::abs(tally.sign);
  if (tally.singular_root && !tally.inexact_replacement) {
    report.determinant_sign = 0;
    report.log_abs_determinant = -infinity;
  }
  return report;
}

/// The arguments of the call.
template <class T>
struct Request {
  const SparseMatrix<T>& matrix;
  const std::shared_ptr<const SymbolicFactor>& symbolic;
  const Ordering& ordering;
  const FactorizeOptions& options;
};

/// Takes some hundredths of a second, so few hand-overs occur per unit of work.
constexpr double flops_of_a_long_run = 1e9;

/// Tasks of a run with a device have whole pieces of the host's: rows are cut where the host cuts them.
RowChunks chunks_with_device(const OffloadOptions& options, const OffloadPlan& plan) {
  constexpr index_t unit = factorize_detail::host_chunk_rows;
  if (options.task_rows < 1)
    throw UsageError("offload: tasks of " + std::to_string(options.task_rows) + " rows; give at least 1");
  return {(options.task_rows + unit - 1) / unit * unit, plan.rows_on_device};
}

/// What was done where. If the plan gives the device nothing, the host counted nothing.
template <class T>
OffloadCounts counts_of(const Program<T>& program, Offload<T>& offload, bool took_part) {
  OffloadCounts counts = offload.finish();
  if (took_part) counts.add(program.host_counts());
  else counts = offload.planned().counts;
  return counts;
}

/// Write the factor. `workspace` is allocated if it is missing or does not fit.
template <class T>
Outcome<void> run(const Request<T>& request, std::unique_ptr<Workspace<T>>& workspace, Factor<T>& factor) {
  const auto& [matrix, symbolic, ordering, options] = request;
  const Stopwatch watch;
  const SubnormalsAsZero scope;
  blas::use_one_thread();
  std::optional<ThreadTeam> alone;
  ThreadTeam& team = options.team != nullptr ? *options.team : alone.emplace(1);
  const bool all_go = options.columns_last == 0;
  const double largest = options.kind == FactorKind::llt
                             ? 0
                             : factorize_detail::largest_scaled_entry(
                                   matrix, ordering, all_go ? nullptr : symbolic.get(), options.columns_last);
  if (largest == 0 && symbolic->n > options.columns_last && options.kind != FactorKind::llt)
    return zero_matrix();

  prepare_factor(factor, matrix, symbolic, ordering, options.kind);
  const double relative =
      options.tiny_pivot > 0 ? options.tiny_pivot : factorize_detail::default_tiny_pivot(unit_roundoff<T>);
  Work<T> work{matrix, *symbolic, factor, static_cast<real_t<T>>(relative * largest), options.columns_last};
  std::optional<Offload<T>> offload;
  if (options.offload.device) offload.emplace(work, options.offload);
  Offload<T>* const with_device = offload && !offload->plan().none() ? &*offload : nullptr;
  const RowChunks chunks =
      with_device != nullptr ? chunks_with_device(options.offload, offload->plan()) : RowChunks();
  if (!workspace || !workspace->fits(symbolic, options.kind, team.size(), chunks)) {
    workspace = std::make_unique<Workspace<T>>(symbolic, options.kind, team.size(), chunks);
  } else {
    if (!workspace->listed.fits(matrix.pattern, team)) workspace->listed.make(work, workspace->scratch, team);
    work.listed = &workspace->listed;
  }
  factor.flops = workspace->flops;
  ProgressCallback told;
  if (options.progress)
    told = [&scope, &progress = options.progress](std::string_view phase, double fraction) {
      const InMode of_the_caller(scope.before());
      progress(phase, fraction);
    };
  Program<T> program(work, *workspace, told, with_device);
  if (options.kind == FactorKind::lu) factorize_detail::assemble_upper(work, team);
  DriveOptions drive_options;
  if (factor.flops >= flops_of_a_long_run) drive_options.called = ThreadTeam::Called::all;
  drive(program, *workspace->transport, team, drive_options);
  factor.offload.reset();
  if (offload) factor.offload = counts_of(program, *offload, with_device != nullptr);
  if (program.failure().supernode >= 0) return failure_at(program.failure(), *symbolic);

  const PivotTally tally = program.tally();
  factor.pivots = report_of(tally, ordering, workspace->odd_permutation, *symbolic);
  factor.replaced = factorize_detail::in_users_matrix(tally.replacements, factor);
  if (options.kind == FactorKind::llt ||
      (options.kind == FactorKind::ldlt && (!is_complex_v<T> || factor.hermitian)))
    factor.pivots.inertia = tally.inertia;
  factor.seconds = watch.seconds();
  return {};
}

template <class T>
Outcome<void> checked_run(const Request<T>& request, std::unique_ptr<Workspace<T>>& workspace,
                          Factor<T>& factor) {
  check_arguments(request.matrix, request.symbolic.get(), request.ordering);
  try {
    return run(request, workspace, factor);
  } catch (const std::bad_alloc&) {
    throw MemoryError("factorize: no memory left for the workspace");
  }
}

}  // namespace

template <class T>
FactorizeMemory<T>::FactorizeMemory() : kept_(std::make_shared<factorize_detail::KeptMemory<T>>()) {}
template <class T>
FactorizeMemory<T>::FactorizeMemory(FactorizeMemory&&) noexcept = default;
template <class T>
FactorizeMemory<T>& FactorizeMemory<T>::operator=(FactorizeMemory&&) noexcept = default;
template <class T>
FactorizeMemory<T>::~FactorizeMemory() = default;

template <class T>
Outcome<Factor<T>> factorize(const SparseMatrix<T>& matrix, std::shared_ptr<const SymbolicFactor> symbolic,
                             const Ordering& ordering, const FactorizeOptions& options) {
  Factor<T> factor;
  std::unique_ptr<Workspace<T>> workspace;
  const Outcome<void> done = checked_run<T>({matrix, symbolic, ordering, options}, workspace, factor);
  if (!done) return done.failure();
  return factor;
}

template <class T>
Outcome<std::shared_ptr<const Factor<T>>> factorize_again(FactorizeMemory<T>& memory,
                                                          const SparseMatrix<T>& matrix,
                                                          std::shared_ptr<const SymbolicFactor> symbolic,
                                                          const Ordering& ordering,
                                                          const FactorizeOptions& options) {
  const std::shared_ptr<factorize_detail::KeptMemory<T>>& kept = memory.kept();
  std::unique_ptr<Factor<T>> factor = kept->spare->take();
  if (!factor || factor->symbolic != symbolic) factor = std::make_unique<Factor<T>>();
  const Outcome<void> done = checked_run<T>({matrix, symbolic, ordering, options}, kept->workspace, *factor);
  if (!done) {
    kept->spare->give_back(std::move(factor));
    return done.failure();
  }
  return returning(kept->spare, std::move(factor));
}

#define PALMETTE_INSTANTIATE(T)                                                                            \
  template class FactorizeMemory<T>;                                                                       \
  template Outcome<Factor<T>> factorize<T>(const SparseMatrix<T>&, std::shared_ptr<const SymbolicFactor>,  \
                                           const Ordering&, const FactorizeOptions&);                      \
  template Outcome<std::shared_ptr<const Factor<T>>> factorize_again<T>(                                   \
      FactorizeMemory<T>&, const SparseMatrix<T>&, std::shared_ptr<const SymbolicFactor>, const Ordering&, \
      const FactorizeOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
