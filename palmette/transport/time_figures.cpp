// One pass over the ranks for each figure.
#include "palmette/transport/time_figures.hpp"

#include <algorithm>

namespace palmette {
namespace {

template <class Get>
PhaseFigures figures_of(std::span<const RankTimes> ranks, Get&& get) {
  const auto part = [&](std::string_view name, double PhaseTimes::*value) {
    std::vector<double> seconds;
    for (const RankTimes& rank : ranks) seconds.push_back(get(rank).*value);
    return PartFigure{name, figure_of(seconds)};
  };
  return {part("work", &PhaseTimes::work), part("messages", &PhaseTimes::messages),
          part("waiting", &PhaseTimes::waiting)};
}

}  // namespace

RankFigure figure_of(std::span<const double> by_rank) {
  RankFigure figure;
  if (by_rank.empty()) return figure;
  figure.least = by_rank.front();
  for (const double value : by_rank) {
    figure.least = std::min(figure.least, value);
    figure.most = std::max(figure.most, value);
    figure.mean += value / static_cast<double>(by_rank.size());
  }
  return figure;
}

PhaseFigures total_figures(std::span<const RankTimes> ranks) {
  return figures_of(ranks, [](const RankTimes& one) { return one.total(); });
}

std::vector<NamedPhaseFigures> phase_figures(std::span<const RankTimes> ranks) {
  std::vector<NamedPhaseFigures> all;
  for (const SweepPhase phase :
       {SweepPhase::none, SweepPhase::forward, SweepPhase::between, SweepPhase::backward})
    if (std::any_of(ranks.begin(), ranks.end(),
                    [phase](const RankTimes& one) { return one.of(phase).total() > 0; }))
      all.push_back({phase, figures_of(ranks, [phase](const RankTimes& one) { return one.of(phase); })});
  return all;
}

}  // namespace palmette
