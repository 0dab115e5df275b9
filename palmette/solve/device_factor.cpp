// Upload of a factor: the tree's arrays, and panels packed on the host.
#include "palmette/solve/device_factor.hpp"
#include "palmette/solve/device_maps.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace palmette {
namespace solve_detail {
namespace {

/// As much as arrays of these lengths take on a device.
template <class T>
offset_t array_bytes(offset_t length) {
  return length * static_cast<offset_t>(sizeof(T));
}

offset_t num_targets(const SymbolicFactor& symbolic) { return symbolic.block_ptr.back(); }

/// Calls use(k, row) for each row below of a supernode that has a parent: its place k in the list of rows
/// below, and the parent's row that it is, as device::Tree numbers them.
template <class Use>
void over_rows_of_parent(const SymbolicFactor& symbolic, index_t s, Use&& use) {
  const index_t up = symbolic.parent[s];
  if (up < 0) return;
  const auto rows = symbolic.rows_below(up);
  auto at = rows.begin();
  const offset_t first = symbolic.supernode_begin[up] + symbolic.row_ptr[up];
  for (offset_t k = symbolic.row_ptr[s]; k < symbolic.row_ptr[s + 1]; ++k) {
    const index_t row = symbolic.row_index[k];
    if (row < symbolic.supernode_begin[up + 1]) {
      use(k, first + row - symbolic.supernode_begin[up]);
      continue;
    }
    at = std::lower_bound(at, rows.end(), row);
    use(k, first + symbolic.width(up) + (at - rows.begin()));
  }
}

/// Lists of items: those of list k are item[ptr[k] … ptr[k + 1]).
struct Lists {
  std::vector<int> ptr, item;
};

/// The lists of pairs (list, item), in the order in which each(use) calls use(list, item).
template <class Each>
Lists lists_of(offset_t count, const Each& each) {
  Lists lists;
  lists.ptr.assign(count + 1, 0);
  each([&](offset_t list, offset_t) { ++lists.ptr[list + 1]; });
  std::partial_sum(lists.ptr.begin(), lists.ptr.end(), lists.ptr.begin());
  lists.item.resize(lists.ptr.back());
  std::vector<int> next(lists.ptr.begin(), lists.ptr.end() - 1);
  each([&](offset_t list, offset_t item) { lists.item[next[list]++] = static_cast<int>(item); });
  return lists;
}

/// Rows below of children by the rows of their parents.
/// @throws UsageError if there are more rows below than an int counts
Lists sources_of_rows(const SymbolicFactor& symbolic) {
  if (symbolic.row_ptr.back() > std::numeric_limits<int>::max())
    throw UsageError("the supernodes of this factor have " + std::to_string(symbolic.row_ptr.back()) +
                     " rows below, more than a device can number: solve on the host, or on several devices");
  return lists_of(symbolic.n + symbolic.row_ptr.back(), [&](const auto& use) {
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
      over_rows_of_parent(symbolic, s, [&](offset_t k, offset_t row) { use(row, k); });
  });
}

/// The tasks of children by their parents.
Lists tasks_of_children(const SymbolicFactor& symbolic, const BlockTasks& tasks) {
  return lists_of(symbolic.num_supernodes(), [&](const auto& use) {
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
      if (symbolic.parent[s] >= 0)
        for (index_t task = tasks.task_ptr[s]; task < tasks.task_ptr[s + 1]; ++task)
          use(symbolic.parent[s], task);
  });
}

template <class T>
device::PanelLayout layout_of(const SymbolicFactor& symbolic, const BlockTasks& tasks, index_t s) {
  return device::panel_layout<T>(symbolic.width(s), static_cast<int>(symbolic.leading_dimension(s)),
                                 tasks.parts(s), tasks.is_small[s] != 0 ? 1 : device::warps_of_block);
}

/// length num_supernodes + 1: first entry of each panel
template <class T>
std::vector<long long> panel_offsets(const SymbolicFactor& symbolic, const BlockTasks& tasks) {
  constexpr long long aligned = device::panel_alignment<T>;
  std::vector<long long> offset{0};
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    offset.push_back(
        (offset.back() + layout_of<T>(symbolic, tasks, s).entries() + aligned - 1) / aligned * aligned);
  return offset;
}

}  // namespace

DeviceTree::DeviceTree(std::shared_ptr<Device> device, const SymbolicFactor& symbolic, bool by_columns)
    : tasks_(block_tasks(symbolic)), num_sources_(symbolic.num_supernodes(), 0), num_columns_(symbolic.n) {
  const Lists sources = sources_of_rows(symbolic), waits = tasks_of_children(symbolic, tasks_);
  std::vector<int> target, target_ptr{0};
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    widest_ = std::max(widest_, static_cast<int>(symbolic.width(s)));
    if (by_columns)
      for (const Block& block : symbolic.blocks_of(s)) {
        target.push_back(block.row_supernode);
        num_sources_[block.row_supernode] += tasks_.parts(s);
      }
    target_ptr.push_back(static_cast<int>(target.size()));
  }
  begin_ = {device, symbolic.supernode_begin};
  parent_ = {device, symbolic.parent};
  below_ = {device, std::vector<long long>(symbolic.row_ptr.begin(), symbolic.row_ptr.end())};
  row_ = {device, symbolic.row_index};
  source_ptr_ = {device, sources.ptr};
  source_ = {device, sources.item};
  child_task_ptr_ = {device, waits.ptr};
  child_task_ = {device, waits.item};
  target_ptr_ = {device, target_ptr};
  target_ = {device, target};
  task_ptr_ = {device, tasks_.task_ptr};
  supernode_of_ = {device, tasks_.supernode_of};
  forward_ = {device, tasks_.forward};
  backward_ = {device, tasks_.backward};
  by_level_ = {device, tasks_.by_level};
  view_ = {symbolic.num_supernodes(), tasks_.num_tasks(),     begin_.data(),      parent_.data(),
           below_.data(),             row_.data(),            source_ptr_.data(), source_.data(),
           child_task_ptr_.data(),    child_task_.data(),     target_ptr_.data(), target_.data(),
           task_ptr_.data(),          supernode_of_.data()};
}

