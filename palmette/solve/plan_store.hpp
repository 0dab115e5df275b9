// Inside `solve`: memory that plans of one structure leave for the plans after them.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "palmette/solve/core.hpp"
#include "palmette/solve/panel_layout.hpp"

namespace palmette::solve_detail {

/// How a SupernodalTriangle stores a supernode.
enum class PanelForm : char { packed, inverted, guarded };

/// What a SupernodalTriangle computes, with memory that its successor fills again.
template <class T>
struct TriangleMemory {
  PanelArray<T> values;
  PanelLayout layout;
  std::vector<PanelForm> form;
  std::vector<char> has_places;
};

template <class T>
using TriangleStore = Spare<TriangleMemory<T>>;

/// Workspaces of solves that are not running.
template <class T>
class WorkspacePool {
 public:
  /// @returns null if there is none
  std::unique_ptr<SolveWorkspace<T>> take() {
    const BriefLock lock(this);
    if (free_.empty()) return nullptr;
    auto workspace = std::move(free_.back());
    free_.pop_back();
    return workspace;
  }
  void give_back(std::unique_ptr<SolveWorkspace<T>> workspace) {
    const BriefLock lock(this);
    free_.push_back(std::move(workspace));
  }

 private:
  std::vector<std::unique_ptr<SolveWorkspace<T>>> free_;  // under a brief lock
};

/// What a PlanStore holds: for one structure and one kind of factor.
template <class T>
struct StoredParts {
  std::shared_ptr<const SweepGroups> structure;
  FactorKind kind = FactorKind::llt;
  std::shared_ptr<TriangleStore<T>> lower = std::make_shared<TriangleStore<T>>();
  std::shared_ptr<TriangleStore<T>> upper = std::make_shared<TriangleStore<T>>();
  std::shared_ptr<WorkspacePool<T>> workspaces = std::make_shared<WorkspacePool<T>>();
};

}  // namespace palmette::solve_detail
