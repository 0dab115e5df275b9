// What ptxas tells of the kernels that it compiles.
#pragma once

#include <regex>
#include <string>

namespace palmette::sweeps {

/// What ptxas reports of a kernel.
struct PtxasFigures {
  int registers = -1, bytes_spilled = -1;
};
inline PtxasFigures ptxas_figures(const std::string& log, const std::string& symbol) {
  const auto begin = log.find("Compiling entry function '" + symbol + "'");
  if (begin == std::string::npos) return {};
  const std::string part = log.substr(begin, log.find("Compiling entry function", begin + 1) - begin);
  const std::regex spills("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads"),
      used("Used ([0-9]+) registers");
  std::smatch found;
  PtxasFigures figures;
  if (std::regex_search(part, found, spills))
    figures.bytes_spilled = std::stoi(found[1]) + std::stoi(found[2]);
  if (std::regex_search(part, found, used)) figures.registers = std::stoi(found[1]);
  return figures;
}

}  // namespace palmette::sweeps
