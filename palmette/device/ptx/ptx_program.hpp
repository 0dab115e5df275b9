// A parsed module of PTX: its kernels, their parameters, and their instructions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "palmette/device/ptx/ptx_instruction.hpp"

namespace palmette::emulate::ptx {

/// Registers that each thread finds filled.
enum class Special { zero, one, thread, threads, block, blocks, lane, warp, lanes_below, lanes_above };

struct Parameter {
  std::size_t begin, bytes;  ///< within all parameters
};

struct Kernel {
  std::string symbol;  ///< as in the text
  std::string name;    ///< demangled, without namespaces, return type and parameters
  std::vector<Instruction> code;
  std::vector<Register> initial;                  ///< of each thread, with the constants
  std::vector<std::pair<int, Special>> specials;  ///< and what overwrites them
  std::vector<Parameter> parameters;
  std::size_t shared_bytes = 0, local_bytes = 0;  ///< declared in the text
};

struct Program {
  std::string file;  ///< what reports call the text
  std::vector<Kernel> kernels;
};

/// A statement or the head of a block, without comments.
struct Statement {
  std::string text;
  int line = 0;
  char end = 0;  ///< ; or : (of a label) or { (the head of a block) or }
};
std::vector<Statement> split_statements(const std::string& text);

/// A variable of the text: parameters, shared and local memory have addresses of their own.
struct Variable {
  std::string name;
  std::size_t bytes = 0, alignment = 1;
  bool is_unsized = false;  ///< dynamic shared memory
};
/// The variable that a declaration such as `.shared .align 8 .b8 name[32]` declares.
Variable read_variable(const std::string& declaration);

/// @param at  the head of a kernel, followed by its body; afterwards the end of the body
/// @param shared  the shared variables of the module
/// @throws IoError with the line of an unknown instruction or operand
Kernel parse_kernel(const std::vector<Statement>& statements, std::size_t& at, const std::string& file,
                    const std::vector<Variable>& shared);

/// @throws IoError with the line of what is not known
Program parse_program(const std::string& text, const std::string& file);

std::string trimmed(const std::string& text);
/// The parts between separators that do not lie in braces or brackets, trimmed.
std::vector<std::string> split_list(const std::string& text, char separator);

}  // namespace palmette::emulate::ptx
