// From statements to kernels: names become registers, constants and targets; instructions are looked up.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "palmette/base/base.hpp"
#include "palmette/device/ptx/ptx_program.hpp"

namespace palmette::emulate::ptx {
namespace {

const std::map<std::string, Special> special_registers = {{"%tid.x", Special::thread},
                                                          {"%tid.y", Special::zero},
                                                          {"%tid.z", Special::zero},
                                                          {"%ntid.x", Special::threads},
                                                          {"%ntid.y", Special::one},
                                                          {"%ntid.z", Special::one},
                                                          {"%ctaid.x", Special::block},
                                                          {"%ctaid.y", Special::zero},
                                                          {"%ctaid.z", Special::zero},
                                                          {"%nctaid.x", Special::blocks},
                                                          {"%nctaid.y", Special::one},
                                                          {"%nctaid.z", Special::one},
                                                          {"%laneid", Special::lane},
                                                          {"%warpid", Special::warp},
                                                          {"%lanemask_lt", Special::lanes_below},
                                                          {"%lanemask_gt", Special::lanes_above}};

/// Space of one kind, variable after variable.
std::size_t place_variable(std::size_t& bytes, const Variable& variable) {
  const std::size_t begin = (bytes + variable.alignment - 1) / variable.alignment * variable.alignment;
  bytes = begin + variable.bytes;
  return begin;
}

/// What the names in a kernel stand for: indices into the registers of a thread.
class Names {
 public:
  explicit Names(Kernel& kernel) : kernel_(kernel) { add_register(0); }  // 0: whatever nobody reads

  /// Declares `.reg .b32 name` or `.reg .b64 %rd<8>`: %rd0 … %rd7.
  void declare_registers(const std::string& list) {
    for (const std::string& one : split_list(list, ',')) {
      const auto count = one.find('<');
      if (count == std::string::npos)
        add_name(one);
      else
        for (int k = 0; k < std::stoi(one.substr(count + 1)); ++k)
          add_name(one.substr(0, count) + std::to_string(k));
    }
  }
  void declare_address(const std::string& name, std::size_t address) { addresses_[name] = address; }

  /// @returns the register of a name or constant; −1 if it is neither
  int find(const std::string& text) {
    if (text == "_") return 0;
    if (const auto found = registers_.find(text); found != registers_.end()) return found->second;
    if (const auto found = special_registers.find(text); found != special_registers.end())
      return special(text, found->second);
    if (const auto found = addresses_.find(text); found != addresses_.end()) return constant(found->second);
    return number(text);
  }
  int constant(Register bits) {
    const auto [entry, is_new] = constants_.try_emplace(bits, 0);
    if (is_new) entry->second = add_register(bits);
    return entry->second;
  }

 private:
  static constexpr Register unset = 0xdeadbeefdeadbeef;  // so that whoever reads it is found out

  int add_register(Register initial) {
    kernel_.initial.push_back(initial);
    return static_cast<int>(kernel_.initial.size()) - 1;
  }
  void add_name(const std::string& name) {
    if (registers_.count(name) == 0) registers_[name] = add_register(unset);
  }
  int special(const std::string& name, Special kind) {
    kernel_.specials.emplace_back(add_register(unset), kind);
    return registers_[name] = kernel_.specials.back().first;
  }
  /// Integers, and the bits of a floating-point number as 0f… or 0d… .
  int number(const std::string& text) {
    const bool is_real = text.rfind("0f", 0) == 0 || text.rfind("0d", 0) == 0;
    char* end = nullptr;
    const char* const begin = text.c_str() + (is_real ? 2 : 0);
    const Register bits = text[0] == '-' ? static_cast<Register>(std::strtoll(begin, &end, 0))
                                         : std::strtoull(begin, &end, is_real ? 16 : 0);
    return end == begin || *end != 0 ? -1 : constant(bits);
  }

  Kernel& kernel_;
  std::map<std::string, int> registers_;
  std::map<std::string, std::size_t> addresses_;
  std::map<Register, int> constants_;
};

/// One kernel, from its head to its last instruction.
class KernelParser {
 public:
  KernelParser(Kernel& kernel, const std::string& file) : kernel_(kernel), file_(file), names_(kernel) {}

