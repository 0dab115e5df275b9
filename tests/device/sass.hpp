// The machine code that nvcc makes of a kernel, as cuobjdump prints it: which loads wait for which.
#pragma once

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace palmette::sweeps {

/// One kernel's instructions.
class Sass {
 public:
  /// @param text  of a whole module; the kernel is known by its symbol
  Sass(const std::string& text, const std::string& symbol) {
    const auto head = text.find("Function : " + symbol + "\n");
    if (head == std::string::npos) return;
    std::istringstream in(text.substr(head, text.find("Function : ", head + 1) - head));
    const std::regex form(R"(^\s*/\*([0-9a-f]+)\*/\s+(@!?U?P[0-9T]+ )?\s*([A-Z0-9._]+)([^;]*);.*)");
    std::smatch parts;
    for (std::string line; std::getline(in, line);)
      if (std::regex_match(line, parts, form))
        instructions_.push_back({std::stoul(parts[1], nullptr, 16), parts[3], parts[4]});
  }

  bool is_empty() const { return instructions_.empty(); }

  int num_wide_loads() const {
    return static_cast<int>(std::count_if(instructions_.begin(), instructions_.end(), [](const auto& one) {
      return is_load(one) && one.name.find(".128") != std::string::npos;
    }));
  }

  /// The most loads of global memory, in one basic block with a fused multiply-add of floating point, that
  /// are under way together before an instruction reads what one of them loads.
  int loads_in_flight() const {
    const std::set<unsigned long> targets = branch_targets();
    int most = 0, most_of_block = 0;
    bool multiplies = false;
    std::set<std::string> pending;
    std::size_t under_way = 0;
    for (const auto& one : instructions_) {
      if (targets.count(one.address) != 0)
        most_of_block = 0, multiplies = false, pending.clear(), under_way = 0;
      if (reads_any(one, pending)) pending.clear(), under_way = 0;
      if (is_load(one)) {
        for (const std::string& name : destinations(one)) pending.insert(name);
        most_of_block = std::max(most_of_block, static_cast<int>(++under_way));
      }
      multiplies |= one.name.rfind("DFMA", 0) == 0 || one.name.rfind("FFMA", 0) == 0;
      if (multiplies) most = std::max(most, most_of_block);
      if (one.name.rfind("BRA", 0) == 0)
        most_of_block = 0, multiplies = false, pending.clear(), under_way = 0;
    }
    return most;
  }

 private:
  struct One {
    unsigned long address;
    std::string name, operands;
  };

  static bool is_load(const One& one) { return one.name.rfind("LDG", 0) == 0; }

  std::set<unsigned long> branch_targets() const {
    std::set<unsigned long> targets;
    for (const One& one : instructions_)
      if (const auto at = one.operands.rfind("0x"); one.name.rfind("BRA", 0) == 0 && at != std::string::npos)
        targets.insert(std::stoul(one.operands.substr(at), nullptr, 16));
    return targets;
  }

  /// Registers of 32 bits.
  static std::vector<std::string> destinations(const One& one) {
    const int first = std::stoi(one.operands.substr(one.operands.find('R') + 1));
    const int count = one.name.find(".128") != std::string::npos  ? 4
                      : one.name.find(".64") != std::string::npos ? 2
                                                                  : 1;
    std::vector<std::string> names;
    for (int k = 0; k < count; ++k) names.push_back("R" + std::to_string(first + k));
    return names;
  }

  static bool reads_any(const One& one, const std::set<std::string>& pending) {
    static const std::regex name("R[0-9]+");
    for (std::sregex_iterator at(one.operands.begin(), one.operands.end(), name), end; at != end; ++at)
      if (pending.count(at->str()) != 0) return true;
    return false;
  }

  std::vector<One> instructions_;
};

}  // namespace palmette::sweeps
