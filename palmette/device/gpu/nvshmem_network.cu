// The network of GPUs: NVSHMEM. It comes up with the first network of a process, by a unique id, and goes
// with the last one. Compiled with relocatable code, since the kernels call NVSHMEM.
#include <cuda_runtime.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "palmette/device/element_sweep.cuh"
#include "palmette/device/gpu/gpu_device.hpp"
#include "palmette/device/kernel_scalar.cuh"
#include "palmette/device/triangle_elements.cuh"

namespace palmette::device {
namespace {

constexpr int threads_of_block = 256;

template <class T, int K>
const void* kernel_of(Kernel kernel) {
  if (kernel == Kernel::network_forward)
    return reinterpret_cast<const void*>(&network_forward_kernel<T, K>);
  if (kernel == Kernel::network_backward)
    return reinterpret_cast<const void*>(&network_backward_kernel<T, K>);
  if (kernel == Kernel::put_columns) return reinterpret_cast<const void*>(&put_columns_kernel<T, K>);
  throw UsageError("only the kernels of elements, and of columns that are put, run over NVSHMEM");
}

template <class T>
const void* kernel_for(const KernelCall& call) {
  return call.rhs_at_once == 1 ? kernel_of<T, 1>(call.kernel) : kernel_of<T, rhs_of_lane>(call.kernel);
}

const void* kernel_for_scalar(const KernelCall& call) {
  return with_scalar_of(call, [&]<class T>(T) { return kernel_for<T>(call); });
}

void check(int status, const char* what) {
  if (status != 0) throw DeviceError(std::string(what) + " returned " + std::to_string(status));
}
void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status));
}

/// NVSHMEM in this process, for as long as there are networks or their memory.
class Runtime {
 public:
  Runtime(int gpu, const NetworkId& id, int rank, int num_ranks) : gpu_(gpu) {
    check_cuda(cudaSetDevice(gpu), "cudaSetDevice");
    nvshmemx_uniqueid_t unique;
    std::memcpy(&unique, id.data(), sizeof unique);
    nvshmemx_init_attr_t how = NVSHMEMX_INIT_ATTR_INITIALIZER;
    check(nvshmemx_set_attr_uniqueid_args(rank, num_ranks, &unique, &how), "nvshmemx_set_attr_uniqueid_args");
    check(nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &how), "nvshmemx_init_attr");
  }
  ~Runtime() { nvshmem_finalize(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  bool is(int gpu, int rank, int num_ranks) const {
    return gpu == gpu_ && rank == nvshmem_my_pe() && num_ranks == nvshmem_n_pes();
  }

 private:
  int gpu_;
};

std::shared_ptr<Runtime> runtime(int gpu, const NetworkId& id, int rank, int num_ranks) {
  static std::mutex mutex;
  static std::weak_ptr<Runtime> current;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Runtime> found = current.lock();
  if (!found)
    current = found = std::make_shared<Runtime>(gpu, id, rank, num_ranks);
  else if (!found->is(gpu, rank, num_ranks))
    throw UsageError("a process has one GPU and one rank in NVSHMEM; end the other network first");
  return found;
}

class NvshmemNetwork final : public DeviceNetwork {
 public:
  NvshmemNetwork(std::shared_ptr<Device> device, std::shared_ptr<Runtime> runtime)
      : DeviceNetwork(std::move(device)), runtime_(std::move(runtime)) {}

  /// A barrier of all ranks behind the kernel, on its stream: the next may put to memory that it has used.
  void begin(const KernelCall& call, const LaunchShape& shape) override {
    device()->finish();  // the launch has a stream of its own; copies and clears come before it
    const void* const kernel = kernel_for_scalar(call);
    const auto shared = static_cast<std::size_t>(shape.shared_bytes);
    const int threads = shape.blocks > 0 ? shape.threads : threads_of_block;
    void* arguments[] = {const_cast<void*>(call.argument)};
    int blocks = shape.blocks;
    if (blocks == 0)
      check(nvshmemx_collective_launch_query_gridsize(kernel, dim3(static_cast<unsigned>(threads)), arguments,
                                                      shared, &blocks),
            "nvshmemx_collective_launch_query_gridsize");
    check(nvshmemx_collective_launch(kernel, dim3(static_cast<unsigned>(blocks)),
                                     dim3(static_cast<unsigned>(threads)), arguments, shared, nullptr),
          "nvshmemx_collective_launch");
    nvshmemx_barrier_all_on_stream(nullptr);
    device()->count_launch();
  }
  bool ended() override {
    check_cuda(cudaSetDevice(device()->info().index), "cudaSetDevice");
    const cudaError_t status = cudaStreamQuery(nullptr);
    if (status == cudaErrorNotReady) return false;
    check_cuda(status, "a kernel over NVSHMEM");
    return true;
  }

 protected:
  std::shared_ptr<void> do_allocate(std::size_t bytes) override {
    void* const memory = nvshmem_calloc(1, bytes);
    if (memory == nullptr)
      throw MemoryError("NVSHMEM has no " + std::to_string(bytes) +
                            " bytes of symmetric memory left: set NVSHMEM_SYMMETRIC_SIZE",
                        static_cast<offset_t>(bytes));
    return {memory, [kept = runtime_](void* p) { nvshmem_free(p); }};
  }

 private:
  std::shared_ptr<Runtime> runtime_;
};

}  // namespace

NetworkId make_nvshmem_id() {
  static_assert(sizeof(nvshmemx_uniqueid_t) == sizeof(NetworkId));
  nvshmemx_uniqueid_t unique = NVSHMEMX_UNIQUEID_INITIALIZER;
  check(nvshmemx_get_uniqueid(&unique), "nvshmemx_get_uniqueid");
  NetworkId id;
  std::memcpy(id.data(), &unique, sizeof unique);
  return id;
}

std::shared_ptr<DeviceNetwork> join_nvshmem(const std::shared_ptr<Device>& device, const NetworkId& id,
                                            int rank, int num_ranks) {
  return std::make_shared<NvshmemNetwork>(device, runtime(device->info().index, id, rank, num_ranks));
}

}  // namespace palmette::device
