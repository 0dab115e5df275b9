// When messages arrive, and in which order events are handled.
#include <gtest/gtest.h>

#include "palmette/simulate/simulate.hpp"

namespace palmette {
namespace {

// 1000 bytes pass a gate of 1 GB/s in 1 µs and, at the same time, the wire of 10 GB/s behind it. Two messages
// at once: the second leaves 1 µs later. Two to one node from two: the second enters later.
TEST(interconnect, messages_of_a_node_go_one_after_the_other) {
  Cluster cluster;
  cluster.links = node_links(2, {1, 5, 0.1, 0.1}, {2, 10, 0.5, 0.5});
  Interconnect open(cluster, 8);
  EXPECT_NEAR(open.arrival(0, 2, 1000, 0), 2.1e-6, 1e-15);
  EXPECT_NEAR(open.arrival(1, 4, 1000, 0), 2.1e-6, 1e-15);
  cluster.links[0].injection_gbs = 1;
  Interconnect gates(cluster, 8);
  EXPECT_NEAR(gates.arrival(0, 2, 1000, 0), 3e-6, 1e-15);
  EXPECT_NEAR(gates.arrival(1, 4, 1000, 0), 4e-6, 1e-15);
  EXPECT_NEAR(gates.arrival(6, 3, 1000, 0), 4e-6, 1e-15);
  EXPECT_NEAR(gates.arrival(0, 1, 1000, 0), 1.2e-6, 1e-15);  // stays at home
}

// Nodes of 2, racks of 4: a message between racks passes the gates of its node and its rack, and the slower
// of them decides.
TEST(interconnect, a_message_passes_the_gates_of_all_levels_below_its_own) {
  Cluster cluster;
  cluster.links = {{"node", 2, {1, 5, 0, 0}, 1},
                   {"rack", 4, {2, 10, 0, 0}, 0.5},
                   {"network", 0, {4, 10, 0, 0}, 0}};
  EXPECT_EQ(cluster.level_of(0, 1), 0u);
  EXPECT_EQ(cluster.level_of(1, 2), 1u);
  EXPECT_EQ(cluster.level_of(3, 4), 2u);
  EXPECT_EQ(cluster.level_of(5, 100), 2u);
  Interconnect open(cluster, 7);  // the last node and rack are not full
  EXPECT_NEAR(open.arrival(0, 1, 1000, 0), 1.2e-6, 1e-15);
  EXPECT_NEAR(open.arrival(0, 2, 1000, 0), 3e-6, 1e-15) << "2 us, and 1 us in the gates of nodes";
  EXPECT_NEAR(open.arrival(3, 6, 1000, 0), 6e-6, 1e-15) << "4 us, and 2 us in the gates of racks";
  // Its node's gate lets it out at once, the rack's after 2 us.
  EXPECT_NEAR(open.arrival(0, 5, 1000, 1e-6), 8e-6, 1e-15);
}

TEST(event_loop, events_of_one_moment_happen_in_the_order_in_which_they_were_planned) {
  EventLoop<int> events;
  events.plan(2, 3);
  events.plan(1, 1);
  events.plan(2, 4);
  std::vector<int> seen;
  const std::int64_t handled = events.run([&](double now, int event) {
    seen.push_back(event);
    if (event == 1) events.plan(now, 2);  // at the time that is being handled
  });
  EXPECT_EQ(handled, 4);
  EXPECT_EQ(seen, (std::vector<int>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace palmette
