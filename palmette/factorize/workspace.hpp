// Inside `factorize`: everything that a factorization writes apart from the factor, and the memory that one
// factorization leaves for the next.
#pragma once

#include <memory>
#include <vector>

#include "palmette/factorize/listed_entries.hpp"
#include "palmette/factorize/pivot_tally.hpp"
#include "palmette/factorize/work.hpp"

namespace palmette::factorize_detail {

/// Tasks, their counters and tallies, and the threads' scratch memory; serves one factorization after
/// another.
template <class T>
struct Workspace {
  Workspace(std::shared_ptr<const SymbolicFactor> structure, FactorKind what, int threads,
            const RowChunks& chunks = {});
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  bool fits(const std::shared_ptr<const SymbolicFactor>& structure, FactorKind what, int threads,
            const RowChunks& chunks) const {
    return symbolic == structure && kind == what && scratch.size() >= static_cast<std::size_t>(threads) &&
           tasks.chunks == chunks;
  }
  void reset();

  std::shared_ptr<const SymbolicFactor> symbolic;
  FactorKind kind;
  double flops;          ///< of a factorization
  bool odd_permutation;  ///< the structure's permutation of rows relative to that of columns
  FactorizationTasks tasks;
  ReadyTasks ready;
  std::vector<Scratch<T>> scratch;   // one for each thread
  std::vector<PivotTally> tallies;   // one for each task
  ListedEntries listed;              // from the second factorization on
  std::unique_ptr<Transport> transport = make_loopback();
};

/// What FactorizeMemory holds. The factor of an earlier call returns here when its last owner releases it.
template <class T>
struct KeptMemory {
  std::unique_ptr<Workspace<T>> workspace;
  std::shared_ptr<SparePointer<Factor<T>>> spare = std::make_shared<SparePointer<Factor<T>>>();
};

}  // namespace palmette::factorize_detail
