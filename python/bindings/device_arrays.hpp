// Solves with arrays that lie on a device.
#pragma once

#include "options.hpp"

namespace palmette::python {

/// @param given  pointer, rows, cols, by_rows
template <class T>
ArrayOnDevice<T> array_there(const nb::dict& given) {
  return {reinterpret_cast<T*>(nb::cast<std::size_t>(given["pointer"])), nb::cast<index_t>(given["rows"]),
          nb::cast<index_t>(given["cols"]), nb::cast<bool>(given["by_rows"])};
}

/// Address of the device that holds the factor. @throws UsageError if the host does
template <class T, template <class> class AnySolver>
std::string device_of(const AnySolver<T>& self) {
  const std::shared_ptr<Device> device = self.device();
  if (!device)
    throw UsageError("b lies on a device, but the factor on the host: make the solver with device=..., or "
                     "copy b to the host");
  return device->info().address();
}

/// @param options  also "stream": of the package that wrote b
template <class T, template <class> class AnySolver>
ReportHandle solve_there(AnySolver<T>& self, const nb::dict& b_given, const nb::dict& x_given,
                         const nb::dict& options) {
  SolveRequest request = solve_request(options);
  request.stream = reinterpret_cast<void*>(nb::cast<std::size_t>(options["stream"]));
  const auto b = array_there<const T>(b_given);
  const auto x = array_there<T>(x_given);
  const LockReleased released;
  return {solve_on_device(self, b, x, request).value()};
}

}  // namespace palmette::python
