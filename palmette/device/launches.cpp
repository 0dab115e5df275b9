// Compiled with -fsanitize=thread: the kernels, and the closures that call them.
#include "palmette/device/launches.hpp"

#include "palmette/device/forward_sweep.cuh"

namespace palmette::device {
namespace {

/// A ticket, and t of the widest supernode.
std::size_t shared_bytes_of(const LaunchShape& shape) {
  return 16 + sizeof(double) * static_cast<std::size_t>(shape.max_width);
}

template <class Kernel>
emulate::Launch launch(int device, const LaunchShape& shape, Kernel kernel) {
  return {device, shape.blocks, shape.threads, shared_bytes_of(shape), kernel};
}

template <Fault f>
emulate::Launch tree_launch(const Tree& tree, const TreeRun& at, const LaunchShape& shape) {
  return launch(0, shape, [=] { forward_tree_kernel<f>(tree, at); });
}

template <Fault f>
emulate::Launch pe_launch(int pe, const ShareOfPe& share, const PeRun& at, const LaunchShape& shape) {
  return launch(pe, shape, [=] { forward_pes_kernel<f>(share, share.begin, at); });
}

template <Fault f>
emulate::Launch read_only_launch(int pe, const Columns& a, const ReadOnlyRun& at, const LaunchShape& shape) {
  return launch(pe, shape, [=] { forward_read_only_kernel<f>(a, at); });
}

}  // namespace

emulate::Launch forward_tree(Fault fault, const Tree& tree, const TreeRun& at, LaunchShape shape) {
  switch (fault) {
    case Fault::relaxed_flag: return tree_launch<Fault::relaxed_flag>(tree, at, shape);
    case Fault::narrow_scope: return tree_launch<Fault::narrow_scope>(tree, at, shape);
    case Fault::no_tickets:
      shape.blocks = tree.num_supernodes;
      return tree_launch<Fault::no_tickets>(tree, at, shape);
    case Fault::divergent_shuffle: return tree_launch<Fault::divergent_shuffle>(tree, at, shape);
    case Fault::missing_barrier: return tree_launch<Fault::missing_barrier>(tree, at, shape);
    case Fault::no_acquire: return tree_launch<Fault::no_acquire>(tree, at, shape);
    case Fault::store_outside: return tree_launch<Fault::store_outside>(tree, at, shape);
    case Fault::unequal_barriers: return tree_launch<Fault::unequal_barriers>(tree, at, shape);
    case Fault::early_reuse:  // of the kernel over several devices
    case Fault::none: return tree_launch<Fault::none>(tree, at, shape);
  }
  return {};
}

emulate::Launch forward_columns(const Tree& tree, const ColumnRun& at, LaunchShape shape) {
  return launch(0, shape, [=] { forward_columns_kernel(tree, at); });
}

emulate::Launch forward_pes(Fault fault, int pe, const ShareOfPe& share, const PeRun& at, LaunchShape shape) {
  if (fault == Fault::no_acquire) return pe_launch<Fault::no_acquire>(pe, share, at, shape);
  if (fault == Fault::early_reuse) return pe_launch<Fault::early_reuse>(pe, share, at, shape);
  return pe_launch<Fault::none>(pe, share, at, shape);
}

emulate::Launch forward_read_only(Fault fault, int pe, const Columns& a, const ReadOnlyRun& at,
                                  LaunchShape shape) {
  if (fault == Fault::narrow_scope) return read_only_launch<Fault::narrow_scope>(pe, a, at, shape);
  return read_only_launch<Fault::none>(pe, a, at, shape);
}

}  // namespace palmette::device
