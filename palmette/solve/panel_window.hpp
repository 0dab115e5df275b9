// Inside `solve`: panels that are read from a file into buffers, piece by piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace palmette::solve_detail {

/// Consecutive bytes of the file, and where they go in a buffer.
struct PanelRead {
  std::uint64_t position = 0;
  std::uint64_t bytes = 0;
  std::uint64_t place = 0;
};

/// What a supernode needs of the file; bytes 0: nothing.
struct PanelReadsOf {
  PanelRead values;  ///< computed for the plan
  PanelRead panel;   ///< the factor's
  bool values_apart = false;  ///< they lie among those of supernodes in bundles
};

/// Positions in the file of the arrays that a triangle reads.
struct PanelPositions {
  std::uint64_t values = 0;
  std::uint64_t panels = 0;
};

/// Where panels lie in the buffer that holds them, in bytes from its begin; length num_supernodes.
struct PanelWindow {
  const std::byte* base = nullptr;  ///< the buffer with the supernode that is computed with
  std::vector<std::uint64_t> values;
  std::vector<std::uint64_t> panel;
};

}  // namespace palmette::solve_detail
