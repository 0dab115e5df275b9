// An instruction of PTX as the interpreter executes it, the thread that it changes, and the table that knows
// every instruction by its full name.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "palmette/device/emulator.hpp"

namespace palmette::emulate::ptx {

/// The bits of a register that its instructions do not name are never read, whatever they are.
using Register = std::uint64_t;

struct Instruction;

/// One emulated thread: registers, constants and special registers stand in one array.
struct Thread {
  Register* registers;
  const unsigned char* parameters;
  unsigned char* shared;     ///< of the block
  std::size_t shared_bytes;  ///< declared and dynamic
  unsigned char* local;
  std::size_t local_bytes;
  const char* file;  ///< for reports
  int next;          ///< instruction; negative: the thread ends
};

using Execute = void (*)(Thread&, const Instruction&);

struct Instruction {
  static constexpr int most_operands = 8;
  Execute execute = nullptr;
  int operand[most_operands] = {};  ///< indices into the registers; those of vectors and pairs one by one
  std::int64_t offset = 0;          ///< of the memory operand
  int predicate = -1;               ///< register, or none
  bool is_negated = false;
  int target = 0;  ///< of a branch
  int line = 0;
};

/// The low bits of a register as a value of type T.
template <class T>
T read(const Thread& thread, const Instruction& i, int operand) {
  T value;
  std::memcpy(&value, &thread.registers[i.operand[operand]], sizeof value);
  return value;
}

/// Integers are extended by their sign, since a destination may be wider than the type of the instruction.
template <class T>
void write(Thread& thread, const Instruction& i, int operand, T value) {
  Register bits = 0;
  if constexpr (std::is_integral_v<T>)
    bits = static_cast<Register>(static_cast<std::int64_t>(value));
  else
    std::memcpy(&bits, &value, sizeof value);
  thread.registers[i.operand[operand]] = bits;
}

/// What reports call the line of an instruction.
inline Where where(const Thread& thread, const Instruction& i) {
  return {thread.file, static_cast<unsigned>(i.line)};
}

/// All instructions that the interpreter knows. A name is known as a whole, with all of its modifiers, so
/// that no modifier is ever overlooked.
class InstructionSet {
 public:
  /// @param operands  one letter for each: r (register or constant), p (two registers, a|b), m (memory),
  ///                  2 or 4 (a vector of so many registers), l (label)
  void add(const std::string& name, const std::string& operands, Execute execute) {
    names_.insert(name);
    table_[name + ' ' + operands] = execute;
  }
  /// With any operands.
  bool knows(const std::string& name) const { return names_.count(name) != 0; }
  /// @returns null if there is none
  Execute find(const std::string& name, const std::string& operands) const {
    const auto found = table_.find(name + ' ' + operands);
    return found == table_.end() ? nullptr : found->second;
  }

 private:
  std::unordered_set<std::string> names_;
  std::unordered_map<std::string, Execute> table_;
};

void add_arithmetic(InstructionSet& set);
void add_bit_operations(InstructionSet& set);
void add_comparisons(InstructionSet& set);
void add_conversions(InstructionSet& set);
void add_memory(InstructionSet& set);
void add_atomics(InstructionSet& set);
void add_collectives(InstructionSet& set);
/// Calls of functions, by the names "call " and the function's: what is returned, then the arguments.
void add_calls(InstructionSet& set);
const InstructionSet& instruction_set();

// Types and their names in PTX, each given to a function f(value of the type, name).

template <class F>
void for_signed_types(F&& f) {
  f(std::int16_t{}, "s16");
  f(std::int32_t{}, "s32");
  f(std::int64_t{}, "s64");
}
template <class F>
void for_unsigned_types(F&& f) {
  f(std::uint16_t{}, "u16");
  f(std::uint32_t{}, "u32");
  f(std::uint64_t{}, "u64");
}
template <class F>
void for_integer_types(F&& f) {
  for_signed_types(f);
  for_unsigned_types(f);
}
template <class F>
void for_float_types(F&& f) {
  f(float{}, "f32");
  f(double{}, "f64");
}
template <class F>
void for_bit_types(F&& f) {
  f(std::uint16_t{}, "b16");
  f(std::uint32_t{}, "b32");
  f(std::uint64_t{}, "b64");
}
template <class F>
void for_number_types(F&& f) {
  for_integer_types(f);
  for_float_types(f);
}
/// All types of 4 or 8 bytes, those of atomic accesses.
template <class F>
void for_wide_types(F&& f) {
  f(std::int32_t{}, "s32");
  f(std::int64_t{}, "s64");
  f(std::uint32_t{}, "u32");
  f(std::uint64_t{}, "u64");
  f(std::uint32_t{}, "b32");
  f(std::uint64_t{}, "b64");
  for_float_types(f);
}
/// All types that a load or store may have.
template <class F>
void for_memory_types(F&& f) {
  f(std::int8_t{}, "s8");
  f(std::uint8_t{}, "u8");
  f(std::uint8_t{}, "b8");
  f(std::int16_t{}, "s16");
  f(std::uint16_t{}, "u16");
  f(std::uint16_t{}, "b16");
  for_wide_types(f);
}

}  // namespace palmette::emulate::ptx