  void declare_parameters(const std::string& list) {
    std::size_t bytes = 0;
    for (const std::string& one : split_list(list, ',')) {
      const Variable variable = read_variable(one);
      const std::size_t begin = place_variable(bytes, variable);
      names_.declare_address(variable.name, begin);
      kernel_.parameters.push_back({begin, variable.bytes});
    }
  }

  /// Dynamic shared memory lies behind what is declared.
  void declare_shared(std::vector<Variable> variables) {
    std::stable_sort(variables.begin(), variables.end(),
                     [](const Variable& a, const Variable& b) { return a.is_unsized < b.is_unsized; });
    for (const Variable& variable : variables)
      names_.declare_address(variable.name, place_variable(kernel_.shared_bytes, variable));
  }

  void declare(const Statement& statement) {
    const std::string& text = statement.text;
    const auto begins_with = [&](const char* word) { return text.rfind(word, 0) == 0; };
    if (begins_with(".reg")) {
      const std::string rest = trimmed(text.substr(4));
      names_.declare_registers(rest.substr(std::min(rest.find_first_of(" \t"), rest.size())));
    } else if (begins_with(".local")) {
      const Variable variable = read_variable(text);
      names_.declare_address(variable.name, place_variable(kernel_.local_bytes, variable));
    } else if (begins_with(".param")) {
      declare_of_call(read_variable(text).name);
    } else if (!begins_with(".shared") && !begins_with(".pragma") && !begins_with(".loc")) {
      fail(statement, "unknown directive");
    }
  }

  void add_label(const Statement& statement) {
    labels_[statement.text] = static_cast<int>(kernel_.code.size());
  }

  void add_instruction(const Statement& statement) {
    Instruction i;
    i.line = statement.line;
    std::string text = statement.text;
    if (text[0] == '@') text = take_predicate(statement, i);
    const auto space = std::min(text.find_first_of(" \t"), text.size());
    std::string name = text.substr(0, space);
    std::vector<std::string> operands = split_list(text.substr(space), ',');
    if (name == "call" || name == "call.uni")
      flatten_call(name, operands);
    else
      read_of_call(name, operands);
    if (!instruction_set().knows(name)) fail(statement, "unknown instruction " + name);
    Shape shape;
    for (const std::string& operand : operands) add_operand(statement, operand, shape, i);
    i.execute = instruction_set().find(name, shape.letters);
    if (i.execute == nullptr) fail(statement, "operands of " + name + " of the kinds " + shape.letters);
    kernel_.code.push_back(i);
  }

  void finish(const Statement& last) {
    for (const auto& [code, label] : branches_) {
      const auto found = labels_.find(label);
      const int line = kernel_.code[code].line;
      if (found == labels_.end()) fail({"bra " + label, line, ';'}, "unknown label " + label);
      kernel_.code[code].target = found->second;
    }
    add_instruction({"ret", last.line, ';'});  // so that no thread runs beyond the last instruction
  }

  [[noreturn]] void fail(const Statement& statement, const std::string& what) const {
    throw IoError(file_, statement.line,
                  what + " in \"" + statement.text + "\", which the interpreter of PTX does not know");
  }

 private:
  /// Letters of the operands so far (see InstructionSet), and how many registers they take.
  struct Shape {
    std::string letters;
    int count = 0;
  };

  // Calls: what a function is given and returns stands in variables of the space of parameters. Here they are
  // registers, and the loads and stores of them are moves.

  void declare_of_call(const std::string& name) {
    names_.declare_registers(name);
    of_calls_.insert("[" + name + "+0]");
  }
  /// `(returned), function, (arguments)`, the first and the last of which may be missing.
  static void flatten_call(std::string& name, std::vector<std::string>& operands) {
    std::vector<std::string> flat;
    for (const std::string& operand : operands) {
      if (operand[0] != '(') {
        name = "call " + operand;
        continue;
      }
      const std::vector<std::string> list = split_list(operand.substr(1, operand.size() - 2), ',');
      flat.insert(flat.end(), list.begin(), list.end());
    }
    operands = std::move(flat);
  }
  void read_of_call(std::string& name, std::vector<std::string>& operands) const {
    for (std::string& operand : operands) {
      if (of_calls_.count(operand) == 0) continue;
      operand = operand.substr(1, operand.size() - 4);
      name = "mov.b64";
    }
  }

