// Correct kernels in the emulator: right answers, no report, and the bits that each engine promises.
#include <gtest/gtest.h>

#include "tests/device/random_sweeps.hpp"
#include "tests/seeds.hpp"

namespace palmette::sweeps {
namespace {

std::string said(const Report& report) {
  std::string text;
  for (const auto& error : report.errors) text += error + "\n";
  return text;
}

void expect_right(const Trial& trial, int seed) {
  EXPECT_TRUE(trial.report.ok()) << "seed " << seed << ": " << said(trial.report);
  EXPECT_LT(trial.error, 1e-14) << "seed " << seed;
}

TEST(Emulator, the_tree_kernel_has_one_bit_pattern_for_all_blocks_and_threads) {
  const Problem problem = make_problem(40, 12, 6, 3);
  std::set<std::uint64_t> bits;
  for (int seed = 1; seed <= testing::num_seeds(30); ++seed) {
    const Trial trial =
        try_tree(problem, Fault::none, options_of(seed, 1 + seed % 5), {1 + seed % 7, 32 << (seed % 4)});
    expect_right(trial, seed);
    bits.insert(trial.bits);
  }
  EXPECT_EQ(bits.size(), 1u);
}

TEST(Emulator, tasks_of_warps_leave_one_bit_pattern_for_all_blocks_and_threads) {
  for (const int most_columns : {9, 12}) {  // some of the supernodes, and all
    const Problem problem = with_small(make_problem(60, 12, 6, 3), most_columns);
    const TaskList tasks = tasks_of(problem);
    EXPECT_GT(tasks.num_small, 5);
    EXPECT_EQ(tasks.num_small == tasks.ptr.back(), most_columns == 12);
    std::set<std::uint64_t> bits;
    for (int seed = 1; seed <= testing::num_seeds(30); ++seed) {
      Options how = options_of(seed, 1 + seed % 5);
      how.lanes_in_step = seed % 4 == 0 ? 64 : 0;
      const Trial trial = try_tree(problem, Fault::none, how, {1 + seed % 7, 64 << (seed % 4)});
      expect_right(trial, seed);
      bits.insert(trial.bits);
    }
    EXPECT_EQ(bits.size(), 1u);
  }
}

TEST(Emulator, sums_by_atomic_additions_show_several_bit_patterns) {
  const Problem problem = make_problem(60, 8, 3, 9, 50);
  std::set<std::uint64_t> bits;
  for (int seed = 1; seed <= 100; ++seed) {
    const Trial trial = try_columns(problem, options_of(seed, 8), {8, 32});
    expect_right(trial, seed);
    bits.insert(trial.bits);
  }
  EXPECT_GE(bits.size(), 2u) << "the scheduler does not reorder the additions";
}

TEST(Emulator, wavefronts_of_64_threads_in_step_raise_no_report_and_leave_the_same_bits) {
  const Problem problem = make_problem(40, 12, 6, 3);
  const SparseTriangle triangle = make_triangle(200, 3);
  std::set<std::uint64_t> bits;
  std::set<std::vector<double>> of_rows;
  for (int seed = 1; seed <= testing::num_seeds(30); ++seed) {
    Options how = options_of(seed, 1 + seed % 5);
    how.lanes_in_step = seed % 2 * 64;
    const LaunchShape shape{1 + seed % 7, 64 << seed % 3};
    const Trial tree = try_tree(problem, Fault::none, how, shape);
    expect_right(tree, seed);
    bits.insert(tree.bits);
    expect_right(try_columns(problem, how, shape), seed);
    std::vector<double> x;
    const Report rows = try_rows(triangle, Fault::none, how, shape, &x);
    EXPECT_TRUE(rows.ok()) << "seed " << seed << ": " << rows.errors.front();
    of_rows.insert(x);
  }
  EXPECT_EQ(bits.size(), 1u);
  EXPECT_EQ(of_rows.size(), 1u);
}

/// So many leaves with the same three supernodes above them, each of one task.
Problem many_leaves_under_a_chain(int leaves) {
  Problem p;
  const int count = leaves + 3;
  p.parent.assign(count, -1), p.below.resize(count), p.children.resize(count), p.small.assign(count, 1);
  for (int s = 0; s < count; ++s) {
    p.begin.push_back(s + 1);
    for (int row = std::max(leaves, s + 1); row < count; ++row) p.below[s].push_back(row);
    p.panel.emplace_back(p.panel_rows(s), 1.0);
    if (p.below[s].empty()) continue;
    p.parent[s] = p.below[s].front();
    p.children[p.parent[s]].push_back(s);
  }
  return p;
}

// The block waits for the same three again and again, while nothing else happens.
TEST(Emulator, one_block_may_do_all_tasks_that_wait_for_the_same_supernodes) {
  const Problem problem = many_leaves_under_a_chain(100);
  for (int seed = 1; seed <= 3; ++seed) {
    reset_memory(1);
    TriangleSweep<double> sweep = random_sweep<double>(problem, 1);
    sweep.at.order = upload(tasks_of(problem).backward);
    sweep.at.num_small = 0;
    const KernelCall call{Kernel::columns_backward, ScalarType::float64, 1, &sweep};
    const int shared = shared_bytes_of_sweep<double>(sweep.at.widest, 2);
    const Report report = run({emulated_launch(call, {1, 64, shared})}, options_of(seed, 1));
    EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << said(report);
  }
}

/// Of all loads of 16 bytes, which are those of panels.
template <class T>
Site panel_loads(Kernel kernel, ScalarType scalar) {
  reset_memory(1);
  const Problem p = make_problem(24, 80, 60, 5);
  TriangleSweep<T> sweep = random_sweep<T>(p, 1);
  sweep.at.order = upload(kernel == Kernel::tree_forward ? tasks_of(p).forward : tasks_of(p).backward);
  Options options = options_of(1, 4);
  options.count_sectors = true;
  options.find_races = options.delay_stores = false;
  const KernelCall call{kernel, scalar, 1, &sweep};
  const int shared = shared_bytes_of_sweep<T>(sweep.at.widest, 2);
  const Report report = run({emulated_launch(call, {4, 128, shared})}, options);
  EXPECT_TRUE(report.ok()) << said(report);
  Site panels;
  for (const auto& [place, load] : report.loads) {
    if (load.bytes != 16 * load.accesses) continue;
    panels.bytes += load.bytes;
    panels.requests += load.requests;
    panels.sectors += load.sectors;
  }
  return panels;
}

TEST(Emulator, panel_loads_use_the_sectors_that_they_fetch) {
  // 32 lanes read 16 bytes each that lie together: 16 sectors of 32 bytes, and one more where the last chunk
  // of a panel does not begin with a sector.
  for (const Kernel kernel : {Kernel::tree_forward, Kernel::tree_backward})
    for (const Site& panels : {panel_loads<float>(kernel, ScalarType::float32),
                               panel_loads<double>(kernel, ScalarType::float64),
                               panel_loads<Complex<float>>(kernel, ScalarType::complex64)}) {
      EXPECT_GT(panels.requests, 1000u);
      EXPECT_LE(panels.sectors, 17 * panels.requests);
      EXPECT_GE(static_cast<double>(panels.bytes), 0.99 * 32 * static_cast<double>(panels.sectors));
    }
}

}  // namespace
}  // namespace palmette::sweeps
