// The steps of an answer, in the order in which a user reads the report.
#include "palmette/solver/verified_answer.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "palmette/solver/singular_answer.hpp"
#include "palmette/solver/singularity.hpp"

namespace palmette {
namespace {

constexpr int usual_refine_steps = 10;
/// Each step of mixed precision gains about seven digits minus those of the condition, so it may need more
/// steps.
constexpr int mixed_refine_steps = 30;

std::string scientific(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.1e", value);
  return text;
}

template <class T>
RefineOptions refine_options(const AnswerSource<T>& source, const SolveRequest& request) {
  RefineOptions options;
  options.only_if_needed = request.max_refine_steps < 0;
  options.krylov = request.max_refine_steps < 0;  // a given number of steps is respected
  options.max_steps = request.max_refine_steps >= 0 ? request.max_refine_steps
                      : source.mixed_precision      ? mixed_refine_steps
                                                    : usual_refine_steps;
  return options;
}

template <class T>
Verification refine_or_verify(const AnswerSource<T>& source, const ApplyInverse<T>& apply,
                              DenseView<const T> b, DenseView<T> x, const SolveRequest& request) {
  if (!source.has_matrix()) return source.verify_product(request.operation, b, x);
  if (request.max_refine_steps == 0)
    return source.with_matrix(
        [&](const auto& matrix) { return verify(matrix, request.operation, b, DenseView<const T>(x)); });
  const RefineOptions options = refine_options(source, request);
  return source.with_matrix(
      [&](const auto& matrix) { return refine(matrix, request.operation, apply, b, x, options); });
}

/// The row and column that show that a matrix is singular to working precision.
struct Dependence {
  double distance = 1;
  index_t row = -1;
  index_t column = -1;

