// Columns are dealt in tasks of neighbours, to one element after the other [Xie et al. 2021].
#include "palmette/tasks/column_deal.hpp"

#include <algorithm>
#include <bit>

#include "palmette/base/base.hpp"

namespace palmette {

ColumnDeal ColumnDeal::of(index_t n, int elements, index_t tasks_per_element) {
  constexpr int most_elements = 32;  // a lane of a warp for each
  if (elements > most_elements)
    throw UsageError("a plain triangle on " + std::to_string(elements) + " devices; the most are " +
                     std::to_string(most_elements));
  if (tasks_per_element < 1)
    throw UsageError(std::to_string(tasks_per_element) + " tasks for each device; there must be at least 1");
  const offset_t tasks = offset_t{tasks_per_element} * elements;
  return {elements, static_cast<index_t>(std::max<offset_t>(1, (n + tasks - 1) / tasks))};
}

std::vector<unsigned> column_sources(const SparsityPattern& strict, bool transposed, const ColumnDeal& deal) {
  std::vector<unsigned> sources(static_cast<std::size_t>(strict.cols));
  for (index_t column = 0; column < strict.cols; ++column)
    for (const index_t row : strict.column(column))
      if (transposed)
        sources[column] |= 1u << deal.element_of(row);
      else
        sources[row] |= 1u << deal.element_of(column);
  return sources;
}

unsigned ColumnSlots::of(index_t row, unsigned others, int source) const {
  return first[row] + static_cast<unsigned>(std::popcount(others & ((1u << source) - 1)));
}

ColumnSlots column_slots(const std::vector<unsigned>& sources, const ColumnDeal& deal) {
  std::vector<unsigned> next(static_cast<std::size_t>(deal.elements));
  ColumnSlots slots;
  slots.first.reserve(sources.size());
  for (std::size_t row = 0; row < sources.size(); ++row) {
    const int owner = deal.element_of(static_cast<index_t>(row));
    slots.first.push_back(next[owner]);
    next[owner] += static_cast<unsigned>(std::popcount(sources[row] & ~(1u << owner)));
  }
  slots.most = *std::max_element(next.begin(), next.end());
  return slots;
}

std::size_t most_column_slots(const SparsityPattern& strict, const ColumnDeal& deal) {
  std::size_t most = 0;
  for (const bool transposed : {false, true})
    most = std::max(most, column_slots(column_sources(strict, transposed, deal), deal).most);
  return most;
}

}  // namespace palmette
