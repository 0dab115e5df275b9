// Part of the door of `solve`: what every plan may be told.
#pragma once

namespace palmette {

struct PlanOptions {
  bool invert_diagonal_blocks = true;
  /// A diagonal block whose inverse grows beyond this (‖B⁻¹‖₁·‖B‖₁ > limit) is not inverted but solved with.
  double inverse_growth_limit = 1e8;
};

}  // namespace palmette
