// Where the time of ranks goes, as a table, as JSON, and as a trace.
#pragma once

#include <span>
#include <string>

#include "cli/output.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::cli {

/// Over ranks, all phases together.
PhaseTimes mean_times(std::span<const RankTimes> ranks);

/// Work, messages and waiting by phase: least, mean and most over ranks.
std::string times_table(std::span<const RankTimes> ranks);
/// {"forward": {"work": {"least","mean","most"}, "messages": …, "waiting": …}, "between": …, "backward": …,
/// "all": …}
Json times_json(std::span<const RankTimes> ranks);

/// @throws OutputError
void write_trace(const std::string& path, std::span<const RankTimeline> ranks);

}  // namespace palmette::cli
