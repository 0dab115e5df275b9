// Names of the options of a solve.
#include "palmette/solver/solve_request.hpp"

#include <string>

namespace palmette {

std::string_view name_of(SingularAnswer answer) {
  switch (answer) {
    case SingularAnswer::raise: return "raise";
    case SingularAnswer::warn: return "warn";
    case SingularAnswer::least_norm: return "least_norm";
  }
  return "?";
}

SingularAnswer singular_answer(std::string_view name) {
  for (const SingularAnswer answer :
       {SingularAnswer::raise, SingularAnswer::warn, SingularAnswer::least_norm})
    if (name == name_of(answer)) return answer;
  throw UsageError("unknown treatment of singular systems '" + std::string(name) +
                   "'; use raise, warn or least_norm");
}

}  // namespace palmette
