// How a long phase reports its progress, and how the caller stops it.
#pragma once

#include <functional>
#include <string_view>

namespace palmette {

/// Called from time to time, always on the caller's thread, with the name of the phase and the fraction done
/// in [0, 1].
using ProgressCallback = std::function<void(std::string_view phase, double fraction)>;

}  // namespace palmette
