// Properties found by inspecting a matrix: its symmetry, and whether it is well formed.
#include <algorithm>
#include <cmath>

#include "palmette/matrix/sparse_matrix.hpp"

namespace palmette {
namespace {

/// Calls compare(entry, partner) for each entry (i, j) and its partner (j, i); false as soon as a partner is
/// missing or `compare` says so.
///
/// Columns are visited in order, so the partners in column i are needed by ascending row: one cursor per
/// column suffices.
template <class Compare>
bool walk_pairs(const SparsityPattern& pattern, Compare compare) {
  if (pattern.rows != pattern.cols) return false;
  std::vector<offset_t> cursor(pattern.column_ptr.begin(), pattern.column_ptr.end() - 1);
  for (index_t column = 0; column < pattern.cols; ++column)
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const index_t row = pattern.row_index[entry];
      const offset_t partner = cursor[row]++;
      if (partner >= pattern.column_ptr[row + 1] || pattern.row_index[partner] != column) return false;
      if (!compare(entry, partner)) return false;
    }
  return true;
}

std::string size_text(const SparsityPattern& pattern) {
  return std::to_string(pattern.rows) + " × " + std::to_string(pattern.cols) + " matrix";
}

void check_sizes(const SparsityPattern& pattern, std::size_t num_values) {
  if (pattern.rows < 0 || pattern.cols < 0) throw DimensionError("there is no " + size_text(pattern));
  if (pattern.column_ptr.size() != static_cast<std::size_t>(pattern.cols) + 1)
    throw DimensionError(size_text(pattern) + " has " + std::to_string(pattern.column_ptr.size()) +
                         " column pointers; it needs " +
                         std::to_string(static_cast<offset_t>(pattern.cols) + 1));
  if (pattern.column_ptr[0] != 0)
    throw UsageError("column pointers begin with " + std::to_string(pattern.column_ptr[0]) + ", not with 0");
  for (index_t column = 0; column < pattern.cols; ++column)
    if (pattern.column_ptr[column + 1] < pattern.column_ptr[column])
      throw UsageError("column pointers decrease at column " + std::to_string(column + 1));
  const auto nnz = static_cast<std::size_t>(pattern.nnz());
  if (pattern.row_index.size() != nnz || num_values != nnz)
    throw DimensionError("column pointers end with " + std::to_string(nnz) + ", but there are " +
                         std::to_string(pattern.row_index.size()) + " row indices and " +
                         std::to_string(num_values) + " values");
}

void check_column(const SparsityPattern& pattern, index_t column) {
  index_t previous = -1;
  for (const index_t row : pattern.column(column)) {
    if (row < 0 || row >= pattern.rows)
      throw UsageError("row " + std::to_string(static_cast<offset_t>(row) + 1) + " in column " +
                       std::to_string(column + 1) + " does not exist in a " + size_text(pattern));
    if (row <= previous)
      throw UsageError("row " + std::to_string(row + 1) + " in column " + std::to_string(column + 1) +
                       (row == previous ? " occurs twice; sum duplicates with from_triplets"
                                        : " is out of order; sort the column with from_compressed_columns"));
    previous = row;
  }
}

/// Whether all pairs seen so far agree within a fraction of their size, and how far apart they are.
struct LooseEqual {
  double tolerance = 0;
  bool holds = true;
  double largest = 0;  ///< of |value − other| ÷ |value|

  bool exact() const { return holds && largest == 0; }
  template <class T>
  void compare(const T& value, const T& other) {
    if (!holds || value == other) return;
    const double difference = double(std::abs(value - other)), size = double(std::abs(value));
    holds = difference <= tolerance * size;
    if (holds) largest = std::max(largest, difference / size);
  }
  void join(const LooseEqual& more) {
    holds = holds && more.holds;
    largest = std::max(largest, more.largest);
  }
};

/// What the pairs of a matrix, or of a part of it, allow.
template <class T>
struct PairsSeen {
  LooseEqual symmetric, hermitian;
  bool skew = true;

  explicit PairsSeen(double tolerance) : symmetric{tolerance}, hermitian{tolerance, is_complex_v<T>} {}
  /// @returns whether a symmetry is still possible
  bool compare(const T& value, const T& other) {
    symmetric.compare(value, other);
    if constexpr (is_complex_v<T>) hermitian.compare(value, conjugate(other));
    skew = skew && value == -other;
    return symmetric.holds || hermitian.holds || skew;
  }
  /// The same for pairs of entries that are all equal. Equality is one test for all of them: a branch for
  /// each pair costs more than the comparison. @returns false if they are not; then nothing is seen
  bool all_equal(const T* values, std::span<const MirroredEntries::Pair> pairs) {
    if constexpr (is_complex_v<T>) return false;  // may be Hermitian
    bool equal = true, zero = true;
    for (const MirroredEntries::Pair& pair : pairs) {
      const T value = values[pair.entry];
      equal &= value == values[pair.mirror];
      zero &= value == T(0);
    }
    if (equal) skew = skew && zero;
    return equal;
  }
  void join(const PairsSeen& more) {
    symmetric.join(more.symmetric);
    hermitian.join(more.hermitian);
    skew = skew && more.skew;
  }
  LooseSymmetry found() const {
    if (hermitian.exact()) return {Symmetry::hermitian, 0};
    if (symmetric.exact()) return {Symmetry::symmetric, 0};
    if (skew) return {Symmetry::skew, 0};
    if (hermitian.holds) return {Symmetry::hermitian, hermitian.largest};
    if (symmetric.holds) return {Symmetry::symmetric, symmetric.largest};
    return {};
  }
};

template <class T>
PairsSeen<T> compare_mirrored(const std::vector<T>& values, std::span<const MirroredEntries::Pair> pairs,
                              double tolerance) {
  constexpr std::size_t at_once = 256;
  PairsSeen<T> seen(tolerance);
  for (; !pairs.empty(); pairs = pairs.subspan(std::min(at_once, pairs.size()))) {
    const auto some = pairs.first(std::min(at_once, pairs.size()));
    if (seen.all_equal(values.data(), some)) continue;
    for (const MirroredEntries::Pair& pair : some) {
      seen.compare(values[pair.entry], values[pair.mirror]);
      if (!seen.compare(values[pair.mirror], values[pair.entry])) return seen;
    }
  }
  return seen;
}

template <class T>
bool is_not_a_number(const T& value) {
  if constexpr (is_complex_v<T>) return value.real() != value.real() || value.imag() != value.imag();
  else return value != value;
}

}  // namespace

