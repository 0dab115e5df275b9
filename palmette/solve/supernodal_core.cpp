// Forward and backward sweeps, one task for each group of supernodes. Forward: y = B⁻¹·P·t, then L_below·y is
// subtracted from the rows below; backward: L_belowᵀ·x of the rows below is subtracted from the columns, then
// x = Pᵀ·B⁻ᵀ·z. Source: [Duff and Reid 1983].
#include "palmette/solve/supernodal_core.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "palmette/solve/rhs_vectors.hpp"

namespace palmette::solve_detail {
namespace {

/// Local vectors start on cache lines, and whole registers may be read behind them.
offset_t padded(offset_t rows) { return (rows + 31) / 16 * 16; }

/// How far ahead rows of several right-hand sides are prefetched: they come from memory, and the processor's
/// own prefetching ends with a page, which holds nine rows of fifty right-hand sides.
template <class T>
constexpr offset_t rows_fetched_ahead = 16384 / offset_t{sizeof(T)};

/// Up to so many right-hand sides are kept apart, a vector each, and pass each supernode one after another,
/// so all but the first find its panel in cache: side by side they would fill half a line at most, where a
/// whole one is fetched. `with_vectors` has a case for each number up to four.
index_t most_apart(int scalar_bytes) {
  return std::clamp<index_t>(lanes::line_bytes / 2 / scalar_bytes, 1, 4);
}
index_t stride_of(int scalar_bytes, index_t num_rhs) {
  return sides_apart(scalar_bytes, num_rhs) == num_rhs ? 1 : row_stride(scalar_bytes, num_rhs);
}

/// What both sweeps share: the triangle, the block of right-hand sides (or one of those that are kept apart)
/// and the threads' memory.
template <class T>
struct SweepRhs {
  const SupernodalTriangle<T>& triangle;
  SolveWorkspace<T>& workspace;
  index_t stride;  ///< of the rows of right-hand sides
  const SolveReach* reach = nullptr;  ///< what is visited; null: everything
  StreamedTriangles::Pass* pass = nullptr;  ///< brings panels; null: they are in memory
  WorkOffers* offers = nullptr;  ///< of this sweep; null: threads do not help each other
  offset_t rows_ahead = 0;       ///< as in SupernodeVectors
  index_t sides = 1;             ///< that are kept apart; then the stride is 1
  index_t side = 0;              ///< which of them

  SweepRhs of_side(index_t number) const {
    SweepRhs one = *this;
    one.side = number;
    return one;
  }

  void need_panel(index_t s) const {
    if (pass != nullptr) pass->need(s);
  }
  const SweepGroups& structure() const { return triangle.structure(); }
  const SymbolicFactor& symbolic() const { return triangle.structure().symbolic(); }

  RhsRows<T> boundary(index_t group) const {
    const offset_t before = side * structure().total_boundary();
    return {workspace.boundary.data() + (before + structure().boundary_offset(group)) * stride, stride};
  }
  /// The vector in the sweep's own numbering.
  RhsRows<T> kept() const { return {workspace.work.data() + offset_t{side} * symbolic().n, stride}; }

  /// A right-hand side that is alone or apart is gathered in a short vector; rows of several are whole lines,
  /// and stay where they are.
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
  /// Whether supernodes of a group are computed side by side.
  bool has_bundles(index_t group) const { return gathers() && structure().bundles().any_in(group); }
  /// own_rows ← what the sweep reads
  void begin_own_rows(const Reader<T>* in, index_t group, int thread) const {
    if (has_bundles(group)) clear_spare_places(group, thread);
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
  /// The scalars that a PanelBundle wants where lanes hold zeros.
  void clear_spare_places(index_t group, int thread) const {
    const RhsRows<T> boundary = boundary_rows(group, thread);
    std::fill_n(boundary.data + structure().boundary(group).size(), widest_bundled, T(0));
  }
  offset_t local_length() const { return gathers() ? padded(structure().longest_local()) : 0; }
  RhsRows<T> local(int thread) const { return {workspace.thread(thread) + side * local_length(), stride}; }
  T* spare(int thread) const { return workspace.thread(thread) + sides * local_length(); }
};

/// A block of right-hand sides, or one that is kept apart, and what the sweep reads and writes of it.
template <class T>
struct SweepSide {
  SweepRhs<T> rhs;
  std::optional<Reader<T>> in;   ///< none: what is kept
  std::optional<Writer<T>> out;  ///< none: the result is kept
};
template <class T>
std::vector<SweepSide<T>> sides_of(const SweepRhs<T>& rhs, const Reader<T>* in, const Writer<T>* out) {
  std::vector<SweepSide<T>> sides;
  for (index_t side = 0; side < rhs.sides; ++side) {
    SweepSide<T>& one = sides.emplace_back(SweepSide<T>{rhs.of_side(side), {}, {}});
    if (in != nullptr) one.in = *in;
    if (out != nullptr) one.out = *out;
    if (rhs.sides > 1 && in != nullptr) one.in->from = in->from.columns(side, 1);
    if (rhs.sides > 1 && out != nullptr) one.out->to = out->to.columns(side, 1);
  }
  return sides;
}

/// Both sweeps: how a group is run for one block of right-hand sides, or for some that are apart.
template <class T>
class GroupBody : public SweepBody {
 protected:
  using Vectors = typename SweepRhs<T>::GroupVectors;

