// Loads and stores of PTX, plain and atomic. Every access is checked before it is made, so that a wrong
// address is reported with its line.
#include "palmette/device/emulator_state.hpp"
#include "palmette/device/ptx/ptx_instruction.hpp"

namespace palmette::emulate::ptx {
namespace {

/// Generic and global addresses are those of the host; others count from the start of their space.
enum class Space { generic, shared, local, parameter };

/// A memory operand and what is done there.
struct Use {
  int operand;
  std::size_t bytes;
  bool is_write;
};

/// An access that cannot be made. @returns null
unsigned char* refuse(const Thread& t, const Instruction& i, const Use& use, const std::string& why) {
  world->error((use.is_write ? "store " : "load ") + why + " at " + place(where(t, i)));
  return nullptr;
}

template <Space space>
unsigned char* address(Thread& t, const Instruction& i, const Use& use) {
  const std::uint64_t at = t.registers[i.operand[use.operand]] + static_cast<std::uint64_t>(i.offset);
  if constexpr (space == Space::parameter) return const_cast<unsigned char*>(t.parameters) + at;
  if (at % use.bytes != 0) return refuse(t, i, use, "of a misaligned address");
  if constexpr (space == Space::shared) {
    const std::uint64_t offset = static_cast<std::uint32_t>(at);
    if (offset + use.bytes <= t.shared_bytes) return t.shared + offset;
    return refuse(t, i, use, "outside shared memory");
  }
  if constexpr (space == Space::local) {
    if (at + use.bytes <= t.local_bytes) return t.local + at;
    return refuse(t, i, use, "outside local memory");
  }
  auto* const p = reinterpret_cast<unsigned char*>(at);
  if (memory.is_tracked(p) || (p >= t.local && p + use.bytes <= t.local + t.local_bytes)) return p;
  return refuse(t, i, use, "outside device memory");
}

template <Space space>
void observe(const Instruction& i, const unsigned char* p, const Use& use) {
  if constexpr (space == Space::generic || space == Space::shared)
    plain(p, static_cast<int>(use.bytes), use.is_write, &i);
}

/// Destinations, then the address.
template <class T, int count, Space space>
void load_plain(Thread& t, const Instruction& i) {
  const Use use{count, count * sizeof(T), false};
  T values[count] = {};
  if (const unsigned char* const p = address<space>(t, i, use)) {
    observe<space>(i, p, use);
    std::memcpy(values, p, sizeof values);
  }
  for (int k = 0; k < count; ++k) write(t, i, k, values[k]);
}

/// The address, then the sources.
template <class T, int count, Space space>
void store_plain(Thread& t, const Instruction& i) {
  const Use use{0, count * sizeof(T), true};
  unsigned char* const p = address<space>(t, i, use);
  if (p == nullptr) return;
  T values[count];
  for (int k = 0; k < count; ++k) values[k] = read<T>(t, i, k + 1);
  observe<space>(i, p, use);
  std::memcpy(p, values, sizeof values);
}

template <class T, Space space>
void add_accesses(InstructionSet& set, const std::string& space_name, const std::string& type) {
  set.add("ld" + space_name + "." + type, "rm", load_plain<T, 1, space>);
  set.add("ld" + space_name + ".v2." + type, "2m", load_plain<T, 2, space>);
  if constexpr (sizeof(T) <= 4) set.add("ld" + space_name + ".v4." + type, "4m", load_plain<T, 4, space>);
  if (space == Space::parameter || space_name == ".global.nc") return;
  set.add("st" + space_name + "." + type, "mr", store_plain<T, 1, space>);
  set.add("st" + space_name + ".v2." + type, "m2", store_plain<T, 2, space>);
  if constexpr (sizeof(T) <= 4) set.add("st" + space_name + ".v4." + type, "m4", store_plain<T, 4, space>);
}

// Addresses of one space as addresses of another.

void keep_address(Thread& t, const Instruction& i) {
  t.registers[i.operand[0]] = t.registers[i.operand[1]];
}
void shared_to_generic(Thread& t, const Instruction& i) {
  write(t, i, 0, reinterpret_cast<std::uint64_t>(t.shared) + t.registers[i.operand[1]]);
}
void generic_to_shared(Thread& t, const Instruction& i) {
  write(t, i, 0, t.registers[i.operand[1]] - reinterpret_cast<std::uint64_t>(t.shared));
}
void local_to_generic(Thread& t, const Instruction& i) {
  write(t, i, 0, reinterpret_cast<std::uint64_t>(t.local) + t.registers[i.operand[1]]);
}
void generic_to_local(Thread& t, const Instruction& i) {
  write(t, i, 0, t.registers[i.operand[1]] - reinterpret_cast<std::uint64_t>(t.local));
}

// Atomic accesses

template <class T, Order order, Scope scope, Space space>
void load_atomic(Thread& t, const Instruction& i) {
  const unsigned char* const p = address<space>(t, i, {1, sizeof(T), false});
  write(t, i, 0, p == nullptr ? T{} : load(reinterpret_cast<const T*>(p), order, scope));
}
template <class T, Order order, Scope scope, Space space>
void store_atomic(Thread& t, const Instruction& i) {
  unsigned char* const p = address<space>(t, i, {0, sizeof(T), true});
  if (p != nullptr) store(reinterpret_cast<T*>(p), read<T>(t, i, 1), order, scope);
}
/// With the value before as result.
template <class T, Order order, Scope scope, Space space>
void add_atomic(Thread& t, const Instruction& i) {
  unsigned char* const p = address<space>(t, i, {1, sizeof(T), true});
  write(t, i, 0, p == nullptr ? T{} : add(reinterpret_cast<T*>(p), read<T>(t, i, 2), order, scope));
}
/// Without a result.
template <class T, Order order, Scope scope, Space space>
void reduce_atomic(Thread& t, const Instruction& i) {
  unsigned char* const p = address<space>(t, i, {0, sizeof(T), true});
  if (p != nullptr) add(reinterpret_cast<T*>(p), read<T>(t, i, 1), order, scope);
}

/// Names of the parts of an atomic access, each with its period.
struct Parts {
  std::string order, scope, space;
};

/// Programs of inline assembly write the operation before the order, compilers behind the space.
template <Order order, Scope scope, Space space>
void add_additions(InstructionSet& set, const Parts& parts) {
  const std::string qualifiers = parts.order + parts.scope + parts.space;
  for_wide_types([&]<class T>(T, const std::string& type) {
    if (type[0] == 'b') return;
    for (const std::string& name : {".add" + qualifiers + "." + type, qualifiers + ".add." + type}) {
      set.add("atom" + name, "rmr", add_atomic<T, order, scope, space>);
      set.add("red" + name, "mr", reduce_atomic<T, order, scope, space>);
    }
  });
}

template <Scope scope, Space space>
void add_atomics_of(InstructionSet& set, const std::string& scope_name, const std::string& space_name) {
  for_wide_types([&]<class T>(T, const std::string& type) {
    const std::string end = scope_name + space_name + "." + type;
    set.add("ld.relaxed" + end, "rm", load_atomic<T, Order::relaxed, scope, space>);
    set.add("ld.acquire" + end, "rm", load_atomic<T, Order::acquire, scope, space>);
    set.add("st.relaxed" + end, "mr", store_atomic<T, Order::relaxed, scope, space>);
    set.add("st.release" + end, "mr", store_atomic<T, Order::release, scope, space>);
  });
  add_additions<Order::relaxed, scope, space>(set, {".relaxed", scope_name, space_name});
  add_additions<Order::release, scope, space>(set, {".release", scope_name, space_name});
  // An addition that names neither is relaxed, with the scope of the device.
  if (scope == Scope::device) add_additions<Order::relaxed, scope, space>(set, {"", "", space_name});
}

template <Scope scope>
void add_scope(InstructionSet& set, const std::string& name, const std::string& older_name) {
  add_atomics_of<scope, Space::generic>(set, name, "");
  add_atomics_of<scope, Space::generic>(set, name, ".global");
  add_atomics_of<scope, Space::shared>(set, name, ".shared");
  const Execute execute = [](Thread&, const Instruction&) { fence(scope); };
  set.add("fence.acq_rel" + name, "", execute);
  set.add("fence.sc" + name, "", execute);
  set.add("membar" + older_name, "", execute);
}

}  // namespace

void add_memory(InstructionSet& set) {
  for_memory_types([&]<class T>(T, const std::string& type) {
    add_accesses<T, Space::generic>(set, "", type);
    add_accesses<T, Space::generic>(set, ".global", type);
    add_accesses<T, Space::generic>(set, ".global.nc", type);
    add_accesses<T, Space::shared>(set, ".shared", type);
    add_accesses<T, Space::local>(set, ".local", type);
    add_accesses<T, Space::parameter>(set, ".param", type);
  });
  set.add("prefetch.global.L2", "m", [](Thread&, const Instruction&) {});  // changes time alone
  set.add("cvta.global.u64", "rr", keep_address);
  set.add("cvta.to.global.u64", "rr", keep_address);
  set.add("cvta.shared.u64", "rr", shared_to_generic);
  set.add("cvta.to.shared.u64", "rr", generic_to_shared);
  set.add("cvta.local.u64", "rr", local_to_generic);
  set.add("cvta.to.local.u64", "rr", generic_to_local);
}

void add_atomics(InstructionSet& set) {
  add_scope<Scope::block>(set, ".cta", ".cta");
  add_scope<Scope::device>(set, ".gpu", ".gl");
  add_scope<Scope::system>(set, ".sys", ".sys");
}

}  // namespace palmette::emulate::ptx
