// Descriptions of clusters: curves, shares of the memory, links, and what is rejected.
#include <gtest/gtest.h>

#include "palmette/machine/machine.hpp"

namespace palmette {
namespace {

Cluster two_per_node() {
  Cluster cluster;
  cluster.name = "test";
  cluster.ranks_per_memory = 2;
  cluster.memory_gbs = {{1, 10}, {2, 16}};
  cluster.kernel_gflops = {{8, 1}, {64, 8}};
  cluster.links = node_links(2, {1, 5, 0.1, 0.1}, {2, 10, 0.5, 0.5});
  return cluster;
}

TEST(rate_at, runs_straight_between_points_and_stays_beyond_them) {
  const RateCurve curve = {{2, 10}, {4, 20}};
  EXPECT_EQ(rate_at(curve, 1), 10);
  EXPECT_EQ(rate_at(curve, 2), 10);
  EXPECT_EQ(rate_at(curve, 3), 15);
  EXPECT_EQ(rate_at(curve, 9), 20);
  EXPECT_EQ(rate_at({}, 1), 0);
}

TEST(cluster, ranks_of_a_node_share_its_memory) {
  Cluster cluster = two_per_node();
  EXPECT_EQ(cluster.rank_memory_gbs(1), 10);
  EXPECT_EQ(cluster.rank_memory_gbs(2), 8);
  EXPECT_EQ(cluster.rank_memory_gbs(64), 8);
  EXPECT_EQ(cluster.rank_read_gbs(2, 1e6), 8);  // no cache known
  cluster.cache_bytes = 1e6;
  cluster.cache_gbs = 40;
  EXPECT_EQ(cluster.rank_read_gbs(2, 1e6), 40);
  // Half from the cache: (1/2)/40 + (1/2)/8 = 0.075 s for each 10⁹ bytes.
  EXPECT_NEAR(cluster.rank_read_gbs(2, 2e6), 1 / 0.075, 1e-9);
}

TEST(cluster, a_solve_reads_more_slowly_than_a_stream_by_what_its_bytes_cost) {
  Cluster cluster = two_per_node();
  EXPECT_EQ(cluster.rank_solve_gbs(2, 1e6), 8);  // nothing known
  cluster.cache_bytes = 1e6;
  cluster.cache_gbs = 40;
  EXPECT_NEAR(cluster.rank_solve_gbs(2, 2e6), cluster.rank_read_gbs(2, 2e6), 1e-9);
  cluster.overheads.byte_ns = 0.01;
  cluster.overheads.memory_byte_ns = 0.02;
  EXPECT_NEAR(cluster.rank_solve_gbs(2, 1e6), 1 / (1 / 40.0 + 0.01), 1e-9);
  // A byte from memory takes one rank alone 0.1 + 0.02 ns, and each of two ranks at least 0.125: half of them
  // from the cache, 0.0125 + 0.0625 + 0.01.
  EXPECT_NEAR(cluster.rank_solve_gbs(2, 2e6), 1 / 0.085, 1e-9);
  EXPECT_NEAR(cluster.rank_solve_gbs(1, 2e6), 1 / 0.0825, 1e-9) << "0.0125 + 0.06 + 0.01";
  cluster.overheads.memory_byte_ns = 0.1;
  EXPECT_NEAR(cluster.rank_solve_gbs(2, 2e6), 1 / 0.1225, 1e-9)
      << "0.0125 + 0.1 + 0.01: slower than the memory would be for each";
  EXPECT_NEAR(cluster.rank_read_gbs(2, 2e6), 1 / 0.075, 1e-9) << "what the memory gives is what it was";
}

TEST(cluster, ranks_that_share_processors_take_turns) {
  Cluster cluster = two_per_node();
  cluster.overheads = {1, 0.5, 10};
  const Cluster shared = with_shared_processors(cluster, 2);
  EXPECT_EQ(shared.ranks_per_memory, 4);
  EXPECT_EQ(shared.links[0].ranks, 4);
  EXPECT_EQ(shared.links[0].link.send_overhead_us, 0.2);
  EXPECT_EQ(shared.rank_memory_gbs(4), cluster.rank_memory_gbs(2) / 2);
  const TaskWork work{8000, 80000, 2, 100, 64};
  EXPECT_NEAR(shared.rank_seconds(work, shared.rank_memory_gbs(4)),
              2 * cluster.rank_seconds(work, cluster.rank_memory_gbs(2)), 1e-12);
  EXPECT_EQ(shared.links[0].link.latency_us, cluster.links[0].link.latency_us);
  EXPECT_THROW(with_shared_processors(cluster, 0), UsageError);
}

TEST(cluster, neighbours_on_a_node_use_its_own_link) {
  const Cluster cluster = two_per_node();
  EXPECT_EQ(&cluster.link(0, 1), &cluster.links[0].link);
  EXPECT_EQ(&cluster.link(1, 2), &cluster.links[1].link);
  EXPECT_EQ(&cluster.link_among(2), &cluster.links[0].link);
  EXPECT_EQ(&cluster.link_among(3), &cluster.links[1].link);
  EXPECT_NEAR(cluster.links[1].link.seconds(10000), 3e-6, 1e-15);
}

// Three devices of a node in a row: the ends have no link and go another way. The next node is the same.
TEST(cluster, devices_of_a_node_may_be_joined_in_pairs) {
  Cluster cluster = two_per_node();
  const Link near{1, 50, 0.1, 0.1}, far{10, 5, 0.1, 0.1};
  cluster.links[0].ranks = 3;
  cluster.links[0].pairs = {near, near, far, near, near, near, far, near, near};
  EXPECT_NO_THROW(check(cluster));
  for (const index_t node : {0, 1}) {
    EXPECT_EQ(cluster.link(3 * node, 3 * node + 1).bandwidth_gbs, 50);
    EXPECT_EQ(cluster.link(3 * node, 3 * node + 2).bandwidth_gbs, 5);
    EXPECT_EQ(cluster.link(3 * node + 2, 3 * node).latency_us, 10);
  }
  EXPECT_EQ(&cluster.link(2, 3), &cluster.links[1].link);
  const Cluster shared = with_shared_processors(cluster, 2);
  EXPECT_NO_THROW(check(shared));
  EXPECT_EQ(shared.link(0, 5).bandwidth_gbs, 5);
  EXPECT_EQ(shared.link(0, 3).bandwidth_gbs, 50);
  EXPECT_EQ(shared.link(0, 1).bandwidth_gbs, cluster.links[0].link.bandwidth_gbs);
}

// Memory 8 GB/s, 8 kB: 1 µs; 4000 flops at 8 Gflop/s hide behind it; 1 + 2·0.5 µs and 100 rows of 10 ns on
// top.
TEST(cluster, a_task_takes_its_bytes_or_flops_and_its_overheads) {
  Cluster cluster = two_per_node();
  cluster.overheads = {1, 0.5, 10};
  TaskWork work{8000, 4000, 2, 100, 64};
  EXPECT_NEAR(cluster.rank_seconds(work, 8), (1 + 1 + 1 + 64) * 1e-6, 1e-12);
  work.flops = 80000;
  EXPECT_NEAR(cluster.rank_seconds(work, 8), (10 + 1 + 1 + 64) * 1e-6, 1e-12);
  // 20 columns of 5 ns for each of 64 right-hand sides.
  work.columns = 20;
  cluster.overheads.column_ns = 5;
  EXPECT_NEAR(cluster.rank_seconds(work, 8), (10 + 1 + 1 + 64 + 6.4) * 1e-6, 1e-12);
  cluster.rank_overheads = TaskOverheads{2, 0, 0};
  EXPECT_NEAR(cluster.rank_seconds(work, 8), (10 + 2) * 1e-6, 1e-12) << "ranks have their own";
  EXPECT_NEAR(cluster.seconds(work, 8, cluster.overheads), (10 + 1 + 1 + 64 + 6.4) * 1e-6, 1e-12);
}

TEST(cluster, a_rank_that_is_alone_has_more_of_the_cache) {
  Cluster cluster = two_per_node();
  cluster.ranks_per_memory = 8;
  cluster.cache_bytes = 1e6;
  EXPECT_EQ(cluster.rank_cache(1), 1e6) << "nothing is known of it";
  cluster.lone_cache_bytes = 4e6;
  EXPECT_EQ(cluster.rank_cache(1), 4e6);
  EXPECT_EQ(cluster.rank_cache(2), 4e6) << "two caches of 4 MB";
  EXPECT_EQ(cluster.rank_cache(4), 2e6);
  EXPECT_EQ(cluster.rank_cache(8), 1e6);
  EXPECT_EQ(cluster.rank_cache(64), 1e6) << "others are on other nodes";
}

TEST(cluster, what_cannot_be_computed_with_is_refused_with_its_field) {
  const auto refused = [](auto&& change, const std::string& field) {
    Cluster cluster = two_per_node();
    change(cluster);
    try {
      check(cluster);
      ADD_FAILURE() << field;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(field), std::string::npos) << error.what();
    }
  };
  EXPECT_NO_THROW(check(two_per_node()));
  refused([](Cluster& one) { one.ranks_per_memory = 0; }, "ranks_per_memory is 0");
  refused([](Cluster& one) { one.workers = 0; }, "workers is 0");
  refused([](Cluster& one) { one.worker_gbs = -1; }, "worker_gbs is -1");
  refused([](Cluster& one) { one.launch_us = -1; }, "launch_us is -1");
  refused([](Cluster& one) { one.launch_tasks = -1; }, "launch_tasks is -1");
  refused([](Cluster& one) { one.links.clear(); }, "links is empty");
  refused([](Cluster& one) { one.links[0].ranks = 0; }, "links[0].ranks is 0");
  refused([](Cluster& one) { one.links[1].ranks = 8; }, "links[1].ranks is 8");
  refused([](Cluster& one) { one.links.insert(one.links.begin() + 1, {"rack", 3, {1, 1, 0, 0}, 0}); },
          "links[1].ranks is 3");
  refused([](Cluster& one) { one.links[1].injection_gbs = 5; }, "links[1].injection_gbs is 5");
  refused([](Cluster& one) { one.links[0].pairs.resize(3); }, "links[0].pairs is 3");
  refused([](Cluster& one) { one.links[0].pairs.resize(4); }, "links[0].pairs.bandwidth_gbs is 0");
  refused([](Cluster& one) { one.links[1].pairs.resize(4); }, "links[1].pairs is 4");
  refused([](Cluster& one) { one.memory_gbs.clear(); }, "memory_gbs has no points");
  refused([](Cluster& one) { one.memory_gbs = {{2, 5}, {1, 5}}; }, "memory_gbs");
  refused([](Cluster& one) { one.kernel_gflops = {{1, 0}}; }, "kernel_gflops is 0");
  refused([](Cluster& one) { one.links[1].link.bandwidth_gbs = 0; }, "links[1].bandwidth_gbs is 0");
  refused([](Cluster& one) { one.links[0].link.latency_us = -1; }, "links[0].latency_us is -1");
  refused([](Cluster& one) { one.links[0].injection_gbs = std::numeric_limits<double>::infinity(); },
          "links[0].injection_gbs");
}

}  // namespace
}  // namespace palmette
