// Inside `transfer`: the order in which a device issues the instructions of its warps.
#pragma once

#include <span>
#include <vector>

#include "palmette/transfer/simulation.hpp"

namespace palmette::transfer {

class WarpIssue {
 public:
  WarpIssue() = default;
  /// @param kernel  must outlive this
  WarpIssue(const TracedKernel& kernel, IssueOrder order, int resident_warps);
  std::int64_t num_instructions() const { return instructions_; }
  bool is_done() const { return left_ == 0; }
  /// All accesses of the next instruction of one warp. Only if not is_done.
  std::span<const Access> next();

 private:
  struct Warp {
    std::size_t at, end;  ///< accesses
  };
  std::span<const Access> take(Warp& warp);

  const TracedKernel* kernel_ = nullptr;
  std::vector<Warp> warps_;
  std::vector<std::size_t> resident_;  ///< warps that take turns
  std::size_t turn_ = 0, next_warp_ = 0;
  std::int64_t instructions_ = 0, left_ = 0;
};

}  // namespace palmette::transfer
