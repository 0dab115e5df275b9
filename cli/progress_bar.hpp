// A bar on standard error for phases that last longer than a second; nothing if standard error is not a
// terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "palmette/base/base.hpp"

namespace palmette::cli {

class ProgressBar {
 public:
  /// @param wanted  false (--quiet): never shows anything
  explicit ProgressBar(bool wanted);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// A phase of which only the name is known; it lasts until the next phase, or until end().
  void begin(std::string_view phase);
  void end();
  /// For the library: empty if nothing would be shown.
  ProgressCallback callback();

 private:
  void update(std::string_view phase, double fraction);
  void draw_loop();
  void draw();
  void clear();

  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::string phase_;
  double fraction_ = -1;  // below 0: not known
  Stopwatch since_;
  bool is_drawn_ = false;
  std::thread drawer_;    // runs only if standard error is a terminal
};

}  // namespace palmette::cli