  explicit GroupBody(std::vector<SweepSide<T>> sides) : sides_(std::move(sides)) {}

  /// run(vectors of all sides). Their number is known at compile time: most supernodes take so little that a
  /// loop would count.
  template <class Run>
  void with_vectors(index_t group, int thread, Run&& run) const {
    if (sides_.size() == 1) return run(vectors_of(group, thread, std::make_index_sequence<1>()));
    if (sides_.size() == 2) return run(vectors_of(group, thread, std::make_index_sequence<2>()));
    if (sides_.size() == 3) return run(vectors_of(group, thread, std::make_index_sequence<3>()));
    run(vectors_of(group, thread, std::make_index_sequence<4>()));
  }

  const SweepRhs<T>& shared() const { return sides_.front().rhs; }  ///< what it says of all sides
  const SweepGroups& structure() const { return shared().structure(); }
  const SolveReach* reach() const { return shared().reach; }
  const std::vector<SweepSide<T>>& sides() const { return sides_; }

 private:
  template <std::size_t... Side>
  std::array<Vectors, sizeof...(Side)> vectors_of(index_t group, int thread,
                                                  std::index_sequence<Side...>) const {
    return {sides_[Side].rhs.of_group(group, thread)...};
  }
  WorkOffers* offers() override { return shared().offers; }

  std::vector<SweepSide<T>> sides_;
};

template <class T>
class ForwardBody final : public GroupBody<T> {
 public:
  /// @param in   null: what is kept
  /// @param out  null: the result is kept for the backward sweep
  ForwardBody(const SweepRhs<T>& rhs, const Reader<T>* in, const Writer<T>* out)
      : GroupBody<T>(sides_of(rhs, in, out)) {}

  void run_task(index_t group, int thread) override {
    if (!is_reached(group)) return;
    for (const SweepSide<T>& side : this->sides()) begin(side, group, thread);
    this->with_vectors(group, thread, [&](const auto& vectors) { eliminate(group, vectors); });
    for (const SweepSide<T>& side : this->sides()) finish(side, group, thread);
  }

 private:
  using GroupBody<T>::reach, GroupBody<T>::structure;