std::vector<const DeviceArray<int>*> DeviceTree::arrays() const {
  return {&begin_,  &parent_,   &row_,          &source_ptr_, &source_,   &child_task_ptr_, &child_task_,
          &target_, &task_ptr_, &supernode_of_, &forward_,    &backward_, &by_level_,       &target_ptr_};
}

offset_t DeviceTree::memory_bytes() const {
  offset_t bytes = static_cast<offset_t>(below_.bytes());
  for (const DeviceArray<int>* array : arrays()) bytes += static_cast<offset_t>(array->bytes());
  return bytes;
}

offset_t DeviceTree::predicted_bytes(const SymbolicFactor& symbolic, const BlockTasks& tasks) {
  const offset_t count = symbolic.num_supernodes(), rows = static_cast<offset_t>(symbolic.row_index.size());
  offset_t waits = 0, rows_of_children = 0;
  for (index_t s = 0; s < count; ++s) {
    if (symbolic.parent[s] < 0) continue;
    waits += tasks.parts(s);
    rows_of_children += symbolic.row_ptr[s + 1] - symbolic.row_ptr[s];
  }
  return array_bytes<long long>(count + 1) +
         array_bytes<int>(4 * (count + 1) + count + (symbolic.n + rows + 1) + rows_of_children +
                          rows + waits + num_targets(symbolic) + 4 * offset_t{tasks.num_tasks()});
}

template <class T>
PanelSource<T> PanelSource<T>::of(const SupernodalTriangle<T>& triangle) {
  PanelSource source{triangle.structure().symbolic(),
                     [&triangle](index_t s, DenseView<T> m) { return triangle.expand(s, m); },
                     {}};
  if (triangle.may_be_permuted())
    source.permutation = [&triangle](index_t s) { return triangle.permutation(s); };
  return source;
}

namespace {

/// The arrays of DevicePanels on the host.
template <class T>
struct PackedPanels {
  explicit PackedPanels(const PanelSource<T>& source, const BlockTasks& tasks)
      : offset(panel_offsets<T>(source.symbolic, tasks)),
        values(offset.back(), T(0)),
        form(source.symbolic.num_supernodes(), 0),
        log_height(form.size()),
        place(source.permutation ? source.symbolic.n : 0) {}

  /// @param room  of the calling thread
  void pack(index_t s, const PanelSource<T>& source, const BlockTasks& tasks, std::vector<T>& room) {
    const SymbolicFactor& symbolic = source.symbolic;
    const offset_t rows = symbolic.leading_dimension(s);
    room.resize(rows * symbolic.width(s));
    const DenseView<T> m{room.data(), static_cast<index_t>(rows), symbolic.width(s), rows};
    if (!source.expand(s, m)) {
      form[s] |= device::guarded;
      invert_diagonal(m);
    }
    const device::PanelLayout layout = layout_of<T>(symbolic, tasks, s);
    device::pack_panel(
        layout, [&](int row, int column) { return m(row, column); }, values.data() + offset[s]);
    log_height[s] = static_cast<unsigned char>(std::countr_zero(static_cast<unsigned>(layout.height)));
    if (!source.permutation) return;
    const index_t* const moved = source.permutation(s);
    if (moved != nullptr) form[s] |= device::permuted;
    for (index_t k = 0; k < symbolic.width(s); ++k)
      place[symbolic.supernode_begin[s] + k] = moved != nullptr ? moved[k] : k;
  }

