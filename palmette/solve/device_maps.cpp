// Maps of vectors on a device.
#include "palmette/solve/device_maps.hpp"

#include <algorithm>

namespace palmette::solve_detail {
namespace {

/// What a stage's maps point to on a device, and what they were before.
struct MapsThere {
  std::shared_ptr<const void> here;
  DeviceArray<index_t> place[2];
  DeviceArray<double> scale[2];
};

/// The arrays of two maps on the device: the second is the first, if both have the same entries.
template <class Entry>
void upload(const Entry*& first, const Entry*& second, index_t n, const std::shared_ptr<Device>& device,
            DeviceArray<Entry> (&kept)[2]) {
  const bool same = first != nullptr && second != nullptr && std::equal(first, first + n, second);
  if (second != nullptr && !same) kept[1] = {device, std::vector<Entry>(second, second + n)};
  if (first != nullptr) kept[0] = {device, std::vector<Entry>(first, first + n)};
  if (second != nullptr) second = same ? kept[0].data() : kept[1].data();
  if (first != nullptr) first = kept[0].data();
}

}  // namespace

template <class T>
void move_maps(Stage<T>& stage, index_t n, const std::shared_ptr<Device>& device) {
  const auto there = std::make_shared<MapsThere>();
  there->here = std::move(stage.maps);
  upload(stage.range.place, stage.domain.place, n, device, there->place);
  upload(stage.range.scale, stage.domain.scale, n, device, there->scale);
  stage.range.back = stage.domain.back = nullptr;
  stage.maps_bytes = 0;
  for (int side = 0; side < 2; ++side)
    stage.maps_bytes += static_cast<offset_t>(there->place[side].bytes() + there->scale[side].bytes());
  stage.maps = there;
}

offset_t predicted_map_bytes(const Permutation& row, const Permutation& column, int num_scales) {
  const offset_t n = row.size();
  int places = 0;
  if (!row.is_identity()) ++places;
  if (!column.is_identity() && !(row.new_to_old() == column.new_to_old())) ++places;
  return n * (places * offset_t{sizeof(index_t)} + num_scales * offset_t{sizeof(double)});
}

template <class T>
void load_rows(Device& device, const Reader<T>& in, RhsRows<T> into, index_t n) {
  const device::VectorMove<T> move{const_cast<T*>(in.from.data), in.from.ld,   into.data,
                                   n,                            in.from.cols, static_cast<int>(into.stride),
                                   in.map.place,                 in.map.scale, in.conjugated};
  device.launch({device::Kernel::load_rows, ScalarTraits<T>::type, 1, &move}, {0, 0, 0});
}

template <class T>
void store_rows(Device& device, const Writer<T>& out, RhsRows<const T> from, index_t n) {
  const device::VectorMove<T> move{out.to.data,   out.to.ld,     const_cast<T*>(from.data),
                                   n,             out.to.cols,   static_cast<int>(from.stride),
                                   out.map.place, out.map.scale, out.conjugated};
  device.launch({device::Kernel::store_rows, ScalarTraits<T>::type, 1, &move}, {0, 0, 0});
}

#define PALMETTE_INSTANTIATE(T)                                                          \
  template void move_maps<T>(Stage<T>&, index_t, const std::shared_ptr<Device>&);        \
  template void load_rows<T>(Device&, const Reader<T>&, RhsRows<T>, index_t);            \
  template void store_rows<T>(Device&, const Writer<T>&, RhsRows<const T>, index_t);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
