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
        instructions_.push_back(
            {std::stoul(parts[1], nullptr, 16), parts[2].length() > 0, parts[3], parts[4]});
  }

  bool is_empty() const { return instructions_.empty(); }

  int num_wide_loads() const {
    return static_cast<int>(std::count_if(instructions_.begin(), instructions_.end(), [](const auto& one) {
      return is_load(one) && one.name.find(".128") != std::string::npos;
    }));
  }

  /// The most loads of global memory that are under way together when a fused multiply-add of floating point
  /// reads what one of them loads. Branches that skip some instructions are taken to fall through.
  int loads_in_flight() const {
    const std::set<unsigned long> heads = loop_heads();
    int most = 0, under_way = 0;
    std::set<std::string> pending;
    const auto restart = [&] {
      pending.clear();
      under_way = 0;
    };
    for (const auto& one : instructions_) {
      if (heads.count(one.address) != 0) restart();
      if (reads_any(one, pending)) {
        const bool multiplies = one.name.rfind("DFMA", 0) == 0 || one.name.rfind("FFMA", 0) == 0;
        if (multiplies) most = std::max(most, under_way);
        restart();
      }
      if (is_load(one)) {
        for (const std::string& name : destinations(one)) pending.insert(name);
        ++under_way;
      }
      if (is_branch(one) && (!may_fall_through(one) || target_of(one) <= one.address)) restart();
    }
    return most;
  }

 private:
  struct One {
    unsigned long address;
    bool is_guarded;  ///< by a predicate
    std::string name, operands;
  };

  static bool is_load(const One& one) { return one.name.rfind("LDG", 0) == 0; }

  static bool is_branch(const One& one) { return one.name.rfind("BRA", 0) == 0; }

  /// With a predicate before the name or among the operands.
  static bool may_fall_through(const One& one) {
    return one.is_guarded || one.operands.find(',') != std::string::npos;
  }

  /// Of a branch; beyond all instructions if it names none.
  static unsigned long target_of(const One& one) {
    const auto at = one.operands.rfind("0x");
    return at == std::string::npos ? ~0ul : std::stoul(one.operands.substr(at), nullptr, 16);
  }

  /// The first instructions of loops, to which branches go back.
  std::set<unsigned long> loop_heads() const {
    std::set<unsigned long> heads;
    for (const One& one : instructions_)
      if (is_branch(one) && target_of(one) <= one.address) heads.insert(target_of(one));
    return heads;
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
