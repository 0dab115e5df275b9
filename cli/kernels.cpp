// The option --kernels: runs the command anew through the dynamic linker, which is told what it may choose.
#include "cli/kernels.hpp"

#include <climits>
#include <vector>

#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <fmt/format.h>

#include "palmette/blocks/instruction_set.hpp"

namespace palmette::cli {
namespace {

/// The path of the dynamic linker, as this program names it; empty if it is linked statically.
std::string dynamic_linker() {
  std::string path;
  const auto take_first = [](dl_phdr_info* program, std::size_t, void* result) {
    for (int part = 0; part < program->dlpi_phnum; ++part)
      if (program->dlpi_phdr[part].p_type == PT_INTERP)
        *static_cast<std::string*>(result) =
            reinterpret_cast<const char*>(program->dlpi_addr + program->dlpi_phdr[part].p_vaddr);
    return 1;  // the program comes first
  };
  dl_iterate_phdr(take_first, &path);
  return path;
}

std::string path_of_this_program() {
  std::vector<char> path(PATH_MAX);
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

}  // namespace

void add_kernels(CLI::App& root, KernelChoice& choice) {
  root.add_option("--kernels", choice.wanted,
                  "kernels for x86-64, x86-64-v3 (AVX2) or x86-64-v4 (AVX-512), where the\n"
                  "library was built for all of them; by default the last that runs here")
      ->type_name("LEVEL");
  root.add_flag("--kernels-chosen", choice.has_begun_anew)->group("");
}

void take_kernels(const KernelChoice& choice, int argc, char** argv) {
  if (choice.wanted.empty() || choice.wanted == instruction_set().name) return;
  const std::string linker = dynamic_linker(), program = path_of_this_program();
  if (!choice.has_begun_anew && !linker.empty() && !program.empty()) {
    std::vector<const char*> arguments = {
        linker.c_str(), "--glibc-hwcaps-mask", choice.wanted.c_str(), "--argv0",
        argv[0],        program.c_str(),       "--kernels-chosen"};
    arguments.insert(arguments.end(), argv + 1, argv + argc);
    arguments.push_back(nullptr);
    ::execv(linker.c_str(), const_cast<char* const*>(arguments.data()));
  }
  throw UsageError(
      fmt::format("--kernels {}: this installation has no such kernels for this processor; "
                  "without the option it runs those for {}",
                  choice.wanted, instruction_set().name));
}

}  // namespace palmette::cli
