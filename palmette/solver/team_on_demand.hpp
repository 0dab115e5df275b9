// The threads that a solver's options allow, started when there is enough work for them.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "palmette/base/base.hpp"

namespace palmette {

/// Below these flops (of a factorization) or bytes (of a solve), waking a team takes longer than the work.
inline constexpr double flops_worth_a_team = 2e7;
inline constexpr double bytes_worth_a_team = 1 << 20;

/// A team whose threads start at the first use, and smaller teams for requests that allow fewer threads.
class TeamOnDemand {
 public:
  explicit TeamOnDemand(int threads) : largest_(threads) {}
  ~TeamOnDemand() {
    for (const Smaller* team = smaller_.load(); team != nullptr;) delete std::exchange(team, team->next);
  }
  TeamOnDemand(const TeamOnDemand&) = delete;
  TeamOnDemand& operator=(const TeamOnDemand&) = delete;

  int size() const { return largest_.size(); }

  /// @param at_most  threads; 0: all
  /// @returns the team, or null if one thread should do the work
  ThreadTeam* for_work(bool worth_a_team, int at_most = 0) {
    if (!worth_a_team || at_most == 1 || size() == 1) return nullptr;
    return at_most == 0 || at_most >= size() ? &largest_ : &smaller(at_most);
  }

 private:
  struct Smaller {
    Smaller(int threads, Smaller* others) : wanted(threads), team(threads), next(others) {}
    int wanted;
    ThreadTeam team;
    Smaller* next;
  };

  /// Lock-free: after a fork, a lock could be held by a thread that does not exist in this process.
  ThreadTeam& smaller(int threads) {
    Smaller* first = smaller_.load(std::memory_order_acquire);
    for (Smaller* known = first; known != nullptr; known = known->next)
      if (known->wanted == threads) return known->team;
    auto made = std::make_unique<Smaller>(threads, first);
    while (!smaller_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel)) {
    }
    return made.release()->team;
  }

  ThreadTeam largest_;
  std::atomic<Smaller*> smaller_{nullptr};
};

}  // namespace palmette
