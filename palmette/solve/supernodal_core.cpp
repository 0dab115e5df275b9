// Forward and backward sweeps, one task for each group of supernodes. Forward: y = B⁻¹·P·t, then L_below·y is
// subtracted from the rows below; backward: L_belowᵀ·x of the rows below is subtracted from the columns, then
// x = Pᵀ·B⁻ᵀ·z. Source: [Duff and Reid 1983].
#include "palmette/solve/supernodal_core.hpp"

#include <algorithm>
#include <optional>

#include "palmette/solve/rhs_vectors.hpp"

namespace palmette::solve_detail {
namespace {

/// Local vectors start on cache lines, and whole registers may be read behind them.
offset_t padded(offset_t rows) { return (rows + 31) / 16 * 16; }

/// How far ahead rows of several right-hand sides are prefetched: they come from memory, and the processor's
/// own prefetching ends with a page, which holds nine rows of fifty right-hand sides.
template <class T>
constexpr offset_t rows_fetched_ahead = 16384 / offset_t{sizeof(T)};

/// What both sweeps share: the triangle, the block of right-hand sides and the threads' memory.
template <class T>
struct SweepRhs {
  const SupernodalTriangle<T>& triangle;
  SolveWorkspace<T>& workspace;
  index_t stride;  ///< of the rows of right-hand sides
  const SolveReach* reach = nullptr;  ///< what is visited; null: everything
  StreamedTriangles::Pass* pass = nullptr;  ///< brings panels; null: they are in memory
  WorkOffers* offers = nullptr;  ///< of this sweep; null: threads do not help each other
  offset_t rows_ahead = 0;       ///< as in SupernodeVectors

  void need_panel(index_t s) const {
    if (pass != nullptr) pass->need(s);
  }
  const SweepGroups& structure() const { return triangle.structure(); }
  const SymbolicFactor& symbolic() const { return triangle.structure().symbolic(); }

  RhsRows<T> boundary(index_t group) const {
    return {workspace.boundary.data() + structure().boundary_offset(group) * stride, stride};
  }
  /// The vector in the sweep's own numbering.
  RhsRows<T> kept() const { return {workspace.work.data(), stride}; }

  /// One right-hand side is gathered in a short vector; rows of several are whole lines, and stay where they
  /// are.
  bool gathers() const { return stride == 1; }
  RhsRows<T> own_rows(index_t group, int thread) const {
    return gathers() ? local(thread) : kept().from(structure().column_begin(group));
  }
  /// Behind the own rows, or in the place from which the parent reads them.
  RhsRows<T> boundary_rows(index_t group, int thread) const {
    return gathers() ? local(thread).from(structure().num_columns(group)) : boundary(group);
  }
  /// A group's local vector.
  SplitRows<T> local_rows(index_t group, int thread) const {
    return {own_rows(group, thread).data, boundary_rows(group, thread).data, structure().num_columns(group),
            stride};
  }
  /// own_rows ← what the sweep reads
  void begin_own_rows(const Reader<T>* in, index_t group, int thread) const {
    const index_t first = structure().column_begin(group), columns = structure().num_columns(group);
    if (in != nullptr) load_rhs(*in, first, columns, own_rows(group, thread));
    else if (gathers()) copy_rows<T>(kept().from(first), columns, local(thread));
  }
  void keep_own_rows(index_t group, int thread) const {
    if (gathers())
      copy_rows<T>(local(thread), structure().num_columns(group),
                   kept().from(structure().column_begin(group)));
  }
  /// What the supernodes of a group share, found once.
  struct GroupVectors {
    index_t first_column;
    RhsRows<T> own;
    SplitRows<T> local;
    RhsRows<T> spare;
    T* row_values;
    OffersOfThread offers;
  };
  GroupVectors of_group(index_t group, int thread) const {
    return {structure().column_begin(group), own_rows(group, thread), local_rows(group, thread),
            {spare(thread), stride}, spare(thread) + padded(structure().widest_supernode()) * stride,
            {offers, thread}};
  }
  T* own(index_t s, const GroupVectors& all) const {
    return all.own.row(symbolic().supernode_begin[s] - all.first_column);
  }
  SupernodeVectors<T> vectors(index_t s, const GroupVectors& all) const {
    return {structure().local_rows(s), {own(s, all), stride},
            all.local, all.spare, all.row_values, rows_ahead, all.offers};
  }
  /// For the backward sweep, which only reads the rows below: where they are kept, if they are.
  SupernodeVectors<T> known_vectors(index_t s, const GroupVectors& all) const {
    SupernodeVectors<T> at = vectors(s, all);
    if (gathers()) return at;
    const auto rows = symbolic().rows_below(s);
    at.rows = {0, rows.data(), static_cast<index_t>(rows.size())};
    at.local = kept();
    return at;
  }

