// Arrays in the memory of devices, Palmette's own and those of other packages.
#include "device_arrays.hpp"

#include <nanobind/stl/optional.h>

namespace palmette::python {
namespace {

/// Bytes on a device, which Python's DeviceArray gives a shape.
class DeviceBuffer {
 public:
  DeviceBuffer(const std::string& address, std::size_t bytes)
      : device_(open_device(address)), memory_(checked(device_), bytes) {}

  std::size_t pointer() const { return reinterpret_cast<std::size_t>(memory_.data()); }
  std::string device() const { return device_->info().address(); }
  void copy_in(ArrayIn<std::uint8_t> from) {
    check(from.size());
    device_->copy_in(memory_.data(), from.data(), from.size());
  }
  void copy_out(ArrayOut<std::uint8_t> to) {
    check(to.size());
    device_->copy_out(to.data(), memory_.data(), to.size());
  }

 private:
  static std::shared_ptr<Device> checked(const std::shared_ptr<Device>& device) {
    if (!device) throw UsageError("an array on a device needs a device: 'none' is the host");
    return device;
  }
  void check(std::size_t bytes) const {
    if (bytes != memory_.bytes()) throw DimensionError("an array of another size was given");
  }
  std::shared_ptr<Device> device_;
  DeviceArray<char> memory_;
};

/// (pointer, shape, strides in entries, code and bits of the type, type and number of the device), as DLPack
/// has them.
nb::tuple facts_of(const nb::ndarray<>& array) {
  nb::list shape, strides;
  for (std::size_t k = 0; k < array.ndim(); ++k) {
    shape.append(array.shape(k));
    strides.append(array.stride(k));
  }
  return nb::make_tuple(reinterpret_cast<std::size_t>(array.data()), nb::tuple(shape), nb::tuple(strides),
                        static_cast<int>(array.dtype().code), static_cast<int>(array.dtype().bits),
                        array.device_type(), array.device_id());
}

/// A capsule of DLPack for memory of a device, which keeps `owner` alive.
nb::object exported(nb::object owner, std::size_t pointer, const std::vector<std::size_t>& shape,
                    const nb::dict& given) {
  std::vector<std::int64_t> strides;
  for (const nb::handle stride : given["strides"]) strides.push_back(nb::cast<std::int64_t>(stride));
  nb::dlpack::dtype type;
  type.code = static_cast<std::uint8_t>(nb::cast<int>(given["code"]));
  type.bits = static_cast<std::uint8_t>(nb::cast<int>(given["bits"]));
  type.lanes = 1;
  return nb::cast(nb::ndarray<>(reinterpret_cast<void*>(pointer), shape.size(), shape.data(), owner,
                                strides.data(), type, nb::cast<int>(given["device_type"]),
                                nb::cast<int>(given["device_id"])));
}

}  // namespace

void bind_device_arrays(nb::module_& module) {
  nb::class_<DeviceBuffer>(module, "DeviceBuffer")
      .def(nb::init<const std::string&, std::size_t>())
      .def_prop_ro("pointer", &DeviceBuffer::pointer)
      .def_prop_ro("device", &DeviceBuffer::device)
      .def("copy_in", &DeviceBuffer::copy_in)
      .def("copy_out", &DeviceBuffer::copy_out);
  module.def("dlpack_facts", facts_of);
  module.def("dlpack_export", exported);
}

}  // namespace palmette::python