  template <class Vectors>
  void eliminate(index_t group, const Vectors& vectors) const {
    if (this->shared().gathers()) return eliminate_singly(group, vectors);
    for (index_t s = structure().supernode_begin(group); s < structure().supernode_end(group); ++s)
      eliminate_one(s, vectors);
  }
  template <class Vectors>
  PALMETTE_INLINE void eliminate_one(index_t s, const Vectors& vectors) const {
    const SweepRhs<T>& rhs = this->shared();
    if (reach() != nullptr && !reach()->forward(s)) return;
    rhs.need_panel(s);
    rhs.triangle.prefetch_after(s, false);
    for (const auto& all : vectors) rhs.triangle.eliminate(s, rhs.vectors(s, all));
  }
  /// For one right-hand side, or some that are apart.
  template <class Vectors>
  void eliminate_singly(index_t group, const Vectors& vectors) const {
    const SweepRhs<T>& rhs = this->shared();
    const SupernodeBundles& bundles = structure().bundles();
    for (index_t bundle = bundles.begin(group); bundle < bundles.end(group); ++bundle)
      if (reach() == nullptr && rhs.triangle.has_bundle(bundle))
        for (const auto& all : vectors) rhs.triangle.eliminate_bundle(bundle, all.local.first);
      else
        for (const index_t s : bundles.members(bundle)) eliminate_one(s, vectors);
    for (const SingleSupernode& one : bundles.singles(group))
      if (!rhs.triangle.is_packed(one.supernode)) {
        eliminate_one(one.supernode, vectors);
      } else if (reach() == nullptr || reach()->forward(one.supernode)) {
        rhs.need_panel(one.supernode);
        rhs.triangle.prefetch_after(one.supernode, false);
        for (const auto& all : vectors)
          rhs.triangle.eliminate_packed(one, all.own.row(one.own), all.local.first);
      }
  }
  void begin(const SweepSide<T>& side, index_t group, int thread) const {
    const SweepRhs<T>& rhs = side.rhs;
    rhs.begin_own_rows(side.in ? &*side.in : nullptr, group, thread);
    const SplitRows<T> local = rhs.local_rows(group, thread);
    const index_t in_place = begin_boundary(rhs, group, thread);
    for (const index_t child : structure().children(group)) {
      if (!is_reached(child)) continue;
      RowPlaces places = structure().places_in_parent(child);
      if (child == in_place) places.count -= boundary_size(group);
      add_at<T>(places, rhs.boundary(child), local);
    }
  }
  bool is_reached(index_t group) const { return reach() == nullptr || reach()->forward_group(group); }
  /// @returns the child whose values the boundary holds then; −1: it holds zeros
  index_t begin_boundary(const SweepRhs<T>& rhs, index_t group, int thread) const {
    const index_t in_place = rhs.gathers() ? -1 : structure().child_in_place(group);
    if (in_place != -1 && is_reached(in_place)) return in_place;
    const RhsRows<T> boundary = rhs.boundary_rows(group, thread);
    std::fill_n(boundary.data, offset_t{boundary_size(group)} * boundary.stride, T(0));
    return -1;
  }
  void finish(const SweepSide<T>& side, index_t group, int thread) const {
    const SweepRhs<T>& rhs = side.rhs;
    if (!side.out) rhs.keep_own_rows(group, thread);
    else
      store_rhs<T>(*side.out, structure().column_begin(group), structure().num_columns(group),
                   rhs.own_rows(group, thread));
    if (rhs.gathers())
      copy_rows<T>(rhs.boundary_rows(group, thread), boundary_size(group), rhs.boundary(group));
  }
  index_t boundary_size(index_t group) const {
    return static_cast<index_t>(structure().boundary(group).size());
  }
};

template <class T>
class BackwardBody final : public GroupBody<T> {
 public:
  /// @param in   null: what the forward sweep kept
  /// @param out  null: the result is only kept
  BackwardBody(const SweepRhs<T>& rhs, const Reader<T>* in, const BlockDiagonal<T>* diagonal,
               const Writer<T>* out, bool adjoint)
      : GroupBody<T>(sides_of(rhs, in, out)), diagonal_(diagonal), adjoint_(adjoint) {}

  void run_task(index_t task, int thread) override {
    const index_t group = structure().num_groups() - 1 - task;
    if (reach() != nullptr && !reach()->backward_group(group)) return;
    for (const SweepSide<T>& side : this->sides()) begin(side, group, thread);
    this->with_vectors(group, thread, [&](const auto& vectors) { substitute(group, vectors); });
    for (const SweepSide<T>& side : this->sides()) finish(side, group, thread);
  }

 private:
  using GroupBody<T>::reach, GroupBody<T>::structure;

