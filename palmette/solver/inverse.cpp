// The two inverses. In mixed precision the matrix is scaled by powers of two before it is rounded to single
// precision, so that its range fits, and right-hand sides are scaled to size one for the same reason.
#include "palmette/solver/inverse.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "palmette/solver/kept_factor.hpp"
#include "palmette/solver/scaled_solves.hpp"

namespace palmette {
namespace {

template <class T>
SolvePlan<T> plan_of(const std::shared_ptr<const Factor<T>>& factor, const InverseOptions& options,
                     PlanStore<T>& store) {
  PlanOptions plan;
  plan.team = options.factorize.team;
  plan.device = options.device;
  plan.world = options.world;
  plan.of_world = options.of_world;
  return plan_solve(factor, plan, options.structure, {}, &store);
}

void check_panels_in_memory(const std::optional<PanelFileReport>& file) {
  if (file)
    throw UsageError("the panels of the factors stay in a file; load it without a memory budget for this");
}

template <class T>
class WorkingInverse final : public Inverse<T> {
 public:
  WorkingInverse(std::shared_ptr<const Factor<T>> factor, const InverseOptions& options, PlanStore<T>& store)
      : WorkingInverse(factor, plan_of(factor, options, store), options.structure) {}
  /// @param structure  of the plan; null: unknown
  WorkingInverse(std::shared_ptr<const Factor<T>> factor, SolvePlan<T> plan,
                 std::shared_ptr<const PlanStructure> structure,
                 const std::optional<PanelFileReport>& file = {})
      : factor_(std::move(factor)), plan_(std::move(plan)), structure_(std::move(structure)), file_(file) {}
  SolveTrace apply(Operation operation, DenseView<const T> b, DenseView<T> x,
                   const SolveRun& run) const override {
    return plan_.solve(operation, b, x, run);
  }
  SolveTrace apply(Operation operation, OnDevice<const T> b, OnDevice<T> x,
                   const SolveRun& run) const override {
    return plan_.solve(operation, b, x, run);
  }
  SolveTrace solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x,
                        const SolveRun& run) const override {
    return plan_.solve_part(part, operation, b, x, run);
  }
  EntryTrace solve_entries(Operation operation, const SparseMatrix<T>& b, const WantedEntries& wanted,
                           DenseView<T> x, const SolveRun& run) const override {
    return plan_.solve_entries(operation, b, wanted, x, run);
  }
  Outcome<ChangedInverse<T>> changed(const SparseMatrix<T>& w, const FactorChange& change,
                                     FactorizeMemory<T>& memory) const override {
    check_panels_in_memory(file_);
    auto outcome = update_factor(memory, *factor_, w, change);
    if (!outcome) return outcome.failure();
    const ChangedFactor<T>& made = outcome.value();
    PlanOptions options;
    options.team = change.team;
    PlanValues<T> known;
    if (!made.supernodes.empty()) {  // the panels of this plan are copied
      known = plan_.values();
      known.lower.changed = made.supernodes;
      known.owner = made.factor;
    }
    SolvePlan<T> plan = plan_solve(made.factor, options, structure_, known);
    return ChangedInverse<T>{
        std::make_shared<const WorkingInverse<T>>(made.factor, std::move(plan), structure_), made.rank,
        static_cast<index_t>(made.supernodes.size()), made.flops};
  }
  SolveCost cost(index_t num_rhs) const override { return plan_.cost(num_rhs); }
  index_t guarded_blocks() const override { return plan_.guarded_blocks(); }
  const PivotReport& pivots() const override { return factor_->pivots; }
  const std::vector<ReplacedPivot>& replaced() const override { return factor_->replaced; }
  bool hermitian() const override { return factor_->hermitian; }
  ScalarType factor_scalar() const override { return ScalarTraits<T>::type; }
  offset_t factor_bytes() const override { return factor_->memory_bytes() + plan_.memory_bytes(); }
  double factor_seconds() const override { return factor_->seconds; }
  std::optional<OffloadCounts> offload() const override { return factor_->offload; }
  std::optional<PanelFileReport> file() const override { return file_; }
  std::shared_ptr<const Factor<T>> factor() const override {
    check_panels_in_memory(file_);
    return factor_;
  }
  void save(ArchiveWriter& file) const override {
    check_panels_in_memory(file_);
    save_factor(file, *factor_, plan_.values());
  }

