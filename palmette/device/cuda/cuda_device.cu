// Devices of CUDA: memory, copies, and launches of the kernels for every scalar type.
#include <cuda_runtime.h>

#include <algorithm>

#include "palmette/device/cuda/cuda_device.hpp"
#include "palmette/device/sweep_kernels.cuh"
#include "palmette/device/vector_kernels.cuh"

namespace palmette::device {
namespace {

constexpr int threads_of_block = 256;

void check(cudaError_t status, const std::string& what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // does not concern the next call
  throw DeviceError(what + ": " + cudaGetErrorString(status));
}

template <class T, int K>
const void* kernel_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::tree_forward: return reinterpret_cast<const void*>(&tree_forward_kernel<T, K>);
    case Kernel::tree_backward: return reinterpret_cast<const void*>(&tree_backward_kernel<T, K>);
    case Kernel::level_forward: return reinterpret_cast<const void*>(&level_forward_kernel<T, K>);
    case Kernel::level_backward: return reinterpret_cast<const void*>(&level_backward_kernel<T, K>);
    case Kernel::columns_forward: return reinterpret_cast<const void*>(&columns_forward_kernel<T, K>);
    case Kernel::columns_backward: return reinterpret_cast<const void*>(&columns_backward_kernel<T, K>);
    case Kernel::rows: return reinterpret_cast<const void*>(&rows_kernel<T, K>);
    case Kernel::residual: return reinterpret_cast<const void*>(&residual_kernel<T, K>);
    default: return nullptr;
  }
}

/// Of kernels that multiply by no right-hand sides.
template <class T>
const void* vector_kernel_of(Kernel kernel) {
  switch (kernel) {
    case Kernel::load_rows: return reinterpret_cast<const void*>(&load_rows_kernel<T>);
    case Kernel::store_rows: return reinterpret_cast<const void*>(&store_rows_kernel<T>);
    case Kernel::to_low: return reinterpret_cast<const void*>(&to_low_kernel<T>);
    case Kernel::from_low: return reinterpret_cast<const void*>(&from_low_kernel<T>);
    case Kernel::column_maxima: return reinterpret_cast<const void*>(&column_maxima_kernel<T>);
    case Kernel::largest_of_parts: return reinterpret_cast<const void*>(&largest_of_parts_kernel<double>);
    case Kernel::scaled_residual: return reinterpret_cast<const void*>(&scaled_residual_kernel<T>);
    case Kernel::correction: return reinterpret_cast<const void*>(&correction_kernel<T>);
    case Kernel::copy_columns: return reinterpret_cast<const void*>(&copy_columns_kernel<T>);
    default: return nullptr;
  }
}

template <class T>
const void* kernel_for(const KernelCall& call) {
  const void* const vectors = vector_kernel_of<T>(call.kernel);
  if (vectors != nullptr) return vectors;
  return call.rhs_at_once == 1 ? kernel_of<T, 1>(call.kernel) : kernel_of<T, rhs_of_lane>(call.kernel);
}

const void* kernel_for_scalar(const KernelCall& call) {
  switch (call.scalar) {
    case ScalarType::float32: return kernel_for<float>(call);
    case ScalarType::float64: return kernel_for<double>(call);
    case ScalarType::complex64: return kernel_for<Complex<float>>(call);
    case ScalarType::complex128: return kernel_for<Complex<double>>(call);
  }
  return nullptr;
}

/// Calls go to the default stream of the device, so each sees what those before it did; copy_out waits for
/// all.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(DeviceInfo info) : Device(std::move(info)) {}

  void clear(void* memory, std::size_t bytes) override {
    use("cudaSetDevice");
    check(cudaMemset(memory, 0, bytes), name_of_call("cudaMemset"));
  }
  void copy_there(void* to, const void* from, std::size_t bytes) override {
    use("cudaSetDevice");
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice), name_of_call("cudaMemcpy on the device"));
  }
  bool holds(const void* first, std::size_t) const override {
    cudaPointerAttributes found;
    if (cudaPointerGetAttributes(&found, first) != cudaSuccess) {
      (void)cudaGetLastError();
      return false;
    }
    return found.type == cudaMemoryTypeManaged ||
           (found.type == cudaMemoryTypeDevice && found.device == info().index);
  }
  void finish() override {
    use("cudaSetDevice");
    check(cudaStreamSynchronize(nullptr), name_of_call("cudaStreamSynchronize"));
  }
  void wait_for_stream(void* stream) override {
    use("cudaSetDevice");
    check(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)), name_of_call("cudaStreamSynchronize"));
  }

 protected:
  void* do_allocate(std::size_t bytes) override {
    use("cudaSetDevice");
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      return nullptr;
    }
    check(status, name_of_call("cudaMalloc"));
    return memory;
  }
  void do_release(void* memory) noexcept override {
    if (cudaSetDevice(info().index) == cudaSuccess) (void)cudaFree(memory);
  }
  void do_copy_in(void* to, const void* from, std::size_t bytes) override {
    use("cudaSetDevice");
    check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), name_of_call("cudaMemcpy to the device"));
  }
  void do_copy_out(void* to, const void* from, std::size_t bytes) override {
    use("cudaSetDevice");
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), name_of_call("cudaMemcpy from the device"));
  }
  LaunchShape resident_shape(const KernelCall& call, const LaunchShape& wanted) const override {
    use("cudaSetDevice");
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel_for_scalar(call), threads_of_block,
                                                        static_cast<std::size_t>(wanted.shared_bytes)),
          name_of_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor"));
    return {std::max(1, resident) * info().multiprocessors, threads_of_block, wanted.shared_bytes};
  }
  void do_launch(const KernelCall& call, const LaunchShape& shape) override {
    use("cudaSetDevice");
    void* arguments[] = {const_cast<void*>(call.argument)};
    check(cudaLaunchKernel(kernel_for_scalar(call), dim3(static_cast<unsigned>(shape.blocks)),
                           dim3(static_cast<unsigned>(shape.threads)), arguments,
                           static_cast<std::size_t>(shape.shared_bytes), nullptr),
          name_of_call("cudaLaunchKernel"));
  }

 private:
  std::string name_of_call(const char* what) const { return "the device " + info().address() + ": " + what; }
  void use(const char* what) const { check(cudaSetDevice(info().index), name_of_call(what)); }
};

int num_gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return count;
}

}  // namespace

std::string why_no_cuda() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count > 0 ? "" : "CUDA finds no GPU";
}

/// Two transfers in each cycle of its memory's clock; 0 if the driver does not tell.
static double memory_gbs_of(int index) {
  int kilohertz = 0, bits = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, index) != cudaSuccess ||
      cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, index) != cudaSuccess) {
    (void)cudaGetLastError();
    return 0;
  }
  return 2.0 * kilohertz * 1e3 * bits / 8 / 1e9;
}

std::shared_ptr<Device> make_cuda_device(int index) {
  const int count = num_gpus();
  if (index >= count)
    throw UsageError("there is no device cuda:" + std::to_string(index) + "; CUDA has " +
                     std::to_string(count) + " here, numbered from 0");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties");
  return std::make_shared<CudaDevice>(
      DeviceInfo{"cuda", index, properties.name, static_cast<offset_t>(properties.totalGlobalMem),
                 properties.multiProcessorCount, memory_gbs_of(index)});
}

}  // namespace palmette::device
