// The words in which kernels are written: the only file that differs between CUDA, HIP and the emulator.
// Every word is one instruction (or a handful). Kernels use nothing else of CUDA but __global__ and
// __device__.
#pragma once
#include <cstdint>

#include "palmette/device/annotations.hpp"

#if defined(__CUDACC__)
#include <cuda/atomic>
#elif !defined(__HIPCC__)
#include "palmette/device/emulator.hpp"
#endif


namespace palmette::gpu {

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xffffffffu;

#if defined(__CUDACC__) || defined(__HIPCC__)
enum class Scope { block, device, system };

PALMETTE_DEVICE int thread() { return threadIdx.x; }
PALMETTE_DEVICE int threads() { return blockDim.x; }
/// With HIP a warp is 32 lanes of a wavefront, which has 64 on CDNA: shuffles are given width 32.
PALMETTE_DEVICE int lane() { return threadIdx.x & 31; }
PALMETTE_DEVICE int block() { return blockIdx.x; }
PALMETTE_DEVICE int blocks() { return gridDim.x; }
PALMETTE_DEVICE double multiply_add(double a, double b, double c) { return fma(a, b, c); }
PALMETTE_DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
PALMETTE_DEVICE double square_root(double a) { return sqrt(a); }
/// One load of all bytes of V, which is aligned to its size.
template <class V>
PALMETTE_DEVICE V load_together(const V* p) {
  return *p;
}
#endif

#if defined(__CUDACC__)
template <Scope s>
constexpr cuda::thread_scope scope_v = s == Scope::block    ? cuda::thread_scope_block
                                       : s == Scope::device ? cuda::thread_scope_device
                                                            : cuda::thread_scope_system;

PALMETTE_DEVICE void block_barrier() {
  __syncthreads();
}
/// Whether this warp is the first of its wavefront. Lanes of a wavefront run in step: a warp that waits
/// for another one of its own wavefront waits forever. With CUDA every warp is the first.
PALMETTE_DEVICE bool leads_wave() {
  return true;
}
PALMETTE_DEVICE void warp_barrier(unsigned mask = all_lanes) {
  __syncwarp(mask);
}
template <class T>
PALMETTE_DEVICE T shuffle_xor(unsigned mask, T v, int x) {
  return __shfl_xor_sync(mask, v, x);
}
template <class T>
PALMETTE_DEVICE T shuffle(unsigned mask, T v, int from) {
  return __shfl_sync(mask, v, from);
}
PALMETTE_DEVICE unsigned ballot(unsigned mask, bool p) {
  return __ballot_sync(mask, p);
}
template <Scope s, class T>
PALMETTE_DEVICE T load_acquire(const T* p) {
  return cuda::atomic_ref<T, scope_v<s>>(*const_cast<T*>(p)).load(cuda::memory_order_acquire);
}
template <Scope s, class T>
PALMETTE_DEVICE T load_relaxed(const T* p) {
  return cuda::atomic_ref<T, scope_v<s>>(*const_cast<T*>(p)).load(cuda::memory_order_relaxed);
}
template <Scope s, class T>
PALMETTE_DEVICE void store_release(T* p, T v) {
  cuda::atomic_ref<T, scope_v<s>>(*p).store(v, cuda::memory_order_release);
}
template <Scope s, class T>
PALMETTE_DEVICE void store_relaxed(T* p, T v) {
  cuda::atomic_ref<T, scope_v<s>>(*p).store(v, cuda::memory_order_relaxed);
}
template <Scope s, class T>
PALMETTE_DEVICE T add_release(T* p, T v) {
  return cuda::atomic_ref<T, scope_v<s>>(*p).fetch_add(v, cuda::memory_order_release);
}
template <Scope s, class T>
PALMETTE_DEVICE T add_relaxed(T* p, T v) {
  return cuda::atomic_ref<T, scope_v<s>>(*p).fetch_add(v, cuda::memory_order_relaxed);
}
/// An addition without a result, for which nobody waits. @{
#define PALMETTE_REDUCTION(name, order, T, type, constraint)                                               \
  template <Scope s>                                                                                       \
  PALMETTE_DEVICE void name(T* p, T v) {                                                                   \
    if constexpr (s == Scope::block)                                                                       \
      asm volatile("red." order ".cta.add." type " [%0], %1;" : : "l"(p), constraint(v) : "memory");       \
    else if constexpr (s == Scope::device)                                                                 \
      asm volatile("red." order ".gpu.add." type " [%0], %1;" : : "l"(p), constraint(v) : "memory");       \
    else                                                                                                   \
      asm volatile("red." order ".sys.add." type " [%0], %1;" : : "l"(p), constraint(v) : "memory");       \
  }
PALMETTE_REDUCTION(reduce_release, "release", int, "s32", "r")
PALMETTE_REDUCTION(reduce_relaxed, "relaxed", int, "s32", "r")
PALMETTE_REDUCTION(reduce_relaxed, "relaxed", float, "f32", "f")
PALMETTE_REDUCTION(reduce_relaxed, "relaxed", double, "f64", "d")
#undef PALMETTE_REDUCTION
/// @}
template <Scope s>
PALMETTE_DEVICE void fence() {
  cuda::atomic_thread_fence(cuda::memory_order_acq_rel, scope_v<s>);
}
PALMETTE_DEVICE void pause() {
  __nanosleep(20);
}
/// The line of p on its way to the level-2 cache. Nothing waits for it, and no value depends on it.
PALMETTE_DEVICE void prefetch(const void* p) {
  asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}
PALMETTE_DEVICE unsigned char* shared_bytes() {
  extern __shared__ unsigned char gpu_shared_bytes[];
  return gpu_shared_bytes;
}

#elif defined(__HIPCC__)
template <Scope s>
constexpr int scope_v = s == Scope::block    ? __HIP_MEMORY_SCOPE_WORKGROUP
                        : s == Scope::device ? __HIP_MEMORY_SCOPE_AGENT
                                             : __HIP_MEMORY_SCOPE_SYSTEM;
/// hipcc's barrier waits for no stores to global memory, and a release waits for those of its own wavefront
/// only: without the fence, what one thread publishes after a barrier would not cover the stores of others.
PALMETTE_DEVICE void block_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  __syncthreads();
}
/// The first lane of this warp in its wavefront: 0 or 32.
PALMETTE_DEVICE unsigned first_lane_in_wave() {
  return threadIdx.x & (unsigned(warpSize) - 1) & 32;
}
PALMETTE_DEVICE bool leads_wave() {
  return first_lane_in_wave() == 0;
}
PALMETTE_DEVICE void warp_barrier(unsigned = all_lanes) {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}
template <class T>
PALMETTE_DEVICE T shuffle_xor(unsigned, T v, int x) {
  return __shfl_xor(v, x, 32);
}
template <class T>
PALMETTE_DEVICE T shuffle(unsigned, T v, int from) {
  return __shfl(v, from, 32);
}
PALMETTE_DEVICE unsigned ballot(unsigned mask, bool p) {
  return (unsigned)(__ballot(p) >> first_lane_in_wave()) & mask;
}
template <Scope s, class T>
PALMETTE_DEVICE T load_acquire(const T* p) {
  return __hip_atomic_load(p, __ATOMIC_ACQUIRE, scope_v<s>);
}
template <Scope s, class T>
PALMETTE_DEVICE T load_relaxed(const T* p) {
  return __hip_atomic_load(p, __ATOMIC_RELAXED, scope_v<s>);
}
template <Scope s, class T>
PALMETTE_DEVICE void store_release(T* p, T v) {
  __hip_atomic_store(p, v, __ATOMIC_RELEASE, scope_v<s>);
}
template <Scope s, class T>
PALMETTE_DEVICE void store_relaxed(T* p, T v) {
  __hip_atomic_store(p, v, __ATOMIC_RELAXED, scope_v<s>);
}
template <Scope s, class T>
PALMETTE_DEVICE T add_release(T* p, T v) {
  return __hip_atomic_fetch_add(p, v, __ATOMIC_RELEASE, scope_v<s>);
}
template <Scope s, class T>
PALMETTE_DEVICE T add_relaxed(T* p, T v) {
  return __hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, scope_v<s>);
}
template <Scope s, class T>
PALMETTE_DEVICE void reduce_release(T* p, T v) {
  (void)__hip_atomic_fetch_add(p, v, __ATOMIC_RELEASE, scope_v<s>);
}
template <Scope s, class T>
PALMETTE_DEVICE void reduce_relaxed(T* p, T v) {
  (void)__hip_atomic_fetch_add(p, v, __ATOMIC_RELAXED, scope_v<s>);
}
template <Scope s>
PALMETTE_DEVICE void fence() {
  if constexpr (s == Scope::block)
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "workgroup");
  else if constexpr (s == Scope::device)
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
  else
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "");
}
PALMETTE_DEVICE void pause() {
  __builtin_amdgcn_s_sleep(1);
}
/// There is no instruction that only fills the level-2 cache.
PALMETTE_DEVICE void prefetch(const void*) {}
PALMETTE_DEVICE unsigned char* shared_bytes() {
  extern __shared__ __attribute__((aligned(16))) unsigned char gpu_shared_bytes[];
  return gpu_shared_bytes;
}

