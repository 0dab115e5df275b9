// One solve: right-hand sides in blocks, each block through the stages, permutations and scalings done on the
// way.
#include "palmette/solve/plan_body.hpp"
#include "palmette/solve/device_maps.hpp"

#include <algorithm>
#include <new>
#include <set>

namespace palmette::solve_detail {
namespace {

template <class T>
void grow(PanelArray<T>& array, offset_t size) {
  if (array.size() < size) array = PanelArray<T>(size);
}

std::string shape(index_t rows, index_t cols) { return std::to_string(rows) + " × " + std::to_string(cols); }

}  // namespace

template <class T>
struct PlanBody<T>::Chain {
  bool transposed;
  bool conjugated;
  DenseView<const T> b;
  DenseView<T> x;
  SolveMethod method;
  ThreadTeam* team;
};

template <class T>
void PlanBody<T>::check_sizes(DenseView<const T> b, DenseView<T> x) const {
  if (b.rows != n_)
    throw DimensionError("the right-hand side is " + shape(b.rows, b.cols) + " but the matrix is " +
                         shape(n_, n_) + ": b must have " + std::to_string(n_) + " rows");
  if (x.rows != n_ || x.cols != b.cols)
    throw DimensionError("the solution is " + shape(x.rows, x.cols) + " but the right-hand side is " +
                         shape(b.rows, b.cols) + ": both must have the same shape");
  if (b.cols < 0) throw DimensionError("the right-hand side has " + std::to_string(b.cols) + " columns");
  if (b.cols > 1 && (b.ld < n_ || x.ld < n_))
    throw DimensionError("leading dimensions " + std::to_string(b.ld) + " (b) and " + std::to_string(x.ld) +
                         " (x) must be at least " + std::to_string(n_));
}

template <class T>
PlanBody<T>::PlanBody(index_t n, std::vector<solve_detail::Stage<T>> stages,
                      std::unique_ptr<const solve_detail::PartMaps<T>> parts,
                      std::shared_ptr<WorkspacePool<T>> workspaces)
    : n_(n),
      stages_(std::move(stages)),
      parts_(std::move(parts)),
      device_(stages_.empty() ? nullptr : stages_.front().core->device()),
      pool_(workspaces ? std::move(workspaces) : std::make_shared<WorkspacePool<T>>()) {
  if (!device_) return;
  for (solve_detail::Stage<T>& stage : stages_) solve_detail::move_maps(stage, n_, device_);
}

template <class T>
SolveTrace PlanBody<T>::solve(Operation operation, DenseView<const T> b, DenseView<T> x,
                              const SolveRun& run) const {
  if (device_) return over_blocks(b, x, run, through_device(operation), false);
  return over_blocks(b, x, run, through_stages(operation), true);
}

template <class T>
SolveTrace PlanBody<T>::solve(Operation operation, OnDevice<const T> b, OnDevice<T> x,
                              const SolveRun& run) const {
  if (!device_)
    throw UsageError("the right-hand side lies on a device but the factor on the host: plan with a device");
  return over_blocks(b.addresses(), x.addresses(), run, through_stages(operation), false);
}

template <class T>
typename PlanBody<T>::Block PlanBody<T>::through_stages(Operation operation) const {
  return [this, operation](DenseView<const T> b, DenseView<T> x, const SolveRun& run, Workspace& workspace) {
    run_chain({operation != Operation::plain, operation == Operation::adjoint, b, x, run.method, run.team},
              workspace);
  };
}

template <class T>
typename PlanBody<T>::Block PlanBody<T>::through_device(Operation operation) const {
  return [this, operation](DenseView<const T> b, DenseView<T> x, const SolveRun& run, Workspace& workspace) {
    const std::size_t entries = static_cast<std::size_t>(n_) * b.cols;
    if (workspace.there.size() < entries) {
      workspace.there = {};
      workspace.there = {device_, entries};
    }
    const OnDevice<T> there(DenseView<T>{workspace.there.data(), n_, b.cols, n_});
    copy_to_device(*device_, b, there);
    through_stages(operation)(there.addresses(), there.addresses(), run, workspace);
    copy_from_device(*device_, OnDevice<const T>(there), x);
  };
}

template <class T>
SolveTrace PlanBody<T>::solve_part(FactorPart part, Operation operation, DenseView<const T> b, DenseView<T> x,
                                   const SolveRun& run) const {
  check_sizes(b, x);
  if (n_ == 0) return {};
  if (!parts_) throw UsageError("a solve with one factor needs a plan that was built from a factor");
  const solve_detail::PartSides sides = parts_->sides(part, operation);
  const Block each = [&](DenseView<const T> in, DenseView<T> out, const SolveRun& chosen,
                         Workspace& workspace) {
    stages_.front().core->solve_part(
        part, operation,
        {{in, sides.in}, {out, sides.out}, workspace, 0, chosen.method, chosen.team});
  };
  return over_blocks(b, x, run, each, true);
}

template <class T>
SolveRun PlanBody<T>::chosen_run(index_t num_rhs, const SolveRun& run) const {
  return chosen_run(work(num_rhs), num_rhs, run);
}

template <class T>
SolveRun PlanBody<T>::chosen_run(const solve_detail::SweepWork& one, index_t num_rhs,
                                 const SolveRun& run) const {
  if (is_streamed()) return {SolveMethod::serial, nullptr};
  const double blocks_of_bytes = std::max<index_t>(1, std::min(num_rhs, solve_detail::rhs_block) / 4);
  const SolveMethod method = solve_detail::choose_method(
      run.method, where(),
      {one.bytes * blocks_of_bytes, one.critical_path_bytes * blocks_of_bytes},
      solve_detail::member_count(run.team));
  return {method, method != SolveMethod::serial && where() == SolveWhere::one_machine ? run.team : nullptr};
}

template <class T>
SolveTrace PlanBody<T>::over_blocks(DenseView<const T> b, DenseView<T> x, const SolveRun& run,
                                    const Block& each, bool on_host) const {
  check_sizes(b, x);
  const SolveRun chosen = chosen_run(b.cols, run);
  SolveTrace trace{chosen.method, solve_detail::member_count(chosen.team), {}, {}};
  const DeviceCounts before = device_counts();
  const PanelReads read_before = panel_reads();
  if (n_ == 0 || b.cols == 0) return trace;
  try {
    std::unique_ptr<Workspace> workspace =
        borrow_workspace(on_host ? std::min(b.cols, solve_detail::rhs_block) : 0, trace.threads);
    for (index_t first = 0; first < b.cols; first += solve_detail::rhs_block) {
      const index_t count = std::min(solve_detail::rhs_block, b.cols - first);
      each(b.columns(first, count), x.columns(first, count), chosen, *workspace);
    }
    trace.threads = workspace->most_called;
    trace.device = device_counts() - before;
    trace.panels = panel_reads() - read_before;
    pool_->give_back(std::move(workspace));
  } catch (const std::bad_alloc&) {
    throw MemoryError("cannot allocate the workspace of a solve with " + std::to_string(b.cols) +
                      " right-hand sides");
  }
  return trace;
}

template <class T>
void PlanBody<T>::run_chain(const Chain& chain, Workspace& workspace) const {
  for (std::size_t place = 0; place < stages_.size(); ++place) run_stage(chain, place, workspace);
}

template <class T>
void PlanBody<T>::run_stage(const Chain& chain, std::size_t place, Workspace& workspace) const {
  // The transpose of a product is the product of the transposes in reverse order, each with domain and range
  // exchanged.
  const std::size_t number = chain.transposed ? stages_.size() - 1 - place : place;
  const solve_detail::Stage<T>& stage = stages_[number];
  const StageSides sides = sides_of(stage, chain.transposed, chain.conjugated);
  // A core on a device has read all its input before it writes.
  const DenseView<T> middle =
      device_ ? chain.x : DenseView<T>{workspace.middle.data(), n_, chain.x.cols, n_};
  const bool last = place + 1 == stages_.size();
  solve_detail::CoreRun<T> run{{place == 0 ? chain.b : DenseView<const T>(middle),
                         sides.in, sides.conjugated},
                        {last ? chain.x : middle, sides.out, sides.conjugated},
                        workspace,
                        static_cast<index_t>(solve_detail::states_of_stage * number),
                        chain.method,
                        chain.team};
  stage.core->solve(sides.transposed, run);
}

template <class T>
typename PlanBody<T>::StageSides PlanBody<T>::sides_of(const solve_detail::Stage<T>& stage, bool transposed,
                                                       bool conjugated) const {
  StageSides sides{transposed ? stage.domain : stage.range, transposed ? stage.range : stage.domain,
                   transposed != stage.transposed, conjugated != stage.conjugated};
  if (sides.transposed && stage.core->relation() != solve_detail::Relation::general) {
    sides.transposed = false;
    if (stage.core->relation() == solve_detail::Relation::hermitian) sides.conjugated = !sides.conjugated;
  }
  return sides;
}

template <class T>
std::unique_ptr<typename PlanBody<T>::Workspace> PlanBody<T>::borrow_workspace(index_t num_rhs,
                                                                              int threads) const {
  std::unique_ptr<Workspace> workspace = pool_->take();
  if (!workspace) workspace = std::make_unique<Workspace>();
  prepare(*workspace, num_rhs, threads);
  return workspace;
}

template <class T>
void PlanBody<T>::prepare(Workspace& workspace, index_t num_rhs, int threads) const {
  workspace.most_called = 1;
  workspace.states.resize(solve_detail::states_of_stage * stages_.size());
  solve_detail::WorkspaceNeed need;
  for (const solve_detail::Stage<T>& stage : stages_) {
    const solve_detail::WorkspaceNeed own = stage.core->workspace_need(num_rhs);
    need.work = std::max(need.work, own.work);
    need.boundary = std::max(need.boundary, own.boundary);
    need.thread = std::max(need.thread, own.thread);
  }
  grow(workspace.work, need.work);
  grow(workspace.boundary, need.boundary);
  // One page apart: threads must not share cache lines.
  const offset_t stride = (need.thread + 1023) / 512 * 512;
  if (workspace.thread_stride < stride) workspace.thread_stride = stride;
  grow(workspace.threads, workspace.thread_stride * threads);
  if (stages_.size() > 1) grow(workspace.middle, offset_t{n_} * num_rhs);
}

template <class T>
solve_detail::SweepWork PlanBody<T>::work(index_t num_rhs) const {
  solve_detail::SweepWork sum;
  for (const solve_detail::Stage<T>& stage : stages_) {
    const solve_detail::CoreCost cost = stage.core->cost();
    sum.bytes += cost.bytes;
    sum.critical_path_bytes += cost.critical_path(num_rhs);
  }
  return sum;
}

template <class T>
SolveCost PlanBody<T>::cost(index_t num_rhs) const {
  if (num_rhs < 0)
    throw UsageError("cost of " + std::to_string(num_rhs) +
                     " right-hand sides: the number must be at least 0");
  const double blocks = (num_rhs + solve_detail::rhs_block - 1) / solve_detail::rhs_block;
  SolveCost sum;
  for (const solve_detail::Stage<T>& stage : stages_) {
    const solve_detail::CoreCost cost = stage.core->cost();
    sum.flops += cost.flops * num_rhs;
    sum.bytes += cost.bytes * blocks;
    sum.critical_path_bytes += cost.critical_path_bytes * blocks;
  }
  sum.bytes += 2.0 * n_ * num_rhs * sizeof(T);
  return sum;
}

template <class T>
index_t PlanBody<T>::guarded_blocks() const {
  index_t count = 0;
  std::set<const void*> seen;
  for (const solve_detail::Stage<T>& stage : stages_)
    if (seen.insert(stage.core.get()).second) count += stage.core->guarded_blocks();
  return count;
}

template <class T>
offset_t PlanBody<T>::memory_bytes() const {
  offset_t bytes = 0;
  std::set<const void*> seen;
  for (const solve_detail::Stage<T>& stage : stages_) {
    bytes += stage.maps_bytes;
    if (seen.insert(stage.core.get()).second) bytes += stage.core->memory_bytes();
  }
  return bytes;
}

#define PALMETTE_INSTANTIATE(T) template class PlanBody<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
