// Runs kernels on the CPU: every GPU thread is a fiber, blocks are resident in limited number, the next
// thread to run is drawn from a seed. Kernel files are compiled with -fsanitize=thread but linked without it:
// the emulator supplies the hooks that the compiler calls at every load and store, so that kernels are plain
// C++ and nothing they touch goes unseen.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

/// Not instrumented: these are the atomics themselves, known to the emulator by before_atomic and
/// after_atomic.
#define PALMETTE_UNSEEN __attribute__((no_sanitize_thread, noinline))

namespace palmette::emulate {

enum class Scope { block, device, system };
enum class Order { relaxed, acquire, release };
using Signal = std::uint64_t;

/// What a thread did to memory of a device, for those who write traces.
struct Observed {
  enum What { load, store, release } what;
  int device, block, thread;  ///< of the thread; its number in its block
  int owner;                  ///< the device whose memory it is
  std::uint64_t offset;       ///< in that device's memory; 0 for a release
  int bytes;                  ///< 0 for a release
  Scope scope;                ///< block for plain accesses
};

struct Options {
  std::uint64_t seed = 1;
  int devices = 1;
  bool peer_access = false;  ///< kernels may load from and store to the memory of other devices directly
  int resident_blocks = 4;      ///< of each device
  bool any_block_order = true;  ///< blocks become resident in a drawn order, as CUDA allows
  /// Plain stores become visible late and out of order, until a fence of sufficient scope.
  bool delay_stores = true;
  bool find_races = true;           ///< vector clocks with scopes
  bool count_sectors = false;       ///< 32-byte sectors for each request of a warp
  /// Threads of a wavefront, which run in step, as 64 do on AMD's GPUs: while some of them wait in a loop,
  /// those that do not wait stand still. 0: every thread advances for itself, as NVIDIA's do.
  int lanes_in_step = 0;
  /// When all threads wait in vain, they look again so many times; then it is a deadlock. For kernels that
  /// give up by themselves.
  int last_looks = 0;
  double switch_chance = 1.0 / 16;  ///< at a plain access; at an atomic one threads always switch
  /// Called for every load and store of device memory, puts among them, before it happens, and for every
  /// release and fence; must not touch device memory.
  std::function<void(const Observed& seen)> observe = {};
};

/// One load or store of the kernel.
struct Site {
  std::uint64_t accesses = 0;  ///< of single lanes
  std::uint64_t bytes = 0;
  std::uint64_t requests = 0;  ///< of warps
  std::uint64_t sectors = 0;   ///< of 32 bytes, fetched or stored
};

struct Report {
  std::vector<std::string> errors;  ///< each once, at most eight
  std::uint64_t switches = 0;       ///< from thread to thread
  std::uint64_t plain_accesses = 0;
  std::uint64_t atomics = 0;
  std::uint64_t acquires = 0;       ///< of them, those that acquire
  std::uint64_t collectives = 0;
  std::uint64_t puts = 0;
  std::uint64_t put_bytes = 0;
  std::uint64_t remote_gets = 0;   ///< atomic loads from the memory of other devices
  std::uint64_t get_bytes = 0;
  std::vector<std::uint64_t> page_moves;  ///< by device: pages of managed memory that came to it
  std::map<const void*, Site> loads, stores;  ///< with count_sectors, by return address
  bool ok() const { return errors.empty(); }
};

/// Device memory; the same offset on every device (a symmetric heap). Host code may touch it while no kernel
/// runs.
void prepare_memory();
/// Frees everything, and clears what was ever in use on the first devices.
void reset_memory(int devices);
/// @throws MemoryError
void* allocate(std::size_t bytes);
/// @param p  address on device 0, or of managed memory
void release(void* p);
/// Memory with one address for all devices. Its pages begin a run on the host.
void* allocate_managed(std::size_t bytes);
inline constexpr std::ptrdiff_t bytes_of_page = 64 << 10;
int most_devices();
std::int64_t bytes_of_device();
/// Whether all these bytes lie in one allocation of a device.
bool is_allocated(const void* p, std::size_t bytes, int device);
template <class T>
T* allocate_array(std::size_t count) {
  return static_cast<T*>(allocate(count * sizeof(T)));
}
/// Bytes from an object of one device to the same object of the next one.
std::ptrdiff_t device_stride();
/// The same object so many devices further on.
template <class T>
T* on_device(T* p, int devices) {
  return (T*)((char*)p + devices * device_stride());
}
/// An array with these values on one device. @returns its address on device 0
template <class T>
T* upload(const std::vector<T>& values, int device = 0) {
  T* const array = allocate_array<T>(values.size());
  std::copy(values.begin(), values.end(), on_device(array, device));
  return array;
}

/// A kernel and its shape.
struct Launch {
  int device = 0;
  int blocks = 1;
  int threads = 32;
  std::size_t shared_bytes = 0;
  std::function<void()> kernel;
  /// What reports call a load or store, if they shall not give its return address.
  std::function<std::string(const void* site)> name_of_site = {};
};
/// False on processors other than x86-64 and under sanitizers: run then throws UsageError.
bool emulator_is_available();
/// All launches side by side (as on streams of one or several devices), until all have ended or none can go
/// on.
Report run(const std::vector<Launch>& launches, const Options& options);

// ---- what vocabulary.hpp maps to ----
int thread();
int threads();
int lane();
bool leads_wave();
int block();
int blocks();
int my_pe();
int num_pes();
unsigned char* shared_bytes();
/// A line of a kernel.
struct Where {
  const char* file = "";
  unsigned number = 0;
  static constexpr Where current(const char* f = __builtin_FILE(), unsigned l = __builtin_LINE()) {
    return {f, l};
  }
};
void block_barrier(Where where = Where::current());
void warp_barrier(unsigned mask = 0xffffffffu, Where where = Where::current());
/// What lane `from` brought to the same call; all lanes of the mask must come to it.
std::uint64_t exchange(unsigned mask, std::uint64_t bits, int from, char kind, Where where);
template <class T>
std::uint64_t to_bits(T v) {
  std::uint64_t b = 0;
  std::memcpy(&b, &v, sizeof v);
  return b;
}
template <class T>
T from_bits(std::uint64_t b) {
  T v;
  std::memcpy(&v, &b, sizeof v);
  return v;
}
template <class T>
T shuffle(unsigned mask, T v, int from, Where where = Where::current()) {
  return from_bits<T>(exchange(mask, to_bits(v), from & 31, 's', where));
}
template <class T>
T shuffle_xor(unsigned mask, T v, int x, Where where = Where::current()) {
  return from_bits<T>(exchange(mask, to_bits(v), lane() ^ x, 'x', where));
}
unsigned ballot(unsigned mask, bool p, Where where = Where::current());
void fence(Scope scope);
void pause();

/// A plain load or store, as the compiler's hooks report it.
void plain(const void* p, int bytes, bool write, const void* site);
#if defined(PALMETTE_EMULATED_BY_THREADS)
template <class V>
V load_together(const V* p) {
  return *p;
}
#else
/// One load of all bytes of V, which the hooks would report in pieces.
template <class V>
PALMETTE_UNSEEN V load_together(const V* p) {
  plain(p, sizeof(V), false, __builtin_return_address(0));
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
#endif

/// One atomic access: kind is 'l' (load), 's' (store) or 'a' (add).
struct AtomicAccess {
  const void* at;
  int bytes;
  Order order;
  Scope scope;
  char kind;
};
void before_atomic(const AtomicAccess& access);
void after_atomic(const AtomicAccess& access, bool changed);
#if defined(PALMETTE_EMULATED_BY_THREADS)
// The twin for the thread sanitizer (tests/device/threads): threads of the system, which know no scopes. Each
// order is written out, since compilers take one that they do not know for the strongest.
template <class T>
T load(const T* p, Order order, Scope) {
  const std::atomic_ref<T> object(*const_cast<T*>(p));
  return order == Order::acquire ? object.load(std::memory_order_acquire)
                                 : object.load(std::memory_order_relaxed);
}
template <class T>
void store(T* p, T v, Order order, Scope) {
  if (order == Order::release) std::atomic_ref<T>(*p).store(v, std::memory_order_release);
  else std::atomic_ref<T>(*p).store(v, std::memory_order_relaxed);
}
template <class T>
T add(T* p, T v, Order order, Scope) {
  const std::atomic_ref<T> object(*p);
  return order == Order::release ? object.fetch_add(v, std::memory_order_release)
                                 : object.fetch_add(v, std::memory_order_relaxed);
}
#else
template <class T>
PALMETTE_UNSEEN T load(const T* p, Order order, Scope scope) {
  before_atomic({p, sizeof(T), order, scope, 'l'});
  T v;
  std::memcpy(&v, p, sizeof v);
  after_atomic({p, sizeof(T), order, scope, 'l'}, false);
  return v;
}
template <class T>
PALMETTE_UNSEEN void store(T* p, T v, Order order, Scope scope) {
  before_atomic({p, sizeof(T), order, scope, 's'});
  const bool changed = std::memcmp(p, &v, sizeof v) != 0;
  std::memcpy(p, &v, sizeof v);
  after_atomic({p, sizeof(T), order, scope, 's'}, changed);
}
template <class T>
PALMETTE_UNSEEN T add(T* p, T v, Order order, Scope scope) {
  before_atomic({p, sizeof(T), order, scope, 'a'});
  T old;
  std::memcpy(&old, p, sizeof old);
  const T sum = old + v;
  std::memcpy(p, &sum, sizeof sum);
  after_atomic({p, sizeof(T), order, scope, 'a'}, true);
  return old;
}
#endif
/// The words may arrive after the signal: wait_signal alone says that they are there.
/// @param bytes  a multiple of 4
void put_signal_block(void* to, const void* from, long long bytes, Signal* signal, Signal value, int pe);
/// The same of one thread. @param bytes  a multiple of 4
void put_signal(void* to, const void* from, int bytes, Signal* signal, Signal value, int pe);
/// A put of nothing but the signal.
void set_signal(Signal* signal, Signal value, int pe);
/// Until the signal has come and all that was put with it.
void wait_signal(Signal* signal, Signal value);
void quiet();
double get(const double* from, int pe);
int get(const int* from, int pe);

}  // namespace palmette::emulate
