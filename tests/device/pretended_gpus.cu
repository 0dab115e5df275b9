// The CUDA back end on two GPUs that are not there: the linker leads its calls of CUDA's runtime here
// (--wrap). Shows which calls a world of GPUs makes for managed memory.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "palmette/device/device.hpp"

namespace {

struct Pretended {
  bool shares[2] = {true, true};
  bool is_full = false;
  std::size_t managed_bytes = 0;
  unsigned flags = 0;
  int frees = 0;
};
Pretended gpus;
int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("not so: %s\n", what);
  ++failures;
}

template <class Error>
bool throws(palmette::DeviceWorld& world, const char* words) {
  try {
    (void)world.allocate_managed(1000);
  } catch (const Error& error) {
    return std::strstr(error.what(), words) != nullptr;
  }
  return false;
}

}  // namespace

extern "C" {
cudaError_t __wrap_cudaGetDeviceCount(int* count) {
  *count = 2;
  return cudaSuccess;
}
cudaError_t __wrap_cudaSetDevice(int) { return cudaSuccess; }
cudaError_t __wrap_cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  properties->totalGlobalMem = 500;  // managed memory is no part of it
  properties->multiProcessorCount = 1;
  return cudaSuccess;
}
cudaError_t __wrap_cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int index) {
  *value = attribute == cudaDevAttrConcurrentManagedAccess ? gpus.shares[index] : 1;
  return cudaSuccess;
}
cudaError_t __wrap_cudaDeviceEnablePeerAccess(int, unsigned) { return cudaSuccess; }
cudaError_t __wrap_cudaMallocManaged(void** memory, std::size_t bytes, unsigned flags) {
  if (gpus.is_full) return cudaErrorMemoryAllocation;
  gpus.managed_bytes += bytes;
  gpus.flags = flags;
  *memory = std::malloc(bytes);
  return cudaSuccess;
}
cudaError_t __wrap_cudaFree(void* memory) {
  ++gpus.frees;
  std::free(memory);
  return cudaSuccess;
}
}

int main() {
  using namespace palmette;
  const auto world = open_world("cuda", 2);
  {
    const auto memory = world->allocate_managed(1000);
    std::memset(memory.get(), 1, 1000);  // hosts use it, too
    expect(gpus.managed_bytes == 1000, "managed memory is asked for as managed");
    expect(gpus.flags == cudaMemAttachGlobal, "it is for all devices");
    expect(world->element(0)->bytes_in_use() == 0, "it is no memory of a device");
  }
  expect(gpus.frees == 1, "it is freed");
  gpus.shares[1] = false;
  expect(throws<DeviceError>(*world, "the device cuda:1 cannot use managed memory"), "a device is named");
  gpus = {};
  gpus.is_full = true;
  expect(throws<MemoryError>(*world, "1000 bytes of managed memory"), "too little memory is said");
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
