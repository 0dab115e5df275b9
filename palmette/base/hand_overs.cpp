// The rule by which threads are paused and called again.
#include "palmette/base/hand_overs.hpp"

#include <algorithm>

namespace palmette {
namespace {

// The fraction of a short run's time during which its caller may be idle and still not be faster alone.
constexpr double tolerable_loss = 0.15;
constexpr int largest_pause_factor = 1024;
constexpr std::int64_t pause_of_a_forecast_ns = 50'000'000;

bool is_judged(const RunFigures& figures) {
  const bool is_short = figures.wall_ns <= HandOvers::longest_judged_ns;
  return figures.threads > 1 && (figures.disturbed == 0 || (is_short && !figures.in_pieces));
}

bool went_badly(const RunFigures& figures) {
  return figures.disturbed > 0 &&
         static_cast<double>(figures.wall_ns - figures.caller_ns) >
             tolerable_loss * static_cast<double>(figures.wall_ns);
}

}  // namespace

int HandOvers::threads(int size, std::int64_t now_ns) const {
  if (now_ns >= until_ns_.load(std::memory_order_relaxed) || calls_all_.load(std::memory_order_relaxed))
    return size;
  return std::max(1, size - withheld_.load(std::memory_order_relaxed));
}

void HandOvers::add_undisturbed(std::int64_t ns) {
  if (clean_ns_.fetch_add(ns, std::memory_order_relaxed) > pause_ns_.load(std::memory_order_relaxed))
    factor_.store(least_pause_factor, std::memory_order_relaxed);
  const std::int64_t credit = credit_ns_.load(std::memory_order_relaxed);
  credit_ns_.store(std::min(most_credit_ns, credit + ns), std::memory_order_relaxed);
}

/// Whether undisturbed runs outweigh this loss; then it uses up their credit.
bool HandOvers::outweighed(std::int64_t lost_ns) {
  const std::int64_t rest = credit_ns_.load(std::memory_order_relaxed) -
                            static_cast<std::int64_t>(static_cast<double>(lost_ns) / tolerable_loss);
  credit_ns_.store(std::max<std::int64_t>(0, rest), std::memory_order_relaxed);
  return rest >= 0;
}

void HandOvers::ran(const RunFigures& figures, std::int64_t now_ns) {
  if (!is_judged(figures)) return;
  if (!went_badly(figures)) return add_undisturbed(figures.wall_ns);
  const std::int64_t lost = std::min(most_counted_loss_ns, figures.wall_ns - figures.caller_ns);
  if (outweighed(lost)) return;
  const int factor = factor_.load(std::memory_order_relaxed);
  const std::int64_t pause = std::min(longest_pause_ns, factor * lost);
  const bool paused = now_ns < until_ns_.load(std::memory_order_relaxed);
  const int withheld = figures.disturbed + (paused ? withheld_.load(std::memory_order_relaxed) : 0);
  withheld_.store(withheld, std::memory_order_relaxed);
  until_ns_.store(now_ns + pause, std::memory_order_relaxed);
  pause_ns_.store(pause, std::memory_order_relaxed);
  clean_ns_.store(0, std::memory_order_relaxed);
  factor_.store(std::min(largest_pause_factor, 2 * factor), std::memory_order_relaxed);
}

void HandOvers::expect_busy(int processors, std::int64_t now_ns) {
  if (processors < 1) return;
  withheld_.store(processors, std::memory_order_relaxed);
  until_ns_.store(now_ns + pause_of_a_forecast_ns, std::memory_order_relaxed);
}

HandOvers& hand_overs_of_process() {
  static HandOvers all;
  return all;
}

}  // namespace palmette