 private:
  RhsRows<T> local(int thread) const { return {workspace.thread(thread), stride}; }
  T* spare(int thread) const {
    return workspace.thread(thread) + (gathers() ? padded(structure().longest_local()) : 0);
  }
};

template <class T>
class ForwardBody final : public SweepBody {
 public:
  /// @param in   null: what is kept
  /// @param out  null: the result is kept for the backward sweep
  ForwardBody(const SweepRhs<T>& num_rhs, const Reader<T>* in, const Writer<T>* out)
      : num_rhs_(num_rhs), in_(in), out_(out) {}

  void run_task(index_t group, int thread) override {
    if (reach() != nullptr && !reach()->forward_group(group)) return;
    const SweepGroups& structure = num_rhs_.structure();
    begin(group, thread);
    const typename SweepRhs<T>::GroupVectors vectors = num_rhs_.of_group(group, thread);
    for (index_t s = structure.supernode_begin(group); s < structure.supernode_end(group); ++s) {
      if (reach() != nullptr && !reach()->forward(s)) continue;
      num_rhs_.need_panel(s);
      num_rhs_.triangle.prefetch_after(s, false);
      if (num_rhs_.gathers() && num_rhs_.triangle.is_packed(s))
        num_rhs_.triangle.eliminate_packed(s, num_rhs_.own(s, vectors), vectors.local.first);
      else num_rhs_.triangle.eliminate(s, num_rhs_.vectors(s, vectors));
    }
    if (out_ == nullptr) num_rhs_.keep_own_rows(group, thread);
    else
      store_rhs<T>(*out_, structure.column_begin(group), structure.num_columns(group),
                   num_rhs_.own_rows(group, thread));
    if (num_rhs_.gathers())
      copy_rows<T>(num_rhs_.boundary_rows(group, thread), boundary_size(group), num_rhs_.boundary(group));
  }

 private:
  void begin(index_t group, int thread) {
    const SweepGroups& structure = num_rhs_.structure();
    num_rhs_.begin_own_rows(in_, group, thread);
    const RhsRows<T> boundary = num_rhs_.boundary_rows(group, thread);
    std::fill_n(boundary.data, offset_t{boundary_size(group)} * boundary.stride, T(0));
    const SplitRows<T> local = num_rhs_.local_rows(group, thread);
    for (const index_t child : structure.children(group))
      if (reach() == nullptr || reach()->forward_group(child))
        add_at<T>(structure.places_in_parent(child), num_rhs_.boundary(child), local);
  }
  index_t boundary_size(index_t group) const {
    return static_cast<index_t>(num_rhs_.structure().boundary(group).size());
  }
  const SolveReach* reach() const { return num_rhs_.reach; }

  WorkOffers* offers() override { return num_rhs_.offers; }

  SweepRhs<T> num_rhs_;
  const Reader<T>* in_;
  const Writer<T>* out_;
};

template <class T>
class BackwardBody final : public SweepBody {
 public:
  /// @param in   null: what the forward sweep kept
  /// @param out  null: the result is only kept
  BackwardBody(const SweepRhs<T>& num_rhs, const Reader<T>* in, const BlockDiagonal<T>* diagonal,
               const Writer<T>* out, bool adjoint)
      : num_rhs_(num_rhs), in_(in), diagonal_(diagonal), out_(out), adjoint_(adjoint) {}

