// Inside `device`: the scalar type of a call as a template argument, for those who look up kernels.
#pragma once

#include "palmette/device/kernel_call.hpp"
#include "palmette/device/numbers.cuh"

namespace palmette::device {

/// use(zero of the call's scalar type), which returns the same type for all.
template <class Use>
auto with_scalar_of(const KernelCall& call, const Use& use) {
  switch (call.scalar) {
    case ScalarType::float32: return use(float());
    case ScalarType::float64: return use(double());
    case ScalarType::complex64: return use(Complex<float>());
    case ScalarType::complex128: break;
  }
  return use(Complex<double>());
}

}  // namespace palmette::device
