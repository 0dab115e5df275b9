// The words of the vocabulary, each with the instructions that nvcc is to make of it.
#pragma once

// A name, a statement with the word, and the instructions of PTX that it must become, in their order;
// `number` is a double* and `count` an int*, both in global memory.
#define PALMETTE_FOR_EACH_WORD(WORD) \
  WORD(thread_word, *count = gpu::thread(), "%tid.x") \
  WORD(threads_word, *count = gpu::threads(), "%ntid.x") \
  WORD(lane_word, *count = gpu::lane(), "%tid.x and.b32 31;") \
  WORD(leads_wave_word, *count = gpu::leads_wave(), "st.global") \
  WORD(block_word, *count = gpu::block(), "%ctaid.x") \
  WORD(blocks_word, *count = gpu::blocks(), "%nctaid.x") \
  WORD(block_barrier_word, gpu::block_barrier(), "bar.sync 0;") \
  WORD(warp_barrier_word, gpu::warp_barrier(), "bar.warp.sync -1;") \
  WORD(multiply_add_word, *number = gpu::multiply_add(*number, number[1], number[2]), "fma.rn.f64") \
  WORD(multiply_add_float, *number = gpu::multiply_add(float(*number), 2.0f, float(*count)), \
       "fma.rn.f32") \
  WORD(square_root_word, *number = gpu::square_root(*number), "sqrt.rn.f64") \
  WORD(load_together_word, \
       const auto two = gpu::load_together(reinterpret_cast<const double2*>(number)); \
       *number = two.x + two.y, \
       "ld.global.v2.f64") \
  WORD(sum_word, *number = *number + number[1], "add.rn.f64") \
  WORD(product_and_sum, *number = *number * number[1] + number[2], "mul.rn.f64 add.rn.f64") \
  WORD(quotient_word, *number = *number / number[1], "div.rn.f64") \
  WORD(shuffle_word, *count = gpu::shuffle(gpu::all_lanes, *count, 3), "shfl.sync.idx.b32") \
  WORD(shuffle_of_double, *number = gpu::shuffle(gpu::all_lanes, *number, 3), \
       "shfl.sync.idx.b32 shfl.sync.idx.b32") \
  WORD(shuffle_xor_word, *count = gpu::shuffle_xor(gpu::all_lanes, *count, 3), "shfl.sync.bfly.b32") \
  WORD(ballot_word, *count = gpu::ballot(gpu::all_lanes, *count > 0), "vote.sync.ballot.b32") \
  WORD(load_acquire_block, *count = gpu::load_acquire<gpu::Scope::block>(count + 1), "ld.acquire.cta.b32") \
  WORD(load_acquire_device, *count = gpu::load_acquire<gpu::Scope::device>(count + 1), "ld.acquire.gpu.b32") \
  WORD(load_acquire_system, *count = gpu::load_acquire<gpu::Scope::system>(count + 1), "ld.acquire.sys.b32") \
  WORD(load_relaxed_block, *count = gpu::load_relaxed<gpu::Scope::block>(count + 1), "ld.relaxed.cta.b32") \
  WORD(load_relaxed_device, *number = gpu::load_relaxed<gpu::Scope::device>(number + 1), \
       "ld.relaxed.gpu.b64")\
  WORD(load_relaxed_system, *number = gpu::load_relaxed<gpu::Scope::system>(number + 1), \
       "ld.relaxed.sys.b64")\
  WORD(store_release_block, gpu::store_release<gpu::Scope::block>(count, 1), "st.release.cta.b32") \
  WORD(store_release_device, gpu::store_release<gpu::Scope::device>(count, 1), "st.release.gpu.b32") \
  WORD(store_release_system, gpu::store_release<gpu::Scope::system>(count, 1), "st.release.sys.b32") \
  WORD(store_relaxed_block, gpu::store_relaxed<gpu::Scope::block>(count, 1), "st.relaxed.cta.b32") \
  WORD(store_relaxed_device, gpu::store_relaxed<gpu::Scope::device>(number, 1.0), "st.relaxed.gpu.b64") \
  WORD(store_relaxed_system, gpu::store_relaxed<gpu::Scope::system>(number, 1.0), "st.relaxed.sys.b64") \
  WORD(add_release_block, gpu::add_release<gpu::Scope::block>(count, 1), "atom.add.release.cta.s32") \
  WORD(add_release_device, gpu::add_release<gpu::Scope::device>(count, 1), "atom.add.release.gpu.s32") \
  WORD(add_release_system, gpu::add_release<gpu::Scope::system>(count, 1), "atom.add.release.sys.s32") \
  WORD(add_relaxed_block, gpu::add_relaxed<gpu::Scope::block>(count, 1), "atom.add.relaxed.cta.s32") \
  WORD(add_relaxed_device, gpu::add_relaxed<gpu::Scope::device>(number, 1.0), "atom.add.relaxed.gpu.f64") \
  WORD(add_relaxed_system, gpu::add_relaxed<gpu::Scope::system>(number, 1.0), "atom.add.relaxed.sys.f64") \
  WORD(reduce_release_block, gpu::reduce_release<gpu::Scope::block>(count, 1), "red.release.cta.add.s32") \
  WORD(reduce_release_device, gpu::reduce_release<gpu::Scope::device>(count, 1), "red.release.gpu.add.s32") \
  WORD(reduce_release_system, gpu::reduce_release<gpu::Scope::system>(count, 1), "red.release.sys.add.s32") \
  WORD(reduce_relaxed_block, gpu::reduce_relaxed<gpu::Scope::block>(count, 1), "red.relaxed.cta.add.s32") \
  WORD(reduce_relaxed_device, gpu::reduce_relaxed<gpu::Scope::device>(number, 1.0), \
       "red.relaxed.gpu.add.f64") \
  WORD(reduce_relaxed_float, \
       gpu::reduce_relaxed<gpu::Scope::device>(reinterpret_cast<float*>(number), 1.0f), \
       "red.relaxed.gpu.add.f32") \
  WORD(reduce_relaxed_system, gpu::reduce_relaxed<gpu::Scope::system>(number, 1.0), \
       "red.relaxed.sys.add.f64") \
  WORD(fence_block, gpu::fence<gpu::Scope::block>(), "fence.acq_rel.cta;") \
  WORD(fence_device, gpu::fence<gpu::Scope::device>(), "fence.acq_rel.gpu;") \
  WORD(fence_system, gpu::fence<gpu::Scope::system>(), "fence.acq_rel.sys;") \
  WORD(pause_word, gpu::pause(), "nanosleep.u32") \
  WORD(wait_equal_word, gpu::wait_equal<gpu::Scope::device>(count, 1), \
       "ld.relaxed.gpu.b32 nanosleep.u32 ld.acquire.gpu.b32") \
  WORD(shared_bytes_word, *count = gpu::shared_bytes()[4], "ld.shared.u8")

