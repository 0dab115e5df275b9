// Modules of PTX, and the loop that executes their instructions.
#include "palmette/device/ptx/ptx_module.hpp"

#include <alloca.h>
#include <cxxabi.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>

#include "palmette/base/base.hpp"
#include "palmette/device/emulator_state.hpp"
#include "palmette/device/ptx/ptx_program.hpp"

namespace palmette::emulate {
namespace ptx {
namespace {

/// Without namespaces, return type and parameters.
std::string readable_name(const std::string& symbol) {
  if (symbol.rfind("_Z", 0) != 0) return symbol;  // of C
  int status = 0;
  char* const text = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
  if (text == nullptr) return symbol;
  std::string name = std::regex_replace(text, std::regex("[A-Za-z_][A-Za-z_0-9]*::"), "");
  std::free(text);
  if (name.rfind("void ", 0) == 0) name = name.substr(5);
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    depth += name[at] == '<' ? 1 : name[at] == '>' ? -1 : 0;
    if (name[at] == '(' && depth == 0) name.resize(at);
  }
  return name;
}

bool is_shared_variable(const Statement& statement) {
  return statement.end == ';' && statement.text.find(".shared") != std::string::npos;
}

}  // namespace

Program parse_program(const std::string& text, const std::string& file) {
  Program program;
  program.file = file;
  const std::vector<Statement> statements = split_statements(text);
  std::vector<Variable> shared;
  int depth = 0;  // of blocks that are not kernels
  for (std::size_t at = 0; at < statements.size(); ++at) {
    const Statement& one = statements[at];
    if (depth == 0 && one.end == '{' && one.text.find(".entry") != std::string::npos) {
      program.kernels.push_back(parse_kernel(statements, at, file, shared));
      program.kernels.back().name = readable_name(program.kernels.back().symbol);
    } else {
      depth += one.end == '{' ? 1 : one.end == '}' ? -1 : 0;
      if (depth == 0 && is_shared_variable(one)) shared.push_back(read_variable(one.text));
    }
  }
  return program;
}

namespace {

/// The registers of the threads of a launch. Those of threads that never end are freed with it.
class RegisterFiles {
 public:
  explicit RegisterFiles(std::size_t size) : size_(size) {}
  Register* take() {
    if (free_.empty()) {
      all_.push_back(std::make_unique<Register[]>(size_));
      return all_.back().get();
    }
    Register* const file = free_.back();
    free_.pop_back();
    return file;
  }
  void put_back(Register* file) { free_.push_back(file); }

