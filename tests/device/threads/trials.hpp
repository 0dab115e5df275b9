// The kernels that run on threads of the system as well, and their trials.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tests/device/random_sweeps.hpp"

namespace palmette::sweeps {

using TrialOnThreads = std::function<Trial(const Options&, LaunchShape)>;

inline TrialOnThreads tree_with(Fault fault) {
  return [fault](const Options& options, LaunchShape shape) {
    return try_tree(make_problem(40, 12, 6, 3), fault, options, shape);
  };
}

inline Trial rows_trial(const Options& options, LaunchShape shape) {
  std::vector<double> x;
  Report report = try_rows(make_triangle(60, 3), Fault::none, options, shape, &x);
  return judge(std::move(report), std::vector<long double>(x.begin(), x.end()), x);
}

/// By kernel and planted fault.
inline const std::map<std::string, TrialOnThreads>& trials_on_threads() {
  static const std::map<std::string, TrialOnThreads> trials = {
      {"tree", tree_with(Fault::none)},
      {"tree_relaxed_flag", tree_with(Fault::relaxed_flag)},
      {"tree_no_acquire", tree_with(Fault::no_acquire)},
      {"tree_missing_barrier", tree_with(Fault::missing_barrier)},
      {"tree_of_warps",
       [](const Options& options, LaunchShape shape) {
         return try_tree(with_small(make_problem(40, 12, 6, 3), 12), Fault::none, options, shape);
       }},
      {"rows", rows_trial},
      {"columns", [](const Options& options, LaunchShape shape) {
         return try_columns(make_problem(40, 12, 6, 3), options, shape);
       }}};
  return trials;
}

}  // namespace palmette::sweeps
