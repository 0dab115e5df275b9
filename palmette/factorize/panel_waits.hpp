// Inside `factorize`: which panels of a rank can continue, and the blocks that they wait for. Sees no
// entries.
#pragma once

#include <mutex>
#include <queue>
#include <string>
#include <vector>

#include "palmette/tasks/tasks.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::factorize_detail {

/// Panels take the updates of their steps in order, each as soon as its blocks are there; after the last one
/// a panel that is eliminated also needs its diagonal block. Any thread may call any function.
class PanelWaits {
 public:
  PanelWaits(const FanOut& fan, const SymbolicFactor& symbolic, const Placement& placement);

  void start();
  /// Another rank's diagonal block; empty: it has no content, since its supernode depends on a bad pivot.
  void diagonal_came(index_t p, SharedBytes bytes);
  /// @param place  in FanOut::used_block; −1: no step of this rank reads it
  void block_came(offset_t place, SharedBytes bytes);
  /// The panel that runs first among those that can continue; −1: there is none.
  index_t take();

  enum class Go { step, finish, wait };
  struct Next {
    Go go = Go::wait;
    offset_t step = -1;
  };
  /// For a panel that was taken; after `wait` it no longer belongs to the caller.
  Next next(index_t p);
  /// Frees blocks that no step needs any more.
  void step_was_taken(index_t p, offset_t step);
  void panel_is_finished(index_t p, bool without_content);

  /// For a block that is there, until the step that needs it is taken. @param need  number in FanOut::needs
  struct Arrived {
    bool without_content = false;
    const SharedBytes* bytes = nullptr;  ///< empty for own blocks
  };
  Arrived block(offset_t need) const;
  const SharedBytes& diagonal(index_t p) const { return panels_[p].diagonal; }
  /// What the first waiting panel waits for.
  std::string waiting_for() const;

 private:
  /// A block that was received, or that the rank computed itself.
  struct BlockState {
    bool there = false;
    bool without_content = false;
    SharedBytes bytes;
    std::int64_t uses_left = 0;
  };
  struct PanelState {
    offset_t next_step = 0;
    bool scheduled = false;  // in the queue, or taken
    bool diagonal_there = false;
    bool finished = false;
    SharedBytes diagonal;
  };
  struct Ready {
    double priority;
    index_t panel;
    bool operator<(const Ready& other) const {
      return priority != other.priority ? priority < other.priority : panel > other.panel;
    }
  };

  // With mutex_ held.
  bool can_go_on(index_t p) const;
  void schedule_if_ready(index_t p);
  void block_is_there(offset_t place, SharedBytes bytes, bool without_content);
  std::string missing_of(index_t p) const;

  const FanOut& fan_;
  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  mutable std::mutex mutex_;
  std::vector<PanelState> panels_;
  std::vector<BlockState> blocks_;  // by place in FanOut::used_block
  std::vector<offset_t> missing_;   // length steps: number of blocks that have not arrived
  std::priority_queue<Ready> ready_;
};

}  // namespace palmette::factorize_detail
