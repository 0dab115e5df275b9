// How a thread's arithmetic rounds, and whether it keeps subnormal numbers.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace palmette {

/// The rounding of a thread's arithmetic, and whether subnormal numbers count as zero, as operands and as
/// results. On processors other than x86-64 and aarch64 nothing is read or set.
class ArithmeticMode {
 public:
  static ArithmeticMode of_this_thread() { return ArithmeticMode(control_word() & bits); }

  /// Exception flags, and which exceptions trap, stay as they are.
  void set() const {
    const std::uint64_t control = control_word();
    if ((control & bits) != chosen_) set_control_word((control & ~bits) | chosen_);
  }
  ArithmeticMode with_subnormals_as_zero() const { return ArithmeticMode(chosen_ | subnormals); }

 private:
  explicit ArithmeticMode(std::uint64_t chosen) : chosen_(chosen) {}

#if defined(__x86_64__)
  // MXCSR: operands (bit 6) and results (15); how to round (13 and 14).
  static constexpr std::uint64_t subnormals = 0x8040, bits = subnormals | 0x6000;
  static std::uint64_t control_word() { return _mm_getcsr(); }
  static void set_control_word(std::uint64_t word) { _mm_setcsr(static_cast<unsigned>(word)); }
#elif defined(__aarch64__)
  // FPCR: FZ (bit 24), for both; RMode (22 and 23).
  static constexpr std::uint64_t subnormals = 0x1000000, bits = subnormals | 0xc00000;
  static std::uint64_t control_word() {
    std::uint64_t word;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }
  static void set_control_word(std::uint64_t word) { asm volatile("msr fpcr, %0" : : "r"(word) : "memory"); }
#else
  static constexpr std::uint64_t subnormals = 0, bits = 0;
  static std::uint64_t control_word() { return 0; }
  static void set_control_word(std::uint64_t) {}
#endif

  std::uint64_t chosen_;
};

/// While it lives, this thread computes in the given mode, and the runs of teams that it calls do.
class InMode {
 public:
  explicit InMode(const ArithmeticMode& mode) { mode.set(); }
  ~InMode() { before_.set(); }
  InMode(const InMode&) = delete;
  InMode& operator=(const InMode&) = delete;
  const ArithmeticMode& before() const { return before_; }

 private:
  const ArithmeticMode before_ = ArithmeticMode::of_this_thread();
};

/// While it lives, subnormal numbers count as zero in this thread, and in the runs of teams that it calls.
///
/// Entries of factors and solutions often decay with the distance from their source until they are subnormal,
/// most of all in single precision. They are far below the rounding errors of their neighbours, but Intel's
/// processors take over a hundred cycles for each operation with them.
class SubnormalsAsZero : public InMode {
 public:
  SubnormalsAsZero() : InMode(ArithmeticMode::of_this_thread().with_subnormals_as_zero()) {}
};

}  // namespace palmette
