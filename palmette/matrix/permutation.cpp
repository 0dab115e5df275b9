// Permutations are checked when they are made, so that no later phase has to.
#include "palmette/matrix/permutation.hpp"

#include <numeric>

namespace palmette {

Permutation::Permutation(std::vector<index_t> new_to_old) : new_to_old_(std::move(new_to_old)) {
  const index_t n = static_cast<index_t>(new_to_old_.size());
  old_to_new_.assign(new_to_old_.size(), -1);
  for (index_t place = 0; place < n; ++place) {
    const index_t old = new_to_old_[place];
    if (old < 0 || old >= n)
      throw UsageError("permutation entry " + std::to_string(place + 1) + " is " + std::to_string(old) +
                       " (counted from 0), outside 0 … " + std::to_string(n - 1));
    if (old_to_new_[old] >= 0)
      throw UsageError("permutation names index " + std::to_string(old) +
                       " (counted from 0) twice, at entries " + std::to_string(old_to_new_[old] + 1) +
                       " and " + std::to_string(place + 1));
    old_to_new_[old] = place;
  }
}

Permutation Permutation::identity(index_t n) {
  std::vector<index_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  return Permutation(std::move(order));
}

bool Permutation::is_identity() const {
  for (index_t place = 0; place < size(); ++place)
    if (new_to_old_[place] != place) return false;
  return true;
}

Permutation Permutation::then(const Permutation& next) const {
  if (next.size() != size())
    throw DimensionError("permutations of " + std::to_string(size()) + " and " + std::to_string(next.size()) +
                         " indices cannot be composed");
  std::vector<index_t> composed(new_to_old_.size());
  for (index_t place = 0; place < size(); ++place) composed[place] = new_to_old_[next.new_to_old()[place]];
  return Permutation(std::move(composed));
}

}  // namespace palmette
