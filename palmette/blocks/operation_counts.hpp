// The dense operations of a factorization, and how many of each ran where.
#pragma once

#include <array>
#include <string_view>

#include "palmette/base/base.hpp"

namespace palmette {

/// Named after LLᵀ. `potrf` also stands for the factorization of a diagonal block by LDLᵀ or LU.
enum class DenseOperation : char {
  potrf,  ///< of a diagonal block
  trsm,   ///< the rows below it
  syrk,   ///< an update of a diagonal block, by one source (LLᵀ)
  gemm,   ///< an update of rows, by one source
};
inline constexpr std::array<DenseOperation, 4> dense_operations = {
    DenseOperation::potrf, DenseOperation::trsm, DenseOperation::syrk, DenseOperation::gemm};

constexpr std::string_view name_of(DenseOperation operation) {
  constexpr std::string_view names[] = {"potrf", "trsm", "syrk", "gemm"};
  return names[static_cast<std::size_t>(operation)];
}

struct CallCounts {
  offset_t calls = 0;
  double flops = 0;
  void add(double more) { ++calls, flops += more; }
};

/// Calls and flops by operation: those of one place.
struct PlaceCounts {
  std::array<CallCounts, dense_operations.size()> by_operation;
  CallCounts& operator[](DenseOperation operation) {
    return by_operation[static_cast<std::size_t>(operation)];
  }
  const CallCounts& operator[](DenseOperation operation) const {
    return by_operation[static_cast<std::size_t>(operation)];
  }
  CallCounts total() const {
    CallCounts sum;
    for (const CallCounts& one : by_operation) sum.calls += one.calls, sum.flops += one.flops;
    return sum;
  }
};

/// What a factorization with a device did, or would do.
struct OffloadCounts {
  PlaceCounts host, device;
  offset_t copies_in = 0, copies_out = 0;  ///< transfers to and from the device
  double bytes_in = 0, bytes_out = 0;
  offset_t panels_kept = 0;   ///< uploaded or computed there, and kept for updates
  offset_t panels_evicted = 0;  ///< to make room
  /// What was asked of the device (an update, a diagonal block, the rows of a panel) and done by the host
  /// because the device had no memory for it.
  offset_t fallbacks = 0;

  void add(const OffloadCounts& more) {
    for (const DenseOperation operation : dense_operations) {
      for (PlaceCounts OffloadCounts::* place : {&OffloadCounts::host, &OffloadCounts::device}) {
        (this->*place)[operation].calls += (more.*place)[operation].calls;
        (this->*place)[operation].flops += (more.*place)[operation].flops;
      }
    }
    copies_in += more.copies_in, copies_out += more.copies_out;
    bytes_in += more.bytes_in, bytes_out += more.bytes_out;
    panels_kept += more.panels_kept, panels_evicted += more.panels_evicted;
    fallbacks += more.fallbacks;
  }
};

}  // namespace palmette
