// Where the tests find what nvcc made of the kernels.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "palmette/device/device.hpp"

/// In a test: skips it, and says why, if there was no nvcc when the tests were built.
#define PALMETTE_NEEDS_NVCC()                       \
  if (std::string(PALMETTE_KERNELS_FOLDER).empty()) \
  GTEST_SKIP() << "no nvcc was found when the tests were built (PALMETTE_CUDA, PALMETTE_NVCC)"

namespace palmette::sweeps {

/// Those whose PTX tests run. Where nvcc made that of one alone, the other's has the same instructions.
inline const std::vector<int> run_architectures =
    PALMETTE_PTX_OF_EACH ? std::vector<int>{80, 90} : std::vector<int>{80};

/// @param kind  ptx, log (of ptxas) or sass
inline std::string compiled_path(const std::string& name, int architecture, const std::string& kind) {
  return std::string(PALMETTE_KERNELS_FOLDER) + "/" + name + "_sm_" + std::to_string(architecture) + "." +
         kind;
}
/// Read once.
inline const emulate::PtxModule& compiled_module(const std::string& name, int architecture) {
  static std::map<std::string, emulate::PtxModule> modules;
  const std::string path = compiled_path(name, architecture, "ptx");
  auto found = modules.find(path);
  if (found == modules.end()) found = modules.emplace(path, emulate::PtxModule::read(path)).first;
  return found->second;
}
inline std::string compiled_text(const std::string& name, int architecture, const std::string& kind) {
  std::ifstream in(compiled_path(name, architecture, kind));
  EXPECT_TRUE(in.good()) << compiled_path(name, architecture, kind);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

/// As PtxModule::kernel_names() has it.
inline std::string kernel_name(const device::KernelCall& call) {
  static const char* const kernels[] = {
      "tree_forward",    "tree_backward",    "level_forward", "level_backward",
      "columns_forward", "columns_backward", "rows"};
  static const char* const scalars[] = {"float", "double", "Complex<float>", "Complex<double>"};
  return std::string(kernels[static_cast<int>(call.kernel)]) + "_kernel<" +
         scalars[static_cast<int>(call.scalar)] + ", " + std::to_string(call.rhs_at_once) +
         (call.kernel == device::Kernel::tree_forward ? ", (Fault)0>" : ">");
}

/// The launch of a kernel with an argument: as g++ compiled it, or of a module.
struct Build {
  const emulate::PtxModule* module = nullptr;  ///< null: g++

  template <class Argument>
  emulate::Launch launch_of(const device::KernelCall& call, const device::LaunchShape& shape) const {
    emulate::Launch native = device::emulated_launch(call, shape);
    if (module == nullptr) return native;
    const auto& argument = *static_cast<const Argument*>(call.argument);
    return emulate::launch(*module, kernel_name(call), emulate::ptx_arguments(argument),
                           {0, native.blocks, native.threads, native.shared_bytes});
  }
};

}  // namespace palmette::sweeps
