// Forward and backward sweeps, one task for each group of supernodes. Forward: y = B⁻¹·P·t, then the rows below lose
// L_below·y; backward: the columns lose L_belowᵀ·x of the rows below, then x = Pᵀ·B⁻ᵀ·z.
// Source: Duff and Reid, The multifrontal solution of indefinite sparse symmetric linear equations, ACM TOMS 9 (1983).
#include "palmette/solve/supernodal_core.hpp"

#include <algorithm>

#include "palmette/solve/narrow_kernels.hpp"

namespace palmette::sweep {
namespace {

/// Columns of local vectors start on cache lines for every scalar type.
offset_t padded(offset_t rows) { return (rows + 15) / 16 * 16; }

/// What both sweeps share: the triangle, the block of right-hand sides and the members' memory.
template <class T>
struct SweepSides {
  const SupernodalTriangle<T>& triangle;
  Reader<T> in;
  const BlockDiagonal<T>* diagonal;  ///< backward: divides what is read; may be null
  Writer<T> keep;                    ///< the vector in the sweep's own numbering; data null: not kept
  Writer<T> out;                     ///< data null: nothing leaves
  SolveSpace<T>& space;
  index_t num_rhs;

  const SweepStructure& structure() const { return triangle.structure(); }
  const SymbolicFactor& symbolic() const { return triangle.structure().symbolic(); }

  DenseView<T> local(index_t group, int member) const {
    const SweepStructure& s = structure();
    const index_t rows = s.num_columns(group) + static_cast<index_t>(s.boundary(group).size());
    return {space.member(member), rows, num_rhs, padded(rows)};
  }
  DenseView<T> spare(index_t rows, int member) const {
    return {space.member(member) + padded(structure().longest_local()) * num_rhs, rows, num_rhs, padded(rows)};
  }
  DenseView<T> row_values(index_t rows, int member) const {
    const SweepStructure& s = structure();
    return {space.member(member) + (padded(s.longest_local()) + padded(s.widest_supernode())) * num_rhs, rows, num_rhs,
            padded(rows)};
  }
  DenseView<T> boundary(index_t group) const {
    const index_t rows = static_cast<index_t>(structure().boundary(group).size());
    return {space.boundary.data() + structure().boundary_offset(group) * num_rhs, rows, num_rhs, rows};
  }
  /// Supernode s for the narrow kernels; inverse null where they do not apply.
  NarrowSupernode<T> narrow(index_t s, DenseView<T> local_values, index_t first_column) const {
    if (num_rhs != 1 || symbolic().width(s) > narrow_width) return {};
    const DenseView<const T> below = triangle.below(s);
    return {triangle.bare_inverse(s), below.data, below.ld, structure().local_rows(s),
            local_values.data + (symbolic().supernode_begin[s] - first_column), local_values.data};
  }
  void write_columns(index_t group, DenseView<T> values) const {
    const index_t columns = structure().num_columns(group);
    const DenseView<const T> own{values.data, columns, values.cols, values.ld};
    if (keep.to.data != nullptr) keep.store(structure().column_begin(group), columns, own);
    if (out.to.data != nullptr) out.store(structure().column_begin(group), columns, own);
  }
};

template <class T>
DenseView<T> rows_of(DenseView<T> view, index_t first, index_t count) {
  return {view.data + first, count, view.cols, view.ld};
}

/// into(places[k], :) += sign·from(k, :)
template <class T, bool subtract>
void add_at(const Places& places, DenseView<const T> from, DenseView<T> into) {
  for (index_t column = 0; column < from.cols; ++column) {
    const T* const source = from.column(column);
    T* const target = into.column(column) + (places.list != nullptr ? 0 : places.start);
    if (places.list != nullptr) {
      for (index_t k = 0; k < places.count; ++k) target[places.list[k]] += subtract ? -source[k] : source[k];
    } else {
      for (index_t k = 0; k < places.count; ++k) target[k] += subtract ? -source[k] : source[k];
    }
  }
}

template <class T>
class ForwardBody final : public SweepBody {
 public:
  explicit ForwardBody(const SweepSides<T>& sides) : sides_(sides) {}

