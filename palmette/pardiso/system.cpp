// The phases of one system, by the verbs of the rooms.
#include "palmette/pardiso/system.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "palmette/pardiso/given_matrix.hpp"

namespace palmette::pardiso {
namespace {

// Where iparm receives results, in both libraries.
constexpr int refinements = 6, perturbed = 13, analysis_peak_kb = 14, analysis_kb = 15, factor_kb = 16,
              nonzeros = 17, megaflops = 18, positive = 21, negative = 22, bad_row = 29;
constexpr int determinant_place = 32;  // in the project's dparm

/// Below this, waking other threads takes longer than the work.
constexpr double flops_worth_threads = 2e7;
constexpr double bytes_worth_threads = 1 << 20;

std::int64_t kilobytes(offset_t bytes) {
  return std::min<std::int64_t>((bytes + 1023) / 1024, std::numeric_limits<int>::max());
}

/// What phase 11 makes. Constant after construction.
struct Analysis {
  GivenPattern given;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const PlanStructure> structure;
  bool has_values = false;  ///< matching and scaling looked at the values
};

void refuse_ordering(const NumericalFailure& failure, const MatrixType& type) {
  const bool is_unmatched = failure.kind == FailureKind::structurally_singular;
  throw Refusal(!is_unmatched     ? Code::ordering
                : type.is_matched ? Code::no_matching
                                  : Code::singular,
                failure.message);
}

Permutation users_order(const Call& call, const Settings& settings) {
  if (!call.perm) throw Refusal(Code::inconsistent, "perm is missing, but iparm says that it is given");
  std::vector<index_t> new_to_old(call.n);
  for (std::int64_t k = 0; k < call.n; ++k)
    new_to_old[k] = static_cast<index_t>(call.perm[k] - (settings.is_zero_based ? 0 : 1));
  return Permutation(std::move(new_to_old));
}

/// Solves with one factor after the other: phases 331, 332 and 333.
template <class T>
class PartSolve {
 public:
  PartSolve(const Factor<T>& factor, const SolvePlan<T>& plan, Operation operation, const SolveRun& run)
      : factor_(factor), plan_(plan), operation_(operation), run_(run) {}

  /// Between the phases, vectors are in the order of the factors.
  void solve(std::int64_t phase, DenseView<const T> b, DenseView<T> x) const {
    const bool is_turned = operation_ != Operation::plain;
    // With A = L·D·Lᴴ, op(A) is A or its conjugate, so it suffices to conjugate vectors.
    const bool conjugated = !is_lu() && (factor_.hermitian || factor_.kind == FactorKind::llt
                                             ? operation_ == Operation::transpose
                                             : operation_ == Operation::adjoint);
    const auto conjugate_all = [&](DenseView<T> columns) {
      for (index_t j = 0; conjugated && j < columns.cols; ++j)
        std::transform(columns.column(j), columns.column(j) + columns.rows, columns.column(j), conjugate<T>);
    };
    const FactorOrder order = order_of(factor_);
    const auto& first = is_lu() && is_turned ? order.column.new_to_old() : order.row.new_to_old();
    const auto& last = is_lu() && is_turned ? order.row.new_to_old() : order.column.new_to_old();
    DenseMatrix<T> work(b.rows, b.cols);
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < b.rows; ++i) work.view()(i, j) = phase == 331 ? b(first[i], j) : b(i, j);
    conjugate_all(work.view());
    sweep(phase, work.view());
    conjugate_all(work.view());
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < b.rows; ++i) x(phase == 333 ? last[i] : i, j) = work.view()(i, j);
  }

 private:
  bool is_lu() const { return factor_.kind == FactorKind::lu; }

  void sweep(std::int64_t phase, DenseView<T> x) const {
    const bool is_turned = is_lu() && operation_ != Operation::plain;
    if (phase == 332) {
      if (factor_.kind == FactorKind::ldlt)
        plan_.solve_part(FactorPart::diagonal, Operation::plain, x, x, run_);
      return;
    }
    const bool forward = phase == 331;
    if (is_lu()) {
      const bool lower = forward != is_turned;
      plan_.solve_part(lower ? FactorPart::lower : FactorPart::upper, operation_, x, x, run_);
      return;
    }
    const bool is_transpose = factor_.kind == FactorKind::ldlt && !factor_.hermitian;
    const Operation back = is_transpose ? Operation::transpose : Operation::adjoint;
    plan_.solve_part(FactorPart::lower, forward ? Operation::plain : back, x, x, run_);
  }

  const Factor<T>& factor_;
  const SolvePlan<T>& plan_;
  Operation operation_;
  const SolveRun& run_;
};

template <class T>
class SystemOf final : public System {
 public:
  void analyze(Call& call, const Settings& settings, ThreadTeam& team) override {
    const Stopwatch watch;
    release_factor();
    Settings wanted = settings;
    if (settings.user_order) wanted.order.user = users_order(call, settings);
    analysis_ = analyzed(GivenPattern::read(call, settings), call, wanted, team);
    report_analysis(call, settings);
    facts_.analyzed_again = false;
    facts_.seconds = watch.seconds();
  }

