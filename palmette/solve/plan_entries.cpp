// Solves for single entries: blocks of sparse right-hand sides through the core of a factor, or, where the
// core has no such solves, whole solves from which the wanted rows are taken.
#include <algorithm>
#include <string>

#include "palmette/solve/plan_body.hpp"

namespace palmette::solve_detail {
namespace {

void check_all_below(std::span<const index_t> numbers, index_t end, const std::string& what) {
  for (const index_t number : numbers)
    if (number < 0 || number >= end)
      throw DimensionError(what + " " + std::to_string(number) + " does not exist: there are " +
                           std::to_string(end));
}

}  // namespace

template <class T>
void PlanBody<T>::check_entries(const EntryRun<T>& wanted) const {
  if (wanted.b.rows() != n_)
    throw DimensionError("the right-hand side has " + std::to_string(wanted.b.rows()) +
                         " rows, but the matrix is of order " + std::to_string(n_));
  if (wanted.x.rows != static_cast<index_t>(wanted.wanted.size()) ||
      wanted.x.cols != static_cast<index_t>(wanted.columns.size()))
    throw DimensionError("x is " + std::to_string(wanted.x.rows) + " × " + std::to_string(wanted.x.cols) +
                         ", but " + std::to_string(wanted.wanted.size()) + " rows are wanted for " +
                         std::to_string(wanted.columns.size()) + " right-hand sides");
  check_all_below(wanted.wanted, n_, "wanted row");
  check_all_below(wanted.columns, wanted.b.cols(), "right-hand side");
}

template <class T>
EntryTrace PlanBody<T>::solve_entries(Operation operation, const EntryRun<T>& wanted,
                                      const SolveRun& run) const {
  check_entries(wanted);
  EntryTrace trace;
  trace.solve.method = chosen_run(wanted.x.cols, run).method;
  if (n_ == 0) return trace;
  for (index_t first = 0; first < wanted.x.cols; first += rhs_block) {
    const index_t count = std::min(rhs_block, wanted.x.cols - first);
    EntryRun<T> block{wanted.b, wanted.columns.subspan(first, count), wanted.wanted,
                      wanted.x.columns(first, count)};
    solve_block(operation, block, run, trace);
  }
  return trace;
}

template <class T>
void PlanBody<T>::solve_block(Operation operation, EntryRun<T> block, const SolveRun& run,
                              EntryTrace& trace) const {
  const SweepWork whole = work(block.x.cols);
  trace.whole_bytes += whole.bytes;
  const Stage<T>& stage = stages_.front();
  const StageSides sides =
      sides_of(stage, operation != Operation::plain, operation == Operation::adjoint);
  block.in = sides.in;
  block.out = sides.out;
  block.transposed = sides.transposed;
  block.conjugated = sides.conjugated;
  const auto reach = stages_.size() == 1 ? stage.core->reach(block) : nullptr;
  if (!reach) return solve_whole(operation, block, run, trace);
  const double bytes = reach->entries() * sizeof(T);
  const SolveRun chosen =
      chosen_run({bytes, std::min(bytes, whole.critical_path_bytes)}, block.x.cols, run);
  try {
    std::unique_ptr<Workspace> workspace = borrow_workspace(block.x.cols, member_count(chosen.team));
    block.workspace = workspace.get();
    block.method = chosen.method;
    block.team = chosen.team;
    stage.core->solve_entries(block, *reach);
    trace.solve.method = chosen.method;
    trace.solve.threads = std::max(trace.solve.threads, workspace->most_called);
    trace.bytes += bytes;
    pool_->give_back(std::move(workspace));
  } catch (const std::bad_alloc&) {
    throw MemoryError("cannot allocate the workspace of a solve with " + std::to_string(block.x.cols) +
                      " sparse right-hand sides");
  }
}

template <class T>
void PlanBody<T>::solve_whole(Operation operation, const EntryRun<T>& block, const SolveRun& run,
                              EntryTrace& trace) const {
  DenseMatrix<T> x(n_, block.x.cols);
  const std::vector<offset_t>& ptr = block.b.pattern.column_ptr;
  for (index_t j = 0; j < x.cols; ++j)
    for (offset_t e = ptr[block.columns[j]]; e < ptr[block.columns[j] + 1]; ++e)
      x.view()(block.b.pattern.row_index[e], j) = block.b.values[e];
  trace.solve = solve(operation, std::as_const(x).view(), x.view(), run);
  trace.bytes += work(x.cols).bytes;
  for (index_t j = 0; j < x.cols; ++j)
    for (std::size_t k = 0; k < block.wanted.size(); ++k)
      block.x(static_cast<index_t>(k), j) = x.view()(block.wanted[k], j);
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template EntryTrace PlanBody<T>::solve_entries(Operation, const EntryRun<T>&, const SolveRun&) const;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
