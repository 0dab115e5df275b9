// Devices of CUDA and HIP: memory, copies, and launches of the kernels for every scalar type. nvcc makes the
// kind "cuda" of this file, hipcc the kind "hip".
#include <algorithm>

#include "palmette/device/element_sweep.cuh"
#include "palmette/device/gpu/gpu_device.hpp"
#include "palmette/device/gpu/gpu_runtime.hpp"
#include "palmette/device/kernel_scalar.cuh"
#include "palmette/device/region_exchange.cuh"
#include "palmette/device/sweep_kernels.cuh"
#include "palmette/device/triangle_elements.cuh"
#include "palmette/device/vector_kernels.cuh"

namespace palmette::device {
namespace {

constexpr int threads_of_block = 256;

void check(PALMETTE_GPU(Error_t) status, const std::string& what) {
  if (status == PALMETTE_GPU(Success)) return;
  (void)PALMETTE_GPU(GetLastError)();  // does not concern the next call
  throw DeviceError(what + ": " + PALMETTE_GPU(GetErrorString)(status));
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
    case Kernel::element_forward: return reinterpret_cast<const void*>(&element_forward_kernel<T, K>);
    case Kernel::element_backward: return reinterpret_cast<const void*>(&element_backward_kernel<T, K>);
    case Kernel::unified_columns: return reinterpret_cast<const void*>(&unified_columns_kernel<T, K>);
    case Kernel::zero_copy_columns: return reinterpret_cast<const void*>(&zero_copy_columns_kernel<T, K>);
    case Kernel::pushed_columns: return reinterpret_cast<const void*>(&pushed_columns_kernel<T, K>);
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
    case Kernel::region_trial:
      return reinterpret_cast<const void*>(&region_trial_kernel<>);
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
  return with_scalar_of(call, [&]<class T>(T) { return kernel_for<T>(call); });
}

/// Calls go to the default stream of the device, so each sees what those before it did; copy_out waits for
/// all.
class GpuDevice final : public Device {
 public:
  explicit GpuDevice(DeviceInfo info) : Device(std::move(info)) {}
  ~GpuDevice() override {
    if (streams_.empty() || PALMETTE_GPU(SetDevice)(info().index) != PALMETTE_GPU(Success)) return;
    for (const PALMETTE_GPU(Stream_t) one : streams_) (void)PALMETTE_GPU(StreamDestroy)(one);
  }

  void clear(void* memory, std::size_t bytes) override {
    use("SetDevice");
    check(PALMETTE_GPU(Memset)(memory, 0, bytes), name_of_call("Memset"));
  }
  void copy_there(void* to, const void* from, std::size_t bytes) override {
    use("SetDevice");
    check(PALMETTE_GPU(Memcpy)(to, from, bytes, PALMETTE_GPU(MemcpyDeviceToDevice)),
          name_of_call("Memcpy on the device"));
  }
  bool holds(const void* first, std::size_t) const override {
    GpuPointerAttributes found;
    if (PALMETTE_GPU(PointerGetAttributes)(&found, first) != PALMETTE_GPU(Success)) {
      (void)PALMETTE_GPU(GetLastError)();
      return false;
    }
    return is_managed(found) ||
           (kind_of_memory(found) == PALMETTE_GPU(MemoryTypeDevice) && found.device == info().index);
  }
  void finish() override {
    use("SetDevice");
    check(PALMETTE_GPU(DeviceSynchronize)(), name_of_call("DeviceSynchronize"));
  }
  void wait_for_stream(void* stream) override {
    use("SetDevice");
    check(PALMETTE_GPU(StreamSynchronize)(static_cast<PALMETTE_GPU(Stream_t)>(stream)),
          name_of_call("StreamSynchronize"));
  }

  void reach(const Device& other) override {
    use("SetDevice");
    const PALMETTE_GPU(Error_t) status = PALMETTE_GPU(DeviceEnablePeerAccess)(other.info().index, 0);
    if (status == gpu_reached_before) (void)PALMETTE_GPU(GetLastError)();
    else check(status, name_of_call("DeviceEnablePeerAccess") + " to " + other.info().address());
  }

  bool shares_managed_memory() const override {
    int shares = 0;
    check(PALMETTE_GPU(DeviceGetAttribute)(&shares, gpu_concurrent_managed, info().index),
          name_of_call("DeviceGetAttribute"));
    return shares != 0;
  }
  void* allocate_managed(std::size_t bytes) override {
    use("SetDevice");
    void* memory = nullptr;
    return enough(PALMETTE_GPU(MallocManaged)(&memory, bytes, PALMETTE_GPU(MemAttachGlobal)), "MallocManaged")
               ? memory
               : nullptr;
  }
  void release_managed(void* memory) noexcept override { do_release(memory); }

