// Arrays in C order, turned on their device.

#include "palmette/solver/device_checks.hpp"

namespace palmette {
namespace {

/// The columns of an array: its own memory, or room for them.
template <class T>
class Columns {
 public:
  Columns(const std::shared_ptr<Device>& device, ArrayOnDevice<const T> array)
      : Columns(device, own(array)) {}
  Columns(const std::shared_ptr<Device>& device, ArrayOnDevice<T> array)
      : device_(device),
        array_(array),
        room_(device, array.by_rows ? static_cast<std::size_t>(array.rows) * array.cols : 0) {}

  OnDevice<T> view() const {
    T* const data = array_.by_rows ? room_.data() : array_.data;
    return OnDevice<T>(DenseView<T>{data, array_.rows, array_.cols, array_.rows});
  }
  void read() const { turn(device::Kernel::store_rows); }
  void write() const { turn(device::Kernel::load_rows); }

 private:
  static ArrayOnDevice<T> own(ArrayOnDevice<const T> array) {
    return {const_cast<T*>(array.data), array.rows, array.cols, array.by_rows};
  }
  void turn(device::Kernel kernel) const {
    if (room_.size() == 0) return;
    const device::VectorMove<T> move{room_.data(), array_.rows, array_.data, array_.rows, array_.cols,
                                     array_.cols,  nullptr,     nullptr,     false};
    device_->launch({kernel, ScalarTraits<T>::type, 1, &move}, {0, 0, 0});
  }

  std::shared_ptr<Device> device_;
  ArrayOnDevice<T> array_;
  DeviceArray<T> room_;
};

template <class T>
OnDevice<T> whole(ArrayOnDevice<T> array) {
  return OnDevice<T>(DenseView<T>{array.data, array.rows, array.cols, array.rows});
}

template <class T, class AnySolver>
Outcome<Report> solve(AnySolver& solver, ArrayOnDevice<const T> b, ArrayOnDevice<T> x,
                      const SolveRequest& request) {
  if (!b.by_rows && !x.by_rows) return solver.solve(whole(b), whole(x), request);
  const std::shared_ptr<Device> device = solver.device();
  // Before anything is read; only memory matters here, so b's values are looked at later.
  check_places_on(device, whole(b), OnDevice<const T>(whole(x)));
  device->wait_for_stream(request.stream);
  const Columns<T> from(device, b), to(device, x);
  from.read();
  Outcome<Report> answer = solver.solve(OnDevice<const T>(from.view()), to.view(), request);
  to.write();
  device->finish();
  return answer;
}

}  // namespace

template <class T>
Outcome<Report> solve_on_device(Solver<T>& solver, ArrayOnDevice<const T> b, ArrayOnDevice<T> x,
                                const SolveRequest& request) {
  return solve(solver, b, x, request);
}
template <class T>
Outcome<Report> solve_on_device(TriangularSolver<T>& solver, ArrayOnDevice<const T> b, ArrayOnDevice<T> x,
                                const SolveRequest& request) {
  return solve(solver, b, x, request);
}

#define PALMETTE_INSTANTIATE(T)                                                                     \
  template Outcome<Report> solve_on_device(Solver<T>&, ArrayOnDevice<const T>, ArrayOnDevice<T>,    \
                                           const SolveRequest&);                                    \
  template Outcome<Report> solve_on_device(TriangularSolver<T>&, ArrayOnDevice<const T>,            \
                                           ArrayOnDevice<T>, const SolveRequest&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
