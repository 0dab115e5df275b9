// The rule that chooses between columns and supernodes, and the inverse by columns.
#include "palmette/solver/columns_first.hpp"

#include <numeric>

#include "palmette/solver/kept_factor.hpp"

namespace palmette {
namespace {

constexpr index_t tiny_matrix = 12;  // for these a dense factor is computed before any order
constexpr index_t small_matrix = 5000;
constexpr index_t small_dense = 1000;  // on one thread: beyond, supernodes with all threads win
constexpr double most_entries_in_a_column = 48;  // on average: more fill in at once
// mean square ÷ square of the mean of the columns' lengths; meshes: up to 1.1
constexpr double uneven = 1.25;
// as many as in a tree, a diagonal matrix or a chain: little can fill in
constexpr double tree_entries_in_a_column = 3;
constexpr double most_flops_for_an_entry = 40;
constexpr double flops_without_care = 2e6;       // done before matching, supernodes and tasks would be set up

template <class T>
class ColumnInverse final : public Inverse<T> {
 public:
  ColumnInverse(std::shared_ptr<const ColumnFactor<T>> factor, double seconds)
      : factor_(std::move(factor)), seconds_(seconds) {}
  SolveTrace apply(Operation operation, DenseView<const T> b, DenseView<T> x,
                   const SolveRun& run) const override {
    ThreadTeam* const team = run.method == SolveMethod::serial ? nullptr : run.team;
    const int called = factor_->solve(operation, b, x, team);
    return {called > 1 ? SolveMethod::sync_free : SolveMethod::serial, called};
  }
  SolveCost cost(index_t num_rhs) const override {
    const double entries = double(factor_->entries()) * (factor_->kind() == FactorKind::llt ? 2 : 1);
    const double passes = (num_rhs + 7) / 8;  // each with right-hand sides of its own
    SolveCost cost;
    cost.flops = 2 * entries * num_rhs * (is_complex_v<T> ? 4 : 1);
    cost.bytes =
        entries * (sizeof(T) + sizeof(index_t)) * passes + 2.0 * factor_->size() * num_rhs * sizeof(T);
    cost.critical_path_bytes = cost.bytes / std::max(passes, 1.0);
    return cost;
  }
  index_t guarded_blocks() const override { return 0; }
  const PivotReport& pivots() const override { return factor_->pivots(); }
  bool hermitian() const override { return factor_->kind() == FactorKind::llt && is_complex_v<T>; }
  ScalarType factor_scalar() const override { return ScalarTraits<T>::type; }
  offset_t factor_bytes() const override { return factor_->memory_bytes(); }
  double factor_seconds() const override { return seconds_; }
  std::shared_ptr<const Factor<T>> factor() const override { return nullptr; }
  void save(ArchiveWriter& file) const override {
    save_pivots(file, factor_->pivots());
    factor_->save(file);
  }

 private:
  std::shared_ptr<const ColumnFactor<T>> factor_;
  double seconds_;
};

bool is_triangular(const SparsityPattern& pattern) {
  bool lower = true, upper = true;
  for (index_t column = 0; column < pattern.cols && (lower || upper); ++column) {
    const auto rows = pattern.column(column);
    if (rows.empty()) continue;
    lower = lower && rows.front() >= column;
    upper = upper && rows.back() <= column;
  }
  return lower || upper;
}

}  // namespace

bool may_be_thin(const SparsityPattern& pattern) {
  const double n = pattern.cols, entries = double(pattern.nnz());
  if (n == 0) return false;
  if (n <= small_dense && 2 * entries >= n * n) return true;
  if (entries > most_entries_in_a_column * n) return false;
  if (n <= small_matrix || entries <= tree_entries_in_a_column * n || is_triangular(pattern)) return true;
  double squares = 0;
  for (index_t column = 0; column < pattern.cols; ++column) {
    const double length = double(pattern.column_ptr[column + 1] - pattern.column_ptr[column]);
    squares += length * length;
  }
  return squares * n > uneven * entries * entries;
}

std::optional<BlockOrdering> order_by_columns(const SparsityPattern& pattern, bool symmetric) {
  if (pattern.cols > tiny_matrix) return order_blocks(pattern, symmetric);
  BlockOrdering natural;
  natural.dense = true;
  natural.column.resize(pattern.cols);
  std::iota(natural.column.begin(), natural.column.end(), 0);
  natural.row = natural.column;
  natural.block_begin = {0, pattern.cols};
  return natural;
}

bool is_thin(const BlockOrdering& order) {
  return order.dense || order.flops <= flops_without_care ||
         order.flops <= most_flops_for_an_entry * order.entries;
}

template <class T>
std::shared_ptr<const Inverse<T>> inverse_by_columns(std::shared_ptr<const ColumnFactor<T>> factor,
                                                     double seconds) {
  return std::make_shared<const ColumnInverse<T>>(std::move(factor), seconds);
}

#define PALMETTE_INSTANTIATE(T)                                                                         \
  template std::shared_ptr<const Inverse<T>> inverse_by_columns(std::shared_ptr<const ColumnFactor<T>>, \
                                                                double);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