 private:
  std::size_t size_;
  std::vector<std::unique_ptr<Register[]>> all_;
  std::vector<Register*> free_;
};

/// Everything that the threads of a launch share.
struct Execution {
  std::shared_ptr<const Program> program;  // which holds the kernel
  const Kernel* kernel;
  std::vector<unsigned char> parameters;
  std::size_t shared_bytes;
  RegisterFiles registers;
};

Register value_of(Special special) {
  switch (special) {
    case Special::zero:
      return 0;
    case Special::one:
      return 1;
    case Special::thread:
      return static_cast<Register>(thread());
    case Special::threads:
      return static_cast<Register>(threads());
    case Special::block:
      return static_cast<Register>(block());
    case Special::blocks:
      return static_cast<Register>(blocks());
    case Special::lane:
      return static_cast<Register>(lane());
    case Special::warp:
      return static_cast<Register>(thread() / 32);
    case Special::lanes_below:
      return (Register{1} << lane()) - 1;
    case Special::lanes_above:
      return 0xfffffffeu << lane();
  }
  return 0;
}

void execute(Thread& thread, const Kernel& kernel) {
  while (thread.next >= 0) {
    const Instruction& i = kernel.code[static_cast<std::size_t>(thread.next++)];
    if (i.predicate >= 0 && ((thread.registers[i.predicate] & 1) != 0) == i.is_negated) continue;
    i.execute(thread, i);
  }
}

/// By one thread. Local memory lies on its stack, where generic stores may write.
void run_thread(Execution& execution) {
  const Kernel& kernel = *execution.kernel;
  Register* const registers = execution.registers.take();
  std::copy(kernel.initial.begin(), kernel.initial.end(), registers);
  for (const auto& [which, special] : kernel.specials) registers[which] = value_of(special);
  constexpr std::uintptr_t alignment = 16;
  void* const space = alloca(kernel.local_bytes + alignment);
  const auto local = (reinterpret_cast<std::uintptr_t>(space) + alignment - 1) / alignment * alignment;
  Thread thread{registers,
                execution.parameters.data(),
                shared_bytes(),
                execution.shared_bytes,
                reinterpret_cast<unsigned char*>(local),
                kernel.local_bytes,
                execution.program->file.c_str(),
                0};
  execute(thread, kernel);
  execution.registers.put_back(registers);
}

const Kernel& find_kernel(const Program& program, const std::string& name) {
  std::string known;
  for (const Kernel& kernel : program.kernels) {
    if (kernel.name == name || kernel.symbol == name) return kernel;
    known += (known.empty() ? "" : ", ") + kernel.name;
  }
  throw UsageError("no kernel " + name + " in " + program.file + ", which has " +
                   (known.empty() ? "none" : known));
}

std::vector<unsigned char> packed(const Kernel& kernel, const PtxArguments& arguments) {
  if (arguments.size() != kernel.parameters.size())
    throw UsageError("kernel " + kernel.name + " has " + std::to_string(kernel.parameters.size()) +
                     " parameters, given are " + std::to_string(arguments.size()));
  std::vector<unsigned char> bytes;
  for (std::size_t k = 0; k < arguments.size(); ++k) {
    const Parameter& parameter = kernel.parameters[k];
    if (arguments[k].size() != parameter.bytes)
      throw UsageError("parameter " + std::to_string(k) + " of kernel " + kernel.name + " has " +
                       std::to_string(parameter.bytes) + " bytes, given are " +
                       std::to_string(arguments[k].size()));
    bytes.resize(parameter.begin);
    bytes.insert(bytes.end(), arguments[k].begin(), arguments[k].end());
  }
  return bytes;
}

/// What reports call a load or store: its line.
std::string site_name(const Program& program, const void* site) {
  return place(
      Where{program.file.c_str(), static_cast<unsigned>(static_cast<const Instruction*>(site)->line)});
}

}  // namespace
}  // namespace ptx

PtxModule PtxModule::parse(const std::string& text, const std::string& file) {
  return PtxModule(std::make_shared<const ptx::Program>(ptx::parse_program(text, file)));
}
PtxModule PtxModule::read(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw IoError(path, 0, "cannot read this module of PTX");
  std::ostringstream text;
  text << in.rdbuf();
  return parse(text.str(), path.substr(path.rfind('/') + 1));
}

std::vector<std::string> PtxModule::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Kernel& kernel : program_->kernels) names.push_back(kernel.name);
  return names;
}

std::string PtxModule::symbol(const std::string& kernel_name) const {
  return ptx::find_kernel(*program_, kernel_name).symbol;
}

Launch launch(const PtxModule& module, const std::string& kernel_name, const PtxArguments& arguments,
              const PtxShape& shape) {
  constexpr std::size_t most_local_bytes = stack_bytes / 2;
  const ptx::Kernel& kernel = ptx::find_kernel(*module.program(), kernel_name);
  if (kernel.local_bytes > most_local_bytes)
    throw UsageError("kernel " + kernel_name + " has " + std::to_string(kernel.local_bytes) +
                     " bytes of local memory; the emulator has room for " + std::to_string(most_local_bytes));
  const std::size_t shared = kernel.shared_bytes + shape.dynamic_shared_bytes;
  auto execution = std::make_shared<ptx::Execution>(
      ptx::Execution{module.program(), &kernel, ptx::packed(kernel, arguments), shared,
                     ptx::RegisterFiles(kernel.initial.size())});
  return {shape.device,
          shape.blocks,
          shape.threads,
          shared,
          [execution] { ptx::run_thread(*execution); },
          [program = module.program()](const void* site) { return ptx::site_name(*program, site); }};
}

}  // namespace palmette::emulate
