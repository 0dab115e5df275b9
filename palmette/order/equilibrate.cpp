// Simultaneous scaling of rows and columns in the maximum norm [Ruiz 2001], carried out on exponents.
#include <algorithm>
#include <limits>

#include "palmette/order/edge_list.hpp"
#include "palmette/order/order.hpp"

namespace palmette {
namespace order_detail {
namespace {

constexpr exponent_t no_entry = std::numeric_limits<exponent_t>::min();
// each pass halves the distance from one (in the exponent): 2¹¹ → 2⁻⁹
constexpr int most_passes = 20;
constexpr exponent_t near_one = one_power / 4;    // largest entries within 2^±¼ need no further pass

/// Largest scaled entry of each row and column, as exponents; no_entry where there is none.
ScalingExponents largest_entries(const EdgeList& edges, const ScalingExponents& scaling) {
  ScalingExponents largest{std::vector<exponent_t>(scaling.row.size(), no_entry),
                           std::vector<exponent_t>(scaling.column.size(), no_entry)};
  for (index_t column = 0; column < edges.cols; ++column)
    for (offset_t edge = edges.start[column]; edge < edges.start[column + 1]; ++edge) {
      const index_t row = edges.row[edge];
      const exponent_t scaled = edges.log[edge] + scaling.row[row] + scaling.column[column];
      largest.row[row] = std::max(largest.row[row], scaled);
      largest.column[column] = std::max(largest.column[column], scaled);
    }
  return largest;
}

/// The same for rows only, or columns only, if the edges are those of the rows (columns) from `first` on,
/// each stored as a column; no_entry for the others.
std::vector<exponent_t> largest_of(const EdgeList& edges, const std::vector<exponent_t>& own,
                                   const std::vector<exponent_t>& others, index_t first) {
  std::vector<exponent_t> largest(own.size(), no_entry);
  for (index_t column = 0; column < edges.cols; ++column) {
    const auto place = static_cast<std::size_t>(first + column);
    for (offset_t edge = edges.start[column]; edge < edges.start[column + 1]; ++edge)
      largest[place] = std::max(largest[place], edges.log[edge] + own[place] + others[edges.row[edge]]);
  }
  return largest;
}

/// Halve every exponent's distance from 0. @returns the largest distance met
exponent_t halve(const std::vector<exponent_t>& largest, std::vector<exponent_t>& scaling) {
  exponent_t distance = 0;
  for (std::size_t at = 0; at < largest.size(); ++at) {
    if (largest[at] == no_entry) continue;
    distance = std::max(distance, std::abs(largest[at]));
    scaling[at] -= largest[at] / 2;
  }
  return distance;
}

/// largest_of_all(scaling): what largest_entries returns, for all rows and columns.
template <class Largest>
ScalingExponents equilibrating(index_t rows, index_t cols, const Largest& largest_of_all) {
  ScalingExponents scaling{std::vector<exponent_t>(rows, 0),
                           std::vector<exponent_t>(cols, 0)};
  for (int pass = 0; pass < most_passes; ++pass) {
    const ScalingExponents largest = largest_of_all(scaling);
    const exponent_t row_distance = halve(largest.row, scaling.row);
    const exponent_t column_distance = halve(largest.column, scaling.column);
    if (std::max(row_distance, column_distance) <= near_one) break;
  }
  return scaling;
}

}  // namespace

ScalingExponents equilibrating_exponents(const EdgeList& edges) {
  return equilibrating(edges.rows, edges.cols,
                       [&](const ScalingExponents& scaling) { return largest_entries(edges, scaling); });
}

EdgeList edge_list(const SparsityPattern& pattern, std::span<const entry_size_t> sizes) {
  EdgeList edges;
  edges.rows = pattern.rows;
  edges.cols = pattern.cols;
  edges.start.reserve(edges.cols + 1);
  edges.row.reserve(sizes.size());
  edges.log.reserve(sizes.size());
  for (index_t column = 0; column < edges.cols; ++column) {
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry) {
      const entry_size_t size = sizes[entry];
      if (size == no_entry_size) continue;
      edges.row.push_back(pattern.row_index[entry]);
      edges.log.push_back(size);
    }
    edges.start.push_back(static_cast<offset_t>(edges.row.size()));
  }
  return edges;
}

std::vector<double> powers_of_two(const std::vector<exponent_t>& exponents, int limit) {
  std::vector<double> powers(exponents.size());
  const exponent_t bound = limit;
  for (std::size_t at = 0; at < exponents.size(); ++at)
    powers[at] = std::ldexp(1.0, static_cast<int>(std::clamp(rounded_power(exponents[at]), -bound, bound)));
  return powers;
}

}  // namespace order_detail

template <class T>
void equilibrate(const SparseMatrix<T>& matrix, std::vector<double>& row_scale,
                 std::vector<double>& column_scale) {
  using namespace order_detail;
  const ScalingExponents scaling = equilibrating_exponents(edge_list(matrix));
  row_scale = powers_of_two(scaling.row, largest_scaling_exponent<T>);
  column_scale = powers_of_two(scaling.column, largest_scaling_exponent<T>);
}

template <class T>
void equilibrate(const MatrixShare<T>& matrix, std::vector<double>& row_scale,
                 std::vector<double>& column_scale) {
  using namespace order_detail;
  const EdgeList rows = edge_list(matrix.rows), columns = edge_list(matrix.columns);
  const ScalingExponents scaling =
      equilibrating(matrix.size(), matrix.size(), [&](const ScalingExponents& now) {
        ScalingExponents largest{largest_of(rows, now.row, now.column, matrix.first),
                                 largest_of(columns, now.column, now.row, matrix.first)};
        matrix.complete(std::span<exponent_t>(largest.row));
        matrix.complete(std::span<exponent_t>(largest.column));
        return largest;
      });
  row_scale = powers_of_two(scaling.row, largest_scaling_exponent<T>);
  column_scale = powers_of_two(scaling.column, largest_scaling_exponent<T>);
}

template <class T>
entry_size_t entry_size(const T& value) {
  return value == T{} ? no_entry_size : static_cast<entry_size_t>(order_detail::log2_modulus(value));
}

#define PALMETTE_INSTANTIATE(T) \
  template entry_size_t entry_size(const T&); \
  template void equilibrate(const MatrixShare<T>&, std::vector<double>&, std::vector<double>&); \
  template void equilibrate(const SparseMatrix<T>&, std::vector<double>&, std::vector<double>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