 protected:
  void* do_allocate(std::size_t bytes) override {
    use("SetDevice");
    void* memory = nullptr;
    return enough(PALMETTE_GPU(Malloc)(&memory, bytes), "Malloc") ? memory : nullptr;
  }
  void do_release(void* memory) noexcept override {
    if (PALMETTE_GPU(SetDevice)(info().index) == PALMETTE_GPU(Success)) (void)PALMETTE_GPU(Free)(memory);
  }
  void do_copy_in(void* to, const void* from, std::size_t bytes) override {
    use("SetDevice");
    check(PALMETTE_GPU(Memcpy)(to, from, bytes, PALMETTE_GPU(MemcpyHostToDevice)),
          name_of_call("Memcpy to the device"));
  }
  void do_copy_out(void* to, const void* from, std::size_t bytes) override {
    use("SetDevice");
    check(PALMETTE_GPU(Memcpy)(to, from, bytes, PALMETTE_GPU(MemcpyDeviceToHost)),
          name_of_call("Memcpy from the device"));
  }
  LaunchShape resident_shape(const KernelCall& call, const LaunchShape& wanted) const override {
    use("SetDevice");
    int resident = 0;
    const auto shared_bytes = static_cast<std::size_t>(wanted.shared_bytes);
    check(PALMETTE_GPU(OccupancyMaxActiveBlocksPerMultiprocessor)(&resident, kernel_for_scalar(call),
                                                                  threads_of_block, shared_bytes),
          name_of_call("OccupancyMaxActiveBlocksPerMultiprocessor"));
    return {std::max(1, resident) * info().multiprocessors, threads_of_block, wanted.shared_bytes,
            wanted.stream};
  }
  void do_launch(const KernelCall& call, const LaunchShape& shape) override {
    use("SetDevice");
    void* arguments[] = {const_cast<void*>(call.argument)};
    check(PALMETTE_GPU(LaunchKernel)(kernel_for_scalar(call), dim3(static_cast<unsigned>(shape.blocks)),
                                     dim3(static_cast<unsigned>(shape.threads)), arguments,
                                     static_cast<std::size_t>(shape.shared_bytes), stream(shape.stream)),
          name_of_call("LaunchKernel"));
  }

 private:
  /// 0 is the default stream, which waits for the others and they for it.
  PALMETTE_GPU(Stream_t) stream(int number) {
    while (static_cast<int>(streams_.size()) < number) {
      PALMETTE_GPU(Stream_t) one = nullptr;
      check(PALMETTE_GPU(StreamCreate)(&one), name_of_call("StreamCreate"));
      streams_.push_back(one);
    }
    return number == 0 ? nullptr : streams_[number - 1];
  }
  /// @param what  the call, without its vendor's prefix
  std::string name_of_call(const char* what) const {
    return "the device " + info().address() + ": " + gpu_kind + what;
  }
  /// Whether an allocation has not failed for lack of memory.
  bool enough(PALMETTE_GPU(Error_t) status, const char* what) const {
    if (status != gpu_out_of_memory) check(status, name_of_call(what));
    else (void)PALMETTE_GPU(GetLastError)();
    return status != gpu_out_of_memory;
  }
  void use(const char* what) const { check(PALMETTE_GPU(SetDevice)(info().index), name_of_call(what)); }

  std::vector<PALMETTE_GPU(Stream_t)> streams_;
};

int num_gpus() {
  int count = 0;
  if (PALMETTE_GPU(GetDeviceCount)(&count) != PALMETTE_GPU(Success)) {
    (void)PALMETTE_GPU(GetLastError)();
    return 0;
  }
  return count;
}

}  // namespace

std::string PALMETTE_WHY_NO_GPU() {
  int count = 0;
  const PALMETTE_GPU(Error_t) status = PALMETTE_GPU(GetDeviceCount)(&count);
  (void)PALMETTE_GPU(GetLastError)();
  if (status != PALMETTE_GPU(Success)) return PALMETTE_GPU(GetErrorString)(status);
  return count > 0 ? "" : std::string(gpu_runtime_name) + " finds no GPU";
}

/// Two transfers in each cycle of its memory's clock; 0 if the driver does not tell.
static double memory_gbs_of(int index) {
  int kilohertz = 0, bits = 0;
  if (PALMETTE_GPU(DeviceGetAttribute)(&kilohertz, gpu_memory_clock, index) != PALMETTE_GPU(Success) ||
      PALMETTE_GPU(DeviceGetAttribute)(&bits, gpu_memory_bits, index) != PALMETTE_GPU(Success)) {
    (void)PALMETTE_GPU(GetLastError)();
    return 0;
  }
  return 2.0 * kilohertz * 1e3 * bits / 8 / 1e9;
}

std::shared_ptr<Device> PALMETTE_MAKE_GPU(int index) {
  const int count = num_gpus();
  if (index >= count)
    throw UsageError("there is no device " + std::string(gpu_kind) + ":" + std::to_string(index) + "; " +
                     gpu_runtime_name + " has " + std::to_string(count) + " here, numbered from 0");
  GpuProperties properties;
  check(PALMETTE_GPU(GetDeviceProperties)(&properties, index), std::string(gpu_kind) + "GetDeviceProperties");
  return std::make_shared<GpuDevice>(
      DeviceInfo{gpu_kind, index, properties.name, static_cast<offset_t>(properties.totalGlobalMem),
                 properties.multiProcessorCount, memory_gbs_of(index)});
}

}  // namespace palmette::device
