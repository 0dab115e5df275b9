// What both cold-start programs share: the matrix, the right-hand side, and the cost of each phase of a pass.
#pragma once

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include <nlohmann/json.hpp>

#include "bench/real_systems.hpp"
#include "palmette/refine/refine.hpp"

namespace cold {

using namespace palmette;
using benchmarks::read_real;
using benchmarks::right_hand_sides;
using nlohmann::ordered_json;

/// Page faults of the process so far that needed no disk.
inline long page_faults() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Seconds and page faults of one phase after another, as NAME_s and NAME_faults of a row.
class Phases {
 public:
  explicit Phases(ordered_json& row) : row_(row) { begin(); }
  void begin() {
    faults_ = page_faults();
    watch_.restart();
  }
  double end(const std::string& name) {
    const double seconds = watch_.seconds();
    row_[name + "_s"] = seconds;
    row_[name + "_faults"] = page_faults() - faults_;
    begin();
    return seconds;
  }

 private:
  ordered_json& row_;
  Stopwatch watch_;
  long faults_ = 0;
};

inline int threads_of_environment() {
  const char* threads = std::getenv("PEERS_THREADS");
  return threads != nullptr ? std::max(1, std::atoi(threads)) : 1;
}

inline ordered_json names(const std::string& solver, const std::string& path, int threads) {
  const std::string name = path.substr(path.find_last_of('/') + 1);
  return {
      {"solver", solver}, {"threads", threads}, {"ranks", 1}, {"matrix", name.substr(0, name.find(".mtx"))}};
}

}  // namespace cold
