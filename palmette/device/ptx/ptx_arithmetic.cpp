// Arithmetic, logic and shifts of PTX. Floating-point results are rounded to nearest, as the names say; names
// without a rounding mean the same.
#include <cmath>
#include <limits>

#include "palmette/device/ptx/ptx_instruction.hpp"

namespace palmette::emulate::ptx {
namespace {

/// Integers wrap.
template <class T, class F>
T wrapped(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(f(static_cast<std::uint64_t>(a), static_cast<std::uint64_t>(b)));
  else
    return f(a, b);
}
struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct Subtract {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct Multiply {
  template <class T>
  T operator()(T a, T b) const {
    return wrapped(a, b, [](auto x, auto y) { return x * y; });
  }
};
/// Where the processor would trap, PTX leaves the result open.
struct Divide {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(-1);
      if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Subtract{}(T{}, a);
    }
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
/// Of two floating-point values, one that is not NaN; −0 is less than +0.
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a == b) return std::signbit(a) ? a : b;
      return std::fmin(a, b);
    }
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>) {
      if (a == b) return std::signbit(a) ? b : a;
      return std::fmax(a, b);
    }
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Negate {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return Subtract{}(T{}, a);
    else
      return -a;
  }
};
struct Absolute {
  template <class T>
  T operator()(T a) const {
    if constexpr (std::is_integral_v<T>)
      return a < 0 ? Negate{}(a) : a;
    else
      return std::fabs(a);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
  bool operator()(bool a) const { return !a; }
};
struct Reciprocal {
  template <class T>
  T operator()(T a) const {
    return 1 / a;
  }
};
struct SquareRoot {
  template <class T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};

template <class T, class F>
void unary(Thread& t, const Instruction& i) {
  write(t, i, 0, F{}(read<T>(t, i, 1)));
}
template <class T, class F>
void binary(Thread& t, const Instruction& i) {
  write(t, i, 0, F{}(read<T>(t, i, 1), read<T>(t, i, 2)));
}
/// One rounding; the product of a multiplication and an addition is never rounded before the addition.
template <class T>
void fused_multiply_add(Thread& t, const Instruction& i) {
  write(t, i, 0, std::fma(read<T>(t, i, 1), read<T>(t, i, 2), read<T>(t, i, 3)));
}
template <class T>
void multiply_add_low(Thread& t, const Instruction& i) {
  write(t, i, 0, Add{}(Multiply{}(read<T>(t, i, 1), read<T>(t, i, 2)), read<T>(t, i, 3)));
}
template <class T>
void multiply_high(Thread& t, const Instruction& i) {
  __extension__ using Product = __int128;
  const Product product = static_cast<Product>(read<T>(t, i, 1)) * static_cast<Product>(read<T>(t, i, 2));
  write(t, i, 0, static_cast<T>(product >> (8 * sizeof(T))));
}
template <class T, class Wide>
void multiply_wide(Thread& t, const Instruction& i) {
  write(t, i, 0, Multiply{}(static_cast<Wide>(read<T>(t, i, 1)), static_cast<Wide>(read<T>(t, i, 2))));
}
template <class T, class Wide>
void multiply_add_wide(Thread& t, const Instruction& i) {
  const Wide product = Multiply{}(static_cast<Wide>(read<T>(t, i, 1)), static_cast<Wide>(read<T>(t, i, 2)));
  write(t, i, 0, Add{}(product, read<Wide>(t, i, 3)));
}
/// Shifts by more than the width give what shifting bit by bit would give.
template <class T>
void shift_left(Thread& t, const Instruction& i) {
  const auto by = read<std::uint32_t>(t, i, 2);
  const T bits = read<T>(t, i, 1);
  write(t, i, 0, by >= 8 * sizeof(T) ? T{} : static_cast<T>(bits << by));
}
template <class T>
void shift_right(Thread& t, const Instruction& i) {
  const auto by = read<std::uint32_t>(t, i, 2);
  const T bits = read<T>(t, i, 1);
  const T all_shifted = static_cast<T>(bits >> (8 * sizeof(T) - 1));
  write(t, i, 0, by < 8 * sizeof(T) ? static_cast<T>(bits >> by) : std::is_signed_v<T> ? all_shifted : T{});
}

void add_float_operations(InstructionSet& set) {
  for_float_types([&]<class T>(T, const std::string& type) {
    for (const std::string rounding : {".rn.", "."}) {
      set.add("add" + rounding + type, "rrr", binary<T, Add>);
      set.add("sub" + rounding + type, "rrr", binary<T, Subtract>);
      set.add("mul" + rounding + type, "rrr", binary<T, Multiply>);
    }
    set.add("div.rn." + type, "rrr", binary<T, Divide>);
    set.add("rcp.rn." + type, "rr", unary<T, Reciprocal>);
    set.add("sqrt.rn." + type, "rr", unary<T, SquareRoot>);
    set.add("fma.rn." + type, "rrrr", fused_multiply_add<T>);
    set.add("neg." + type, "rr", unary<T, Negate>);
    set.add("abs." + type, "rr", unary<T, Absolute>);
  });
}

void add_integer_operations(InstructionSet& set) {
  for_integer_types([&]<class T>(T, const std::string& type) {
    set.add("add." + type, "rrr", binary<T, Add>);
    set.add("sub." + type, "rrr", binary<T, Subtract>);
    set.add("mul.lo." + type, "rrr", binary<T, Multiply>);
    set.add("mul.hi." + type, "rrr", multiply_high<T>);
    set.add("mad.lo." + type, "rrrr", multiply_add_low<T>);
    set.add("div." + type, "rrr", binary<T, Divide>);
    set.add("rem." + type, "rrr", binary<T, Remainder>);
    set.add("shr." + type, "rrr", shift_right<T>);
  });
  for_signed_types([&]<class T>(T, const std::string& type) {
    set.add("neg." + type, "rr", unary<T, Negate>);
    set.add("abs." + type, "rr", unary<T, Absolute>);
  });
}

template <class T, class Wide>
void add_wide_operations(InstructionSet& set, const std::string& type) {
  set.add("mul.wide." + type, "rrr", multiply_wide<T, Wide>);
  set.add("mad.wide." + type, "rrrr", multiply_add_wide<T, Wide>);
}

template <class T>
void add_logic(InstructionSet& set, const std::string& type) {
  set.add("and." + type, "rrr", binary<T, And>);
  set.add("or." + type, "rrr", binary<T, Or>);
  set.add("xor." + type, "rrr", binary<T, Xor>);
  set.add("not." + type, "rr", unary<T, Not>);
}

}  // namespace

void add_arithmetic(InstructionSet& set) {
  add_float_operations(set);
  add_integer_operations(set);
  add_wide_operations<std::int16_t, std::int32_t>(set, "s16");
  add_wide_operations<std::uint16_t, std::uint32_t>(set, "u16");
  add_wide_operations<std::int32_t, std::int64_t>(set, "s32");
  add_wide_operations<std::uint32_t, std::uint64_t>(set, "u32");
  for_number_types([&]<class T>(T, const std::string& type) {
    set.add("min." + type, "rrr", binary<T, Minimum>);
    set.add("max." + type, "rrr", binary<T, Maximum>);
  });
  add_logic<bool>(set, "pred");
  for_bit_types([&]<class T>(T, const std::string& type) {
    add_logic<T>(set, type);
    set.add("shl." + type, "rrr", shift_left<T>);
    set.add("shr." + type, "rrr", shift_right<T>);
  });
}

}  // namespace palmette::emulate::ptx
