// Part of the door of `transport`: where the time of all ranks goes, in figures: least, mean and most over
// ranks.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "palmette/transport/timeline.hpp"

namespace palmette {

/// A figure of all ranks.
struct RankFigure {
  double least = 0;
  double mean = 0;
  double most = 0;
};

/// @param by_rank  none gives zeros; the mean is summed in this order
RankFigure figure_of(std::span<const double> by_rank);

/// How the seconds of a phase were spent.
struct PartFigure {
  std::string_view name;  ///< of the member of PhaseTimes
  RankFigure seconds;
};
using PhaseFigures = std::array<PartFigure, 3>;  // work, messages, waiting

/// The figures of all phases together.
PhaseFigures total_figures(std::span<const RankTimes> ranks);

struct NamedPhaseFigures {
  SweepPhase phase = SweepPhase::none;
  PhaseFigures parts;
};
/// Phases in which some rank spent time, in the order of a solve.
std::vector<NamedPhaseFigures> phase_figures(std::span<const RankTimes> ranks);

}  // namespace palmette
