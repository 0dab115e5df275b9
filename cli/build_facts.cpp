// Alone in a file, since a file with definitions of its own is not compiled together with others.
#include "cli/build_facts.hpp"

namespace palmette::cli {

const BuildFacts build_facts = {PALMETTE_BUILD_TYPE, PALMETTE_NATIVE_BUILD, PALMETTE_BLAS_NAME};

}  // namespace palmette::cli
