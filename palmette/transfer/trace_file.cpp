// Traces as text, for people and other programs, and as bytes.
#include <cstring>
#include <istream>
#include <ostream>
#include <sstream>

#include "palmette/transfer/store_trace.hpp"

namespace palmette::transfer {
namespace {

constexpr const char* text_magic = "palmette trace 1";
constexpr const char* binary_magic = "palmette trace 1 binary";
const char* const scope_names[] = {"weak", "device", "system"};

template <class T>
void put(std::ostream& to, T value) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof value);
  to.write(bytes, sizeof value);
}

void put_access(std::ostream& to, const Access& one) {
  put(to, one.address);
  put(to, one.value);
  put(to, one.thread);
  put(to, one.instruction);
  put(to, one.to);
  put(to, one.bytes);
  put(to, static_cast<std::uint8_t>(one.kind));
  put(to, static_cast<std::uint8_t>(one.scope));
}

/// Bytes of a trace; every read is checked.
class BinaryReader {
 public:
  BinaryReader(std::istream& from, const std::string& name) : from_(from), name_(name) {}
  template <class T>
  T get() {
    char bytes[sizeof(T)];
    if (!from_.read(bytes, sizeof(T))) throw IoError(name_, 0, "this binary trace ends too early");
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
  }
  Access access() {
    Access one;
    one.address = get<std::uint64_t>();
    one.value = get<std::uint64_t>();
    one.thread = get<std::uint32_t>();
    one.instruction = get<std::uint32_t>();
    one.to = get<DeviceSet>();
    one.bytes = get<std::uint8_t>();
    one.kind = static_cast<AccessKind>(at_most(2));
    one.scope = static_cast<AccessScope>(at_most(2));
    return one;
  }
  TracedKernel kernel() {
    TracedKernel one;
    one.work_bytes = get<double>();
    one.block_threads = get<std::int32_t>();
    // One after the other, so that a damaged length cannot ask for all memory.
    for (auto left = get<std::uint64_t>(); left > 0; --left) one.accesses.push_back(access());
    for (auto left = get<std::uint64_t>(); left > 0; --left) {
      const auto begin = get<std::uint64_t>(), end = get<std::uint64_t>();
      one.copies.push_back({begin, end, get<DeviceSet>()});
    }
    return one;
  }
  StoreTrace trace() {
    StoreTrace one;
    for (auto left = get<std::uint32_t>(); left > 0; --left) one.name.push_back(get<char>());
    one.devices = get<std::int32_t>();
    if (one.devices < 1 || one.devices > most_devices)
      throw IoError(name_, 0, "a trace has 1 to 16 devices, not " + std::to_string(one.devices));
    one.memory_bytes = get<std::uint64_t>();
    for (auto left = get<std::uint64_t>(); left > 0; --left) {
      one.phases.emplace_back();
      for (int device = 0; device < one.devices; ++device) one.phases.back().kernels.push_back(kernel());
    }
    return one;
  }

 private:
  std::uint8_t at_most(std::uint8_t most) {
    const auto value = get<std::uint8_t>();
    if (value > most) throw IoError(name_, 0, "this binary trace holds an unknown kind or scope");
    return value;
  }
  std::istream& from_;
  const std::string& name_;
};