  void factorize(Call& call, const Settings& settings, ThreadTeam& team) override {
    if (!analysis_) throw Refusal(Code::inconsistent, "the matrix was not analyzed (phase 11)");
    if (!analysis_->given.is_that_of(call))
      throw Refusal(Code::inconsistent, "ia and ja are not those that were analyzed (phase 11)");
    const Stopwatch watch;
    plan_ = SolvePlan<T>();
    factor_ = nullptr;
    matrix_ = std::make_shared<const SparseMatrix<T>>(values_of(call, analysis_->given, settings));
    Outcome<std::shared_ptr<const Factor<T>>> made = factored(settings, team);
    if (!made) refuse_factor(call, settings, made.failure());
    factor_ = std::move(made).value();
    if (factor_->pivots.perturbed > 0) try_with_matching(call, settings, team);
    PlanOptions plan_options;
    plan_options.team = team_for(team, factor_->flops >= flops_worth_threads);
    plan_ = plan_solve(factor_, plan_options, analysis_->structure);
    report_factor(call, settings);
    facts_.seconds = watch.seconds();
  }

  void solve(Call& call, const Settings& settings, ThreadTeam& team) override {
    if (!factor_) throw Refusal(Code::inconsistent, "the matrix was not factorized (phase 22)");
    if (call.nrhs < 1) return;
    if (call.n != analysis_->given.n()) throw Refusal(Code::inconsistent, "n is not that of the factor");
    if (call.b == nullptr || (call.x == nullptr && !settings.solution_in_b))
      throw Refusal(Code::inconsistent, "b or x is missing");
    const Stopwatch watch;
    const auto columns = static_cast<index_t>(call.nrhs);
    const DenseView<T> b{static_cast<T*>(call.b), factor_->size(), columns, factor_->size()};
    DenseMatrix<T> answer(b.rows, columns);
    const SolveRun run{SolveMethod::automatic,
                       team_for(team, plan_.cost(columns).bytes >= bytes_worth_threads)};
    if (call.phase > 99)
      PartSolve<T>(*factor_, plan_, settings.operation, run).solve(call.phase, b, answer.view());
    else
      solve_whole(call, settings, b, answer.view(), run);
    T* to = settings.solution_in_b ? b.data : static_cast<T*>(call.x);
    std::copy(answer.values.begin(), answer.values.end(), to);
    facts_.seconds = watch.seconds();
  }

  void release_factor() override {
    plan_ = SolvePlan<T>();
    factor_ = nullptr;
    matrix_ = nullptr;
    memory_ = FactorizeMemory<T>();
  }

  std::unique_ptr<System> sibling() const override {
    auto other = std::make_unique<SystemOf<T>>();
    other->analysis_ = analysis_;
    other->facts_.ordering = facts_.ordering;
    return other;
  }

 private:
  static ThreadTeam* team_for(ThreadTeam& team, bool is_worth_it) { return is_worth_it ? &team : nullptr; }

  static SparseMatrix<T> values_of(const Call& call, const GivenPattern& given, const Settings& settings) {
    if (call.a == nullptr) throw Refusal(Code::inconsistent, "a is missing");
    return given.with_values(static_cast<const T*>(call.a), settings.type->symmetry);
  }

  static std::shared_ptr<const Analysis> analyzed(GivenPattern given, const Call& call,
                                                  const Settings& settings, ThreadTeam& team) {
    auto made = std::make_shared<Analysis>();
    OrderOptions options = settings.order;
    options.threads = team.size();
    made->has_values = options.matching || options.scaling;
    Outcome<Ordering> found = made->has_values
                                  ? order(values_of(call, given, settings), options)
                                  : order_by_sizes<T>(given.pattern(), settings.type->symmetry, {}, options);
    if (!found) refuse_ordering(found.failure(), *settings.type);
    made->ordering = std::move(found).value();
    AnalyzeOptions analyze_options;
    analyze_options.symmetric_pattern = settings.type->symmetry != Symmetry::general;
    const double bytes = double(given.pattern().nnz()) * sizeof(index_t);
    made->symbolic = std::make_shared<const SymbolicFactor>(palmette::analyze(
        given.pattern(), made->ordering, analyze_options, team_for(team, bytes >= bytes_worth_threads)));
    made->structure = plan_structure(made->symbolic, ScalarTraits<T>::type);
    made->given = std::move(given);
    return made;
  }

  Outcome<std::shared_ptr<const Factor<T>>> factored(const Settings& settings, ThreadTeam& team) {
    FactorizeOptions options;
    options.kind = settings.type->kind;
    options.tiny_pivot = settings.tiny_pivot;
    const double flops = factorization_flops(*analysis_->symbolic, options.kind);
    options.team = team_for(team, flops >= flops_worth_threads);
    return factorize_again(memory_, *matrix_, analysis_->symbolic, analysis_->ordering, options);
  }

