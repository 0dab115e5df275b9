// The peak memory of a run: the larger of the peaks of factorization and solve.
#include <algorithm>

#include "palmette/solver/solver.hpp"

namespace palmette {
namespace {

offset_t scalar_bytes(ScalarType scalar) {
  switch (scalar) {
    case ScalarType::float32: return 4;
    case ScalarType::float64:
    case ScalarType::complex64: return 8;
    case ScalarType::complex128: return 16;
  }
  return 8;
}

}  // namespace

offset_t predicted_peak_bytes(const SymbolicFactor& symbolic, const RunShape& shape) {
  // The symbolic factor is the caller's and outlives this call: shared without ownership.
  return predicted_peak_bytes(
      symbolic,
      *plan_structure(std::shared_ptr<const SymbolicFactor>(std::shared_ptr<void>(), &symbolic),
                      shape.scalar),
      shape);
}

offset_t predicted_peak_bytes(const SymbolicFactor& symbolic, const PlanStructure& structure,
                              const RunShape& shape) {
  const FactorMemory factor = predicted_factor_bytes(symbolic, shape.kind, shape.scalar, shape.threads);
  const PlanMemory plan = predicted_plan_bytes(structure, shape.kind, shape.scalar, shape.num_rhs);
  // Verification holds b, x, residual, correction and its accumulators: about ten vectors per right-hand side
  // at a time.
  const offset_t vectors = (2 * offset_t(shape.num_rhs) + 10) * symbolic.n * scalar_bytes(shape.scalar);
  const offset_t kept = shape.bytes_before + factor.factor_bytes + plan.structure_bytes;
  return kept + std::max(factor.workspace_bytes,
                         plan.plan_bytes - plan.structure_bytes + plan.workspace_bytes + vectors);
}

}  // namespace palmette
