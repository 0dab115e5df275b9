// How this command was built.
#pragma once

namespace palmette::cli {

struct BuildFacts {
  const char* type;  // CMake's build type
  bool native;       // whether for the processor of the machine that built it
  const char* blas;
};
extern const BuildFacts build_facts;

}  // namespace palmette::cli
