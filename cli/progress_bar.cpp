// A separate thread draws four times a second, so that even phases that report nothing show their seconds.
#include "cli/progress_bar.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

namespace palmette::cli {

ProgressBar::ProgressBar(bool wanted) {
  if (wanted && ::isatty(STDERR_FILENO)) drawer_ = std::thread([this] { draw_loop(); });
}

ProgressBar::~ProgressBar() {
  if (!drawer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  drawer_.join();
  clear();
}

void ProgressBar::begin(std::string_view phase) { update(phase, -1); }

void ProgressBar::end() { update("", -1); }

ProgressCallback ProgressBar::callback() {
  if (!drawer_.joinable()) return {};
  return [this](std::string_view phase, double fraction) { update(phase, fraction); };
}

void ProgressBar::update(std::string_view phase, double fraction) {
  if (!drawer_.joinable()) return;
  const std::lock_guard lock(mutex_);
  fraction_ = fraction;
  if (phase == phase_) return;
  clear();
  phase_ = phase;
  since_.restart();
}

void ProgressBar::draw_loop() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, std::chrono::milliseconds(250), [this] { return stopping_; }))
    if (!phase_.empty() && since_.seconds() > 1) draw();
}

void ProgressBar::draw() {
  constexpr int bar_width = 40;
  std::string line = fmt::format("\r  {:<12}", phase_);
  if (fraction_ > 0) {  // phases that report only their beginning stay at 0
    const double fraction = std::min(fraction_, 1.0);
    const int filled = static_cast<int>(fraction * bar_width);
    line += fmt::format("[{}{}] {:3.0f} %", std::string(filled, '#'), std::string(bar_width - filled, '.'),
                        fraction * 100);
  }
  line += fmt::format("  {:.0f} s\x1b[K", since_.seconds());
  std::fwrite(line.data(), 1, line.size(), stderr);
  is_drawn_ = true;
}

void ProgressBar::clear() {
  if (is_drawn_) std::fputs("\r\x1b[K", stderr);
  is_drawn_ = false;
}

}  // namespace palmette::cli