 private:
  std::shared_ptr<const Factor<T>> factor_;
  SolvePlan<T> plan_;
  std::shared_ptr<const PlanStructure> structure_;
  std::optional<PanelFileReport> file_;  // panels stay there
};

template <class T>
class MixedInverse final : public Inverse<T> {
 public:
  using Low = with_precision_t<T, float>;
  /// What holds the plan; neither: the memory of the host.
  struct Holder {
    std::shared_ptr<Device> device;
    std::optional<PanelFileReport> file;
  };
  MixedInverse(std::shared_ptr<const Factor<Low>> factor, SolvePlan<Low> plan, std::vector<double> row_scale,
               std::vector<double> column_scale, const Holder& holder)
      : factor_(std::move(factor)),
        plan_(std::move(plan)),
        file_(holder.file),
        row_scale_(std::move(row_scale)),
        column_scale_(std::move(column_scale)),
        pivots_(factor_->pivots),
        replaced_(factor_->replaced) {
    for (ReplacedPivot& pivot : replaced_)
      pivot.change = pivot.change / row_scale_[pivot.row] / column_scale_[pivot.column];
    for (const double scale : row_scale_) pivots_.log_abs_determinant -= std::log(scale);
    for (const double scale : column_scale_) pivots_.log_abs_determinant -= std::log(scale);
    if (holder.device) there_.emplace(holder.device, row_scale_, column_scale_);
  }

  SolveTrace apply(Operation operation, DenseView<const T> b, DenseView<T> x,
                   const SolveRun& run) const override {
    const bool plain = operation == Operation::plain;
    const std::vector<double>& before = plain ? row_scale_ : column_scale_;
    const std::vector<double>& after = plain ? column_scale_ : row_scale_;
    DenseMatrix<Low> low(b.rows, b.cols);
    std::vector<double> size(b.cols, 0);
    for (index_t j = 0; j < b.cols; ++j) {
      for (index_t i = 0; i < b.rows; ++i)
        size[j] = std::max(size[j], double(cheap_modulus(b(i, j))) * before[i]);
      if (!(size[j] > 0)) size[j] = 1;
      for (index_t i = 0; i < b.rows; ++i)
        low.view()(i, j) = static_cast<Low>(b(i, j) * real_t<T>(before[i]) / real_t<T>(size[j]));
    }
    const SolveTrace trace = plan_.solve(operation, std::as_const(low).view(), low.view(), run);
    for (index_t j = 0; j < b.cols; ++j)
      for (index_t i = 0; i < b.rows; ++i)
        x(i, j) = static_cast<T>(low.view()(i, j)) * real_t<T>(after[i]) * real_t<T>(size[j]);
    return trace;
  }
  SolveTrace apply(Operation operation, OnDevice<const T> b, OnDevice<T> x,
                   const SolveRun& run) const override {
    if (!there_) return Inverse<T>::apply(operation, b, x, run);
    return there_->apply(plan_, operation, b, x, run);
  }
  SolveCost cost(index_t num_rhs) const override { return plan_.cost(num_rhs); }
  index_t guarded_blocks() const override { return plan_.guarded_blocks(); }
  const PivotReport& pivots() const override { return pivots_; }
  const std::vector<ReplacedPivot>& replaced() const override { return replaced_; }
  bool hermitian() const override { return factor_->hermitian; }
  ScalarType factor_scalar() const override { return ScalarTraits<Low>::type; }
  offset_t factor_bytes() const override { return factor_->memory_bytes() + plan_.memory_bytes(); }
  double factor_seconds() const override { return factor_->seconds; }
  std::optional<OffloadCounts> offload() const override { return factor_->offload; }
  std::shared_ptr<const Factor<T>> factor() const override { return nullptr; }
  std::optional<PanelFileReport> file() const override { return file_; }
  void save(ArchiveWriter& file) const override {
    check_panels_in_memory(file_);
    file.add("mixed.row_scale", row_scale_);
    file.add("mixed.column_scale", column_scale_);
    save_factor(file, *factor_, plan_.values());
  }

 private:
  std::shared_ptr<const Factor<Low>> factor_;
  SolvePlan<Low> plan_;
  std::optional<PanelFileReport> file_;  // panels stay there
  std::vector<double> row_scale_, column_scale_;  // length n
  PivotReport pivots_;
  std::vector<ReplacedPivot> replaced_;
  std::optional<ScaledSolves<T>> there_;
};

double power_of_two_near(double value) { return std::exp2(-std::round(std::log2(value))); }

/// Symmetric scaling that brings the diagonal to size one; used if the ordering provides none (LLᵀ).
template <class T>
std::vector<double> diagonal_scale(const SparseMatrix<T>& matrix) {
  std::vector<double> scale(matrix.cols(), 1);
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry)
      if (matrix.pattern.row_index[entry] == j && matrix.values[entry] != T(0))
        scale[j] = power_of_two_near(std::sqrt(double(std::abs(matrix.values[entry]))));
  return scale;
}

