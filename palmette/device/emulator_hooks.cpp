// The hooks that -fsanitize=thread calls at each load and store of a kernel.
#include "palmette/device/emulator_state.hpp"

#if !defined(PALMETTE_SANITIZED)
extern "C" {
#define HOOK(n)                                                         \
  void __tsan_read##n(void* p) {                                        \
    palmette::emulate::plain(p, n, false, __builtin_return_address(0)); \
  }                                                                     \
  void __tsan_write##n(void* p) {                                       \
    palmette::emulate::plain(p, n, true, __builtin_return_address(0));  \
  }                                                                     \
  void __tsan_unaligned_read##n(void* p) {                              \
    palmette::emulate::plain(p, n, false, __builtin_return_address(0)); \
  }                                                                     \
  void __tsan_unaligned_write##n(void* p) {                             \
    palmette::emulate::plain(p, n, true, __builtin_return_address(0));  \
  }
HOOK(1) HOOK(2) HOOK(4) HOOK(8) HOOK(16) void __tsan_read_range(void* p, unsigned long n) {
  palmette::emulate::plain(p, static_cast<int>(n), false, __builtin_return_address(0));
}
void __tsan_write_range(void* p, unsigned long n) {
  palmette::emulate::plain(p, static_cast<int>(n), true, __builtin_return_address(0));
}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
}
#endif
