// The steps of an answer, in the order in which a user reads the report.
#include "palmette/solver/verified_answer.hpp"

#include <algorithm>
#include <cmath>

#include "palmette/base/base.hpp"
#include "palmette/solver/answer_vectors.hpp"
#include "palmette/solver/file_panels.hpp"
#include "palmette/solver/singular_answer.hpp"
#include "palmette/solver/singularity.hpp"

namespace palmette {
namespace {

constexpr int usual_refine_steps = 10;
/// Each step of mixed precision gains about seven digits minus those of the condition, so it may need more
/// steps.
constexpr int mixed_refine_steps = 30;

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
                              AnswerVectors<T>& vectors, const SolveRequest& request) {
  const RefineOptions options = refine_options(source, request);
  const bool only_verify = request.max_refine_steps == 0;
  return vectors.refine_or_verify(request.operation, apply, only_verify ? nullptr : &options);
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

Growth largest_growth(double norm, const ColumnNorms& norms) {
  Growth growth;
  for (std::size_t j = 0; j < norms.x.size(); ++j)
    if (norms.x[j] > 0 && norm * norms.x[j] / norms.b[j] > growth.largest)
      growth = {norm * norms.x[j] / norms.b[j], static_cast<index_t>(j)};
  return growth;
}

/// Nothing if the matrix is regular, or if there is no sign that it is not.
template <class T>
std::optional<Dependence> find_dependence(const AnswerSource<T>& source, const ApplyInverse<T>& apply,
                                          AnswerVectors<T>& vectors, Operation operation) {
  if (!source.has_matrix() || !source.factored || vectors.num_columns() == 0) return std::nullopt;
  const double norm = source.with_matrix([](const auto& matrix) { return norm_infinity(matrix); });
  const Growth growth = largest_growth(norm, vectors.norms());
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
  const DenseView<const T> weakest(vectors.x().columns(growth.column, 1));
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
  AnswerVectors<T>& vectors;
  const SolveRequest& request;
};

/// @param found  of the answer in x; out: of the answer that x holds in the end
template <class T>
std::optional<NumericalFailure> answer_singular_matrix(const AnswerSource<T>& source,
                                                       const Dependence& dependence,
                                                       const SingularRequest<T>& wanted,
                                                       Verification& found) {
  const ApplyInverse<T>& apply = wanted.apply;
  AnswerVectors<T>& vectors = wanted.vectors;
  const SolveRequest& request = wanted.request;
  if (source.singular == SingularAnswer::raise)
    return singular_failure(dependence, "remove dependent rows and columns, or regularize");
  const NullSpace<T>& null_space = source.null_space(apply);
  if (source.singular == SingularAnswer::least_norm && null_space.too_large)
    return singular_failure(
        dependence, "more than " + std::to_string(most_null_directions) +
                        " columns depend on others: too many for a least-norm solution; remove some of them");
  if (null_space.dimension() > 0) {
    found = source.with_matrix([&]<class Matrix>(const Matrix& matrix) {
      const SingularSystem<T, Matrix> system{matrix, null_space, apply, vectors.b(), source.pivots_replaced};
      return answer_singular(system, request, source.singular, refine_options(source, request), vectors.x());
    });
    found.null_directions = null_space.dimension();
    vectors.x_was_changed();
  }
  found.singular_distance = dependence.distance;
  found.verified = false;
  return std::nullopt;
}

/// Condition and forward error bound, for which the host needs b and x.
template <class T>
void estimate_errors(const AnswerSource<T>& source, const ApplyInverse<T>& apply, AnswerVectors<T>& vectors,
                     Operation operation, Verification& verification) {
  const DenseView<const T> b = vectors.b(), x(vectors.x());
  source.with_matrix([&](const auto& matrix) {
    verification.condition_1norm = estimate_condition_1norm(matrix, apply);
    verification.forward_error_bound = estimate_forward_error(matrix, operation, apply, b, x);
  });
}

template <class T>
SolveReport timed_report(const AnswerSource<T>& source, const TimedSolve& timed, index_t num_rhs) {
  // The bandwidth of the host's memory says nothing about solves on a device, nor do the tasks of the host.
  SolveCost cost = source.cost;
  double stream_gbs = 0;
  if (source.device || source.device_of_rank || source.world) cost.critical_path_bytes = 0;
  else stream_gbs = source.bandwidth->stream_gbs(timed.trace.threads, cost, timed.seconds);
  if (source.device) stream_gbs = source.bandwidth->device_gbs(source.device);
  SolveReport report = solve_report(timed, cost, num_rhs, stream_gbs);
  report.guarded_blocks = source.guarded_blocks;
  if (source.file) report.file = panel_file_report(*source.file, timed.trace.panels);
  if (source.device) report.device = device_report(*source.device, timed.trace.device);
  if (source.device_of_rank) report.device = device_report(*source.device_of_rank, timed.trace.device);
  if (source.world) report.device = device_report(*source.world, timed.trace.device);
  return report;
}

template <class T>
Outcome<Report> make_answer_of(const AnswerSource<T>& source, Report report, AnswerVectors<T>& vectors,
                               const SolveRequest& request) {
  const TimedSolve timed = time_solves(request.repeat, [&] { return vectors.solve(request.operation); });
  const ApplyInverse<T> apply = [&](Operation operation, DenseView<T> in_out) {
    source.apply(operation, DenseView<const T>(in_out), in_out);
  };
  Verification verification = refine_or_verify(source, apply, vectors, request);
  const std::optional<Dependence> dependence = find_dependence(source, apply, vectors, request.operation);
  if (dependence)
    if (const auto failure =
            answer_singular_matrix<T>(source, *dependence, {apply, vectors, request}, verification))
      return *failure;
  if (request.condition && source.has_matrix())
    estimate_errors(source, apply, vectors, request.operation, verification);
  vectors.finish();
  report.verify = verification;
  add_notes(source, dependence.value_or(Dependence()), report);
  // Measuring the machine needs memory too, so the peak is read before.
  report.peak_memory_bytes = source.small ? recent_peak_memory_bytes() : peak_memory_bytes();
  report.solve = timed_report(source, timed, vectors.num_columns());
  if (report.solve->file)
    if (std::string note = note_on_cache(*report.solve->file); !note.empty())
      report.notes.push_back(std::move(note));
  return report;
}

}  // namespace

template <class T>
Outcome<Report> make_answer(const AnswerSource<T>& source, Report report, DenseView<const T> b,
                            DenseView<T> x, const SolveRequest& request) {
  if (source.device && b.rows > 0 && b.cols > 0) {
    try {
      VectorsThere<T> vectors(source, b, x);
      return make_answer_of(source, report, vectors, request);
    } catch (const MemoryError& error) {
      report.notes.push_back(std::string("verified on the host: ") + error.what());
    }
  }
  VectorsHere<T> vectors(source, b, x);
  return make_answer_of(source, std::move(report), vectors, request);
}

template <class T>
Outcome<Report> make_answer(const AnswerSource<T>& source, Report report, OnDevice<const T> b,
                            OnDevice<T> x, const SolveRequest& request) {
  VectorsThere<T> vectors(source, b, x);
  return make_answer_of(source, std::move(report), vectors, request);
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template Outcome<Report> make_answer(const AnswerSource<T>&, Report, DenseView<const T>, DenseView<T>,     \
                                       const SolveRequest&);                                                 \
  template Outcome<Report> make_answer(const AnswerSource<T>&, Report, OnDevice<const T>, OnDevice<T>,       \
                                       const SolveRequest&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