/// Lines of a trace.
class TextReader {
 public:
  TextReader(std::istream& from, const std::string& name) : from_(from), name_(name) {}
  StoreTrace trace() {
    std::string line;
    while (std::getline(from_, line)) {
      ++line_;
      words_ = std::istringstream(line.substr(0, line.find('#')));
      if (std::string word; words_ >> word) statement(word);
    }
    if (trace_.devices == 0) fail("there is no line 'devices'");
    return std::move(trace_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw IoError(name_, line_, what); }
  std::uint64_t number(const char* what) {
    std::string word;
    if (!(words_ >> word)) fail(std::string(what) + " is missing");
    try {
      std::size_t used = 0;
      const std::uint64_t value = std::stoull(word, &used, 0);
      if (used == word.size() && word[0] != '-') return value;
    } catch (const std::exception&) {}
    fail(std::string(what) + " is '" + word + "'; give a whole number, decimal or 0x…");
  }
  std::uint64_t number_to(const char* what, std::uint64_t most) {
    const std::uint64_t value = number(what);
    if (value > most)
      fail(std::string(what) + " is " + std::to_string(value) + ", more than " + std::to_string(most));
    return value;
  }
  AccessScope scope() {
    std::string word;
    if (!(words_ >> word)) return AccessScope::weak;
    for (int k = 0; k < 3; ++k)
      if (word == scope_names[k]) return static_cast<AccessScope>(k);
    fail("scope is '" + word + "'; give weak, device or system");
  }
  TracedKernel& kernel() {
    if (kernel_ == nullptr) fail("an access or a copy needs a line 'kernel' before it");
    return *kernel_;
  }
  void statement(const std::string& word) {
    if (word == "name")
      words_ >> trace_.name;
    else if (word == "devices")
      trace_.devices = static_cast<int>(number_to("number of devices", most_devices));
    else if (word == "memory")
      trace_.memory_bytes = number("size of shared memory");
    else if (word == "phase")
      begin_phase();
    else if (word == "kernel")
      begin_kernel();
    else if (word == "s" || word == "l" || word == "r")
      access(word[0]);
    else if (word == "copy")
      copy();
    else
      fail("'" + word + "' is no statement; give name, devices, memory, phase, kernel, s, l, r or copy");
  }
  void begin_phase() {
    if (trace_.devices == 0) fail("give the number of devices before the first phase");
    trace_.phases.emplace_back();
    trace_.phases.back().kernels.resize(trace_.devices);
    kernel_ = nullptr;
  }
  void begin_kernel() {
    if (trace_.phases.empty()) fail("a kernel needs a line 'phase' before it");
    const auto device = number("device");
    if (device >= static_cast<std::uint64_t>(trace_.devices)) fail("there is no such device");
    kernel_ = &trace_.phases.back().kernels[device];
    kernel_->work_bytes = static_cast<double>(number("work in bytes"));
    kernel_->block_threads = static_cast<int>(number_to("threads of a block", 1 << 20));
  }
  void access(char kind) {
    Access one;
    one.kind = kind == 's' ? AccessKind::store : kind == 'l' ? AccessKind::load : AccessKind::release;
    one.thread = static_cast<std::uint32_t>(number_to("thread", 0xffffffffu));
    one.instruction = static_cast<std::uint32_t>(number_to("instruction", 0xffffffffu));
    if (kind != 'r') {
      one.address = number("address");
      one.bytes = static_cast<std::uint8_t>(number_to("number of bytes", 8));
    }
    if (kind == 's') {
      one.value = number("value");
      one.to = static_cast<DeviceSet>(number_to("set of devices", 0xffff));
    }
    if (kind != 'l') one.scope = scope();
    kernel().accesses.push_back(one);
  }
  void copy() {
    const std::uint64_t begin = number("begin of a copy"), end = number("end of a copy");
    kernel().copies.push_back({begin, end, static_cast<DeviceSet>(number_to("set of devices", 0xffff))});
  }

  std::istream& from_;
  const std::string& name_;
  std::istringstream words_;
  std::int64_t line_ = 1;
  StoreTrace trace_;
  TracedKernel* kernel_ = nullptr;
};

void write_access(std::ostream& to, const Access& one) {
  to << "slr"[static_cast<int>(one.kind)] << ' ' << one.thread << ' ' << one.instruction;
  if (one.kind != AccessKind::release) to << ' ' << one.address << ' ' << int{one.bytes};
  if (one.kind == AccessKind::store) to << " 0x" << std::hex << one.value << " 0x" << one.to << std::dec;
  if (one.kind != AccessKind::load && one.scope != AccessScope::weak)
    to << ' ' << scope_names[static_cast<int>(one.scope)];
  to << '\n';
}

}  // namespace

void write_text(const StoreTrace& trace, std::ostream& to) {
  to << text_magic << "\nname " << trace.name << "\ndevices " << trace.devices << "\nmemory "
     << trace.memory_bytes << '\n';
  for (const TracedPhase& phase : trace.phases) {
    to << "phase\n";
    for (std::size_t device = 0; device < phase.kernels.size(); ++device) {
      const TracedKernel& kernel = phase.kernels[device];
      to << "kernel " << device << ' ' << static_cast<std::uint64_t>(kernel.work_bytes) << ' '
         << kernel.block_threads << '\n';
      for (const Access& one : kernel.accesses) write_access(to, one);
      for (const CopyRange& one : kernel.copies)
        to << "copy " << one.begin << ' ' << one.end << " 0x" << std::hex << one.to << std::dec << '\n';
    }
  }
}

void write_binary(const StoreTrace& trace, std::ostream& to) {
  to << binary_magic << '\n';
  put(to, static_cast<std::uint32_t>(trace.name.size()));
  to << trace.name;
  put(to, static_cast<std::int32_t>(trace.devices));
  put(to, trace.memory_bytes);
  put(to, static_cast<std::uint64_t>(trace.phases.size()));
  for (const TracedPhase& phase : trace.phases)
    for (const TracedKernel& kernel : phase.kernels) {
      put(to, kernel.work_bytes);
      put(to, static_cast<std::int32_t>(kernel.block_threads));
      put(to, static_cast<std::uint64_t>(kernel.accesses.size()));
      for (const Access& one : kernel.accesses) put_access(to, one);
      put(to, static_cast<std::uint64_t>(kernel.copies.size()));
      for (const CopyRange& one : kernel.copies) {
        put(to, one.begin);
        put(to, one.end);
        put(to, one.to);
      }
    }
}

StoreTrace read_trace(std::istream& from, const std::string& name) {
  std::string first;
  std::getline(from, first);
  StoreTrace trace;
  if (first == binary_magic)
    trace = BinaryReader(from, name).trace();
  else if (first == text_magic)
    trace = TextReader(from, name).trace();
  else
    throw IoError(name, 1, std::string("a trace begins with the line '") + text_magic + "'");
  try {
    check(trace);
  } catch (const UsageError& error) {
    throw IoError(name, 0, error.what());
  }
  for (TracedPhase& phase : trace.phases)
    for (TracedKernel& kernel : phase.kernels) order_by_warp(kernel);
  return trace;
}

}  // namespace palmette::transfer
