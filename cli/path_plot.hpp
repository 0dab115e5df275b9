// The critical path on the sparsity plot of the factor, as SVG.
#pragma once

#include <string>

#include "palmette/analyze/analyze.hpp"
#include "palmette/predict/predict.hpp"

namespace palmette::cli {

/// Blocks of L are grey, blocks of the path blue, and further blocks of the same process and level orange,
/// with a line from one level to the next. Blocks thinner than a dot are drawn as dots; blocks on the same
/// dots are drawn once.
std::string path_svg(const SymbolicFactor& symbolic, const PathModel& model, const std::string& title);

}  // namespace palmette::cli
