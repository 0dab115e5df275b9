// The CUDA back end, linked and started: on a machine without a GPU it says why there is none, and opening
// one is refused; on others it opens the first.
#include <cstdio>

#include "palmette/device/cuda/cuda_device.hpp"

int main() {
  const std::string reason = palmette::device::why_no_cuda();
  if (reason.empty()) {
    std::printf("GPU: %s\n", palmette::device::make_cuda_device(0)->info().name.c_str());
    return 0;
  }
  std::printf("no GPU: %s\n", reason.c_str());
  try {
    (void)palmette::device::make_cuda_device(0);
  } catch (const palmette::UsageError& error) {
    std::printf("refused: %s\n", error.what());
    return 0;
  }
  std::printf("a GPU was opened where there is none\n");
  return 1;
}
