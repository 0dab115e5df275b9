// How a long phase tells its caller how far it is, and how the caller stops it.
#pragma once

#include <functional>
#include <string_view>

namespace palmette {

/// Called now and then, always from the caller's own thread, with the phase's name and the fraction done in
/// [0, 1].
using ProgressCallback = std::function<void(std::string_view phase, double fraction)>;

}  // namespace palmette
