// How kernels wait: a flag is polled by relaxed loads, and acquired once, when it is set. An acquire empties
// the level-1 cache of a multiprocessor, so one in each turn of a loop would take the panels away from
// others.
#include <gtest/gtest.h>

#include "tests/device/compiled_kernels.hpp"
#include "tests/device/kernel_list.hpp"
#include "tests/device/random_sweeps.hpp"

namespace palmette::sweeps {
namespace {

/// Flags that the threads of a kernel wait for together.
std::uint64_t waits_of(const Problem& p, Kernel kernel) {
  std::uint64_t waits = 0;
  for (int s = 0; s < p.count(); ++s) {
    std::uint64_t of_task = 0;
    if (kernel == Kernel::tree_forward)
      for (const int child : p.children[s]) of_task += static_cast<std::uint64_t>(parts_of(p, child));
    if (kernel == Kernel::tree_backward && p.parent[s] >= 0)
      of_task = static_cast<std::uint64_t>(parts_of(p, p.parent[s]));
    waits += of_task * static_cast<std::uint64_t>(parts_of(p, s));
  }
  return waits;
}

void expect_one_acquire_of_each_flag(const Build& build) {
  const Problem p = with_small(make_problem(24, 12, 6, 3), 10);
  const TaskList tasks = tasks_of(p);
  for (const Kernel kernel : {Kernel::tree_forward, Kernel::tree_backward})
    for (int seed = 1; seed <= 4; ++seed) {
      reset_memory(1);
      TriangleSweep<double> sweep = random_sweep<double>(p, 1);
      sweep.at.order = upload(kernel == Kernel::tree_forward ? tasks.forward : tasks.backward);
      const KernelCall call{kernel, ScalarType::float64, 1, &sweep};
      const int shared =
          std::max(shared_bytes_of_sweep<double>(sweep.at.widest, 2), shared_bytes_of_small<double, 1>);
      const Report report =
          run({build.launch_of<TriangleSweep<double>>(call, {6, 64, shared})}, options_of(seed, 4));
      ASSERT_TRUE(report.ok()) << report.errors.front();
      EXPECT_EQ(report.acquires, waits_of(p, kernel)) << "seed " << seed;
    }
  const SparseTriangle triangle = make_triangle(150, 3);
  std::uint64_t entries = 0;
  for (const auto& column : triangle.below) entries += column.size();
  reset_memory(1);
  const RowSweep<double> rows = random_rows<double>(triangle, 4);
  const KernelCall call{Kernel::rows, ScalarType::float64, 4, &rows};
  const Report report = run({build.launch_of<RowSweep<double>>(call, {4, 64})}, options_of(2, 3));
  ASSERT_TRUE(report.ok()) << report.errors.front();
  EXPECT_EQ(report.acquires, entries);
}

TEST(Waits, acquire_each_flag_once) {
  expect_one_acquire_of_each_flag(Build{});
}

TEST(Waits, acquire_each_flag_once_as_compiled_by_nvcc) {
  PALMETTE_NEEDS_NVCC();
  for (const int architecture : run_architectures)
    expect_one_acquire_of_each_flag(Build{&compiled_module("kernels", architecture)});
}

}  // namespace
}  // namespace palmette::sweeps