#else
using emulate::Scope;
using emulate::shuffle_xor, emulate::shuffle, emulate::ballot, emulate::pause, emulate::shared_bytes;
using emulate::thread, emulate::threads, emulate::lane, emulate::leads_wave, emulate::block,
    emulate::blocks, emulate::block_barrier, emulate::warp_barrier, emulate::load_together;
template <Scope s, class T>
T load_acquire(const T* p) {
  return emulate::load(p, emulate::Order::acquire, s);
}
template <Scope s, class T>
T load_relaxed(const T* p) {
  return emulate::load(p, emulate::Order::relaxed, s);
}
template <Scope s, class T>
void store_release(T* p, T v) {
  emulate::store(p, v, emulate::Order::release, s);
}
template <Scope s, class T>
void store_relaxed(T* p, T v) {
  emulate::store(p, v, emulate::Order::relaxed, s);
}
template <Scope s, class T>
T add_release(T* p, T v) {
  return emulate::add(p, v, emulate::Order::release, s);
}
template <Scope s, class T>
T add_relaxed(T* p, T v) {
  return emulate::add(p, v, emulate::Order::relaxed, s);
}
template <Scope s, class T>
void reduce_release(T* p, T v) {
  (void)emulate::add(p, v, emulate::Order::release, s);
}
template <Scope s, class T>
void reduce_relaxed(T* p, T v) {
  (void)emulate::add(p, v, emulate::Order::relaxed, s);
}
template <Scope s>
void fence() {
  emulate::fence(s);
}
inline double multiply_add(double a, double b, double c) {
  return __builtin_fma(a, b, c);
}
inline float multiply_add(float a, float b, float c) {
  return __builtin_fmaf(a, b, c);
}
inline double square_root(double a) {
  return __builtin_sqrt(a);
}
inline void prefetch(const void*) {}
#endif

