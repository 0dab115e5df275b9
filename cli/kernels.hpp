// The option --kernels: which of the libraries built for several levels of the processor the command runs.
#pragma once

#include "cli/options.hpp"

namespace palmette::cli {

struct KernelChoice {
  std::string wanted;           ///< a name as in InstructionSet; empty: what the dynamic linker chose
  bool has_begun_anew = false;  ///< this process was begun for the choice
};

void add_kernels(CLI::App& root, KernelChoice& choice);

/// Returns if the wanted kernels run; otherwise replaces this process by one that has the dynamic linker
/// choose them. The rest of the command line stays as it is.
/// @throws UsageError if this installation or this processor does not have them
void take_kernels(const KernelChoice& choice, int argc, char** argv);

}  // namespace palmette::cli
