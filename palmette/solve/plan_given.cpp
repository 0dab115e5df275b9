// plan_triangle and plan_own_factors: plans from given triangles and factors.
#include <cmath>
#include <new>

#include "palmette/solve/lower_triangle.hpp"
#include "palmette/solve/plan_body.hpp"

namespace palmette {
namespace {

using solve_detail::Stage;

/// The arrays that a stage's maps point to.
struct MapArrays {
  Permutation range_place;
  Permutation domain_place;
  std::vector<double> range_scale;
  std::vector<double> domain_scale;
};

/// First `outer`, then the order of the core's rows; empty permutations are identities.
Permutation composed(const Permutation& outer, const Permutation& order) {
  if (order.size() == 0) return outer.is_identity() ? Permutation() : outer;
  return outer.size() == 0 ? order : outer.then(order);
}

template <class T>
void set_maps(Stage<T>& stage, MapArrays given) {
  const auto arrays = std::make_shared<const MapArrays>(std::move(given));
  const auto place = [](const Permutation& p) { return p.size() > 0 ? p.new_to_old().data() : nullptr; };
  const auto scale = [](const std::vector<double>& s) { return s.empty() ? nullptr : s.data(); };
  stage.range = {place(arrays->range_place), scale(arrays->range_scale)};
  stage.domain = {place(arrays->domain_place), scale(arrays->domain_scale)};
  stage.maps_bytes = 8 * (offset_t{arrays->range_place.size()} + arrays->domain_place.size()) +
                     8 * static_cast<offset_t>(arrays->range_scale.size() + arrays->domain_scale.size());
  stage.maps = arrays;
}

template <class T>
SolvePlan<T> plan_of(index_t n, std::vector<Stage<T>> stages) {
  for (Stage<T>& stage : stages) stage.is_given = true;
  return SolvePlan<T>(std::make_unique<const solve_detail::PlanBody<T>>(n, std::move(stages)));
}

void check_length(std::size_t length, index_t n, const char* what) {
  if (length != 0 && length != static_cast<std::size_t>(n))
    throw DimensionError(std::string(what) + " has length " + std::to_string(length) +
                         " but the lower factor has " + std::to_string(n) + " rows; give that many, or none");
}

void check_scale(const std::vector<double>& scale, const char* what) {
  for (std::size_t row = 0; row < scale.size(); ++row)
    if (!std::isfinite(scale[row]) || scale[row] == 0)
      throw UsageError(std::string(what) + " number " + std::to_string(row + 1) + " is " +
                       std::to_string(scale[row]) + ": scales must be finite and not zero");
}

template <class T>
void check_sizes(const OwnFactors<T>& factors) {
  const index_t n = factors.lower.rows();
  const SparseMatrix<T>& upper = factors.upper;
  const bool absent = upper.rows() == 0 && upper.cols() == 0;
  if (!absent && (upper.rows() != n || upper.cols() != n))
    throw DimensionError("the upper factor is " + std::to_string(upper.rows()) + " × " +
                         std::to_string(upper.cols()) + " but the lower factor has " + std::to_string(n) +
                         " rows; both must have the same size");
  check_length(factors.row.size(), n, "the row permutation");
  check_length(factors.column.size(), n, "the column permutation");
  check_length(factors.row_scale.size(), n, "row_scale");
  check_length(factors.column_scale.size(), n, "column_scale");
  check_scale(factors.row_scale, "row scale");
  check_scale(factors.column_scale, "column scale");
}

template <class T>
struct ReadFactors {
  solve_detail::LowerTriangle<T> lower, upper;  // upper: Uᵀ; empty without U
};

template <class T>
Outcome<ReadFactors<T>> read_factors(const OwnFactors<T>& factors) {
  auto lower = solve_detail::read_triangle(
      factors.lower,
      {true, factors.lower_unit_diagonal, solve_detail::WrongSide::refused, "the lower factor"});
  check_sizes(factors);
  if (!lower.ok()) return lower.failure();
  auto upper = solve_detail::read_triangle(
      factors.upper,
      {false, factors.upper_unit_diagonal, solve_detail::WrongSide::refused, "the upper factor"});
  if (!upper.ok()) return upper.failure();
  return ReadFactors<T>{std::move(lower).value(), std::move(upper).value()};
}

/// The stages of L·U, L·Lᵀ or L·Lᴴ; `upper` holds Uᵀ, and is unused without U.
template <class T>
std::vector<Stage<T>> stages_of(const OwnFactors<T>& factors, solve_detail::LowerTriangle<T> lower,
                                solve_detail::LowerTriangle<T> upper, bool has_upper) {
  const solve_detail::TriangleUse use = has_upper           ? solve_detail::TriangleUse::plain
                                 : factors.hermitian ? solve_detail::TriangleUse::hermitian
                                                     : solve_detail::TriangleUse::symmetric;
  const solve_detail::TriangleCore<T> first =
      solve_detail::make_triangle_core(std::move(lower), use, factors.plan);
  std::vector<Stage<T>> stages(1);
  stages[0].core = first.core;
  if (first.core->relation() != solve_detail::Relation::general) {
    set_maps(stages[0], {composed(factors.row, first.order), composed(factors.column, first.order),
                         factors.row_scale, factors.column_scale});
    return stages;
  }
  set_maps(stages[0], {composed(factors.row, first.order), first.order, factors.row_scale, {}});
  const solve_detail::TriangleCore<T> second =
      has_upper ? solve_detail::make_triangle_core(std::move(upper), solve_detail::TriangleUse::transposed,
                                                   factors.plan)
                : first;
  stages.emplace_back();
  stages[1].core = second.core;
  stages[1].transposed = true;
  stages[1].conjugated = !has_upper && factors.hermitian;
  set_maps(stages[1], {second.order, composed(factors.column, second.order), {}, factors.column_scale});
  return stages;
}

}  // namespace

template <class T>
Outcome<SolvePlan<T>> plan_triangle(const SparseMatrix<T>& triangle, const TriangleOptions& options) {
  blas::use_one_thread();
  try {
    auto read = solve_detail::read_triangle(
        triangle, {options.lower, options.unit_diagonal, solve_detail::WrongSide::ignored, "the triangle"});
    if (!read.ok()) return read.failure();
    const solve_detail::TriangleUse use =
        options.lower ? solve_detail::TriangleUse::plain : solve_detail::TriangleUse::transposed;
    const solve_detail::TriangleCore<T> made =
        solve_detail::make_triangle_core(std::move(read).value(), use, options.plan);
    std::vector<Stage<T>> stages(1);
    stages[0].core = made.core;
    stages[0].transposed = !options.lower;
    set_maps(stages[0], {made.order, made.order, {}, {}});
    return plan_of(triangle.rows(), std::move(stages));
  } catch (const std::bad_alloc&) {
    throw MemoryError("cannot allocate the plan of a triangular solve");
  }
}

template <class T>
Outcome<void> check_own_factors(const OwnFactors<T>& factors) {
  auto read = read_factors(factors);
  if (!read.ok()) return read.failure();
  return {};
}

template <class T>
Outcome<SolvePlan<T>> plan_own_factors(const OwnFactors<T>& factors) {
  blas::use_one_thread();
  try {
    auto read = read_factors(factors);
    if (!read.ok()) return read.failure();
    ReadFactors<T> triangles = std::move(read).value();
    return plan_of(factors.lower.rows(), stages_of(factors, std::move(triangles.lower),
                                                   std::move(triangles.upper), factors.upper.rows() > 0));
  } catch (const std::bad_alloc&) {
    throw MemoryError("cannot allocate the plan of a solve with given factors");
  }
}

#define PALMETTE_INSTANTIATE(T)                                                                              \
  template Outcome<SolvePlan<T>> plan_triangle<T>(const SparseMatrix<T>&, const TriangleOptions&);           \
  template Outcome<void> check_own_factors<T>(const OwnFactors<T>&);                                         \
  template Outcome<SolvePlan<T>> plan_own_factors<T>(const OwnFactors<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