  void run_task(index_t task, int thread) override {
    const SweepGroups& structure = num_rhs_.structure();
    const index_t group = structure.num_groups() - 1 - task;
    if (reach() != nullptr && !reach()->backward_group(group)) return;
    begin(group, thread);
    const typename SweepRhs<T>::GroupVectors vectors = num_rhs_.of_group(group, thread);
    for (index_t s = structure.supernode_end(group) - 1; s >= structure.supernode_begin(group); --s) {
      if (reach() != nullptr && !reach()->backward(s)) continue;
      num_rhs_.need_panel(s);
      num_rhs_.triangle.prefetch_after(s, true);
      if (num_rhs_.gathers() && num_rhs_.triangle.is_packed(s))
        num_rhs_.triangle.substitute_packed(adjoint_, s, num_rhs_.own(s, vectors), vectors.local.first);
      else num_rhs_.triangle.substitute(adjoint_, s, num_rhs_.known_vectors(s, vectors));
    }
    num_rhs_.keep_own_rows(group, thread);
    if (out_ != nullptr)
      store_rhs<T>(*out_, structure.column_begin(group), structure.num_columns(group),
                   num_rhs_.own_rows(group, thread));
  }

 private:
  void begin(index_t group, int thread) {
    const SweepGroups& structure = num_rhs_.structure();
    const index_t columns = structure.num_columns(group), first = structure.column_begin(group);
    const RhsRows<T> own = num_rhs_.own_rows(group, thread);
    // Where the forward sweep was not, what is kept is of an earlier solve.
    if (reach() != nullptr && !reach()->forward_group(group))
      std::fill_n(own.data, offset_t{columns} * own.stride, T(0));
    else
      num_rhs_.begin_own_rows(in_, group, thread);
    if (diagonal_ != nullptr) diagonal_->solve(first, columns, own);
    if (!num_rhs_.gathers()) return;
    const RhsRows<T> boundary = num_rhs_.boundary_rows(group, thread);
    const auto rows = structure.boundary(group);
    for (std::size_t k = 0; k < rows.size(); ++k) boundary.data[k] = num_rhs_.kept().data[rows[k]];
  }

  const SolveReach* reach() const { return num_rhs_.reach; }

  WorkOffers* offers() override { return num_rhs_.offers; }

