// Builds without nvcc have no devices of CUDA, builds without hipcc none of HIP. A program that links a back
// end by itself uses that one.
#include "palmette/device/gpu/gpu_device.hpp"

namespace palmette::device {

#if !defined(PALMETTE_WITH_CUDA)
[[gnu::weak]] std::string why_no_cuda() {
  return "this build has no CUDA: configure with -DPALMETTE_CUDA=ON where nvcc 13 is";
}
[[gnu::weak]] std::shared_ptr<Device> make_cuda_device(int) { throw DeviceError(why_no_cuda()); }
#endif

#if !defined(PALMETTE_WITH_HIP)
[[gnu::weak]] std::string why_no_hip() {
  return "this build has no HIP: configure with -DPALMETTE_HIP=ON where hipcc is";
}
[[gnu::weak]] std::shared_ptr<Device> make_hip_device(int) { throw DeviceError(why_no_hip()); }
#endif

}  // namespace palmette::device