/// Spins with relaxed loads, since each acquire empties the level-1 cache (CCTL.IVALL in SASS); one acquire
/// at the end orders what follows.
template <Scope s, class T>
PALMETTE_DEVICE void wait_equal(const T* p, T v) {
  while (load_relaxed<s>(p) != v) pause();
  (void)load_acquire<s>(p);  // flags do not change back within a run
}

}  // namespace palmette::gpu

// Between processing elements (one for each GPU). NVSHMEM where it is, the emulator's network otherwise; HIP
// has none here.
#if defined(PALMETTE_WITH_NVSHMEM)
#include <nvshmem.h>
#include <nvshmemx.h>
namespace palmette::gpu {
using Signal = uint64_t;
PALMETTE_DEVICE int my_pe() {
  return nvshmem_my_pe();
}
PALMETTE_DEVICE int num_pes() {
  return nvshmem_n_pes();
}
/// Called by all threads of the block: data, then the signal; returns before either has arrived.
/// @param bytes  a multiple of 4
PALMETTE_DEVICE void put_signal_block(void* to, const void* from, long long bytes, Signal* signal,
                                      Signal value, int pe) {
  nvshmemx_putmem_signal_nbi_block(to, from, bytes, signal, value, NVSHMEM_SIGNAL_SET, pe);
}
/// The same of one thread.
PALMETTE_DEVICE void put_signal(void* to, const void* from, int bytes, Signal* signal, Signal value, int pe) {
  nvshmem_putmem_signal_nbi(to, from, bytes, signal, value, NVSHMEM_SIGNAL_SET, pe);
}
/// A signal that comes with no data.
PALMETTE_DEVICE void set_signal(Signal* signal, Signal value, int pe) {
  nvshmemx_signal_op(signal, value, NVSHMEM_SIGNAL_SET, pe);
}
/// Until the signal has come and what was put with it: beyond a node, a load of the signal does not order
/// what a network card has written. In a node it costs a fence, beyond at most one round of the card.
PALMETTE_DEVICE void wait_signal(Signal* signal, Signal value) {
  nvshmem_signal_wait_until(signal, NVSHMEM_CMP_EQ, value);
}
PALMETTE_DEVICE void quiet() {
  nvshmem_quiet();
}
PALMETTE_DEVICE double get(const double* from, int pe) {
  return nvshmem_double_g(from, pe);
}
PALMETTE_DEVICE int get(const int* from, int pe) {
  return nvshmem_int_g(from, pe);
}
}  // namespace palmette::gpu
#elif !defined(__CUDACC__) && !defined(__HIPCC__)
namespace palmette::gpu {
using emulate::Signal, emulate::my_pe, emulate::num_pes, emulate::put_signal, emulate::put_signal_block,
    emulate::set_signal, emulate::wait_signal, emulate::quiet, emulate::get;
}
#endif
