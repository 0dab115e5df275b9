// Comparisons, selections, moves and conversions of PTX.
#include <cmath>
#include <limits>

#include "palmette/device/ptx/ptx_instruction.hpp"

namespace palmette::emulate::ptx {
namespace {

enum class Relation { equal, unequal, less, less_equal, greater, greater_equal };

template <Relation relation, class T>
bool holds(T a, T b) {
  switch (relation) {
    case Relation::equal:
      return a == b;
    case Relation::unequal:
      return a != b;
    case Relation::less:
      return a < b;
    case Relation::less_equal:
      return a <= b;
    case Relation::greater:
      return a > b;
    case Relation::greater_equal:
      return a >= b;
  }
}

/// @tparam of_nan  the result where an operand is NaN
template <class T, Relation relation, bool of_nan>
void compare(Thread& t, const Instruction& i) {
  const T a = read<T>(t, i, 1), b = read<T>(t, i, 2);
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return write(t, i, 0, of_nan);
  write(t, i, 0, holds<relation>(a, b));
}

template <class T>
void is_number(Thread& t, const Instruction& i) {
  write(t, i, 0, !std::isnan(read<T>(t, i, 1)) && !std::isnan(read<T>(t, i, 2)));
}
template <class T>
void is_not_number(Thread& t, const Instruction& i) {
  write(t, i, 0, std::isnan(read<T>(t, i, 1)) || std::isnan(read<T>(t, i, 2)));
}

/// The six relations; their names may have a suffix, as eq and equ.
template <class T, bool of_nan>
void add_relations(InstructionSet& set, const std::string& suffix, const std::string& type) {
  const auto add = [&](const std::string& name, Execute execute) {
    set.add("setp." + name + suffix + "." + type, "rrr", execute);
  };
  add("eq", compare<T, Relation::equal, of_nan>);
  add("ne", compare<T, Relation::unequal, of_nan>);
  add("lt", compare<T, Relation::less, of_nan>);
  add("le", compare<T, Relation::less_equal, of_nan>);
  add("gt", compare<T, Relation::greater, of_nan>);
  add("ge", compare<T, Relation::greater_equal, of_nan>);
}

template <class T>
void add_unsigned_relations(InstructionSet& set, const std::string& type) {
  set.add("setp.lo." + type, "rrr", compare<T, Relation::less, false>);
  set.add("setp.ls." + type, "rrr", compare<T, Relation::less_equal, false>);
  set.add("setp.hi." + type, "rrr", compare<T, Relation::greater, false>);
  set.add("setp.hs." + type, "rrr", compare<T, Relation::greater_equal, false>);
}

void select(Thread& t, const Instruction& i) {
  t.registers[i.operand[0]] = t.registers[i.operand[read<bool>(t, i, 3) ? 1 : 2]];
}
void move(Thread& t, const Instruction& i) {
  t.registers[i.operand[0]] = t.registers[i.operand[1]];
}

/// A register from two of half its width, the lower half first.
template <class Half, class Whole>
void pack(Thread& t, const Instruction& i) {
  const Whole low = read<Half>(t, i, 1), high = read<Half>(t, i, 2);
  write(t, i, 0, static_cast<Whole>(low | high << (8 * sizeof(Half))));
}
template <class Half, class Whole>
void unpack(Thread& t, const Instruction& i) {
  const Whole bits = read<Whole>(t, i, 2);
  write(t, i, 0, static_cast<Half>(bits));
  write(t, i, 1, static_cast<Half>(bits >> (8 * sizeof(Half))));
}

template <class To, class From>
void convert(Thread& t, const Instruction& i) {
  write(t, i, 0, static_cast<To>(read<From>(t, i, 1)));
}

/// Values outside the range become its nearest end; NaN becomes 0, or the lowest bit pattern of 64 bits.
template <class To, class From>
To saturated(From value) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(value)) return sizeof(To) == 8 ? static_cast<To>(std::uint64_t{1} << 63) : To{};
  const From end = std::ldexp(From{1}, Limits::digits);  // one behind the largest
  if (value >= end) return Limits::max();
  if (value < static_cast<From>(Limits::min())) return Limits::min();
  return static_cast<To>(value);
}
template <class To, class From>
void convert_toward_zero(Thread& t, const Instruction& i) {
  write(t, i, 0, saturated<To>(std::trunc(read<From>(t, i, 1))));
}
template <class To, class From>
void convert_to_nearest(Thread& t, const Instruction& i) {
  write(t, i, 0, saturated<To>(std::nearbyint(read<From>(t, i, 1))));
}

template <class F>
void for_all_integer_types(F&& f) {
  f(std::int8_t{}, "s8");
  f(std::uint8_t{}, "u8");
  for_integer_types(f);
}

void add_integer_conversions(InstructionSet& set) {
  for_all_integer_types([&]<class To>(To, const std::string& to) {
    for_all_integer_types([&]<class From>(From, const std::string& from) {
      set.add("cvt." + to + "." + from, "rr", convert<To, From>);
    });
  });
}

void add_float_conversions(InstructionSet& set) {
  set.add("cvt.f64.f32", "rr", convert<double, float>);
  set.add("cvt.rn.f32.f64", "rr", convert<float, double>);
  for_float_types([&]<class Float>(Float, const std::string& real) {
    for_all_integer_types([&]<class Integer>(Integer, const std::string& integer) {
      set.add("cvt.rn." + real + "." + integer, "rr", convert<Float, Integer>);
      set.add("cvt.rzi." + integer + "." + real, "rr", convert_toward_zero<Integer, Float>);
      set.add("cvt.rni." + integer + "." + real, "rr", convert_to_nearest<Integer, Float>);
    });
  });
}

}  // namespace

void add_comparisons(InstructionSet& set) {
  for_integer_types([&]<class T>(T, const std::string& type) { add_relations<T, false>(set, "", type); });
  for_unsigned_types([&]<class T>(T, const std::string& type) { add_unsigned_relations<T>(set, type); });
  for_bit_types([&]<class T>(T, const std::string& type) {
    set.add("setp.eq." + type, "rrr", compare<T, Relation::equal, false>);
    set.add("setp.ne." + type, "rrr", compare<T, Relation::unequal, false>);
  });
  for_float_types([&]<class T>(T, const std::string& type) {
    add_relations<T, false>(set, "", type);
    add_relations<T, true>(set, "u", type);
    set.add("setp.num." + type, "rrr", is_number<T>);
    set.add("setp.nan." + type, "rrr", is_not_number<T>);
  });
}

void add_conversions(InstructionSet& set) {
  const auto add_of_type = [&]<class T>(T, const std::string& type) {
    set.add("mov." + type, "rr", move);
    set.add("selp." + type, "rrrr", select);
  };
  for_number_types(add_of_type);
  for_bit_types(add_of_type);
  set.add("mov.pred", "rr", move);
  set.add("mov.b32", "r2", pack<std::uint16_t, std::uint32_t>);
  set.add("mov.b32", "2r", unpack<std::uint16_t, std::uint32_t>);
  set.add("mov.b64", "r2", pack<std::uint32_t, std::uint64_t>);
  set.add("mov.b64", "2r", unpack<std::uint32_t, std::uint64_t>);
  add_integer_conversions(set);
  add_float_conversions(set);
}

}  // namespace palmette::emulate::ptx
