// The form of a measured description; its figures depend on the state of the machine.
#include <gtest/gtest.h>

#include "palmette/solver/measure_cluster.hpp"

namespace palmette {
namespace {

MeasuredCluster quickly(int threads) {
  ClusterMeasurement options;
  options.threads = threads;
  options.quick = true;
  return measure_cluster(options);
}

TEST(measure_cluster, one_thread_has_the_whole_cache_that_solves_can_use) {
  const MeasuredCluster found = quickly(1);
  EXPECT_NO_THROW(check(found.cluster));
  EXPECT_EQ(found.cluster.ranks_per_memory, 1);
  EXPECT_EQ(found.cluster.cache_bytes, found.cluster.lone_cache_bytes);
  EXPECT_EQ(found.cluster.overheads.handoff_us, 0) << "there is no other thread";
  EXPECT_EQ(found.solves.size(), 6u) << "three problems, by an engine and by a rank";
  for (const FittedSolve& one : found.solves) EXPECT_GT(one.measured_seconds, 0) << one.problem;
}

TEST(measure_cluster, several_threads_share_what_is_there) {
  const MeasuredCluster found = quickly(2);
  const Cluster& cluster = found.cluster;
  EXPECT_NO_THROW(check(cluster));
  ASSERT_EQ(cluster.memory_gbs.size(), 2u);
  EXPECT_GE(cluster.memory_gbs[0].rate, cluster.memory_gbs[1].rate / 2)
      << "one reader gets at least what each of two does";
  EXPECT_LE(cluster.cache_bytes, cluster.lone_cache_bytes);
  EXPECT_GE(2 * cluster.cache_bytes, cluster.lone_cache_bytes * (1 - 1e-12));
  EXPECT_TRUE(cluster.rank_overheads.has_value());
  EXPECT_EQ(found.solves.size(), 9u) << "by both threads too";
  EXPECT_FALSE(found.ping_pong.empty());
}

TEST(measure_cluster, needs_a_thread) { EXPECT_THROW(quickly(0), UsageError); }

// 2 us and 5 GB/s: 8 bytes take 2.0016 us, a megabyte 200 us and 2.
TEST(fitted_link, finds_latency_and_bandwidth_of_exact_figures) {
  std::vector<PingPong> figures;
  for (std::size_t bytes = 8; bytes <= std::size_t{1} << 20; bytes *= 8)
    figures.push_back({bytes, 2e-6 + static_cast<double>(bytes) / 5e9});
  const Link link = fitted_link(figures, 0.3);
  EXPECT_NEAR(link.latency_us + link.send_overhead_us + link.receive_overhead_us, 2, 1e-9);
  EXPECT_NEAR(link.send_overhead_us, 0.3, 1e-12);
  EXPECT_NEAR(link.bandwidth_gbs, 5, 1e-9);
}

}  // namespace
}  // namespace palmette