bool has_symmetric_pattern(const SparsityPattern& pattern) {
  return walk_pairs(pattern, [](offset_t, offset_t) { return true; });
}

template <class T>
Symmetry detect_symmetry(const SparseMatrix<T>& matrix) {
  return detect_symmetry(matrix, 0.0).symmetry;
}

template <class T>
LooseSymmetry detect_symmetry(const SparseMatrix<T>& matrix, double tolerance) {
  PairsSeen<T> seen(tolerance);
  const bool paired = walk_pairs(matrix.pattern, [&](offset_t entry, offset_t partner) {
    return seen.compare(matrix.values[entry], matrix.values[partner]);
  });
  return paired ? seen.found() : LooseSymmetry{};
}

std::optional<MirroredEntries> mirrored_entries(const SparsityPattern& pattern) {
  MirroredEntries made;
  made.pairs.reserve((pattern.row_index.size() + static_cast<std::size_t>(pattern.cols) + 1) / 2);
  const bool paired = walk_pairs(pattern, [&](offset_t entry, offset_t partner) {
    // Entries below the diagonal have their mirror images in later columns.
    if (partner >= entry) made.pairs.push_back({entry, partner});
    return true;
  });
  if (!paired) return std::nullopt;
  return made;
}

template <class T>
LooseSymmetry detect_symmetry(const SparseMatrix<T>& matrix, const MirroredEntries& mirrored,
                              double tolerance, ThreadTeam* team) {
  PairsSeen<T> seen(tolerance);
  const std::span<const MirroredEntries::Pair> pairs = mirrored.pairs;
  over_ranges(team, static_cast<offset_t>(pairs.size()), [&](offset_t first, offset_t end) {
    const auto some = pairs.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(end - first));
    const PairsSeen<T> here = compare_mirrored(matrix.values, some, tolerance);
    const BriefLock lock(&seen);
    seen.join(here);
  });
  return seen.found();
}

template <class T>
SparseMatrix<T> symmetric_part(const SparseMatrix<T>& matrix, Symmetry symmetry) {
  if (symmetry != Symmetry::symmetric && symmetry != Symmetry::hermitian)
    throw UsageError("a matrix has a symmetric and a Hermitian part, none that is " +
                     std::string(name_of(symmetry)));
  SparseMatrix<T> part{matrix.pattern, std::vector<T>(matrix.values.size()), symmetry};
  // Halve first: then the sum cannot overflow, and it is the same on both sides of the diagonal.
  const auto half = [](const T& value) { return value * real_t<T>(0.5); };
  const bool paired = walk_pairs(matrix.pattern, [&](offset_t entry, offset_t partner) {
    const T other =
        symmetry == Symmetry::hermitian ? conjugate(matrix.values[partner]) : matrix.values[partner];
    part.values[entry] = half(matrix.values[entry]) + half(other);
    return true;
  });
  if (!paired) throw UsageError("the pattern of the matrix is not symmetric, so it has no symmetric part");
  return part;
}

template <class T>
void check_matrix(const SparseMatrix<T>& matrix) {
  const SparsityPattern& pattern = matrix.pattern;
  check_sizes(pattern, matrix.values.size());
  for (index_t column = 0; column < pattern.cols; ++column) {
    check_column(pattern, column);
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry)
      if (!is_finite(matrix.values[entry]))
        throw UsageError(std::string("the entry in row ") + std::to_string(pattern.row_index[entry] + 1) +
                         ", column " + std::to_string(column + 1) + " is " +
                         (is_not_a_number(matrix.values[entry]) ? "not a number (NaN)" : "infinite") +
                         "; a matrix needs finite values");
  }
}

#define PALMETTE_INSTANTIATE(T)                                               \
  template Symmetry detect_symmetry(const SparseMatrix<T>&);                  \
  template LooseSymmetry detect_symmetry(const SparseMatrix<T>&, double);     \
  template LooseSymmetry detect_symmetry(const SparseMatrix<T>&, const MirroredEntries&, double, \
                                         ThreadTeam*);                        \
  template SparseMatrix<T> symmetric_part(const SparseMatrix<T>&, Symmetry);  \
  template void check_matrix(const SparseMatrix<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
