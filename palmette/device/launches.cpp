// Compiled with -fsanitize=thread: the kernels, and the closures that call them.
#include "palmette/device/launches.hpp"

#include "palmette/device/forward_sweep.cuh"

namespace palmette::device {

template <Fault f>
static emulate::Launch tree_launch(const Tree& tree, const TreeRun& at, LaunchShape shape) {
  return {0, shape.blocks, shape.threads, 16 + 8u * static_cast<unsigned>(shape.max_width),
          [=] { forward_tree_kernel<f>(tree, at); }};
}
emulate::Launch forward_tree(Fault fault, const Tree& tree, const TreeRun& at, LaunchShape shape) {
  switch (fault) {
    case Fault::none:
      return tree_launch<Fault::none>(tree, at, shape);
    case Fault::relaxed_flag:
      return tree_launch<Fault::relaxed_flag>(tree, at, shape);
    case Fault::narrow_scope:
      return tree_launch<Fault::narrow_scope>(tree, at, shape);
    case Fault::no_tickets:
      return tree_launch<Fault::no_tickets>(tree, at, {tree.num_supernodes, shape.threads, shape.max_width});
    case Fault::divergent_shuffle:
      return tree_launch<Fault::divergent_shuffle>(tree, at, shape);
    case Fault::missing_barrier:
      return tree_launch<Fault::missing_barrier>(tree, at, shape);
    case Fault::no_acquire:
      return tree_launch<Fault::no_acquire>(tree, at, shape);
    case Fault::store_outside:
      return tree_launch<Fault::store_outside>(tree, at, shape);
    case Fault::unequal_barriers:
      return tree_launch<Fault::unequal_barriers>(tree, at, shape);
    case Fault::early_reuse:
      break;  // of the kernel over several devices
  }
  return {};
}
emulate::Launch forward_columns(const Tree& tree, const ColumnRun& at, LaunchShape shape) {
  return {0, shape.blocks, shape.threads, 16 + 8u * static_cast<unsigned>(shape.max_width),
          [=] { forward_columns_kernel(tree, at); }};
}
emulate::Launch forward_pes(Fault fault, int pe, const ShareOfPe& share, const PeRun& at, LaunchShape shape) {
  if (fault == Fault::no_acquire)
    return {pe, shape.blocks, shape.threads, 16,
            [=] { forward_pes_kernel<Fault::no_acquire>(share, share.begin, at); }};
  if (fault == Fault::early_reuse)
    return {pe, shape.blocks, shape.threads, 16,
            [=] { forward_pes_kernel<Fault::early_reuse>(share, share.begin, at); }};
  return {pe, shape.blocks, shape.threads, 16,
          [=] { forward_pes_kernel<Fault::none>(share, share.begin, at); }};
}
emulate::Launch forward_read_only(Fault fault, int pe, const Columns& a, const ReadOnlyRun& at,
                                  LaunchShape shape) {
  if (fault == Fault::narrow_scope)
    return {pe, shape.blocks, shape.threads, 16,
            [=] { forward_read_only_kernel<Fault::narrow_scope>(a, at); }};
  return {pe, shape.blocks, shape.threads, 16, [=] { forward_read_only_kernel<Fault::none>(a, at); }};
}

}  // namespace palmette::device
