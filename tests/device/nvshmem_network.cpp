// The network of GPUs over NVSHMEM, linked with the library: two ids by which ranks could join differ.
// Nothing joins, since there need not be a GPU.
#include <cstdio>

#include "palmette/device/gpu/gpu_device.hpp"

int main() {
  using namespace palmette;
  const NetworkId one = device::make_nvshmem_id(), other = device::make_nvshmem_id();
  std::printf("NVSHMEM's ids: %s\n", one == other ? "the same" : "different");
  return one == other ? 1 : 0;
}