  template <class Vectors>
  void substitute(index_t group, const Vectors& vectors) const {
    if (this->shared().gathers()) return substitute_singly(group, vectors);
    for (index_t s = structure().supernode_end(group); s-- > structure().supernode_begin(group);)
      substitute_one(s, vectors);
  }
  template <class Vectors>
  PALMETTE_INLINE void substitute_one(index_t s, const Vectors& vectors) const {
    const SweepRhs<T>& rhs = this->shared();
    if (reach() != nullptr && !reach()->backward(s)) return;
    rhs.need_panel(s);
    rhs.triangle.prefetch_after(s, true);
    for (const auto& all : vectors) rhs.triangle.substitute(adjoint_, s, rhs.known_vectors(s, all));
  }
  /// For one right-hand side, or some that are apart.
  template <class Vectors>
  void substitute_singly(index_t group, const Vectors& vectors) const {
    const SweepRhs<T>& rhs = this->shared();
    const SupernodeBundles& bundles = structure().bundles();
    const auto singles = bundles.singles(group);
    for (auto one = singles.rbegin(); one != singles.rend(); ++one)
      if (!rhs.triangle.is_packed(one->supernode)) {
        substitute_one(one->supernode, vectors);
      } else if (reach() == nullptr || reach()->backward(one->supernode)) {
        rhs.need_panel(one->supernode);
        rhs.triangle.prefetch_after(one->supernode, true);
        for (const auto& all : vectors)
          rhs.triangle.substitute_packed(adjoint_, *one, all.own.row(one->own), all.local.first);
      }
    for (index_t bundle = bundles.end(group); bundle-- > bundles.begin(group);)
      if (reach() == nullptr && rhs.triangle.has_bundle(bundle))
        for (const auto& all : vectors)
          rhs.triangle.substitute_bundle(adjoint_, bundle, all.local.first);
      else
        for (const index_t s : bundles.members(bundle)) substitute_one(s, vectors);
  }
  void begin(const SweepSide<T>& side, index_t group, int thread) const {
    const SweepRhs<T>& rhs = side.rhs;
    const index_t columns = structure().num_columns(group), first = structure().column_begin(group);
    const RhsRows<T> own = rhs.own_rows(group, thread);
    // Where the forward sweep was not, what is kept is of an earlier solve.
    if (reach() != nullptr && !reach()->forward_group(group))
      std::fill_n(own.data, offset_t{columns} * own.stride, T(0));
    else
      rhs.begin_own_rows(side.in ? &*side.in : nullptr, group, thread);
    if (diagonal_ != nullptr) diagonal_->solve(first, columns, own);
    if (!rhs.gathers()) return;
    const RhsRows<T> boundary = rhs.boundary_rows(group, thread);
    const auto rows = structure().boundary(group);
    for (std::size_t k = 0; k < rows.size(); ++k) boundary.data[k] = rhs.kept().data[rows[k]];
  }
  void finish(const SweepSide<T>& side, index_t group, int thread) const {
    side.rhs.keep_own_rows(group, thread);
    if (side.out)
      store_rhs<T>(*side.out, structure().column_begin(group), structure().num_columns(group),
                   side.rhs.own_rows(group, thread));
  }

  const BlockDiagonal<T>* diagonal_;
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

/// Which of the caller's columns are moved by passes of their own, before and after the sweeps; the others
/// are moved within the tasks of a sweep.
template <class T>
class RhsPasses {
 public:
  explicit RhsPasses(const CoreRun<T>& run) : run_(run), stride_(stride_of(sizeof(T), run.num_rhs())) {}

  bool spreads() const { return pays(run_.in.from.ld, run_.in.map); }
  bool collects() const { return pays(run_.out.to.ld, run_.out.map); }
  void spread() const {
    over_row_ranges(run_.team, run_.out.to.rows, [&](index_t begin, index_t end) {
      if (stride_ == 1) spread_apart(run_.in, begin, end, kept().data);
      else spread_rhs(run_.in, begin, end, kept());
    });
  }
  void collect() const {
    over_row_ranges(run_.team, run_.out.to.rows, [&](index_t begin, index_t end) {
      if (stride_ == 1) collect_apart<T>(run_.out, begin, end, kept().data);
      else collect_rhs<T>(run_.out, begin, end, kept());
    });
  }

 private:
  RhsRows<T> kept() const { return {run_.workspace.work.data(), stride_}; }
  /// Right-hand sides that are alone or apart move by passes whenever they are permuted: see load_in_turn.
  /// Values of others that move one by one do so within the tasks, since then a vector passes through memory
  /// one time less. In registers a pass is faster, which goes through the columns in their order; so it is
  /// where columns are a multiple of a page apart, since these all map to the same cache lines.
  bool pays(offset_t ld, const IndexMap& map) const {
    if (stride_ == 1) return map.place != nullptr;
    const bool collide = run_.num_rhs() > 4 && ld * static_cast<offset_t>(sizeof(T)) % 4096 == 0;
    return map.back != nullptr && (turned_in_registers<T>(stride_) || collide);
  }