  void run_task(index_t group, int member) override {
    const SweepStructure& structure = sides_.structure();
    const DenseView<T> local = sides_.local(group, member);
    begin(group, local);
    for (index_t s = structure.supernode_begin(group); s < structure.supernode_end(group); ++s)
      eliminate(s, local, group, member);
    sides_.write_columns(group, local);
    const DenseView<T> boundary = sides_.boundary(group);
    for (index_t column = 0; column < boundary.cols; ++column)
      std::copy_n(local.column(column) + structure.num_columns(group), boundary.rows, boundary.column(column));
  }

 private:
  void begin(index_t group, DenseView<T> local) {
    const SweepStructure& structure = sides_.structure();
    const index_t columns = structure.num_columns(group);
    sides_.in.load(structure.column_begin(group), columns, local);
    for (index_t column = 0; column < local.cols; ++column)
      std::fill_n(local.column(column) + columns, local.rows - columns, T(0));
    for (const index_t child : structure.children(group))
      add_at<T, false>(structure.places_in_parent(child), sides_.boundary(child), local);
  }

  void eliminate(index_t s, DenseView<T> local, index_t group, int member) {
    const SymbolicFactor& symbolic = sides_.symbolic();
    const index_t first_column = sides_.structure().column_begin(group);
    if (s + 1 < sides_.structure().supernode_end(group)) sides_.triangle.prefetch_supernode(s + 1);
    const NarrowSupernode<T> narrow = sides_.narrow(s, local, first_column);
    if (narrow.inverse != nullptr) return eliminate_narrow(symbolic.width(s), narrow);
    const DenseView<T> own = rows_of(local, symbolic.supernode_begin[s] - first_column, symbolic.width(s));
    sides_.triangle.solve_diagonal(s, own, sides_.spare(own.rows, member));
    const index_t rows = symbolic.num_rows_below(s);
    if (rows == 0) return;
    const DenseView<T> product = sides_.row_values(rows, member);
    panel_multiply<T>(sides_.triangle.below(s), own, product);
    add_at<T, true>(sides_.structure().local_rows(s), product, local);
  }

  SweepSides<T> sides_;
};

template <class T>
class BackwardBody final : public SweepBody {
 public:
  BackwardBody(const SweepSides<T>& sides, bool adjoint) : sides_(sides), adjoint_(adjoint) {}

  void run_task(index_t task, int member) override {
    const SweepStructure& structure = sides_.structure();
    const index_t group = structure.num_groups() - 1 - task;
    const DenseView<T> local = sides_.local(group, member);
    begin(group, local);
    for (index_t s = structure.supernode_end(group) - 1; s >= structure.supernode_begin(group); --s)
      substitute(s, local, group, member);
    sides_.write_columns(group, local);
  }

 private:
  void begin(index_t group, DenseView<T> local) {
    const SweepStructure& structure = sides_.structure();
    const index_t columns = structure.num_columns(group);
    sides_.in.load(structure.column_begin(group), columns, local);
    if (sides_.diagonal != nullptr)
      sides_.diagonal->solve(structure.column_begin(group), rows_of(local, 0, columns));
    const auto rows = structure.boundary(group);
    for (index_t column = 0; column < local.cols; ++column) {
      const T* const known = sides_.keep.to.column(column);
      T* const target = local.column(column) + columns;
      for (std::size_t k = 0; k < rows.size(); ++k) target[k] = known[rows[k]];
    }
  }

  void substitute(index_t s, DenseView<T> local, index_t group, int member) {
    const SymbolicFactor& symbolic = sides_.symbolic();
    const index_t first_column = sides_.structure().column_begin(group);
    if (s > sides_.structure().supernode_begin(group)) sides_.triangle.prefetch_supernode(s - 1);
    const NarrowSupernode<T> narrow = sides_.narrow(s, local, first_column);
    if (narrow.inverse != nullptr)
      return adjoint_ ? substitute_narrow<T, true>(symbolic.width(s), narrow) : substitute_narrow<T, false>(symbolic.width(s), narrow);
    const DenseView<T> own = rows_of(local, symbolic.supernode_begin[s] - first_column, symbolic.width(s));
    const index_t rows = symbolic.num_rows_below(s);
    if (rows > 0)
      panel_multiply_transposed_subtract<T>(adjoint_, sides_.triangle.below(s), known_rows(s, rows, local, member), own);
    sides_.triangle.solve_diagonal_transposed(adjoint_, s, own, sides_.spare(own.rows, member));
  }

