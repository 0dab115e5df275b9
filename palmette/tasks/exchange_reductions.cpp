// Parts of reductions: children, and positions of rows in lists of rows.
#include "palmette/tasks/exchange_reductions.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {

ArrayPart ReductionBuilder::add_children(const CommunicationTree& ranks, index_t position) {
  ArrayPart part;
  part.begin = static_cast<index_t>(exchange_.ranks.size());
  for (index_t child = ranks.first_child(position); child < ranks.end_child(position); ++child)
    exchange_.ranks.push_back(ranks.ranks[child]);
  part.end = static_cast<index_t>(exchange_.ranks.size());
  return part;
}

PartRows ReductionBuilder::places_of(std::span<const index_t> rows, std::span<const index_t> among) {
  PartRows result{-1, 0, static_cast<index_t>(rows.size())};
  if (rows.empty()) return result;
  const auto place = [&](index_t row) {
    return static_cast<index_t>(std::lower_bound(among.begin(), among.end(), row) - among.begin());
  };
  result.start = place(rows.front());
  if (place(rows.back()) - result.start + 1 == result.count) return result;
  result.list = static_cast<offset_t>(exchange_.places.size());
  for (const index_t row : rows) exchange_.places.push_back(place(row));
  return result;
}

std::span<const index_t> ReductionBuilder::rows_of_supernode(index_t s) {
  own_rows_.resize(known_.symbolic().width(s));
  std::iota(own_rows_.begin(), own_rows_.end(), known_.symbolic().supernode_begin[s]);
  return own_rows_;
}

}  // namespace palmette
