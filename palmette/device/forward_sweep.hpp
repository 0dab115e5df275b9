// What the kernels of forward_sweep.cuh, which run on several devices, are given: arrays in device memory.
#pragma once

#include <cstdint>

namespace palmette::device {

using PeSignal = std::uint64_t;

/// What one processing element holds.
struct ShareOfPe {
  int num_tasks;      // block columns of which it has rows, ascending
  const int* begin;   // of all supernodes: first column
  const int* column;  // supernode of a task
  const int* rows;    // rows of the local panel
  const int* chunk;
  const long long* panel;
  const double* values;
  const long long* place_ptr;  // num_tasks + 1
  const int* place;            // of a local row: ≥ 0: row of lsum, < 0: row −1 − place of x
  const int* target_ptr;       // num_tasks + 1
  const int* target;           // own block rows below
  const int* peer_ptr;         // num_tasks + 1, empty where another element owns the diagonal block
  const int* peer;             // elements to send to
};

/// One solve on several processing elements.
struct PeRun {
  const double* b;
  double* x;
  double* lsum;
  int* fmod;
  double* ready;      // symmetric, n: t of a block column, own or received
  PeSignal* arrived;  // symmetric, num_supernodes
  int* ticket;
  PeSignal run;
};

/// One element's columns of a sparse lower triangle, ascending.
struct Columns {
  int num_columns;
  const int* column;  // global number
  const int* ptr;     // num_columns + 1, entries below the diagonal
  const int* row;
  const double* value;
  const double* diagonal;
};

/// One solve in which elements write at home and read from the others.
struct ReadOnlyRun {
  const double* b;
  double* x;
  double* left_sum;  // symmetric, n: what this element's columns add to each row; written here, read by all
  int* remaining;    // symmetric, n: how many of its entries are still to be added to a row
  int* ticket;
};

}  // namespace palmette::device