// The same for the words between processing elements; `signal` is a Signal*. Each is one call of NVSHMEM.
#define PALMETTE_FOR_EACH_NETWORK_WORD(WORD) \
  WORD(my_pe_word, *count = gpu::my_pe(), "call.uni nvshmem_my_pe,") \
  WORD(num_pes_word, *count = gpu::num_pes(), "call.uni nvshmem_n_pes,") \
  WORD(put_signal_block_word, gpu::put_signal_block(number, count, 8, signal, 1, 2), \
       "call.uni nvshmemx_putmem_signal_nbi_block,") \
  WORD(put_signal_word, gpu::put_signal(number, count, 8, signal, 1, 2), \
       "call.uni nvshmem_putmem_signal_nbi,") \
  WORD(set_signal_word, gpu::set_signal(signal, 1, 2), "call.uni nvshmemx_signal_op,") \
  WORD(wait_signal_word, gpu::wait_signal(signal, 1), "call.uni nvshmem_signal_wait_until,") \
  WORD(quiet_word, gpu::quiet(), "call.uni nvshmem_quiet,") \
  WORD(get_word, *number = gpu::get(number + 1, 2), "call.uni nvshmem_double_g,") \
  WORD(get_of_int, *count = gpu::get(count + 1, 2), "call.uni nvshmem_int_g,")