  std::string sentence() const {
    std::string text = "the matrix is singular to working precision";
    if (column >= 0) text += ": column " + std::to_string(column + 1) + " depends on the other columns";
    if (column >= 0 && row >= 0) text += " and row " + std::to_string(row + 1) + " on the other rows";
    return text + " (relative distance to a singular matrix " + scientific(distance) + ")";
  }
};

std::string singular_note(const Verification& verification, const Dependence& dependence) {
  std::string note = "NOT VERIFIED: " + dependence.sentence();
  if (verification.null_directions)
    note += "; " + std::to_string(*verification.null_directions) +
            (*verification.null_directions == 1 ? " column is dependent" : " columns are dependent");
  return note + (verification.least_squares_error ? "; x is the shortest of the least-squares solutions"
                                                  : "; x is one of many");
}

template <class T>
void add_notes(const AnswerSource<T>& source, const Dependence& dependence, Report& report) {
  const Verification& verification = *report.verify;
  if (verification.singular_distance) {
    report.notes.insert(report.notes.begin(), singular_note(verification, dependence));
  } else if (!verification.verified) {
    std::string note = "NOT VERIFIED: the backward error " + scientific(verification.backward_error) +
                       " exceeds its bound " + scientific(verification.bound);
    if (verification.stalled) note += "; refinement stalled";
    if (source.mixed_precision) note += "; the matrix is too ill-conditioned for mixed precision, use double";
    report.notes.insert(report.notes.begin(), note);
  }
  if (verification.condition_1norm && *verification.condition_1norm * unit_roundoff<T> >= 1)
    report.notes.push_back(
        "the condition is about " + scientific(*verification.condition_1norm) +
        ": nearly singular, or badly scaled; the forward error bound knows the difference");
  if (verification.forward_error_bound && *verification.forward_error_bound >= 1)
    report.notes.push_back("no digit of x is certain: the forward error bound is " +
                           scientific(*verification.forward_error_bound));
}

/// ‖A‖∞·‖x‖∞ / ‖b‖∞ is at most the condition, and of its size if b lies along the weakest direction.
struct Growth {
  double largest = 0;
  index_t column = 0;  ///< right-hand side to which it belongs
};

template <class T>
Growth largest_growth(double norm, DenseView<const T> b, DenseView<const T> x) {
  Growth growth;
  for (index_t j = 0; j < b.cols; ++j) {
    double size_b = 0, size_x = 0;
    for (index_t i = 0; i < b.rows; ++i) {
      size_b = std::max(size_b, double(std::abs(b(i, j))));
      size_x = std::max(size_x, double(std::abs(x(i, j))));
    }
    if (size_x > 0 && norm * size_x / size_b > growth.largest) growth = {norm * size_x / size_b, j};
  }
  return growth;
}

/// Nothing if the matrix is regular, or if there is no sign that it is not.
template <class T>
std::optional<Dependence> find_dependence(const AnswerSource<T>& source, const ApplyInverse<T>& apply,
                                          DenseView<const T> b, DenseView<T> x, Operation operation) {
  if (!source.has_matrix() || !source.factored || b.rows == 0 || b.cols == 0) return std::nullopt;
  const double norm = source.with_matrix([](const auto& matrix) { return norm_infinity(matrix); });
  const Growth growth = largest_growth(norm, b, DenseView<const T>(x));
  const bool is_suspicious = source.pivots_replaced || growth.largest * unit_roundoff<T> >= 1e-2;
  // The solution for a right-hand side within the range need not grow, so if answers of singular systems are
  // requested, every weak pivot is examined.
  if (!is_suspicious && (source.singular == SingularAnswer::raise || !source.has_weak_pivot))
    return std::nullopt;
  if (source.singular != SingularAnswer::raise) {
    const NullSpace<T>& null_space = source.null_space(apply);
    if (null_space.dimension() > 0 || (is_suspicious && null_space.too_large))
      return Dependence{null_space.distance, null_space.row, null_space.column};
  }
  if (!is_suspicious) return std::nullopt;
  const DenseView<const T> weakest(x.columns(growth.column, 1));
  const Singularity singularity = source.with_matrix(
      [&](const auto& matrix) { return find_singularity(matrix, apply, operation, weakest); });
  if (singularity.distance > singular_distance<T>) return std::nullopt;
  return Dependence{singularity.distance, singularity.row, singularity.column};
}

NumericalFailure singular_failure(const Dependence& dependence, const std::string& remedy) {
  NumericalFailure failure;
  failure.kind = FailureKind::numerically_singular;
  failure.row = dependence.row;
  failure.column = dependence.column;
  failure.message = dependence.sentence() + "; " + remedy;
  return failure;
}

template <class T>
struct SingularRequest {
  const ApplyInverse<T>& apply;
  DenseView<const T> b;
  const SolveRequest& request;
};

/// @param found  of the answer in x; out: of the answer that x holds in the end
template <class T>
std::optional<NumericalFailure> answer_singular_matrix(const AnswerSource<T>& source,
                                                       const Dependence& dependence,
                                                       const SingularRequest<T>& wanted, DenseView<T> x,
                                                       Verification& found) {
  const auto& [apply, b, request] = wanted;
  if (source.singular == SingularAnswer::raise)
    return singular_failure(dependence, "remove dependent rows and columns, or regularize");
  const NullSpace<T>& null_space = source.null_space(apply);
  if (source.singular == SingularAnswer::least_norm && null_space.too_large)
    return singular_failure(
        dependence, "more than " + std::to_string(most_null_directions) +
                        " columns depend on others: too many for a least-norm solution; remove some of them");
  if (null_space.dimension() > 0) {
    const SingularSystem<T> system{*source.matrix, null_space, apply, b, source.pivots_replaced};
    found = answer_singular(system, request, source.singular, refine_options(source, request), x);
    found.null_directions = null_space.dimension();
  }
  found.singular_distance = dependence.distance;
  found.verified = false;
  return std::nullopt;
}

}  // namespace

template <class T>
Outcome<Report> make_answer(const AnswerSource<T>& source, Report report, DenseView<const T> b,
                            DenseView<T> x, const SolveRequest& request) {
  const TimedSolve timed = time_solves(request.repeat, [&] { return source.apply(request.operation, b, x); });
  const ApplyInverse<T> apply = [&](Operation operation, DenseView<T> in_out) {
    source.apply(operation, DenseView<const T>(in_out), in_out);
  };
  Verification verification = refine_or_verify(source, apply, b, x, request);
  const std::optional<Dependence> dependence = find_dependence(source, apply, b, x, request.operation);
  if (dependence)
    if (const auto failure =
            answer_singular_matrix<T>(source, *dependence, {apply, b, request}, x, verification))
      return *failure;
  if (request.condition && source.has_matrix()) {
    const DenseView<const T> found(x);
    verification.condition_1norm =
        source.with_matrix([&](const auto& matrix) { return estimate_condition_1norm(matrix, apply); });
    verification.forward_error_bound = source.with_matrix([&](const auto& matrix) {
      return estimate_forward_error(matrix, request.operation, apply, b, found);
    });
  }
  report.verify = verification;
  add_notes(source, dependence.value_or(Dependence()), report);
  // Measuring the machine needs memory too, so the peak is read before.
  report.peak_memory_bytes = source.small ? recent_peak_memory_bytes() : peak_memory_bytes();
  // The bandwidth of the host's memory says nothing about solves on a device.
  const double stream_gbs =
      source.device != nullptr
          ? 0
          : source.bandwidth->stream_gbs(timed.trace.threads, source.cost, timed.seconds);
  report.solve = solve_report(timed, source.cost, b.cols, stream_gbs);
  report.solve->guarded_blocks = source.guarded_blocks;
  if (source.device != nullptr) report.solve->device = device_report(*source.device, timed.trace.device);
  return report;
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template Outcome<Report> make_answer(const AnswerSource<T>&, Report, DenseView<const T>, DenseView<T>,     \
                                       const SolveRequest&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
