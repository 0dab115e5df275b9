// Lines of text about one phase, printed with C's functions, so that they mix with the caller's own output.
#include "palmette/pardiso/messages.hpp"

#include <cstdio>

namespace palmette::pardiso {

void print_facts(std::string_view phase, const Call& call, const Settings& settings, const Facts& facts) {
  const auto value = [&](int place) { return static_cast<long long>(call.iparm[place]); };
  std::printf("Palmette %.*s: %.*s of mtype %lld, n = %lld, %.6f s\n", static_cast<int>(version().size()),
              version().data(), static_cast<int>(phase.size()), phase.data(),
              static_cast<long long>(call.mtype), static_cast<long long>(call.n), facts.seconds);
  if (phase == "analysis")
    std::printf("  ordering %s, matching %s, scaling %s; %lld KB, the factor %lld KB\n",
                facts.ordering.c_str(), settings.order.matching ? "yes" : "no",
                settings.order.scaling ? "yes" : "no", value(15), value(16));
  if (phase == "factorization")
    std::printf("  %lld pivots replaced%s\n", value(13),
                facts.analyzed_again ? ", analyzed again with matching and scaling" : "");
  if (phase == "solve" && call.phase < 100)
    std::printf("  %lld right-hand sides, %lld steps of refinement, backward error %.1e\n",
                static_cast<long long>(call.nrhs), value(6), facts.backward_error);
}

void print_failure(int code, const char* text) {
  std::printf("Palmette: error %d: %s\n", code, text);
}

void print_sizes(std::int64_t mtype, std::int64_t n, std::int64_t nonzeros, std::int64_t nrhs) {
  std::printf("Palmette: mtype %lld, %lld rows, %lld entries, %lld right-hand sides\n",
              static_cast<long long>(mtype), static_cast<long long>(n), static_cast<long long>(nonzeros),
              static_cast<long long>(nrhs));
}

}  // namespace palmette::pardiso
