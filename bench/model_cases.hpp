// What the benchmarks of generated problems share: their options and the frame of their JSON.
//   --repeats N   --threads N   --num-rhs N or N-M …   --json FILE   problem:n[:kind] …
#pragma once

#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "palmette/base/base.hpp"

namespace palmette::bench {

struct Case {
  std::string problem;
  index_t n = 0;
  std::string kind;
};

struct Options {
  int repeats = 3;
  int threads = 2;
  std::string json;
  std::vector<index_t> num_rhs;
  std::vector<Case> cases;
};

inline Case parse_case(const std::string& text) {
  std::istringstream in(text);
  std::string problem, n, kind;
  std::getline(in, problem, ':');
  std::getline(in, n, ':');
  std::getline(in, kind, ':');
  if (n.empty() || n.find_first_not_of("0123456789") != std::string::npos)
    throw UsageError("'" + text + "' is no case: problem:n or problem:n:kind is");
  return {problem, static_cast<index_t>(std::stoi(n)), kind.empty() ? "llt" : kind};
}

/// "50", or "1-64" for each count from 1 to 64.
inline void add_counts(const std::string& text, std::vector<index_t>& counts) {
  const std::size_t dash = text.find('-');
  const index_t first = std::stoi(text),
                last = dash == std::string::npos ? first : std::stoi(text.substr(dash + 1));
  for (index_t count = first; count <= last; ++count) counts.push_back(count);
}

/// `options` holds the defaults; its cases and right-hand sides stay if none are given.
inline Options parse(int argc, char** argv, Options options) {
  std::vector<index_t> num_rhs;
  std::vector<Case> cases;
  for (int at = 1; at < argc; ++at) {
    const bool more = at + 1 < argc;
    if (std::strcmp(argv[at], "--repeats") == 0 && more) options.repeats = std::stoi(argv[++at]);
    else if (std::strcmp(argv[at], "--threads") == 0 && more) options.threads = std::stoi(argv[++at]);
    else if (std::strcmp(argv[at], "--num-rhs") == 0 && more) add_counts(argv[++at], num_rhs);
    else if (std::strcmp(argv[at], "--json") == 0 && more) options.json = argv[++at];
    else cases.push_back(parse_case(argv[at]));
  }
  if (!num_rhs.empty()) options.num_rhs = num_rhs;
  if (!cases.empty()) options.cases = cases;
  return options;
}

/// @param yardsticks  JSON members measured in the same run: "\"dgemm_gigaflops\":51.2"
inline void write_json(const std::string& path, const std::string& yardsticks,
                       const std::vector<std::string>& rows, char** argv) {
  std::ofstream out(path);
  out << "{\"compiler\":\"" << __VERSION__ << "\"," << yardsticks << ",\"command\":\"";
  for (char** word = argv; *word != nullptr; ++word) out << (word != argv ? " " : "") << *word;
  out << "\",\"rows\":[";
  for (std::size_t at = 0; at < rows.size(); ++at) out << (at > 0 ? ",\n" : "\n") << rows[at];
  out << "\n]}\n";
}

}  // namespace palmette::bench
