// Part of the door of `solve`: what every plan may be told.
#pragma once

namespace palmette {

class ThreadTeam;

struct PlanOptions {
  bool invert_diagonal_blocks = true;
  /// A diagonal block whose inverse grows beyond this (‖B⁻¹‖₁·‖B‖₁ > limit) is not inverted but solved with.
  double inverse_growth_limit = 1e8;
  /// shares the making of the plan, whose bits do not depend on it; null: the caller's thread alone
  ThreadTeam* team = nullptr;
};

}  // namespace palmette