template <class T>
Outcome<std::shared_ptr<const Inverse<T>>> make_mixed(const SparseMatrix<T>& matrix,
                                                      std::shared_ptr<const SymbolicFactor> symbolic,
                                                      const Ordering& ordering, const InverseOptions& options,
                                                      InverseMemory<T>& memory) {
  using Low = with_precision_t<T, float>;
  const bool scaled = !ordering.row_scale.empty();
  std::vector<double> row_scale = scaled ? ordering.row_scale : diagonal_scale(matrix);
  std::vector<double> column_scale = scaled ? ordering.column_scale : row_scale;
  SparseMatrix<Low>& low = memory.low_matrix;
  low.pattern = matrix.pattern;
  low.symmetry = matrix.symmetry;
  low.values.resize(matrix.values.size());
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t entry = matrix.pattern.column_ptr[j]; entry < matrix.pattern.column_ptr[j + 1]; ++entry)
      low.values[entry] =
          static_cast<Low>(matrix.values[entry] * real_t<T>(row_scale[matrix.pattern.row_index[entry]]) *
                           real_t<T>(column_scale[j]));
  Ordering& unscaled = memory.low_ordering;
  unscaled = ordering;
  unscaled.row_scale.clear();
  unscaled.column_scale.clear();
  auto factor = factorize_again(memory.low, low, std::move(symbolic), unscaled, options.factorize);
  if (!factor) return factor.failure();
  const std::shared_ptr<const Factor<Low>> made = std::move(factor).value();
  return std::shared_ptr<const Inverse<T>>(std::make_shared<MixedInverse<T>>(
      made, plan_of(made, options, memory.low_plans), std::move(row_scale), std::move(column_scale),
      typename MixedInverse<T>::Holder{options.device, {}}));
}

/// A factor of a file, and its plan.
template <class V>
struct LoadedPlan {
  std::shared_ptr<const Factor<V>> factor;
  SolvePlan<V> plan;
  std::optional<PanelFileReport> file;
};
template <class V>
LoadedPlan<V> load_planned(const KeptInverse& input) {
  const bool stays = input.out_of_core.memory_budget > 0;
  const KeptFactor<V> kept = load_factor<V>(
      input.file, input.symbolic,
      stays ? PanelsAre::in_file : input.map ? PanelsAre::mapped : PanelsAre::copied);
  if (!stays) return {kept.factor, plan_solve<V>(kept.factor, {}, input.structure, kept.plan), {}};
  OutOfCorePlan<V> made =
      plan_out_of_core<V>(input.file, kept.factor, input.structure, kept.plan, input.out_of_core);
  return {kept.factor, std::move(made.plan), made.facts};
}

template <class T>
std::shared_ptr<const Inverse<T>> load_mixed(const KeptInverse& input) {
  auto [factor, plan, facts] = load_planned<with_precision_t<T, float>>(input);
  std::vector<double> row_scale = input.file->values<double>("mixed.row_scale"),
                      column_scale = input.file->values<double>("mixed.column_scale");
  const auto n = static_cast<std::size_t>(input.symbolic->n);
  if (row_scale.size() != n || column_scale.size() != n)
    input.file->refuse("is damaged: its scales have another size than its matrix");
  return std::make_shared<MixedInverse<T>>(std::move(factor), std::move(plan), std::move(row_scale),
                                           std::move(column_scale),
                                           typename MixedInverse<T>::Holder{nullptr, facts});
}

}  // namespace

template <class T>
Outcome<std::shared_ptr<const Inverse<T>>> make_inverse(const SparseMatrix<T>& matrix,
                                                        std::shared_ptr<const SymbolicFactor> symbolic,
                                                        const Ordering& ordering,
                                                        const InverseOptions& options,
                                                        InverseMemory<T>& memory) {
  if constexpr (!std::is_same_v<real_t<T>, float>)
    if (options.mixed_precision) return make_mixed(matrix, std::move(symbolic), ordering, options, memory);
  auto factor = factorize_again(memory.working, matrix, std::move(symbolic), ordering, options.factorize);
  if (!factor) return factor.failure();
  return std::shared_ptr<const Inverse<T>>(
      std::make_shared<WorkingInverse<T>>(std::move(factor).value(), options, memory.plans));
}

template <class T>
std::shared_ptr<const Inverse<T>> load_inverse(const KeptInverse& input) {
  if constexpr (!std::is_same_v<real_t<T>, float>)
    if (input.mixed_precision) return load_mixed<T>(input);
  auto [factor, plan, facts] = load_planned<T>(input);
  return std::make_shared<WorkingInverse<T>>(std::move(factor), std::move(plan), input.structure, facts);
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template std::shared_ptr<const Inverse<T>> load_inverse<T>(const KeptInverse&);                            \
  template Outcome<std::shared_ptr<const Inverse<T>>> make_inverse(                                          \
      const SparseMatrix<T>&, std::shared_ptr<const SymbolicFactor>, const Ordering&, const InverseOptions&, \
      InverseMemory<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
