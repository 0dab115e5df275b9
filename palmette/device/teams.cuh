// The threads that work on a task of a sweep together, and their part of shared memory. The bits of a task
// depend on neither.
#pragma once

#include "palmette/device/triangle_sweep.hpp"
#include "palmette/device/vocabulary.hpp"

namespace palmette::device {

template <class T>
PALMETTE_DEVICE T* shared_values() {
  return reinterpret_cast<T*>(gpu::shared_bytes() + 16);
}

/// All threads of a block.
struct BlockTeam {
  static constexpr bool is_warp = false;

  PALMETTE_DEVICE static int thread() { return gpu::thread(); }
  PALMETTE_DEVICE static int threads() { return gpu::threads(); }
  PALMETTE_DEVICE static void barrier() { gpu::block_barrier(); }
  template <class T>
  PALMETTE_DEVICE static T* shared() {
    return shared_values<T>();
  }
  template <class T>
  PALMETTE_DEVICE static int widest(const TriangleSweep<T>& a) {
    return a.at.widest;
  }
  template <class T>
  PALMETTE_DEVICE static int rows_staged(int count) {
    return staged_rows<T>(count);
  }
};

/// A warp, for small supernodes and K right-hand sides at a time.
template <int K>
struct WarpTeam {
  static constexpr bool is_warp = true;

  PALMETTE_DEVICE static int thread() { return gpu::lane(); }
  PALMETTE_DEVICE static int threads() { return gpu::warp_size; }
  PALMETTE_DEVICE static void barrier() { gpu::warp_barrier(); }
  template <class T>
  PALMETTE_DEVICE static T* shared() {
    return shared_values<T>() + gpu::thread() / gpu::warp_size * values_of_small<K>;
  }
  template <class T>
  PALMETTE_DEVICE static int widest(const TriangleSweep<T>&) {
    return small_width;
  }
  template <class T>
  PALMETTE_DEVICE static int rows_staged(int) {
    return small_rows;
  }
};

}  // namespace palmette::device
