// Inside `factorize`: where each entry of a matrix goes in the panels, for matrices that come again with the
// same pattern. Without it an entry costs three reads of memory out of order, and symmetric kinds do not use
// every other one at all.
#pragma once

#include <vector>

#include "palmette/factorize/work.hpp"

namespace palmette::factorize_detail {

/// The entries that assemble_lower takes, column by column of the permuted matrix.
class ListedEntries {
 public:
  /// Compared by the threads of the team.
  bool fits(const SparsityPattern& pattern, ThreadTeam& team) const;
  /// @param scratch  one for each thread of the team @cost as one assembly, shared by the team
  template <class T>
  void make(const Work<T>& work, std::vector<Scratch<T>>& scratch, ThreadTeam& team);

  /// Calls take(entry of the matrix, local row in the panel) for the column permuted to place `column`.
  template <class Take>
  void visit(index_t column, Take&& take) const {
    for (offset_t nth = begin_[column]; nth < begin_[column + 1]; ++nth) take(source_[nth], row_[nth]);
  }
  /// Asks for the values of entries that are visited some hundreds of nanoseconds after those of `column`.
  template <class T>
  PALMETTE_INLINE void fetch_ahead(const T* values, index_t column) const {
    constexpr index_t distance = 16;  // columns
    if (column + distance + 1 >= static_cast<index_t>(begin_.size())) return;
    const offset_t nth = begin_[column + distance], end = begin_[column + distance + 1];
    if (nth == end) return;
    // Most columns are one or two lines of the matrix.
    __builtin_prefetch(values + source_[nth]);
    __builtin_prefetch(values + source_[end - 1]);
  }

 private:
  SparsityPattern pattern_;
  std::vector<offset_t> begin_;   // length n + 1, by permuted column
  std::vector<offset_t> source_;  // entries of the matrix
  std::vector<index_t> row_;      // their local rows in the panel of their column
};

}  // namespace palmette::factorize_detail