  SweepRhs<T> num_rhs_;
  const Reader<T>* in_;
  const BlockDiagonal<T>* diagonal_;
  const Writer<T>* out_;
  bool adjoint_;
};

/// Calls use(begin, end) for long ranges of n rows, by the threads of a team.
template <class Use>
void over_row_ranges(ThreadTeam* team, index_t n, Use&& use) {
  over_ranges(
      team, n,
      [&](offset_t begin, offset_t end) { use(static_cast<index_t>(begin), static_cast<index_t>(end)); }, 1);
}

template <class T>
double flops_of_multiplication() {
  return is_complex_v<T> ? 8 : 2;
}

}  // namespace

template <class T>
void SupernodalCore<T>::solve(bool transposed, const CoreRun<T>& run) const {
  const SweepOrder steps = steps_of_solve(parts_.shape(), transposed);
  const Course course = begin_course(steps);
  if (steps.count == 1) return sweep(steps.step[0], run, &run.in, &run.out, course);
  // Values that move one by one between the caller's columns and the rows do so within the tasks, since then
  // a vector passes through memory one time less. In registers a pass of its own is faster, which goes
  // through the columns in their order; so it is where columns are a multiple of a page apart, since these
  // all map to the same cache lines.
  const index_t n = parts_.structure->symbolic().n, stride = padded_rhs(sizeof(T), run.num_rhs());
  const auto passes = [&](offset_t ld, const IndexMap& map) {
    const bool collide = run.num_rhs() > 4 && ld * static_cast<offset_t>(sizeof(T)) % 4096 == 0;
    return map.back != nullptr && (turned_in_registers<T>(stride) || collide);
  };
  const bool spreads = passes(run.in.from.ld, run.in.map);
  const bool collects = passes(run.out.to.ld, run.out.map);
  const RhsRows<T> kept{run.workspace.work.data(), stride};
  if (spreads)
    over_row_ranges(run.team, n, [&](index_t begin, index_t end) { spread_rhs(run.in, begin, end, kept); });
  sweep(steps.step[0], run, spreads ? nullptr : &run.in, nullptr, course);
  sweep(steps.step[1], run, nullptr, collects ? nullptr : &run.out, course);
  if (collects)
    over_row_ranges(run.team, n,
                    [&](index_t begin, index_t end) { collect_rhs<T>(run.out, begin, end, kept); });
}

template <class T>
std::shared_ptr<const SolveReach> SupernodalCore<T>::reach(const EntryRun<T>& run) const {
  const auto has_places = [](const IndexMap& map) { return map.place == nullptr || map.back != nullptr; };
  if (parts_.lower_only || parts_.streamed || !has_places(run.in) || !has_places(run.out)) return nullptr;
  std::vector<index_t> given, wanted;
  for (const index_t column : run.columns)
    for (const index_t row : run.b.pattern.column(column)) given.push_back(run.in.place_of(row));
  for (const index_t row : run.wanted) wanted.push_back(run.out.place_of(row));
  return std::make_shared<const SolveReach>(parts_.structure->symbolic(), parts_.structure->partition(),
                                            given, wanted);
}

template <class T>
void SupernodalCore<T>::solve_entries(const EntryRun<T>& entries, const SolveReach& reach) const {
  const SweepGroups& groups = *parts_.structure;
  const RhsRows<T> kept{entries.workspace->work.data(), padded_rhs(sizeof(T), entries.x.cols)};
  for (const index_t group : reach.forward_groups())
    std::fill_n(kept.row(groups.column_begin(group)), offset_t{groups.num_columns(group)} * kept.stride,
                T(0));
  spread_entries(entries, kept);
  const CoreRun<T> run{{},         {entries.x, {}}, *entries.workspace, 0, entries.method,
                       entries.team};
  const SweepOrder steps = steps_of_solve(parts_.shape(), entries.transposed);
  for (const SweepStep& step : steps.step) sweep(step, run, nullptr, nullptr, {&reach});
  collect_entries<T>(entries, kept);
}

template <class T>
void SupernodalCore<T>::solve_part(FactorPart part, Operation operation, const CoreRun<T>& given) const {
  solve_one_part(parts_.shape(), parts_.diagonal ? &*parts_.diagonal : nullptr, {part, operation}, given,
                 [this](const SweepOrder& steps, const CoreRun<T>& turned) {
                   sweep(steps.step[0], turned, &turned.in, &turned.out, begin_course(steps));
                 });
}

template <class T>
void divide_by_diagonal(const FactorShape& shape, const BlockDiagonal<T>* diagonal, Operation operation,
                        CoreRun<T> run) {
  if (shape.has_upper) throw UsageError("LU has no factor D; the diagonal is that of U");
  // D = Dᴴ of a Hermitian matrix, D = Dᵀ of a symmetric one: the other of the two is its conjugate.
  run.in.conjugated = run.out.conjugated =
      operation == (shape.adjoint ? Operation::transpose : Operation::adjoint);
  const index_t n = run.out.to.rows;
  const RhsRows<T> kept{run.workspace.work.data(), padded_rhs(sizeof(T), run.num_rhs())};
  load_rhs(run.in, 0, n, kept);
  if (diagonal != nullptr) diagonal->solve(0, n, kept);
  store_rhs<T>(run.out, 0, n, kept);
}

template <class T>
typename SupernodalCore<T>::Course SupernodalCore<T>::begin_course(const SweepOrder& steps) const {
  Course course;
  if (parts_.streamed) course.pass = std::make_unique<StreamedTriangles::Pass>(*parts_.streamed, steps);
  return course;
}

template <class T>
void SupernodalCore<T>::sweep(const SweepStep& step, const CoreRun<T>& run, const Reader<T>* in,
                              const Writer<T>* out, const Course& course) const {
  if (course.pass) course.pass->begin_step();
  const SupernodalTriangle<T>& triangle = step.upper ? *parts_.upper : *parts_.lower;
  const SweepSchedule& schedule = step.forward ? parts_.structure->forward() : parts_.structure->backward();
  const index_t stride = padded_rhs(sizeof(T), run.num_rhs());
  std::optional<WorkOffers> offers;
  if (run.method == SolveMethod::sync_free && run.team != nullptr && stride == 1)
    offers.emplace(run.team->size());
  const SweepRhs<T> rhs{triangle,          run.workspace,
                        stride,            course.reach,
                        course.pass.get(), offers ? &*offers : nullptr,
                        step.forward ? rows_fetched_ahead<T> : -rows_fetched_ahead<T>};
  const auto run_body = [&](SweepBody& body) {
    EngineState& state = run.workspace.state(run.slot + (step.forward ? 0 : 1), schedule);
    run.workspace.called(run_sweep(run.method, {schedule, state, body, run.team}));
  };
  if (step.forward) {
    ForwardBody<T> body(rhs, in, out);
    return run_body(body);
  }
  BackwardBody<T> body(rhs, in, step.divides ? &*parts_.diagonal : nullptr, out, step.adjoint);
  run_body(body);
}

WorkspaceNeed supernodal_workspace_need(const SweepGroups& structure, int scalar_bytes, index_t num_rhs) {
  const offset_t stride = padded_rhs(scalar_bytes, std::max<index_t>(num_rhs, 1));
  WorkspaceNeed need;
  need.work = structure.symbolic().n * stride;
  need.boundary = structure.total_boundary() * stride;
  // One workspace serves blocks of fewer right-hand sides, too, so its need never shrinks with their number:
  // the last block may have one, whose vectors are not worked on where they are kept.
  need.thread = std::max(padded(structure.widest_supernode()) * stride,
                         padded(structure.widest_supernode()) + padded(structure.longest_local()) +
                             padded(structure.most_rows_below()));
  return need;
}

template <class T>
WorkspaceNeed SupernodalCore<T>::workspace_need(index_t num_rhs) const {
  return supernodal_workspace_need(*parts_.structure, sizeof(T), num_rhs);
}

template <class T>
CoreCost supernodal_cost(const SweepGroups& structure, bool lower_only) {
  const double sweeps = lower_only ? 1 : 2;
  CoreCost cost;
  cost.flops = sweeps * structure.entries() * flops_of_multiplication<T>();
  cost.bytes = sweeps * structure.forward().graph.total_cost();
  cost.critical_path_bytes = sweeps * structure.forward().graph.critical_path();
  return cost;
}

template <class T>
CoreCost SupernodalCore<T>::cost() const {
  return supernodal_cost<T>(*parts_.structure, parts_.lower_only);
}

template <class T>
offset_t SupernodalCore<T>::memory_bytes() const {
  return parts_.structure->memory_bytes() + parts_.lower->memory_bytes() +
         (parts_.upper ? parts_.upper->memory_bytes() : 0) +
         (parts_.diagonal ? parts_.diagonal->memory_bytes() : 0) + parts_.values_bytes +
         (parts_.streamed ? parts_.streamed->memory_bytes() : 0);
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template class SupernodalCore<T>;                                                                   \
  template CoreCost supernodal_cost<T>(const SweepGroups&, bool);                                  \
  template void divide_by_diagonal<T>(const FactorShape&, const BlockDiagonal<T>*, Operation, CoreRun<T>);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
