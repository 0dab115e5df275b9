// One of the matrices of a handle: its analysis, its factor, and solves with it.
#pragma once

#include <memory>
#include <string>

#include "palmette/pardiso/settings.hpp"

namespace palmette::pardiso {

/// What the phases leave behind for the messages of a call.
struct Facts {
  std::string ordering;
  bool analyzed_again = false;  ///< with matching and scaling, because pivots had been replaced
  double seconds = 0;
  double backward_error = 0;
};

/// A system of one scalar type. Its functions write the results of their phase into call.iparm and Facts.
class System {
 public:
  virtual ~System() = default;
  /// Phase 11. @throws Refusal
  virtual void analyze(Call& call, const Settings& settings, ThreadTeam& team) = 0;
  /// Phase 22. @throws Refusal
  virtual void factorize(Call& call, const Settings& settings, ThreadTeam& team) = 0;
  /// Phases 33, 331, 332 and 333. @throws Refusal
  virtual void solve(Call& call, const Settings& settings, ThreadTeam& team) = 0;
  /// Phase 0: forget the factor, keep the analysis.
  virtual void release_factor() = 0;
  /// Another system with the analysis of this one.
  virtual std::unique_ptr<System> sibling() const = 0;
  const Facts& facts() const { return facts_; }

 protected:
  Facts facts_;
};

std::unique_ptr<System> make_system(const Settings& settings);

}  // namespace palmette::pardiso