  std::vector<long long> offset;  ///< num_supernodes + 1
  std::vector<T> values;
  std::vector<unsigned char> form, log_height;
  std::vector<int> place;
};

/// Calls pack(s, room) for each supernode, on the threads of a team, in pieces of about the same number of
/// entries; each piece has a room of its own.
template <class T, class Pack>
void over_supernodes(const std::vector<long long>& offset, ThreadTeam* team, const Pack& pack) {
  const auto count = static_cast<index_t>(offset.size()) - 1;
  const int pieces = team != nullptr ? 16 * team->size() : 1;
  const auto first_of = [&](int piece) {
    const long long wanted = offset.back() / pieces * piece;
    return static_cast<index_t>(std::lower_bound(offset.begin(), offset.end(), wanted) - offset.begin());
  };
  const auto work = [&](int piece) {
    std::vector<T> room;
    const index_t end = piece + 1 < pieces ? first_of(piece + 1) : count;
    for (index_t s = first_of(piece); s < end; ++s) pack(s, room);
  };
  if (team != nullptr) team->share_parts(pieces, work);
  else work(0);
}

}  // namespace

template <class T>
DevicePanels<T>::DevicePanels(std::shared_ptr<Device> device, const PanelSource<T>& source,
                              const BlockTasks& tasks, ThreadTeam* team) {
  PackedPanels<T> packed(source, tasks);
  over_supernodes<T>(packed.offset, team,
                     [&](index_t s, std::vector<T>& room) { packed.pack(s, source, tasks, room); });
  packed.offset.pop_back();
  values_ = {device, packed.values};
  offset_ = {device, packed.offset};
  form_ = {device, packed.form};
  log_height_ = {device, packed.log_height};
  place_ = {device, packed.place};
  view_ = {values_.data(), offset_.data(), form_.data(), log_height_.data(), place_.data()};
}

template <class T>
offset_t DevicePanels<T>::memory_bytes() const {
  return static_cast<offset_t>(values_.bytes() + offset_.bytes() + form_.bytes() + log_height_.bytes() +
                               place_.bytes());
}

template <class T>
offset_t DevicePanels<T>::predicted_bytes(const SymbolicFactor& symbolic, const BlockTasks& tasks,
                                          bool permuted) {
  const offset_t count = symbolic.num_supernodes();
  return array_bytes<T>(panel_offsets<T>(symbolic, tasks).back()) + array_bytes<long long>(count) +
         2 * count + (permuted ? array_bytes<int>(symbolic.n) : 0);
}

index_t device_stride_of(index_t num_rhs) {
  if (num_rhs <= 1) return 1;
  return (num_rhs + device::rhs_of_lane - 1) / device::rhs_of_lane * device::rhs_of_lane;
}

index_t device_groups_of(index_t stride) {
  return stride == 1 ? 1 : stride / device::rhs_of_lane;
}

static_assert(small_width == device::small_width && small_rows == device::small_rows,
              "the tasks that warps take are those for which warps have shared memory");

template <class T>
int tile_of(int widest, int stride) {
  using device::most_shared_bytes;
  int tile = stride;
  const int step = stride == 1 ? 1 : device::rhs_of_lane;
  while (tile > step && device::shared_bytes_of_sweep<T>(widest, tile) > most_shared_bytes) tile -= step;
  if (device::shared_bytes_of_sweep<T>(widest, tile) > most_shared_bytes)
    throw UsageError("a supernode of " + std::to_string(widest) +
                     " columns does not fit into the shared memory of a device: analyze with a smaller "
                     "max_width");
  return tile;
}

#define PALMETTE_INSTANTIATE(T)      \
  template struct PanelSource<T>;    \
  template class DevicePanels<T>;    \
  template int tile_of<T>(int, int);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace solve_detail

template <class T>
DeviceFactorBytes predicted_device_bytes(const SymbolicFactor& symbolic, FactorKind kind, index_t num_rhs,
                                         int num_scales) {
  const offset_t n = symbolic.n, rows = static_cast<offset_t>(symbolic.row_index.size());
  const BlockTasks tasks = block_tasks(symbolic);
  DeviceFactorBytes bytes;
  const auto panel_bytes = [&](bool permuted) {
    return solve_detail::DevicePanels<T>::predicted_bytes(symbolic, tasks, permuted);
  };
  bytes.factor_bytes =
      solve_detail::DeviceTree::predicted_bytes(symbolic, tasks) + panel_bytes(kind != FactorKind::llt);
  if (kind == FactorKind::lu) bytes.factor_bytes += panel_bytes(false);
  if (kind == FactorKind::ldlt) bytes.factor_bytes += solve_detail::array_bytes<T>(2 * n);
  const offset_t stride = solve_detail::device_stride_of(std::min(num_rhs, solve_detail::rhs_block));
  bytes.flag_bytes = solve_detail::array_bytes<int>(
      offset_t{tasks.num_tasks()} * solve_detail::device_groups_of(static_cast<index_t>(stride)) + 2);
  bytes.map_bytes = solve_detail::predicted_map_bytes(symbolic.row, symbolic.column, num_scales);
  bytes.vector_bytes = solve_detail::array_bytes<T>((2 * n + rows) * stride);
  bytes.staging_bytes = solve_detail::array_bytes<T>(n * std::min(num_rhs, solve_detail::rhs_block));
  return bytes;
}

#define PALMETTE_INSTANTIATE(T) \
  template DeviceFactorBytes predicted_device_bytes<T>(const SymbolicFactor&, FactorKind, index_t, int);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
