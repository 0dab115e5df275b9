// Kernels of the microbenchmarks, in the words of the vocabulary and two words on trial: a load and a store
// of 16 bytes that no other access can split.
#pragma once

#include "palmette/device/flag_protocols.hpp"
#include "palmette/device/vocabulary.hpp"

namespace palmette::device {

using gpu::Scope;

#if defined(__CUDACC__)
#define PALMETTE_WHOLE_ACCESSES(scope, word)                                                             \
  template <>                                                                                            \
  PALMETTE_DEVICE TaggedValue load_whole<scope>(const TaggedValue* p) {                                  \
    TaggedValue v;                                                                                       \
    asm volatile("{ .reg .b128 both; ld.relaxed." word ".b128 both, [%2]; mov.b128 {%0, %1}, both; }"    \
                 : "=d"(v.value), "=l"(v.tag)                                                            \
                 : "l"(p)                                                                                \
                 : "memory");                                                                            \
    return v;                                                                                            \
  }                                                                                                      \
  template <>                                                                                            \
  PALMETTE_DEVICE void store_whole<scope>(TaggedValue * p, TaggedValue v) {                              \
    asm volatile("{ .reg .b128 both; mov.b128 both, {%1, %2}; st.relaxed." word ".b128 [%0], both; }" :: \
                     "l"(p),                                                                             \
                 "d"(v.value), "l"(v.tag)                                                                \
                 : "memory");                                                                            \
  }
template <Scope s>
PALMETTE_DEVICE TaggedValue load_whole(const TaggedValue* p);
template <Scope s>
PALMETTE_DEVICE void store_whole(TaggedValue* p, TaggedValue v);
PALMETTE_WHOLE_ACCESSES(Scope::block, "cta")
PALMETTE_WHOLE_ACCESSES(Scope::device, "gpu")
PALMETTE_WHOLE_ACCESSES(Scope::system, "sys")
#undef PALMETTE_WHOLE_ACCESSES
#elif !defined(__HIPCC__)  // HIP promises no such access
template <Scope s>
TaggedValue load_whole(const TaggedValue* p) {
  return emulate::load(p, emulate::Order::relaxed, s);
}
template <Scope s>
void store_whole(TaggedValue* p, TaggedValue v) {
  emulate::store(p, v, emulate::Order::relaxed, s);
}
#endif

constexpr int bytes_of_value = sizeof(double);

template <Scope s, Protocol protocol, ProtocolFault fault>
PALMETTE_DEVICE void send(const HandOver& at, int to, int round, double v) {
  double* const value = at.value[to];
  TaggedValue* const tagged = at.tagged[to];
  if constexpr (protocol == Protocol::counted_bytes) {
    *value = v;
    if constexpr (fault == ProtocolFault::relaxed_count) gpu::reduce_relaxed<s>(at.flag[to], bytes_of_value);
    else gpu::reduce_release<s>(at.flag[to], bytes_of_value);
  } else if constexpr (protocol == Protocol::flag_after_release) {
    int* const flag = at.flag[to];
    *value = v;
    if constexpr (fault == ProtocolFault::relaxed_flag) gpu::store_relaxed<s>(flag, round);
    else gpu::store_release<s>(flag, round);
  } else if constexpr (protocol == Protocol::value_as_flag) {
    if constexpr (fault == ProtocolFault::plain_value) *value = v;
    else gpu::store_relaxed<s>(value, v);
  } else if constexpr (fault == ProtocolFault::tag_apart) {
    gpu::store_relaxed<s>(&tagged->tag, static_cast<long long>(round));
    gpu::store_relaxed<s>(&tagged->value, v);
  } else {
    store_whole<s>(tagged, {v, round});
  }
}

/// @param before  the value of the round before
template <Scope s, Protocol protocol>
PALMETTE_DEVICE double receive(const HandOver& at, int me, int round, double before) {
  const double* const value = at.value[me];
  if constexpr (protocol == Protocol::flag_after_release || protocol == Protocol::counted_bytes) {
    gpu::wait_equal<s>(at.flag[me], protocol == Protocol::counted_bytes ? round * bytes_of_value : round);
    return *value;
  } else if constexpr (protocol == Protocol::value_as_flag) {
    double v = gpu::load_relaxed<s>(value);
    for (; v == before; v = gpu::load_relaxed<s>(value)) gpu::pause();
    return v;
  } else {
    const TaggedValue* const tagged = at.tagged[me];
    TaggedValue v = load_whole<s>(tagged);
    for (; v.tag != round; v = load_whole<s>(tagged)) gpu::pause();
    return v.value;
  }
}

/// The players are the first lanes of two blocks, or of two warps of a single block, or of one warp on each
/// of two devices. The first one sends the
/// number of the round, the second one answers with its double.
template <Scope s, Protocol protocol, ProtocolFault fault = ProtocolFault::none>
PALMETTE_KERNEL void hand_over_kernel(HandOver at) {
  if (gpu::lane() != 0) return;
  const int me = at.first_player + (gpu::blocks() > 1 ? gpu::block() : gpu::thread() / gpu::warp_size);
  const int other = 1 - me;
  int wrong = 0;
  double before = 0;
  for (int round = 1; round <= at.rounds; ++round) {
    if (me == 0) send<s, protocol, fault>(at, other, round, round);
    const double v = receive<s, protocol>(at, me, round, before);
    if (v != (me == 0 ? 2.0 : 1.0) * round) ++wrong;
    before = v;
    if (me == 1) send<s, protocol, fault>(at, other, round, 2.0 * round);
  }
  at.wrong[me] = wrong;
}

template <class Element = TwoDoubles>
PALMETTE_KERNEL void read_kernel(ReadArray array) {
  const long long me = static_cast<long long>(gpu::block()) * gpu::threads() + gpu::thread();
  const long long all = static_cast<long long>(gpu::blocks()) * gpu::threads();
  double sum = 0;
#if defined(__CUDACC__)
#pragma unroll 8
#endif
  for (long long k = me; k < array.count; k += all) {
    const Element two = gpu::load_together(array.element + k);
    sum += two.first + two.second;
  }
  array.sum[me] = sum;
}

template <class = void>
PALMETTE_KERNEL void empty_kernel() {}

}  // namespace palmette::device