  DenseView<const T> known_rows(index_t s, index_t rows, DenseView<T> local, int member) {
    const Places places = sides_.structure().local_rows(s);
    if (places.list == nullptr) return rows_of(local, places.start, rows);
    const DenseView<T> values = sides_.row_values(rows, member);
    for (index_t column = 0; column < values.cols; ++column) {
      const T* const source = local.column(column);
      T* const target = values.column(column);
      for (index_t k = 0; k < rows; ++k) target[k] = source[places.list[k]];
    }
    return values;
  }

  SweepSides<T> sides_;
  bool adjoint_;
};

template <class T>
double flops_of_multiplication() {
  return is_complex_v<T> ? 8 : 2;
}

}  // namespace

template <class T>
void SupernodalCore<T>::solve(bool transposed, const CoreRun<T>& run) const {
  const SweepStructure& structure = *parts_.structure;
  const index_t n = structure.symbolic().n;
  const DenseView<T> work{run.space.work.data(), n, run.num_rhs(), n};
  const Writer<T> keep{work, {}, false};
  const bool both = !parts_.lower_only;
  if (both || !transposed) {
    const SupernodalTriangle<T>& triangle = transposed && parts_.upper ? *parts_.upper : *parts_.lower;
    ForwardBody<T> body({triangle, run.in, nullptr, both ? keep : Writer<T>{}, both ? Writer<T>{} : run.out, run.space,
                         run.num_rhs()});
    run_sweep(run.method, {structure.forward(), run.space.state(run.slot, structure.forward()), body, run.team});
  }
  if (both || transposed) {
    const SupernodalTriangle<T>& triangle = !transposed && parts_.upper ? *parts_.upper : *parts_.lower;
    const BlockDiagonal<T>* const diagonal = parts_.diagonal ? &*parts_.diagonal : nullptr;
    BackwardBody<T> body({triangle, both ? Reader<T>{work, {}, false} : run.in, diagonal, keep, run.out, run.space,
                          run.num_rhs()}, parts_.adjoint);
    run_sweep(run.method, {structure.backward(), run.space.state(run.slot + 1, structure.backward()), body, run.team});
  }
}

SpaceNeed supernodal_space_need(const SweepStructure& structure, bool, index_t num_rhs) {
  SpaceNeed need;
  need.work = offset_t{structure.symbolic().n} * num_rhs;
  need.boundary = structure.total_boundary() * num_rhs;
  need.member = (padded(structure.longest_local()) + padded(structure.widest_supernode()) +
                 padded(structure.most_rows_below())) * num_rhs;
  return need;
}

template <class T>
SpaceNeed SupernodalCore<T>::space_need(index_t num_rhs) const {
  return supernodal_space_need(*parts_.structure, parts_.lower_only, num_rhs);
}

template <class T>
CoreCost SupernodalCore<T>::cost() const {
  const SweepStructure& structure = *parts_.structure;
  const double sweeps = parts_.lower_only ? 1 : 2;
  CoreCost cost;
  cost.flops = sweeps * structure.entries() * flops_of_multiplication<T>();
  cost.bytes = sweeps * structure.forward().graph.total_cost();
  cost.critical_path_bytes = sweeps * structure.forward().graph.critical_path();
  return cost;
}

template <class T>
offset_t SupernodalCore<T>::memory_bytes() const {
  return parts_.structure->memory_bytes() + parts_.lower->memory_bytes() +
         (parts_.upper ? parts_.upper->memory_bytes() : 0) + (parts_.diagonal ? parts_.diagonal->memory_bytes() : 0) +
         parts_.values_bytes;
}

#define PALMETTE_INSTANTIATE(T) template class SupernodalCore<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::sweep
