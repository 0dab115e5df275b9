// Rows are dealt to columns in the order of rows, so columns come out sorted; the mirror images of entries
// that were not in order are sorted afterwards.
#include "palmette/pardiso/given_matrix.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <string>

namespace palmette::pardiso {
namespace {

struct Place {
  index_t row;
  std::int64_t source;
};

/// ia and ja, 0-based.
struct Rows {
  index_t n = 0;
  std::vector<offset_t> start;  // length n + 1
  std::vector<index_t> column;
};

[[noreturn]] void refuse_row(std::int64_t row, const std::string& text) {
  throw Refusal(Code::inconsistent, "row " + std::to_string(row + 1) + " " + text);
}

std::uint64_t checksum_of(const Rows& rows) {
  return checksum(std::as_bytes(std::span(rows.column)), checksum(std::as_bytes(std::span(rows.start))));
}

Rows read_rows(const Call& call, std::int64_t base) {
  if (!call.ia || !call.ja) throw Refusal(Code::inconsistent, "ia or ja is missing");
  Rows rows;
  rows.n = static_cast<index_t>(call.n);
  rows.start.resize(call.n + 1);
  for (std::int64_t i = 0; i <= call.n; ++i) {
    rows.start[i] = call.ia[i] - base;
    if (i == 0 ? rows.start[0] != 0 : rows.start[i] < rows.start[i - 1])
      refuse_row(std::max<std::int64_t>(i - 1, 0), "has a wrong pointer in ia");
  }
  rows.column.resize(rows.start.back());
  for (std::int64_t i = 0; i < call.n; ++i)
    for (offset_t k = rows.start[i]; k < rows.start[i + 1]; ++k) {
      const std::int64_t column = call.ja[k] - base;
      if (column < 0 || column >= call.n) refuse_row(i, "has a column out of range");
      rows.column[k] = static_cast<index_t>(column);
    }
  return rows;
}

void check_rows(const Rows& rows, bool upper_only, bool ascending) {
  for (index_t i = 0; i < rows.n; ++i)
    for (offset_t k = rows.start[i]; k < rows.start[i + 1]; ++k) {
      if (upper_only && rows.column[k] < i) refuse_row(i, "has an entry below the diagonal");
      if (ascending && k > rows.start[i] && rows.column[k] <= rows.column[k - 1])
        refuse_row(i, "has columns that do not ascend");
    }
}

/// The entries of both triangles by columns, rows ascending.
std::vector<Place> places_by_columns(const Rows& rows, bool mirrored, std::vector<offset_t>& start) {
  start.assign(rows.n + 1, 0);
  for (index_t i = 0; i < rows.n; ++i)
    for (offset_t k = rows.start[i]; k < rows.start[i + 1]; ++k) {
      ++start[rows.column[k] + 1];
      if (mirrored && rows.column[k] != i) ++start[i + 1];
    }
  for (index_t j = 0; j < rows.n; ++j) start[j + 1] += start[j];
  std::vector<Place> places(start.back());
  std::vector<offset_t> next(start.begin(), start.end() - 1);
  for (index_t i = 0; i < rows.n; ++i)
    for (offset_t k = rows.start[i]; k < rows.start[i + 1]; ++k) {
      const index_t j = rows.column[k];
      places[next[j]++] = {i, k};
      if (mirrored && j != i) places[next[i]++] = {j, -1 - k};
    }
  const auto above = [](const Place& one, const Place& other) { return one.row < other.row; };
  for (index_t j = 0; j < rows.n; ++j) {
    const auto first = places.begin() + start[j], last = places.begin() + start[j + 1];
    if (!std::is_sorted(first, last, above)) std::stable_sort(first, last, above);
  }
  return places;
}

/// A Hermitian matrix has a real diagonal, whatever is stored there.
template <class T>
void drop_imaginary_diagonal(SparseMatrix<T>& matrix) {
  for (index_t j = 0; j < matrix.cols(); ++j)
    for (offset_t k = matrix.pattern.column_ptr[j]; k < matrix.pattern.column_ptr[j + 1]; ++k)
      if (matrix.pattern.row_index[k] == j) matrix.values[k] = T(std::real(matrix.values[k]));
}

}  // namespace

GivenPattern GivenPattern::read(const Call& call, const Settings& settings) {
  const Rows rows = read_rows(call, settings.is_zero_based ? 0 : 1);
  const bool mirrored = settings.type->symmetry != Symmetry::general;
  check_rows(rows, mirrored, settings.check_structure);
  GivenPattern given;
  given.checksum_ = checksum_of(rows);
  std::vector<offset_t> start;
  const std::vector<Place> places = places_by_columns(rows, mirrored, start);
  SparsityPattern& pattern = given.pattern_;
  pattern.rows = pattern.cols = rows.n;
  pattern.column_ptr.assign(1, 0);
  pattern.row_index.reserve(places.size());
  given.source_.reserve(places.size());
  given.position_.reserve(places.size());
  for (index_t j = 0; j < rows.n; ++j) {
    for (offset_t k = start[j]; k < start[j + 1]; ++k) {
      if (k == start[j] || places[k].row != places[k - 1].row) pattern.row_index.push_back(places[k].row);
      given.source_.push_back(places[k].source);
      given.position_.push_back(static_cast<offset_t>(pattern.row_index.size()) - 1);
    }
    pattern.column_ptr.push_back(static_cast<offset_t>(pattern.row_index.size()));
  }
  if (pattern.row_index.size() == places.size()) given.position_ = {};
  return given;
}

bool GivenPattern::is_that_of(const Call& call) const {
  if (call.n != n()) return false;
  if (!call.ia || !call.ja) return false;
  return checksum_of(read_rows(call, call.ia[0])) == checksum_;
}

template <class T>
SparseMatrix<T> GivenPattern::with_values(const T* a, Symmetry symmetry) const {
  SparseMatrix<T> matrix;
  matrix.pattern = pattern_;
  matrix.symmetry = symmetry;
  matrix.values.assign(pattern_.row_index.size(), T(0));
  for (std::size_t k = 0; k < source_.size(); ++k) {
    const bool is_mirror = source_[k] < 0;
    const T value = a[is_mirror ? -1 - source_[k] : source_[k]];
    if (!is_finite(value)) throw Refusal(Code::inconsistent, "a value of a is not finite");
    matrix.values[position_.empty() ? k : position_[k]] +=
        is_mirror && symmetry == Symmetry::hermitian ? conjugate(value) : value;
  }
  if (symmetry == Symmetry::hermitian) drop_imaginary_diagonal(matrix);
  return matrix;
}

#define PALMETTE_INSTANTIATE(T) template SparseMatrix<T> GivenPattern::with_values(const T*, Symmetry) const;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::pardiso
