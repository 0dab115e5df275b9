// Inside `device`: dense operations by cuBLAS and cuSOLVER, which are loaded when they are first needed.
#pragma once

#include "palmette/device/dense_operations.hpp"

namespace palmette::device {

/// Empty if both libraries can be loaded.
std::string why_no_dense_cuda();
/// @param device  of kind "cuda" @throws DeviceError if a library cannot be loaded
template <class T>
std::unique_ptr<DenseLibrary<T>> make_dense_cuda(std::shared_ptr<Device> device);

}  // namespace palmette::device
