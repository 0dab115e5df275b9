// Builds without nvcc have no CUDA devices.
#include "palmette/device/cuda/cuda_device.hpp"

#if !defined(PALMETTE_WITH_CUDA)
namespace palmette::device {

std::string why_no_cuda() {
  return "this build has no CUDA: configure with -DPALMETTE_CUDA=ON where nvcc 13 is";
}
std::shared_ptr<Device> make_cuda_device(int) { throw DeviceError(why_no_cuda()); }

}  // namespace palmette::device
#endif
