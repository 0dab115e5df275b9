// Figures of ranks joined.
#include "cli/times_report.hpp"

#include <algorithm>
#include <fstream>

#include "cli/text.hpp"

namespace palmette::cli {
namespace {

struct Figure {
  double least = 0, mean = 0, most = 0;
};

template <class Get>
Figure figure_of(std::span<const RankTimes> ranks, Get&& get) {
  Figure figure;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const double value = get(ranks[rank]);
    figure.least = rank == 0 ? value : std::min(figure.least, value);
    figure.most = std::max(figure.most, value);
    figure.mean += value / static_cast<double>(ranks.size());
  }
  return figure;
}

struct Part {
  const char* name;
  double PhaseTimes::*value;
};
constexpr Part parts[] = {{"work", &PhaseTimes::work}, {"messages", &PhaseTimes::messages}, {"waiting", &PhaseTimes::waiting}};
constexpr SweepPhase phases[] = {SweepPhase::none, SweepPhase::forward, SweepPhase::between, SweepPhase::backward};

Figure figure(std::span<const RankTimes> ranks, SweepPhase phase, const Part& part) {
  return figure_of(ranks, [&](const RankTimes& one) { return one.of(phase).*part.value; });
}

Json to_json(const Figure& one) { return {{"least", one.least}, {"mean", one.mean}, {"most", one.most}}; }

bool occurs(std::span<const RankTimes> ranks, SweepPhase phase) {
  return std::any_of(ranks.begin(), ranks.end(), [phase](const RankTimes& one) { return one.of(phase).total() > 0; });
}

}  // namespace

PhaseTimes mean_times(std::span<const RankTimes> ranks) {
  PhaseTimes mean;
  for (const Part& part : parts) mean.*part.value = figure_of(ranks, [&](const RankTimes& one) { return one.total().*part.value; }).mean;
  return mean;
}

std::string times_table(std::span<const RankTimes> ranks) {
  TextTable table({"phase", "time for", "least", "mean", "most"});
  const auto add = [&](const std::string& phase, const char* name, const Figure& one) {
    table.add({phase, name, format_seconds(one.least), format_seconds(one.mean), format_seconds(one.most)});
  };
  for (const SweepPhase phase : phases) {
    if (!occurs(ranks, phase)) continue;
    for (const Part& part : parts) add(std::string(palmette::name_of(phase)), part.name, figure(ranks, phase, part));
  }
  return table.text({0, 1});
}

Json times_json(std::span<const RankTimes> ranks) {
  Json document = Json::object();
  for (const SweepPhase phase : phases) {
    if (!occurs(ranks, phase)) continue;
    Json& one = document[std::string(palmette::name_of(phase))];
    for (const Part& part : parts) one[part.name] = to_json(figure(ranks, phase, part));
  }
  for (const Part& part : parts)
    document["all"][part.name] = to_json(figure_of(ranks, [&](const RankTimes& one) { return one.total().*part.value; }));
  return document;
}

void write_trace(const std::string& path, std::span<const RankTimeline> ranks) {
  write_or_rescue(path, [&](const std::string& target) {
    std::ofstream file(target);
    file << chrome_trace(ranks);
    if (!file.flush()) throw OutputError(target, target + ": the trace cannot be written");
  });
}

}  // namespace palmette::cli