  const CoreRun<T>& run_;
  index_t stride_;
};

}  // namespace

template <class T>
void SupernodalCore<T>::solve(bool transposed, const CoreRun<T>& run) const {
  const SweepOrder steps = steps_of_solve(parts_.shape(), transposed);
  run_steps(steps, run, begin_course(steps));
}

template <class T>
void SupernodalCore<T>::run_steps(const SweepOrder& steps, const CoreRun<T>& run,
                                  const Course& course) const {
  const RhsPasses<T> passes(run);
  const bool spreads = passes.spreads(), collects = passes.collects();
  if (spreads) passes.spread();
  for (int number = 0; number < steps.count; ++number) {
    const bool reads = number == 0 && !spreads, writes = number + 1 == steps.count && !collects;
    sweep(steps.step[number], run, reads ? &run.in : nullptr, writes ? &run.out : nullptr, course);
  }
  if (collects) passes.collect();
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
  const index_t n = groups.symbolic().n, stride = stride_of(sizeof(T), entries.x.cols);
  T* const kept = entries.workspace->work.data();
  for (index_t side = 0; side < sides_apart(sizeof(T), entries.x.cols); ++side)
    for (const index_t group : reach.forward_groups())
      std::fill_n(kept + offset_t{side} * n + offset_t{groups.column_begin(group)} * stride,
                  offset_t{groups.num_columns(group)} * stride, T(0));
  const auto value = [&](index_t row, index_t rhs) -> T& {
    return stride == 1 ? kept[offset_t{rhs} * n + row] : kept[offset_t{row} * stride + rhs];
  };
  spread_entries(entries, value);
  const CoreRun<T> run{{},         {entries.x, {}}, *entries.workspace, 0, entries.method,
                       entries.team};
  const SweepOrder steps = steps_of_solve(parts_.shape(), entries.transposed);
  for (const SweepStep& step : steps.step) sweep(step, run, nullptr, nullptr, {&reach});
  collect_entries(entries, value);
}

template <class T>
void SupernodalCore<T>::solve_part(FactorPart part, Operation operation, const CoreRun<T>& given) const {
  solve_one_part(parts_.shape(), parts_.diagonal ? &*parts_.diagonal : nullptr, {part, operation}, given,
                 [this](const SweepOrder& steps, const CoreRun<T>& turned) {
                   run_steps(steps, turned, begin_course(steps));
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
  const index_t stride = stride_of(sizeof(T), run.num_rhs());
  std::optional<WorkOffers> offers;
  if (run.method == SolveMethod::sync_free && run.team != nullptr && stride == 1)
    offers.emplace(run.team->size());
  const SweepRhs<T> rhs{triangle,          run.workspace,
                        stride,            course.reach,
                        course.pass.get(), offers ? &*offers : nullptr,
                        step.forward ? rows_fetched_ahead<T> : -rows_fetched_ahead<T>,
                        sides_apart(sizeof(T), run.num_rhs())};
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

index_t sides_apart(int scalar_bytes, index_t num_rhs) {
  return num_rhs <= most_apart(scalar_bytes) ? std::max<index_t>(num_rhs, 1) : 1;
}

WorkspaceNeed supernodal_workspace_need(const SweepGroups& structure, int scalar_bytes, index_t num_rhs) {
  const offset_t stride = row_stride(scalar_bytes, std::max<index_t>(num_rhs, 1));
  WorkspaceNeed need;
  need.work = structure.symbolic().n * stride;
  need.boundary = structure.total_boundary() * stride;
  // One workspace serves blocks of fewer right-hand sides, too, so its need never shrinks with their number:
  // the last block may have some that are apart, whose vectors are not worked on where they are kept.
  need.thread = std::max(padded(structure.widest_supernode()) * stride,
                         padded(structure.widest_supernode()) +
                             std::clamp<index_t>(num_rhs, 1, most_apart(scalar_bytes)) *
                                 padded(structure.longest_local()) +
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
