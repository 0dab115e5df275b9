// A permutation of 0 … n−1 and its inverse.
#pragma once

#include <vector>

#include "palmette/base/base.hpp"

namespace palmette {

/// Constant after construction. `new_to_old()[k]` is the old index at new place k; `old_to_new()` is its
/// inverse.
class Permutation {
 public:
  Permutation() = default;
  /// @param new_to_old  length n, each of 0 … n−1 once
  /// @throws UsageError naming the place if an index is out of range or occurs twice
  explicit Permutation(std::vector<index_t> new_to_old);
  static Permutation identity(index_t n);

  index_t size() const { return static_cast<index_t>(new_to_old_.size()); }
  const std::vector<index_t>& new_to_old() const { return new_to_old_; }  // length n
  const std::vector<index_t>& old_to_new() const { return old_to_new_; }  // length n
  bool is_identity() const;
  /// First this permutation, then `next`: new place k of the result holds
  /// this.new_to_old[next.new_to_old[k]].
  Permutation then(const Permutation& next) const;

 private:
  std::vector<index_t> new_to_old_;
  std::vector<index_t> old_to_new_;
};

}  // namespace palmette
