// New values of a matrix whose pattern a solver knows: checked in one pass, by all threads, without checks of
// the pattern.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "palmette/solver/known_matrix.hpp"

namespace palmette {

/// One call at a time. Keeps the matrix before the last, once no one uses it any more, for the values of the
/// next, and the pairs of mirrored entries of a symmetric matrix.
template <class T>
class ValuesAgain {
 public:
  /// As check_system and know_matrix, for a matrix that should have the pattern of `now`.
  /// @param team  null: the caller's thread alone
  /// @throws as check_system; UsageError if the pattern differs
  KnownMatrix<T> know(const KnownMatrix<T>& now, std::shared_ptr<const SparseMatrix<T>> given,
                      ThreadTeam* team);
  /// The same with values alone. @throws DimensionError unless there is one for each entry
  KnownMatrix<T> know(const KnownMatrix<T>& now, std::vector<T> values, ThreadTeam* team);
  /// The pattern will be another.
  void forget() {
    spare_ = std::make_shared<SparePointer<SparseMatrix<T>>>();
    mirrored_.reset();
  }

 private:
  /// A matrix of this pattern, with any values or none.
  std::unique_ptr<SparseMatrix<T>> blank(const SparsityPattern& pattern) const;
  LooseSymmetry symmetry_of(const KnownMatrix<T>& now, const SparseMatrix<T>& matrix, double tolerance,
                            ThreadTeam* team);

  std::shared_ptr<SparePointer<SparseMatrix<T>>> spare_ = std::make_shared<SparePointer<SparseMatrix<T>>>();
  std::optional<MirroredEntries> mirrored_;
};

}  // namespace palmette
