// Inside `refine`: residuals and backward errors of columns on a device, all at once.
#pragma once

#include "palmette/refine/refine.hpp"
#include "palmette/refine/residual.hpp"

namespace palmette {

/// ‖column‖∞ of each, in quarters: the modulus of a finite complex number may be more than the largest
/// double. Infinity where a value is not finite.
template <class T>
std::vector<double> quarter_norms(const std::shared_ptr<Device>& device, OnDevice<const T> columns);

/// Residuals of one system, kept on the device until the next evaluation. Rows are summed in the order of
/// Residual, so they have its bits.
template <class T>
class DeviceResidual {
 public:
  DeviceResidual(const DeviceMatrix<T>& matrix, Operation operation, OnDevice<const T> b);

  /// Column k of x is judged with column b_column[k] of b; empty: column k.
  /// @throws MemoryError
  std::vector<ColumnError> evaluate(OnDevice<const T> x, const std::vector<int>& b_column = {});

  /// The exponent e for which residual `column` of the last evaluation, times 2⁻ᵉ, has its ∞-norm in [½, 1).
  int exponent(int column) const;
  /// Column k of `into` ← residual columns[k] of the last evaluation, times 2⁻ᵉ.
  void write_scaled(const std::vector<int>& columns, OnDevice<T> into);

 private:
  using Wide = wide_t<T>;
  std::vector<double> figures_of(OnDevice<const T> x, const std::vector<int>& b_column);
  ColumnError judged(double b_norm, double x_norm, double residual_norm, double componentwise) const;
  /// The range of double is left: column k is evaluated by the host.
  ColumnError evaluate_on_host(OnDevice<const T> x, int k, int of_b);

  const DeviceMatrix<T>& matrix_;
  Operation operation_;
  OnDevice<const T> b_;
  ScaledNorm norm_;
  std::vector<double> b_norm_;
  std::vector<ColumnError> errors_;  // of the last evaluation
  DeviceArray<Wide> residual_;       // n × columns of the last evaluation
  DeviceArray<double> partial_, result_;
  DeviceArray<int> b_column_;
};

}  // namespace palmette
