// Part of the door of `solve`: options of all plans.
#pragma once

#include <memory>

namespace palmette {

class Device;
class ThreadTeam;

struct PlanOptions {
  bool invert_diagonal_blocks = true;
  /// A diagonal block whose inverse grows beyond this (‖B⁻¹‖₁·‖B‖₁ > limit) is not inverted; solves use
  /// substitution.
  double inverse_growth_limit = 1e8;
  /// builds the plan, whose bits do not depend on it; null: only the caller's thread
  ThreadTeam* team = nullptr;
  /// holds the factor and solves with it; null: the host
  std::shared_ptr<Device> device = nullptr;
};

}  // namespace palmette