  /// Pivots were replaced. Without matching and scaling that may be the order's fault: try again with both,
  /// and keep what replaces fewer.
  void try_with_matching(Call& call, const Settings& settings, ThreadTeam& team) {
    Settings wanted = settings;
    if (wanted.order.matching && wanted.order.scaling) return;
    if (analysis_->has_values && facts_.analyzed_again) return;
    wanted.order.matching = wanted.order.scaling = true;
    if (settings.user_order) wanted.order.user = analysis_->ordering.column;
    const auto before = analysis_;
    const auto factor_before = factor_;
    try {
      analysis_ = analyzed(before->given, call, wanted, team);
    } catch (const Refusal&) {  // structurally singular: the replaced pivots are the answer
      return;
    }
    memory_ = FactorizeMemory<T>();
    const auto made = factored(settings, team);
    if (made && made.value()->pivots.perturbed < factor_before->pivots.perturbed) {
      factor_ = made.value();
      facts_.analyzed_again = true;
      report_analysis(call, settings);
      return;
    }
    analysis_ = before;
    memory_ = FactorizeMemory<T>();
  }

  [[noreturn]] static void refuse_factor(Call& call, const Settings& settings,
                                         const NumericalFailure& failure) {
    if (settings.type->kind == FactorKind::llt) call.iparm[bad_row] = failure.column + 1;
    throw Refusal(Code::zero_pivot, failure.message);
  }

  void report_analysis(Call& call, const Settings& settings) {
    const SymbolicFactor& symbolic = *analysis_->symbolic;
    const FactorKind kind = settings.type->kind;
    const offset_t pattern_bytes = analysis_->given.pattern().nnz() * 12;
    const FactorMemory factor =
        predicted_factor_bytes(symbolic, kind, ScalarTraits<T>::type, std::max(1, settings.threads));
    const PlanMemory plan = predicted_plan_bytes(*analysis_->structure, kind, ScalarTraits<T>::type, 1);
    call.iparm[analysis_peak_kb] = kilobytes(2 * pattern_bytes + symbolic.memory_bytes());
    call.iparm[analysis_kb] = kilobytes(pattern_bytes + symbolic.memory_bytes() + plan.structure_bytes);
    call.iparm[factor_kb] =
        kilobytes(factor.factor_bytes + factor.workspace_bytes + plan.plan_bytes + plan.workspace_bytes);
    const auto fits = [](double value) { return static_cast<std::int64_t>(std::min(value, 2147483647.0)); };
    if (call.iparm[nonzeros] != 0)
      call.iparm[nonzeros] = fits(static_cast<double>(factor_entries(symbolic, kind)));
    if (call.iparm[megaflops] != 0)
      call.iparm[megaflops] = fits(factorization_flops(symbolic, kind) * (is_complex_v<T> ? 4 : 1) / 1e6);
    facts_.ordering = name_of(analysis_->ordering.method);
    if (!settings.return_order || !call.perm) return;
    for (index_t k = 0; k < symbolic.n; ++k)
      call.perm.set(k, symbolic.column.new_to_old()[k] + (settings.is_zero_based ? 0 : 1));
  }

  void report_factor(Call& call, const Settings& settings) {
    const PivotReport& pivots = factor_->pivots;
    call.iparm[perturbed] = pivots.perturbed;
    if (settings.type->kind != FactorKind::lu && (!is_complex_v<T> || factor_->hermitian)) {
      call.iparm[positive] = pivots.inertia.positive;
      call.iparm[negative] = pivots.inertia.negative;
    }
    if (settings.wants_determinant && call.dparm != nullptr)
      call.dparm[determinant_place] = pivots.log_abs_determinant;
  }

  void solve_whole(Call& call, const Settings& settings, DenseView<const T> b, DenseView<T> x,
                   const SolveRun& run) {
    plan_.solve(settings.operation, b, x, run);
    RefineOptions options;
    options.max_steps = settings.refine_steps;
    options.krylov = false;
    const ApplyInverse<T> apply = [&](Operation operation, DenseView<T> columns) {
      plan_.solve(operation, columns, columns, run);
    };
    const Verification found = refine(*matrix_, settings.operation, apply, b, x, options);
    call.iparm[refinements] = found.refine_steps;
    facts_.backward_error = found.backward_error;
  }

  std::shared_ptr<const Analysis> analysis_;
  FactorizeMemory<T> memory_;
  std::shared_ptr<const SparseMatrix<T>> matrix_;  // of the factor
  std::shared_ptr<const Factor<T>> factor_;
  SolvePlan<T> plan_;
};

}  // namespace

std::unique_ptr<System> make_system(const Settings& settings) {
  const bool is_complex = settings.type->is_complex;
  if (settings.is_single)
    return is_complex ? std::unique_ptr<System>(std::make_unique<SystemOf<std::complex<float>>>())
                      : std::make_unique<SystemOf<float>>();
  return is_complex ? std::unique_ptr<System>(std::make_unique<SystemOf<std::complex<double>>>())
                    : std::make_unique<SystemOf<double>>();
}

}  // namespace palmette::pardiso
