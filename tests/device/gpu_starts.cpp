// A back end for GPUs, that of CUDA or, with PALMETTE_STARTS_HIP, that of HIP, linked and started: on a
// machine without a GPU it says why there is none, and opening one is refused; on others it opens the first.
#include <cstdio>

#include "palmette/device/gpu/gpu_device.hpp"

#if defined(PALMETTE_STARTS_HIP)
constexpr auto why_no_gpu = palmette::device::why_no_hip;
constexpr auto make_device = palmette::device::make_hip_device;
#else
constexpr auto why_no_gpu = palmette::device::why_no_cuda;
constexpr auto make_device = palmette::device::make_cuda_device;
#endif

int main() {
  const std::string reason = why_no_gpu();
  if (reason.empty()) {
    std::printf("GPU: %s\n", make_device(0)->info().name.c_str());
    return 0;
  }
  std::printf("no GPU: %s\n", reason.c_str());
  try {
    (void)make_device(0);
  } catch (const palmette::UsageError& error) {
    std::printf("refused: %s\n", error.what());
    return 0;
  }
  std::printf("a GPU was opened where there is none\n");
  return 1;
}
