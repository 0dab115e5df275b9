// Rivals on a GPU: the solves of cuSPARSE with our factors, and of cuDSS with its own.
#pragma once

#include <memory>
#include <string>

#include "palmette/solver/solver.hpp"

namespace palmette::benchmarks {

/// A factored matrix on a device, ready for a number of right-hand sides.
class Rival {
 public:
  virtual ~Rival() = default;
  /// x ← A⁻¹·b, both in memory of the host.
  void solve(DenseView<const double> b, DenseView<double> x);
  /// The same with b and x in device memory, in the rival's order. Returns before it is done.
  virtual void sweep() = 0;
  /// Returns when all sweeps are done.
  void wait();

 protected:
  Rival(std::shared_ptr<Device> device, index_t n, index_t num_rhs);
  /// Row i of the rival's b is row new_to_old()[i] of ours; empty: the same. Likewise of x.
  Permutation row_, column_;
  std::shared_ptr<Device> device_;
  index_t n_, num_rhs_;
  DeviceArray<double> b_, x_;  ///< n × num_rhs, column-major
};

/// What rivals are made of.
struct RivalNeeds {
  std::shared_ptr<Device> device;
  index_t num_rhs = 1;
  std::string folder;  ///< of the library; empty: where the system looks
};

/// SpSV for one right-hand side, SpSM for several.
/// @throws VendorError if the library is not there or fails; for LDLᵀ, whose D it does not solve with
std::unique_ptr<Rival> make_cusparse(const Factor<double>& factor, const RivalNeeds& needs);
/// @param kind  as our factorization: SPD, symmetric or general
/// @throws VendorError
std::unique_ptr<Rival> make_cudss(const SparseMatrix<double>& matrix, FactorKind kind,
                                  const RivalNeeds& needs);

}  // namespace palmette::benchmarks
