// Checks and copies of new values. What is unusual is left to the functions that look at a whole matrix.
#include "palmette/solver/values_again.hpp"

#include <algorithm>

#include "palmette/solver/checks.hpp"
#include "palmette/solver/hall.hpp"

namespace palmette {
namespace {

template <class T>
bool are_finite(const T* values, offset_t count) {
  bool finite = true;
  for (offset_t entry = 0; entry < count; ++entry) finite &= is_finite(values[entry]);
  return finite;
}

/// Whether `given` has this pattern and finite values. @param copy  null, or receives the values
template <class T>
bool fits(const SparsityPattern& pattern, const SparseMatrix<T>& given, ThreadTeam* team, T* copy) {
  const SparsityPattern& other = given.pattern;
  if (other.rows != pattern.rows || other.cols != pattern.cols || other.column_ptr != pattern.column_ptr ||
      other.row_index.size() != pattern.row_index.size() || given.values.size() != pattern.row_index.size())
    return false;
  return all_ranges(team, pattern.nnz(), [&](offset_t first, offset_t end) {
    const index_t* const rows = pattern.row_index.data();
    const T* const values = given.values.data();
    if (copy != nullptr) std::copy(values + first, values + end, copy + first);
    return std::equal(rows + first, rows + end, other.row_index.data() + first) &&
           are_finite(values + first, end - first);
  });
}

}  // namespace

template <class T>
std::unique_ptr<SparseMatrix<T>> ValuesAgain<T>::blank(const SparsityPattern& pattern) const {
  std::unique_ptr<SparseMatrix<T>> matrix = spare_->take();
  return matrix ? std::move(matrix) : std::unique_ptr<SparseMatrix<T>>(new SparseMatrix<T>{pattern, {}});
}

template <class T>
LooseSymmetry ValuesAgain<T>::symmetry_of(const KnownMatrix<T>& now, const SparseMatrix<T>& matrix,
                                          double tolerance, ThreadTeam* team) {
  // Values that are not symmetric show that within a few entries.
  if (now.symmetry == Symmetry::general) return detect_symmetry(matrix, tolerance);
  if (!mirrored_) mirrored_ = mirrored_entries(matrix.pattern);
  if (!mirrored_) return detect_symmetry(matrix, tolerance);
  return detect_symmetry(matrix, *mirrored_, tolerance, team);
}

template <class T>
KnownMatrix<T> ValuesAgain<T>::know(const KnownMatrix<T>& now, std::shared_ptr<const SparseMatrix<T>> given,
                                    ThreadTeam* team) {
  if (!given) throw UsageError("the matrix is null");
  const SparsityPattern& pattern = now.matrix->pattern;
  const bool is_ours = given.use_count() == 1;
  std::unique_ptr<SparseMatrix<T>> copy = is_ours ? nullptr : blank(pattern);
  if (copy) copy->values.resize(pattern.row_index.size());
  const bool usual = fits(pattern, *given, team, copy ? copy->values.data() : nullptr);
  const Symmetry promised = given->symmetry;
  LooseSymmetry found{promised, 0};
  if (usual)
    found = symmetry_of(now, *given, promised == Symmetry::general ? symmetry_tolerance<T> : 0.0, team);
  if (!usual || (promised != Symmetry::general && found.symmetry != promised)) {
    check_system(given, {});
    check_same_pattern(pattern, given->pattern);
    return know_matrix(std::move(given));
  }
  const bool needs_mark = found.symmetry != promised && found.asymmetry == 0;
  if (!needs_mark && is_ours) return {std::move(given), found.symmetry, found.asymmetry};
  if (!copy) {
    copy = blank(pattern);
    copy->values = given->values;
  }
  copy->symmetry = found.asymmetry == 0 ? found.symmetry : promised;
  return {returning(spare_, std::move(copy)), found.symmetry, found.asymmetry};
}

template <class T>
KnownMatrix<T> ValuesAgain<T>::know(const KnownMatrix<T>& now, std::vector<T> values, ThreadTeam* team) {
  const offset_t entries = now.matrix->nnz();
  if (static_cast<offset_t>(values.size()) != entries)
    throw DimensionError("there are " + std::to_string(values.size()) + " values, but the matrix has " +
                         std::to_string(entries) + " entries");
  std::unique_ptr<SparseMatrix<T>> matrix = blank(now.matrix->pattern);
  matrix->values = std::move(values);
  matrix->symmetry = Symmetry::general;
  const bool finite = all_ranges(team, matrix->nnz(), [&](offset_t first, offset_t end) {
    return are_finite(matrix->values.data() + first, end - first);
  });
  if (!finite) check_matrix(*matrix);
  const LooseSymmetry found = symmetry_of(now, *matrix, symmetry_tolerance<T>, team);
  if (found.asymmetry == 0) matrix->symmetry = found.symmetry;
  return {returning(spare_, std::move(matrix)), found.symmetry, found.asymmetry};
}

#define PALMETTE_INSTANTIATE(T) template class ValuesAgain<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
