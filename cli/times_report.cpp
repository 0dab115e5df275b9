// Combines the figures of ranks.
#include "cli/times_report.hpp"

#include <fstream>

#include "cli/text.hpp"

namespace palmette::cli {
namespace {

Json to_json(const PhaseFigures& parts) {
  Json document = Json::object();
  for (const PartFigure& part : parts)
    document[std::string(part.name)] = {
        {"least", part.seconds.least}, {"mean", part.seconds.mean}, {"most", part.seconds.most}};
  return document;
}

}  // namespace

PhaseTimes mean_times(std::span<const RankTimes> ranks) {
  const auto [work, messages, waiting] = total_figures(ranks);
  return {work.seconds.mean, messages.seconds.mean, waiting.seconds.mean};
}

std::string times_table(std::span<const RankTimes> ranks) {
  TextTable table({"phase", "time for", "least", "mean", "most"});
  for (const NamedPhaseFigures& one : phase_figures(ranks))
    for (const auto& [name, seconds] : one.parts)
      table.add({std::string(palmette::name_of(one.phase)), std::string(name), format_seconds(seconds.least),
                 format_seconds(seconds.mean), format_seconds(seconds.most)});
  return table.text({0, 1});
}

Json times_json(std::span<const RankTimes> ranks) {
  Json document = Json::object();
  for (const NamedPhaseFigures& one : phase_figures(ranks))
    document[std::string(palmette::name_of(one.phase))] = to_json(one.parts);
  document["all"] = to_json(total_figures(ranks));
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
