// Memory of a factorization, allocated once.
#include "palmette/factorize/workspace.hpp"

#include <algorithm>

namespace palmette::factorize_detail {

namespace {

bool odd_between(const std::vector<index_t>& rows, const std::vector<index_t>& columns) {
  const auto is_odd = [](const std::vector<index_t>& order) {
    return is_odd_permutation(order.size(), [&](std::size_t place) { return order[place]; });
  };
  return rows != columns && is_odd(rows) != is_odd(columns);
}

}  // namespace

template <class T>
Workspace<T>::Workspace(std::shared_ptr<const SymbolicFactor> structure, FactorKind what, int threads,
                        const RowChunks& chunks)
    : symbolic(std::move(structure)),
      kind(what),
      flops(factorization_flops(*symbolic, what)),
      odd_permutation(odd_between(symbolic->row.new_to_old(), symbolic->column.new_to_old())),
      tasks(factorization_tasks(*symbolic, place(*symbolic), what, chunks)),
      ready(tasks.graph),
      tallies(tasks.graph.tasks.size()) {
  // Longer chunks are those of runs with a device, which sum in place.
  ScratchSizes sizes = scratch_sizes(*symbolic);
  scratch.reserve(threads);
  for (int thread = 0; thread < threads; ++thread) scratch.emplace_back(sizes, what);
}

template <class T>
void Workspace<T>::reset() {
  ready.reset();
  std::fill(tallies.begin(), tallies.end(), PivotTally());
  for (Scratch<T>& one : scratch) one.counts = {};
}

#define PALMETTE_INSTANTIATE(T) template struct Workspace<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::factorize_detail
