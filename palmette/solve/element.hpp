// Inside `solve`: one element of a solve over several devices: its part of the factor, its programs and its
// vectors, in the memory of its device.
#pragma once

#include <optional>
#include <vector>

#include "palmette/solve/device_factor.hpp"
#include "palmette/solve/element_program.hpp"
#include "palmette/solve/sweep_steps.hpp"

namespace palmette::solve_detail {

/// A program in the memory of its element.
class DeviceProgram {
 public:
  DeviceProgram(const std::shared_ptr<Device>& device, const HostProgram& program);

  device::ElementProgram view() const;
  int num_tasks() const { return static_cast<int>(task_.size()); }
  /// Tasks of one launch: all, or those of one of two kernels.
  enum class Share { all, waits, solves };
  device::ElementOrder order(Share share) const;
  void clear_tickets();
  offset_t memory_bytes() const;

 private:
  DeviceArray<device::ElementTask> task_;
  DeviceArray<int> wait_, signal_, place_, order_, order_of_waits_, order_of_solves_, ticket_;
  DeviceArray<device::ElementSum> sum_;
  DeviceArray<device::ElementPart> part_;
  DeviceArray<device::ElementReduction> reduction_;
  DeviceArray<device::ElementSend> send_;
  DeviceArray<device::ElementValue> value_;
  DeviceArray<device::RowCopy> copy_;
  DeviceArray<device::ElementBlock> block_;
  DeviceArray<device::ElementMeeting> meeting_;
};

/// The blocks of one triangle in chunks, as rows below a diagonal block.
template <class T>
struct PackedBlocks {
  std::vector<T> values;
  std::vector<device::BlockPanel> panel;

  /// Adds rows of C·B⁻¹, or of C where B is not inverted.
  void add(DenseView<const T> c, bool inverted, DenseView<const T> inverse);

 private:
  std::vector<T> product_;
};

/// What an element gets of one triangle.
template <class T>
struct ElementPanels {
  PanelSource<T> own;  ///< its subtrees and diagonal blocks
  PackedBlocks<T> blocks;
};

/// What an element gets of a factor.
template <class T>
struct ElementParts {
  ElementPanels<T> lower;
  std::optional<ElementPanels<T>> upper;
  std::vector<T> diagonal, diagonal_below;  ///< D⁻¹ by own row, as BlockDiagonal's; or empty
  bool is_hermitian = false;                ///< D
};

/// Of a factor that one host holds.
template <class T>
ElementParts<T> element_parts(const HostElement& host, const SupernodalParts<T>& parts);

/// What an element holds of one triangle.
template <class T>
struct ElementTriangle {
  ElementTriangle(const std::shared_ptr<Device>& device, const ElementPanels<T>& given,
                  const BlockTasks& tasks, ThreadTeam* team);

  DevicePanels<T> panels;
  DeviceArray<T> values;
  DeviceArray<device::BlockPanel> blocks;
  offset_t memory_bytes() const {
    return panels.memory_bytes() + static_cast<offset_t>(values.bytes() + blocks.bytes());
  }
};

/// One sweep with some right-hand sides.
struct ElementRun {
  SweepStep step;
  int sweep = 0;  ///< its number
  index_t stride = 1;
  int widest = 0;  ///< columns of a supernode
};

/// One element: its part of the factor, its programs and its vectors.
template <class T>
struct Element {
  /// @throws MemoryError
  Element(std::shared_ptr<Device> device, const HostElement& host, const ElementParts<T>& parts,
          ThreadTeam* team);

  void reserve(index_t stride, const HostElement& host);
  void release_vectors();
  /// Of a sweep, without what the elements share: links, shared rows and signals.
  device::ElementSweep<T> arguments(const HostElement& host, const ElementRun& run);
  /// Whether a kernel gave up since the status was cleared, and on what.
  device::ElementStatus found_status() const;
  offset_t memory_bytes() const;

  std::shared_ptr<Device> device;
  DeviceTree tree;
  ElementTriangle<T> lower;
  std::optional<ElementTriangle<T>> upper;
  DeviceArray<T> diagonal, diagonal_below;
  bool is_hermitian = false;  ///< D
  DeviceProgram forward, backward;
  DeviceArray<int> done;
  DeviceArray<device::ElementStatus> status;  // one
  DeviceArray<T> in, out, local;  // grow with the right-hand sides
  DeviceArray<T*> stores;         // by element
  DeviceArray<device::ElementSignal*> signals;
};

/// @throws UsageError if puts are to go over a network that the world does not have
void check_network(const DeviceWorld& world, const WorldOptions& options);

/// Columns of the widest supernode.
int widest_of(const SymbolicFactor& symbolic);

}  // namespace palmette::solve_detail
