// Calls of NVSHMEM's functions, by the emulator's network.
#include "palmette/base/base.hpp"
#include "palmette/device/ptx/ptx_instruction.hpp"

namespace palmette::emulate::ptx {
namespace {

template <class P>
P* pointer(const Thread& t, const Instruction& i, int operand) {
  return reinterpret_cast<P*>(read<std::uint64_t>(t, i, operand));
}

/// As tests/device/nvshmem_declared/nvshmem.h declares them.
constexpr int signal_set = 9, compare_equal = 5;

void need(const Thread& t, const Instruction& i, int operand, int known) {
  if (read<int>(t, i, operand) != known)
    throw UsageError("the interpreter of PTX knows only signals that are set, and waits for an equal one");
}

/// Target, source, bytes, signal, its value, what is done with it (it is set), processing element.
template <auto put>
void put_with_signal(Thread& t, const Instruction& i) {
  need(t, i, 5, signal_set);
  put(pointer<void>(t, i, 0), pointer<const void>(t, i, 1), read<int>(t, i, 2), pointer<Signal>(t, i, 3),
      read<Signal>(t, i, 4), read<int>(t, i, 6));
}
/// Signal, its value, what is done with it, processing element.
void put_only_signal(Thread& t, const Instruction& i) {
  need(t, i, 2, signal_set);
  set_signal(pointer<Signal>(t, i, 0), read<Signal>(t, i, 1), read<int>(t, i, 3));
}
/// Returns the signal; it is compared for being equal.
void wait(Thread& t, const Instruction& i) {
  need(t, i, 2, compare_equal);
  wait_signal(pointer<Signal>(t, i, 1), read<Signal>(t, i, 3));
  write(t, i, 0, read<Signal>(t, i, 3));
}
template <class T>
void get_number(Thread& t, const Instruction& i) {
  write(t, i, 0, get(pointer<const T>(t, i, 1), read<int>(t, i, 2)));
}

}  // namespace

void add_calls(InstructionSet& set) {
  set.add("call nvshmem_my_pe", "r", [](Thread& t, const Instruction& i) { write(t, i, 0, my_pe()); });
  set.add("call nvshmem_n_pes", "r", [](Thread& t, const Instruction& i) { write(t, i, 0, num_pes()); });
  set.add("call nvshmem_putmem_signal_nbi", "rrrrrrr", put_with_signal<put_signal>);
  set.add("call nvshmemx_putmem_signal_nbi_block", "rrrrrrr", put_with_signal<put_signal_block>);
  set.add("call nvshmemx_signal_op", "rrrr", put_only_signal);
  set.add("call nvshmem_signal_wait_until", "rrrr", wait);
  set.add("call nvshmem_quiet", "", [](Thread&, const Instruction&) { quiet(); });
  set.add("call nvshmem_double_g", "rrr", get_number<double>);
  set.add("call nvshmem_int_g", "rrr", get_number<int>);
}

}  // namespace palmette::emulate::ptx
