// Greedy: a warp issues until it ends, then the next one does. In turn: resident warps issue one instruction
// each; the place of one that has ended goes to the next warp.
#include "palmette/transfer/warp_issue.hpp"

#include <algorithm>

namespace palmette::transfer {

WarpIssue::WarpIssue(const TracedKernel& kernel, IssueOrder order, int resident_warps) : kernel_(&kernel) {
  const auto& accesses = kernel.accesses;
  for (std::size_t k = 0; k < accesses.size(); ++k) {
    const bool is_new_warp = k == 0 || accesses[k].thread / warp_lanes != accesses[k - 1].thread / warp_lanes;
    if (is_new_warp) warps_.push_back({k, k});
    warps_.back().end = k + 1;
    instructions_ += is_new_warp || accesses[k].instruction != accesses[k - 1].instruction;
  }
  left_ = instructions_;
  const std::size_t places = order == IssueOrder::greedy ? 1 : static_cast<std::size_t>(resident_warps);
  for (; next_warp_ < std::min(places, warps_.size()); ++next_warp_) resident_.push_back(next_warp_);
}

std::span<const Access> WarpIssue::take(Warp& warp) {
  const auto& accesses = kernel_->accesses;
  const std::size_t from = warp.at;
  const std::uint32_t instruction = accesses[from].instruction;
  while (warp.at < warp.end && accesses[warp.at].instruction == instruction) ++warp.at;
  return {accesses.data() + from, warp.at - from};
}

std::span<const Access> WarpIssue::next() {
  if (turn_ >= resident_.size()) turn_ = 0;
  const std::span<const Access> taken = take(warps_[resident_[turn_]]);
  --left_;
  const Warp& warp = warps_[resident_[turn_]];
  if (warp.at < warp.end) {
    turn_ += resident_.size() > 1;
  } else if (next_warp_ < warps_.size()) {
    resident_[turn_] = next_warp_++;
    turn_ += resident_.size() > 1;
  } else {
    resident_[turn_] = resident_.back();
    resident_.pop_back();
  }
  return taken;
}

}  // namespace palmette::transfer
