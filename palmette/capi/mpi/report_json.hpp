// Inside `capi`: a report as JSON text, for callers in C.
#pragma once

#include <string>

#include "palmette/solver/solver.hpp"

namespace palmette::capi {

/// Under the names of the command's JSON; numbers with all their digits, those that are not finite as null.
std::string report_json(const RankReport& report);

}  // namespace palmette::capi
