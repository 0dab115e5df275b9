// A caller's rows as a SparseMatrix: the pattern once, values as often as they change.
#pragma once

#include <cstdint>
#include <vector>

#include "palmette/pardiso/settings.hpp"

namespace palmette::pardiso {

/// Constant after construction.
class GivenPattern {
 public:
  /// Read ia and ja: in any order within a row, unless the call asks for a check; entries given twice are
  /// summed.
  /// @throws Refusal naming the row if pointers decrease, a column is out of range, an entry of a symmetric
  ///   type lies below the diagonal, or, with the check, columns do not ascend
  /// @cost  O(nnz + n); 8 bytes for each entry stay
  static GivenPattern read(const Call& call, const Settings& settings);

  index_t n() const { return pattern_.cols; }
  const SparsityPattern& pattern() const { return pattern_; }  ///< both triangles
  /// Whether a call has the ia and ja that were read.
  bool is_that_of(const Call& call) const;

  /// The matrix of the caller's values.
  /// @param a  as many as there are entries @throws Refusal for values that are not finite
  template <class T>
  SparseMatrix<T> with_values(const T* a, Symmetry symmetry) const;

 private:
  SparsityPattern pattern_;
  /// Length: entries of both triangles before summing. Entry k of ja: k; its mirror image: −1 − k.
  std::vector<std::int64_t> source_;
  std::vector<offset_t> position_;  // of each source in the pattern; empty: the same place
  std::uint64_t checksum_ = 0;      // of ia and ja
};

}  // namespace palmette::pardiso
