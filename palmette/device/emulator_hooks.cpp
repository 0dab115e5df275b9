// The hooks that instrumented files call at each load and store of a kernel.
#include "palmette/device/emulator_state.hpp"

#if !defined(PALMETTE_SANITIZED)
#if defined(__clang__)
#define PALMETTE_HOOK(name) __tsan_##name
#else
#define PALMETTE_HOOK(name) palmette_seen_##name
#endif
extern "C" {
#define PALMETTE_HOOKS(n)                                               \
  void PALMETTE_HOOK(read##n)(void* p) {                                \
    palmette::emulate::plain(p, n, false, __builtin_return_address(0)); \
  }                                                                     \
  void PALMETTE_HOOK(write##n)(void* p) {                               \
    palmette::emulate::plain(p, n, true, __builtin_return_address(0));  \
  }                                                                     \
  void PALMETTE_HOOK(unaligned_read##n)(void* p) {                      \
    palmette::emulate::plain(p, n, false, __builtin_return_address(0)); \
  }                                                                     \
  void PALMETTE_HOOK(unaligned_write##n)(void* p) {                     \
    palmette::emulate::plain(p, n, true, __builtin_return_address(0));  \
  }
PALMETTE_HOOKS(1) PALMETTE_HOOKS(2) PALMETTE_HOOKS(4) PALMETTE_HOOKS(8) PALMETTE_HOOKS(16)
void PALMETTE_HOOK(read_range)(void* p, unsigned long n) {
  palmette::emulate::plain(p, static_cast<int>(n), false, __builtin_return_address(0));
}
void PALMETTE_HOOK(write_range)(void* p, unsigned long n) {
  palmette::emulate::plain(p, static_cast<int>(n), true, __builtin_return_address(0));
}
void PALMETTE_HOOK(func_entry)(void*) {}
void PALMETTE_HOOK(func_exit)() {}
void PALMETTE_HOOK(init)() {}
void PALMETTE_HOOK(vptr_update)(void**, void*) {}
void PALMETTE_HOOK(vptr_read)(void**) {}
}
#endif
