// Inside `factorize`: all that a factorization writes besides the factor, and the memory that one leaves to
// the next.
#pragma once

#include <memory>
#include <vector>

#include "palmette/factorize/pivot_tally.hpp"
#include "palmette/factorize/work.hpp"

namespace palmette::factorizing {

/// Tasks, their counters and tallies, and the threads' scratch memory; serves one factorization after
/// another.
template <class T>
struct Workspace {
  Workspace(std::shared_ptr<const SymbolicFactor> structure, FactorKind what, int threads);
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  bool fits(const std::shared_ptr<const SymbolicFactor>& structure, FactorKind what, int threads) const {
    return symbolic == structure && kind == what && scratch.size() >= static_cast<std::size_t>(threads);
  }
  void reset();

  std::shared_ptr<const SymbolicFactor> symbolic;
  FactorKind kind;
  bool odd_permutation;  ///< the structure's permutation of rows relative to that of columns
  FactorizationTasks tasks;
  ReadyTasks ready;
  std::vector<Scratch<T>> scratch;   // one for each thread
  std::vector<PivotTally> tallies;   // one for each task
  std::unique_ptr<Transport> transport = make_loopback();
};

/// What FactorizeMemory holds. The factor of an earlier call comes back here when its last reader lets go of
/// it.
template <class T>
struct KeptMemory {
  std::unique_ptr<Workspace<T>> workspace;

  /// A factor that nobody reads, or null.
  std::unique_ptr<Factor<T>> take_spare();
  /// Keeps one.
  void give_back(std::unique_ptr<Factor<T>> factor);

 private:
  std::unique_ptr<Factor<T>> spare_;  // under a brief lock
};

}  // namespace palmette::factorizing
