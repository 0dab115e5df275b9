// What a call with msglvl = 1 prints on the standard output.
#pragma once

#include <string_view>

#include "palmette/pardiso/system.hpp"

namespace palmette::pardiso {

void print_facts(std::string_view phase, const Call& call, const Settings& settings, const Facts& facts);
void print_failure(int code, const char* text);
/// The sizes of a system, for pardiso_printstats.
void print_sizes(std::int64_t mtype, std::int64_t n, std::int64_t nonzeros, std::int64_t nrhs);

}  // namespace palmette::pardiso
