// Where groups pass on what they subtract from their ancestors: rows are shared, but never while one needs
// them, whatever the order of the tasks.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/solve/generated_groups.hpp"

namespace palmette {
namespace {

using solve_detail::SweepGroups;
using testing::generated_groups;

index_t rows_of(const SweepGroups& groups, index_t group) {
  return static_cast<index_t>(groups.boundary(group).size());
}

/// Tasks that begin and end in any order that the tree allows, many of them at a time. Each row that is
/// passed on bears the number of its group from its beginning on, and must bear it at its end and when its
/// parent begins.
class TasksInAnyOrder {
 public:
  TasksInAnyOrder(const SweepGroups& groups, unsigned seed)
      : groups_(groups), random_(seed), bearer_(groups.total_boundary(), -1), missing_(groups.num_groups()) {
    for (index_t group = 0; group < groups.num_groups(); ++group) {
      missing_[group] = static_cast<index_t>(groups.children(group).size());
      if (missing_[group] == 0) ready_.push_back(group);
    }
  }
  void run() {
    while (!ready_.empty() || !running_.empty()) {
      if (!ready_.empty() && (running_.empty() || random_() % 2 == 0)) begin(taken_from(ready_));
      else end(taken_from(running_));
    }
  }

 private:
  index_t taken_from(std::vector<index_t>& list) {
    std::swap(list[random_() % list.size()], list.back());
    const index_t group = list.back();
    list.pop_back();
    return group;
  }
  void expect_rows_of(index_t group) const {
    const auto first = bearer_.begin() + groups_.boundary_offset(group);
    EXPECT_EQ(std::count(first, first + rows_of(groups_, group), group), rows_of(groups_, group))
        << "group " << group;
  }
  /// The rows of the boundary are cleared before those of children are read, except in place.
  void begin(index_t group) {
    if (groups_.child_in_place(group) == -1) mark(group);
    for (const index_t child : groups_.children(group)) expect_rows_of(child);
    mark(group);
    running_.push_back(group);
  }
  void mark(index_t group) {
    std::fill_n(bearer_.begin() + groups_.boundary_offset(group), rows_of(groups_, group), group);
  }
  void end(index_t group) {
    expect_rows_of(group);
    const index_t parent = groups_.partition().parent[group];
    if (parent != -1 && --missing_[parent] == 0) ready_.push_back(parent);
  }

  const SweepGroups& groups_;
  std::mt19937 random_;
  std::vector<index_t> bearer_, missing_, ready_, running_;
};

TEST(SweepGroups, RowsArePassedOnInWhateverOrderTasksRun) {
  for (const auto& [problem, n] : {std::pair{"poisson3d7", 12}, {"thermal2d", 5000}, {"elasticity3d", 5},
                                   {"rmat", 400}, {"road", 60}, {"poisson2d5", 1}})
    for (const double group_bytes : {0.0, 512.0, 4096.0}) {
      SCOPED_TRACE(problem);
      const SweepGroups groups = generated_groups(problem, n, group_bytes);
      for (unsigned seed = 0; seed < 8; ++seed) TasksInAnyOrder(groups, seed).run();
    }
}

TEST(SweepGroups, ChildInPlaceHasTheRowsOfItsParent) {
  const SweepGroups groups = generated_groups("poisson3d7", 14, 2048);
  index_t in_place = 0;
  for (index_t group = 0; group < groups.num_groups(); ++group) {
    const index_t child = groups.child_in_place(group);
    if (child == -1) continue;
    ++in_place;
    EXPECT_EQ(groups.partition().parent[child], group);
    const auto rows = groups.boundary(group), rows_of_child = groups.boundary(child);
    ASSERT_GE(rows_of_child.size(), rows.size());
    EXPECT_TRUE(std::equal(rows.rbegin(), rows.rend(), rows_of_child.rbegin()));
    EXPECT_EQ(groups.boundary_offset(group) + rows_of(groups, group),
              groups.boundary_offset(child) + rows_of(groups, child));
  }
  EXPECT_GT(in_place, groups.num_groups() / 16);
}

TEST(SweepGroups, BoundariesTakeLessThanAllOfThem) {
  const SweepGroups groups = generated_groups("poisson3d7", 14);
  offset_t all = 0;
  for (index_t group = 0; group < groups.num_groups(); ++group) all += rows_of(groups, group);
  EXPECT_LT(3 * groups.total_boundary(), 2 * all);
}

}  // namespace
}  // namespace palmette
