// What must not stay a function call.
#pragma once

/// For parts of a kernel whose sums must stay in registers: a call would spill them to memory. And for
/// functions that only prefetch: they have no effect that the language knows, so GCC removes calls of them.
#define PALMETTE_INLINE __attribute__((always_inline))
