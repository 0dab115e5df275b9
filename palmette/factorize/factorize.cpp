// The door's function: checks, allocation, the run, and the report.
#include "palmette/factorize/factorize.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "palmette/factorize/assemble.hpp"
#include "palmette/factorize/program.hpp"

namespace palmette {
namespace {

using factorizing::BadPivot;
using factorizing::PivotTally;
using factorizing::Program;
using factorizing::Work;

/// At most this many columns of replaced pivots are listed.
constexpr std::size_t listed_columns = 1000;

void check_size(std::string_view what, std::int64_t size, index_t n, bool may_be_empty) {
  if (size == n || (may_be_empty && size == 0)) return;
  throw DimensionError("factorize: " + std::string(what) + " has size " + std::to_string(size) + ", the structure has " +
                       std::to_string(n) + "; analyze this matrix's own pattern");
}

template <class T>
void check_arguments(const SparseMatrix<T>& matrix, const SymbolicFactor* symbolic, const Ordering& ordering) {
  if (symbolic == nullptr) throw UsageError("factorize: the structure is missing; call analyze first");
  check_size("the matrix's rows", matrix.rows(), symbolic->n, false);
  check_size("the matrix's columns", matrix.cols(), symbolic->n, false);
  check_size("the row scaling", static_cast<std::int64_t>(ordering.row_scale.size()), symbolic->n, true);
  check_size("the column scaling", static_cast<std::int64_t>(ordering.column_scale.size()), symbolic->n, true);
}

template <class T>
Factor<T> empty_factor(const SparseMatrix<T>& matrix, std::shared_ptr<const SymbolicFactor> symbolic,
                       const Ordering& ordering, FactorKind kind) {
  Factor<T> factor;
  const auto n = static_cast<std::size_t>(symbolic->n);
  factor.kind = kind;
  factor.hermitian =
      is_complex_v<T> && (kind == FactorKind::llt || (kind == FactorKind::ldlt && matrix.symmetry == Symmetry::hermitian));
  factor.lower = PanelArray<T>(symbolic->panel_entries(), Uninitialised());
  if (kind == FactorKind::lu) factor.upper = PanelArray<T>(symbolic->panel_entries(), Uninitialised());
  if (kind == FactorKind::ldlt) {
    factor.d.resize(n);
    factor.d_below.resize(n);
  }
  if (kind != FactorKind::llt) factor.place.resize(n);
  factor.row_scale = ordering.row_scale;
  factor.column_scale = ordering.column_scale;
  factor.flops = factorization_flops(*symbolic, kind);
  factor.symbolic = std::move(symbolic);
  return factor;
}

/// Unit roundoff to the power 2/3: see FactorizeOptions.
double default_tiny_pivot(double roundoff) { return std::cbrt(roundoff * roundoff); }

NumericalFailure zero_matrix() {
  NumericalFailure failure;
  failure.kind = FailureKind::numerically_singular;
  failure.row = failure.column = 0;
  failure.message = "every entry of the matrix is zero: it has no inverse";
  return failure;
}

NumericalFailure failure_at(const BadPivot& bad, const SymbolicFactor& symbolic) {
  NumericalFailure failure;
  failure.column = symbolic.column.new_to_old()[bad.column];
  failure.row = symbolic.row.new_to_old()[bad.column];
  failure.supernode = bad.supernode;
  const std::string column = std::to_string(failure.column + 1);
  if (bad.finite) {
    failure.kind = FailureKind::not_positive_definite;
    failure.message =
        "pivot of column " + column + " is not positive: the matrix is not positive definite; use LDLᵀ (kind ldlt)";
  } else {
    failure.kind = FailureKind::not_finite;
    failure.message = "pivot of column " + column +
                      " is not finite: the matrix holds NaN or Inf, or its entries overflow; check or rescale them";
  }
  return failure;
}

double sum_of_logs(const std::vector<double>& scales) {
  double sum = 0;
  for (const double scale : scales) sum += std::log(scale);
  return sum;
}

/// det A = (parities)·Π pivots / Π scales, since P_r·R·A·C·P_cᵀ = L·U.
PivotReport report_of(const PivotTally& tally, const Ordering& ordering, const SymbolicFactor& symbolic) {
  PivotReport report;
  report.perturbed = static_cast<index_t>(tally.perturbed_columns.size());
  for (const index_t column : tally.perturbed_columns)
    report.perturbed_columns.push_back(symbolic.column.new_to_old()[column]);
  std::sort(report.perturbed_columns.begin(), report.perturbed_columns.end());
  report.perturbed_columns.resize(std::min(report.perturbed_columns.size(), listed_columns));
  report.perturbed_columns.shrink_to_fit();
  if (symbolic.n == 0) return report;
  report.smallest_pivot = tally.smallest;
  report.largest_pivot = tally.largest;
  report.log_abs_determinant =
      tally.log_modulus() - sum_of_logs(ordering.row_scale) - sum_of_logs(ordering.column_scale);
  report.determinant_sign = tally.sign / std::abs(tally.sign);
  const std::vector<index_t>&rows = symbolic.row.new_to_old(), &columns = symbolic.column.new_to_old();
  if (rows != columns && factorizing::parity(rows) * factorizing::parity(columns) < 0)
    report.determinant_sign = -report.determinant_sign;
  if (tally.singular_root && !tally.inexact_replacement) {
    report.determinant_sign = 0;
    report.log_abs_determinant = -std::numeric_limits<double>::infinity();
  }
  return report;
}

template <class T>
Outcome<Factor<T>> run(const SparseMatrix<T>& matrix, std::shared_ptr<const SymbolicFactor> symbolic,
                       const Ordering& ordering, const FactorizeOptions& options) {
  const Stopwatch watch;
  blas::use_one_thread();
  std::optional<ThreadTeam> alone;
  ThreadTeam& team = options.team != nullptr ? *options.team : alone.emplace(1);
  const double largest = factorizing::largest_scaled_entry(matrix, ordering);
  if (largest == 0 && symbolic->n > 0 && options.kind != FactorKind::llt) return zero_matrix();

  Factor<T> factor = empty_factor(matrix, symbolic, ordering, options.kind);
  const double relative = options.tiny_pivot > 0 ? options.tiny_pivot : default_tiny_pivot(unit_roundoff<T>);
  const Work<T> work{matrix, *symbolic, factor, static_cast<real_t<T>>(relative * largest)};
  const FactorizationTasks tasks = factorization_tasks(*symbolic, place(*symbolic), options.kind);
  Program<T> program(work, tasks, team.size(), options.progress);
  if (options.kind == FactorKind::lu) factorizing::assemble_upper(work, team);
  drive(program, *make_loopback(), team);
  if (program.failure().supernode >= 0) return failure_at(program.failure(), *symbolic);

  const PivotTally tally = program.tally();
  factor.pivots = report_of(tally, ordering, *symbolic);
  if (options.kind == FactorKind::llt || (options.kind == FactorKind::ldlt && (!is_complex_v<T> || factor.hermitian)))
    factor.pivots.inertia = tally.inertia;
  factor.seconds = watch.seconds();
  return factor;
}

}  // namespace

template <class T>
Outcome<Factor<T>> factorize(const SparseMatrix<T>& matrix, std::shared_ptr<const SymbolicFactor> symbolic,
                             const Ordering& ordering, const FactorizeOptions& options) {
  check_arguments(matrix, symbolic.get(), ordering);
  try {
    return run(matrix, std::move(symbolic), ordering, options);
  } catch (const std::bad_alloc&) {
    throw MemoryError("factorize: no memory left for the workspace");
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                            \
  template Outcome<Factor<T>> factorize<T>(const SparseMatrix<T>&, std::shared_ptr<const SymbolicFactor>, \
                                           const Ordering&, const FactorizeOptions&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
