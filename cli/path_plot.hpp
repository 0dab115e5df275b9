// The critical path on the sparsity plot of the factor, as SVG.
#pragma once

#include <string>

#include "palmette/analyze/analyze.hpp"
#include "palmette/predict/predict.hpp"

namespace palmette::cli {

/// Blocks of L in grey; blocks of the path in blue, those that a process has beside them in the same level in
/// orange, with the line from one level to the next. Blocks thinner than a dot are drawn as dots; what falls
/// on the same dots is drawn once.
std::string path_svg(const SymbolicFactor& symbolic, const PathModel& model, const std::string& title);

}  // namespace palmette::cli
