// A Report as JSON, under the names that visit() gives.
#pragma once

#include <nlohmann/json.hpp>

#include "palmette/solver/solver.hpp"

namespace palmette::cli {

/// All fields, in the report's order; figures that are not finite become null.
nlohmann::ordered_json to_json(const Report& report);
nlohmann::ordered_json to_json(const RankReport& report);

/// A finite number, or null.
nlohmann::ordered_json number_or_null(double value);

}  // namespace palmette::cli
