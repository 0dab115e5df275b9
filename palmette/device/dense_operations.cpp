// The emulated device's operations: the host's functions, piece by piece.
#include "palmette/device/dense_operations.hpp"

#include "palmette/device/dense_cuda.hpp"

namespace palmette {
namespace {

template <class View>
View some_rows(View view, index_t first, index_t end) {
  return {view.data + first, end - first, view.cols, view.ld};
}

template <class T>
class HostOperations final : public DenseLibrary<T> {
 public:
  explicit HostOperations(const HostDense<T>& host) : host_(host) {}

  index_t factor_llt(DenseView<T> a) override { return host_.factor_llt(a); }
  void divide_rows(const DeviceDivision<T>& division, RowCuts cuts) override {
    index_t first = 0;
    for (const index_t end : cuts) {
      host_.divide_rows(division.how, division.a, some_rows(division.x, first, end));
      first = end;
    }
  }
  void multiply_rows(const DeviceProduct<T>& product, RowCuts cuts) override {
    index_t first = 0;
    for (const index_t end : cuts) {
      host_.multiply_rows(product.adjoint, some_rows(product.a, first, end), product.b,
                          some_rows(product.c, first, end));
      first = end;
    }
  }

 private:
  HostDense<T> host_;
};

}  // namespace

std::string why_no_dense_operations(const Device& device) {
  if (device.info().kind == "hip") return "this version calls no dense operations of HIP's libraries";
  return device.info().kind == "cuda" ? device::why_no_dense_cuda() : "";
}

template <class T>
std::unique_ptr<DenseLibrary<T>> make_dense_operations(const std::shared_ptr<Device>& device,
                                                          const HostDense<T>& host) {
  if (device->info().kind == "hip") throw DeviceError(why_no_dense_operations(*device));
  if (device->info().kind == "cuda") return device::make_dense_cuda<T>(device);
  return std::make_unique<HostOperations<T>>(host);
}

#define PALMETTE_INSTANTIATE(T)                                                                        \
  template std::unique_ptr<DenseLibrary<T>> make_dense_operations<T>(const std::shared_ptr<Device>&, \
                                                                        const HostDense<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
