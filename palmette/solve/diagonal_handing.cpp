// Each owner of a diagonal block sends it to the ranks that have blocks below it.
#include "palmette/solve/diagonal_handing.hpp"

#include <algorithm>
#include <cstring>

namespace palmette::solve_detail {
namespace {

/// Supernodes of which an element has blocks, but not the diagonal one; numbers of the whole structure.
std::vector<index_t> missing_of(const HostElement& element) {
  std::vector<index_t> own = element.supernode, missing;
  std::sort(own.begin(), own.end());
  for (const BlockOfElement& block : element.blocks)
    if (!std::binary_search(own.begin(), own.end(), block.supernode)) missing.push_back(block.supernode);
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  return missing;
}

bool owns(const HostElement& element, index_t supernode) {
  return std::find(element.supernode.begin(), element.supernode.end(), supernode) != element.supernode.end();
}

}  // namespace

DiagonalPlan diagonal_plan(const HostElements& all, int element, const LayerSystem* system) {
  const auto per_layer = static_cast<int>(system != nullptr ? system->ranks.grid.num_ranks()
                                                            : static_cast<index_t>(all.element.size()));
  const auto number = [&](index_t whole) {
    if (system == nullptr) return whole;
    const auto& numbers = system->supernode;
    return static_cast<index_t>(std::lower_bound(numbers.begin(), numbers.end(), whole) - numbers.begin());
  };
  const int first = element / per_layer * per_layer;
  const HostElement& own = all.element[element];
  const std::vector<index_t> missing = missing_of(own);
  DiagonalPlan plan;
  for (int other = first; other < first + per_layer; ++other) {
    if (other == element) continue;
    for (const index_t s : missing_of(all.element[other]))
      if (owns(own, s)) plan.gives.push_back({number(s), static_cast<index_t>(other)});
    for (const index_t s : missing)
      if (owns(all.element[other], s)) plan.gets.push_back({number(s), static_cast<index_t>(other)});
  }
  return plan;
}

template <class T>
void DiagonalHanding<T>::start() {
  std::map<index_t, SharedBytes> packed;
  for (const DiagonalPlan::Gift& gift : plan_.gives) {
    SharedBytes& bytes = packed[gift.supernode];
    if (bytes.size() == 0) {
      const index_t width = factor_->symbolic->width(gift.supernode);
      const DenseView<const T> block =
          factor_->rows_of(factor_->lower, factor_->owned.panel_number(gift.supernode), 0, width);
      bytes = pool_.take(static_cast<std::size_t>(width) * static_cast<std::size_t>(width) * sizeof(T));
      T* to = reinterpret_cast<T*>(bytes.writable().data());
      for (index_t column = 0; column < width; ++column, to += width)
        std::copy_n(block.column(column), width, to);
    }
    transport_->send(gift.rank, gift.supernode, bytes);
  }
  transport_->flush();
}

template <class T>
bool DiagonalHanding<T>::run_one_task(int thread) {
  if (thread != 0 || done() || blocks_.size() < plan_.gets.size()) return false;
  whole_(blocks_);
  blocks_.clear();
  done_.store(true, std::memory_order_release);
  return true;
}

template <class T>
std::string DiagonalHanding<T>::waiting_for() const {
  for (const DiagonalPlan::Gift& gift : plan_.gets)
    if (blocks_.find(gift.supernode) == blocks_.end())
      return "the diagonal block of supernode " + std::to_string(gift.supernode) + " from rank " +
             std::to_string(gift.rank);
  return "nothing";
}

#define PALMETTE_INSTANTIATE(T) template class DiagonalHanding<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
