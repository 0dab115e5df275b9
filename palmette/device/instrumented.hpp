// Included first by files whose loads and stores the emulator watches. They are compiled with
// -fsanitize=thread; the hooks that the compiler then calls get names of their own, so that a program may
// link both the emulator and the sanitizer's library. (g++ does so with -std=gnu++20; clang
// ignores such names, and there the hooks keep theirs.)
#pragma once

#if defined(PALMETTE_EMULATED_BY_THREADS)
// The hooks are the sanitizer's own.
#elif defined(__clang__)
#define PALMETTE_HOOK(name) __tsan_##name
#else
#define PALMETTE_HOOK(name) palmette_seen_##name
#define PALMETTE_RENAME(name, ...) void __tsan_##name(__VA_ARGS__) __asm__("palmette_seen_" #name);
#define PALMETTE_RENAME_SIZE(n)                                                  \
  PALMETTE_RENAME(read##n, void*) PALMETTE_RENAME(write##n, void*)               \
  PALMETTE_RENAME(unaligned_read##n, void*) PALMETTE_RENAME(unaligned_write##n, void*)
extern "C" {
PALMETTE_RENAME_SIZE(2) PALMETTE_RENAME_SIZE(4) PALMETTE_RENAME_SIZE(8) PALMETTE_RENAME_SIZE(16)
PALMETTE_RENAME(read1, void*) PALMETTE_RENAME(write1, void*)
PALMETTE_RENAME(read_range, void*, __PTRDIFF_TYPE__) PALMETTE_RENAME(write_range, void*, __PTRDIFF_TYPE__)
PALMETTE_RENAME(func_entry, void*) PALMETTE_RENAME(func_exit, void*) PALMETTE_RENAME(init, void)
PALMETTE_RENAME(vptr_update, void*, void*) PALMETTE_RENAME(vptr_read, void*)
}
#undef PALMETTE_RENAME_SIZE
#undef PALMETTE_RENAME
#endif
