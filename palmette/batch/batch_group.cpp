// One group of systems through factorization, solve and verification, while everything lies in the caches.
#include <algorithm>
#include <array>
#include <limits>

#include "palmette/batch/lane_scalars.hpp"

namespace palmette {
namespace batch_detail {

/// Further corrections would hardly help: without pivoting a system that needs more needs another method.
constexpr int most_refine_steps = 3;

template <class T>
struct GroupMemory {
  explicit GroupMemory(const BatchStructure& structure)
      : matrix(structure.pattern.nnz()),
        lower(structure.lower_row.size()),
        upper(structure.symmetric ? 0 : structure.upper_row.size()),
        inverse_pivot(structure.n),
        pivot(structure.symmetric ? structure.n : 0),
        work(structure.n),
        b(structure.n),
        x(structure.n),
        residual(structure.n),
        refined(structure.n),
        row_sum(structure.n) {}

  using Column = std::vector<LaneScalars<T>>;
  Column matrix;                      // entries in the order of the pattern
  Column lower, upper;                // L and U, or L; length as in the structure
  Column inverse_pivot, pivot;        // length n; pivot: D of L·D·Lᵀ
  Column work;                        // length n
  Column b, x, residual, refined;     // length n, in the caller's order
  std::vector<LaneReals<T>> row_sum;  // length n: Σ |a_ij|
  LaneReals<T> norm;                  // the largest row sum
  std::array<index_t, batch_lanes<T>> bad_pivot;
};

/// What is wrong with a column's pivots is kept, by lane; the first bad one counts.
template <class T>
void note_bad_pivots(const BatchStructure& structure, index_t j, const LaneScalars<T>& pivot,
                     GroupMemory<T>& memory) {
  for (int l = 0; l < batch_lanes<T>; ++l) {
    const T value = pivot.get(l);
    const bool good = is_finite(value) && (structure.positive ? std::real(value) > 0 : value != T(0));
    if (!good && memory.bad_pivot[l] < 0) memory.bad_pivot[l] = structure.column[j];
  }
}

/// work ← column j of the scaled matrix, zeros where the factor fills in.
template <class T>
void scatter_column_kernel(const BatchStructure& structure, index_t j, GroupMemory<T>& memory) {
  LaneScalars<T>* const w = memory.work.data();
  set_zero(w[j]);
  for (offset_t entry = structure.lower_ptr[j]; entry < structure.lower_ptr[j + 1]; ++entry)
    set_zero(w[structure.lower_row[entry]]);
  if (!structure.symmetric)
    for (offset_t entry = structure.upper_ptr[j]; entry < structure.upper_ptr[j + 1]; ++entry)
      set_zero(w[structure.upper_row[entry]]);
  for (offset_t entry = structure.scatter_ptr[j]; entry < structure.scatter_ptr[j + 1]; ++entry)
    set_scaled(w[structure.scatter_row[entry]], memory.matrix[structure.scatter_entry[entry]],
               static_cast<real_t<T>>(structure.scatter_scale[entry]));
}

/// to[rows[k]] −= from[k]·factor
template <class T>
void subtract_column_kernel(const index_t* rows, const LaneScalars<T>* from, offset_t count,
                            const LaneScalars<T>& factor, LaneScalars<T>* to) {
  const LaneScalars<T> kept = factor;
  for (offset_t k = 0; k < count; ++k) subtract_product<false>(to[rows[k]], from[k], kept);
}

/// L(:, j) ← the rest of the column over the pivot.
template <class T>
void divide_column(const BatchStructure& structure, index_t j, GroupMemory<T>& memory) {
  const LaneScalars<T>& pivot = memory.work[j];
  note_bad_pivots(structure, j, pivot, memory);
  memory.inverse_pivot[j] = reciprocal(pivot);
  for (offset_t entry = structure.lower_ptr[j]; entry < structure.lower_ptr[j + 1]; ++entry)
    memory.lower[entry] = product<false>(memory.work[structure.lower_row[entry]], memory.inverse_pivot[j]);
}

template <class T>
void factor_lu(const BatchStructure& structure, GroupMemory<T>& memory) {
  for (index_t j = 0; j < structure.n; ++j) {
    scatter_column_kernel(structure, j, memory);
    for (offset_t entry = structure.upper_ptr[j]; entry < structure.upper_ptr[j + 1]; ++entry) {
      const index_t k = structure.upper_row[entry];
      const offset_t begin = structure.lower_ptr[k];
      memory.upper[entry] = memory.work[k];
      subtract_column_kernel(structure.lower_row.data() + begin, memory.lower.data() + begin,
                             structure.lower_ptr[k + 1] - begin, memory.upper[entry], memory.work.data());
    }
    divide_column(structure, j, memory);
  }
}

/// Column j loses L(j:, k)·d_k·L(j, k) (or its conjugate) for every k with an entry in row j.
template <bool adjoint, class T>
void factor_ldlt(const BatchStructure& structure, GroupMemory<T>& memory) {
  for (index_t j = 0; j < structure.n; ++j) {
    scatter_column_kernel(structure, j, memory);
    for (offset_t entry = structure.upper_ptr[j]; entry < structure.upper_ptr[j + 1]; ++entry) {
      const index_t k = structure.upper_row[entry];
      const offset_t begin = structure.entry_in_row[entry];
      const LaneScalars<T> factor = product<adjoint>(memory.lower[begin], memory.pivot[k]);
      subtract_column_kernel(structure.lower_row.data() + begin, memory.lower.data() + begin,
                             structure.lower_ptr[k + 1] - begin, factor, memory.work.data());
    }
    memory.pivot[j] = memory.work[j];
    divide_column(structure, j, memory);
  }
}

/// out ← (R·A·C)⁻¹ applied to `in`, scalings undone; both in the caller's order, and may be the same.
template <bool adjoint, class T>
void solve_factored_kernel(const BatchStructure& structure, GroupMemory<T>& memory,
                           const std::vector<LaneScalars<T>>& in, std::vector<LaneScalars<T>>& out) {
  LaneScalars<T>* const w = memory.work.data();
  const offset_t* const lower = structure.lower_ptr.data();
  const offset_t* const upper = structure.upper_ptr.data();
  for (index_t j = 0; j < structure.n; ++j)
    set_scaled(w[j], in[structure.row[j]], static_cast<real_t<T>>(structure.row_scale[structure.row[j]]));
  for (index_t j = 0; j < structure.n; ++j)
    subtract_column_kernel(structure.lower_row.data() + lower[j], memory.lower.data() + lower[j],
                           lower[j + 1] - lower[j], w[j], w);
  for (index_t j = structure.n - 1; j >= 0; --j) {
    w[j] = product<false>(w[j], memory.inverse_pivot[j]);
    if (structure.symmetric)
      for (offset_t entry = lower[j]; entry < lower[j + 1]; ++entry)
        subtract_product<adjoint>(w[j], memory.lower[entry], w[structure.lower_row[entry]]);
    else
      subtract_column_kernel(structure.upper_row.data() + upper[j], memory.upper.data() + upper[j],
                             upper[j + 1] - upper[j], w[j], w);
  }
  for (index_t j = 0; j < structure.n; ++j)
    set_scaled(out[structure.column[j]], w[j],
               static_cast<real_t<T>>(structure.column_scale[structure.column[j]]));
}

template <class T>
void solve_factored(const BatchStructure& structure, GroupMemory<T>& memory,
                    const std::vector<LaneScalars<T>>& in, std::vector<LaneScalars<T>>& out) {
  const SubnormalsAsZero scope;
  if (structure.adjoint)
    solve_factored_kernel<is_complex_v<T>>(structure, memory, in, out);
  else
    solve_factored_kernel<false>(structure, memory, in, out);
}

/// residual ← b − A·x, and the backward errors of x: for complex scalars at most twice as large as they are,
/// never smaller.
template <class T>
LaneReals<T> backward_errors_kernel(const BatchStructure& structure, GroupMemory<T>& memory,
                                    const std::vector<LaneScalars<T>>& x) {
  const SparsityPattern& pattern = structure.pattern;
  LaneReals<T> of_x{}, of_b{}, of_residual{};
  for (index_t i = 0; i < structure.n; ++i) {
    memory.residual[i] = memory.b[i];
    raise_to(of_b, least_moduli(memory.b[i]));
  }
  for (index_t j = 0; j < structure.n; ++j) {
    raise_to(of_x, least_moduli(x[j]));
    const offset_t begin = pattern.column_ptr[j];
    subtract_column_kernel(pattern.row_index.data() + begin, memory.matrix.data() + begin,
                           pattern.column_ptr[j + 1] - begin, x[j], memory.residual.data());
  }
  for (index_t i = 0; i < structure.n; ++i) raise_to(of_residual, greatest_moduli(memory.residual[i]));
  LaneReals<T> errors;
  for (int l = 0; l < batch_lanes<T>; ++l) {
    const real_t<T> size = memory.norm.lane[l] * of_x.lane[l] + of_b.lane[l];
    const bool in_range = size <= std::numeric_limits<real_t<T>>::max();
    errors.lane[l] = !in_range                  ? std::numeric_limits<real_t<T>>::infinity()
                     : of_residual.lane[l] == 0 ? real_t<T>(0)
                                                : of_residual.lane[l] / size;
  }
  return errors;
}

/// Corrections of those lanes that gain by them. @returns the corrections of each lane
template <class T>
std::array<int, batch_lanes<T>> refine(const BatchStructure& structure, GroupMemory<T>& memory, double bound,
                                       LaneReals<T>& errors) {
  std::array<int, batch_lanes<T>> steps{};
  for (int step = 1; step <= most_refine_steps; ++step) {
    bool wanted = false;
    for (const real_t<T> error : errors.lane) wanted |= error > bound && error < 1;
    if (!wanted) break;
    solve_factored(structure, memory, memory.residual, memory.refined);
    for (index_t i = 0; i < structure.n; ++i)
      for (int p = 0; p < LaneScalars<T>::planes; ++p)
        for (int l = 0; l < batch_lanes<T>; ++l) memory.refined[i].plane[p][l] += memory.x[i].plane[p][l];
    const LaneReals<T> after = backward_errors_kernel(structure, memory, memory.refined);
    for (int l = 0; l < batch_lanes<T>; ++l) {
      // A lane that is done must not depend on whether its neighbours are.
      const bool is_wanted = errors.lane[l] > bound && errors.lane[l] < 1;
      if (!is_wanted || !(after.lane[l] < errors.lane[l])) continue;
      for (index_t i = 0; i < structure.n; ++i) memory.x[i].set(l, memory.refined[i].get(l));
      errors.lane[l] = after.lane[l];
      steps[l] = step;
    }
    backward_errors_kernel(structure, memory, memory.x);  // the residual of the x that was kept
  }
  return steps;
}

template <class T>
void factor(const BatchStructure& structure, GroupMemory<T>& memory) {
  const SubnormalsAsZero scope;
  memory.bad_pivot.fill(-1);
  if (!structure.symmetric) factor_lu(structure, memory);
  else if (structure.adjoint) factor_ldlt<is_complex_v<T>>(structure, memory);
  else factor_ldlt<false>(structure, memory);
}

template <class T>
void sum_rows(const BatchStructure& structure, GroupMemory<T>& memory) {
  for (LaneReals<T>& sum : memory.row_sum) sum = {};
  for (offset_t entry = 0; entry < structure.pattern.nnz(); ++entry) {
    const LaneReals<T> size = least_moduli(memory.matrix[entry]);
    LaneReals<T>& sum = memory.row_sum[structure.pattern.row_index[entry]];
    for (int l = 0; l < batch_lanes<T>; ++l) sum.lane[l] += size.lane[l];
  }
  memory.norm = {};
  for (const LaneReals<T>& sum : memory.row_sum) raise_to(memory.norm, sum);
}

/// Lane l of entry k ← entry k of system number[l].
template <class T>
void gather(const BatchArray<const T>& from, const std::array<offset_t, batch_lanes<T>>& number, index_t rhs,
            std::vector<LaneScalars<T>>& to) {
  for (int l = 0; l < batch_lanes<T>; ++l) {
    const T* const system = &from.at(number[l], 0, rhs);
    for (std::size_t k = 0; k < to.size(); ++k)
      to[k].set(l, system[static_cast<offset_t>(k) * from.between_entries]);
  }
}

}  // namespace batch_detail

using batch_detail::GroupMemory;

template <class T>
BatchGroup<T>::BatchGroup(const BatchStructure& structure)
    : structure_(structure), memory_(std::make_unique<GroupMemory<T>>(structure)) {}
template <class T>
BatchGroup<T>::BatchGroup(BatchGroup&&) noexcept = default;
template <class T>
BatchGroup<T>::~BatchGroup() = default;

template <class T>
void BatchGroup<T>::solve(const BatchSystems<T>& systems, index_t first, BatchFigures* figures) {
  constexpr int lanes = batch_lanes<T>;
  GroupMemory<T>& memory = *memory_;
  const int count = std::min<index_t>(lanes, systems.num_systems - first);
  // Lanes without a system repeat the last one.
  std::array<offset_t, lanes> number;
  for (int l = 0; l < lanes; ++l) number[l] = first + std::min(l, count - 1);
  gather(systems.values, number, 0, memory.matrix);
  sum_rows(structure_, memory);
  batch_detail::factor(structure_, memory);

  for (int l = 0; l < count; ++l) figures[first + l] = {0, memory.bad_pivot[l], 0};
  for (index_t rhs = 0; rhs < systems.num_rhs; ++rhs) {
    gather(systems.b, number, rhs, memory.b);
    batch_detail::solve_factored(structure_, memory, memory.b, memory.x);
    auto errors = batch_detail::backward_errors_kernel(structure_, memory, memory.x);
    const auto steps = batch_detail::refine(structure_, memory, systems.bound, errors);
    for (int l = 0; l < count; ++l) {
      for (index_t i = 0; i < structure_.n; ++i) systems.x.at(first + l, i, rhs) = memory.x[i].get(l);
      BatchFigures& own = figures[first + l];
      const double error = errors.lane[l] >= 0 ? double(errors.lane[l]) : infinity;
      own.backward_error = std::max(own.backward_error, error);
      own.refine_steps = std::max(own.refine_steps, steps[l]);
    }
  }
}

#define PALMETTE_INSTANTIATE(T) template class BatchGroup<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
