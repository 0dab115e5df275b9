// Kernels as nvcc compiled them, run by the emulator: an interpreter of PTX whose loads, stores, barriers and
// shuffles are the emulator's, so that it finds races, late stores and deadlocks there too.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "palmette/device/emulator.hpp"

namespace palmette::emulate {

namespace ptx {
struct Program;
}

/// A module of PTX.
class PtxModule {
 public:
  /// @param file  what reports and errors call the text
  /// @throws IoError with line and instruction, if the text contains one that the interpreter does not know
  static PtxModule parse(const std::string& text, const std::string& file = "kernels.ptx");
  /// @throws IoError as parse, or if the file cannot be read
  static PtxModule read(const std::string& path);

  /// The names of its kernels as in C++, without namespaces, return type and parameters, such as
  /// "sweep_kernel<double>".
  std::vector<std::string> kernel_names() const;
  /// @returns the symbol of a kernel in the text. @throws UsageError if there is no such kernel
  std::string symbol(const std::string& kernel_name) const;
  const std::shared_ptr<const ptx::Program>& program() const { return program_; }

 private:
  explicit PtxModule(std::shared_ptr<const ptx::Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const ptx::Program> program_;
};

/// The parameters of a kernel, each as its bytes.
using PtxArguments = std::vector<std::vector<unsigned char>>;
template <class... A>
PtxArguments ptx_arguments(const A&... arguments) {
  const auto bytes = [](const auto& one) {
    const auto* const first = reinterpret_cast<const unsigned char*>(&one);
    return std::vector<unsigned char>(first, first + sizeof one);
  };
  return {bytes(arguments)...};
}

struct PtxShape {
  int device = 0;
  int blocks = 1;
  int threads = 32;
  std::size_t dynamic_shared_bytes = 0;
};

/// @param kernel_name  one of kernel_names(), or the symbol in the text
/// @throws UsageError if there is no such kernel, or its parameters are of other number or size
Launch launch(const PtxModule& module, const std::string& kernel_name, const PtxArguments& arguments,
              const PtxShape& shape);

}  // namespace palmette::emulate