  std::string take_predicate(const Statement& statement, Instruction& i) {
    const auto space = std::min(statement.text.find_first_of(" \t"), statement.text.size());
    i.is_negated = statement.text[1] == '!';
    i.predicate =
        register_of(statement, statement.text.substr(i.is_negated ? 2 : 1, space - (i.is_negated ? 2 : 1)));
    return trimmed(statement.text.substr(space));
  }

  int register_of(const Statement& statement, const std::string& name) {
    const int found = names_.find(trimmed(name));
    if (found < 0) fail(statement, "unknown operand " + name);
    return found;
  }

  void add_register(const Statement& statement, const std::string& name, Shape& shape, Instruction& i) {
    if (shape.count == Instruction::most_operands) fail(statement, "too many operands");
    i.operand[shape.count++] = register_of(statement, name);
  }

  void add_operand(const Statement& statement, const std::string& text, Shape& shape, Instruction& i) {
    const auto add_all = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) add_register(statement, name, shape, i);
      return names.size();
    };
    if (text[0] == '{') {
      shape.letters += std::to_string(add_all(split_list(text.substr(1, text.size() - 2), ',')));
    } else if (text[0] == '[') {
      add_address(statement, text.substr(1, text.size() - 2), shape, i);
    } else if (text[0] == '$') {
      shape.letters += 'l';
      branches_.emplace_back(kernel_.code.size(), text);
    } else if (text.find('|') != std::string::npos) {
      add_all(split_list(text, '|'));
      shape.letters += 'p';
    } else {
      add_register(statement, text, shape, i);
      shape.letters += 'r';
    }
  }

  /// A name with an offset.
  void add_address(const Statement& statement, const std::string& text, Shape& shape, Instruction& i) {
    const auto plus = std::min(text.find('+'), text.size());
    add_register(statement, text.substr(0, plus), shape, i);
    if (plus < text.size()) i.offset = std::strtoll(text.c_str() + plus + 1, nullptr, 0);
    shape.letters += 'm';
  }

  Kernel& kernel_;
  const std::string& file_;
  Names names_;
  std::set<std::string> of_calls_;  // as operands: in brackets, with the offset that nvcc writes
  std::map<std::string, int> labels_;
  std::vector<std::pair<std::size_t, std::string>> branches_;
};

/// The statements of a body, without the braces of its blocks. @param at  its head; then its last brace
std::vector<Statement> take_body(const std::vector<Statement>& statements, std::size_t& at) {
  std::vector<Statement> body;
  int depth = 1;
  while (depth > 0 && ++at < statements.size()) {
    const Statement& one = statements[at];
    depth += one.end == '{' ? 1 : one.end == '}' ? -1 : 0;
    if (!one.text.empty()) body.push_back(one);
  }
  return body;
}

bool is_directive(const Statement& statement) {
  return statement.text[0] == '.';
}

}  // namespace

Kernel parse_kernel(const std::vector<Statement>& statements, std::size_t& at, const std::string& file,
                    const std::vector<Variable>& shared) {
  Kernel kernel;
  const std::string& head = statements[at].text;
  const auto entry = head.find(".entry"), open = head.find('(');
  kernel.symbol = trimmed(head.substr(entry + 6, open - entry - 6));
  KernelParser parser(kernel, file);
  if (open != std::string::npos) parser.declare_parameters(head.substr(open + 1, head.rfind(')') - open - 1));
  const std::vector<Statement> body = take_body(statements, at);
  std::vector<Variable> variables = shared;
  for (const Statement& one : body)
    if (one.text.rfind(".shared", 0) == 0) variables.push_back(read_variable(one.text));
  parser.declare_shared(variables);
  for (const Statement& one : body)
    if (one.end == ':')
      parser.add_label(one);
    else if (is_directive(one))
      parser.declare(one);
    else
      parser.add_instruction(one);
  parser.finish(statements[std::min(at, statements.size() - 1)]);
  return kernel;
}

}  // namespace palmette::emulate::ptx
