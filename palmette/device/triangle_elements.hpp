// What the kernels of triangle_elements.cuh are given: the columns of a plain triangle that one of several
// devices has, and the arrays by which devices tell each other what they add to a row.
#pragma once

#include <cstdint>

#include "palmette/device/annotations.hpp"
#include "palmette/device/watch.hpp"

namespace palmette::device {

/// How many ones.
PALMETTE_DEVICE int num_ones(unsigned bits) {
  bits -= bits >> 1 & 0x55555555u;
  bits = (bits & 0x33333333u) + (bits >> 2 & 0x33333333u);
  return static_cast<int>(((bits + (bits >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24);
}

/// How the sums of rows get from the elements that add to them to the one that solves for them.
enum class Sharing : char {
  unified,    ///< in managed memory, which all elements read and write
  zero_copy,  ///< added up at home, read from there by the element that solves
  pushed,     ///< added up at home, then stored once into the memory of the element that solves
  put,        ///< the same by a network: NVSHMEM, or the emulator's
};

/// One element's columns of a sparse triangle, in the order in which they are solved: a column comes after
/// all that add to its row.
template <class T>
struct ElementColumns {
  int n;                    ///< of all elements together
  int columns_of_task;      ///< that follow each other; tasks are dealt to the elements in turn
  int num_columns;          ///< of this element
  const int* column;        ///< their numbers
  const long long* ptr;     ///< num_columns + 1: entries beside the diagonal
  const int* row;
  const T* value;
  const T* diagonal;        ///< or null: ones
  const unsigned* sources;  ///< bit e: element e adds to the row of this number
  const unsigned* first_slot;  ///< pushed, put: by row: the first of its slots on the element that solves
};

/// The arrays of one solve. The right-hand sides of a row follow each other, without padding: sums of a row
/// travel together. Counters are of rows, whatever the number of right-hand sides.
template <class T>
struct ElementVectors {
  int num_rhs;
  const T* b;           ///< num_columns × num_rhs, by the element's own count
  T* x;                 ///< the same
  T* left_sum;          ///< n × num_rhs: what this element's columns add to each row; 0 at the start
  int* remaining;       ///< n: how many columns of this element have still to add to the row
  int* ticket;          ///< 0 at the start
  T* shared_sum;        ///< unified: n × num_rhs, managed: what elements add to the rows of others
  int* shared_remaining;  ///< unified: n, managed
  const T* const* left_sum_of;     ///< zero_copy: left_sum of each element, by address
  const int* const* remaining_of;  ///< zero_copy: the same of `remaining`
  /// pushed, put: slots × num_rhs, symmetric: of each row that this element solves for, what each other
  /// element adds to it
  T* slot;
  std::uint64_t* arrived;  ///< pushed, put: by slot, symmetric: `run` when the slot is filled
  std::uint64_t run;       ///< number of the solve, not 0
  T* const* slot_of;       ///< pushed: slot of each element, by address
  std::uint64_t* const* arrived_of;  ///< pushed: the same of `arrived`
};

/// The only argument of the kernels.
template <class T>
struct ColumnSweep {
  int element;
  int num_elements;  ///< at most 32
  ElementColumns<T> a;
  ElementVectors<T> at;
  ElementWatch watch;  ///< a warp that has waited in vain, and all that wait then, take no more columns
  std::uint64_t* alarm;  ///< put, over ranks: symmetric, that of ElementReport; or null

  PALMETTE_DEVICE bool is_own(int row) const { return element_of(row) == element; }
  PALMETTE_DEVICE int element_of(int row) const { return row / a.columns_of_task % num_elements; }
  PALMETTE_DEVICE bool has_source(int row, int from) const { return (a.sources[row] >> from & 1) != 0; }
  /// Of the element that solves for the row: where it finds what element `from`, another one, adds.
  PALMETTE_DEVICE long long slot_of(int row, int from) const {
    const unsigned others = a.sources[row] & ~(1u << element_of(row));
    return a.first_slot[row] + num_ones(others & ((1u << from) - 1));
  }
  /// Where the right-hand sides of a row, or of a slot, begin.
  PALMETTE_DEVICE long long first_of(long long row) const { return row * at.num_rhs; }
};

}  // namespace palmette::device
