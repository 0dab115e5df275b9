// Ranks as threads and under virtual time, and wrappers of a transport: every message arrives once and
// complete; silence and damage end the run with a reason.
#include <gtest/gtest.h>

#include <thread>

#include <set>

#include "dag_program.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette {
namespace {

using testing_transport::Dag;
using testing_transport::DagProgram;
using testing_transport::messages_of;
using testing_transport::random_dag;
using testing_transport::serial_values;

TEST(shared_bytes, a_buffer_goes_back_to_its_pool_when_the_last_holder_leaves_it) {
  BytePool pool;
  const std::byte* first = nullptr;
  {
    const SharedBytes bytes = pool.take(100);
    const SharedBytes again = bytes;
    first = bytes.data();
    EXPECT_EQ(bytes.holders(), 2);
    EXPECT_EQ(again.data(), first);
    EXPECT_EQ(again.part(10, 20).data(), first + 10);
    EXPECT_EQ(again.part(10, 20).size(), 20u);
    EXPECT_THROW(again.part(90, 20), UsageError);
  }
  // 65 to 128 bytes share a shelf
  for (int round = 0; round < 100; ++round) EXPECT_EQ(pool.take(128).data(), first);
  EXPECT_EQ(pool.buffers_made(), 1);
  EXPECT_EQ(pool.take(0).size(), 0u);
}

/// Memory of which there are 1000 bytes.
TEST(shared_bytes, what_was_reserved_is_there_for_smaller_takes_too_and_a_failure_leaves_nothing) {
  std::size_t left = 1000;
  BytePool pool(ByteMemory{[&](std::size_t bytes) -> void* {
                             if (bytes > left) throw MemoryError("no room", static_cast<offset_t>(bytes));
                             left -= bytes;
                             return ::operator new(bytes);
                           },
                           [&](void* memory, std::size_t bytes) {
                             left += bytes;
                             ::operator delete(memory);
                           },
                           true});
  EXPECT_THROW(pool.reserve(std::vector<std::size_t>{200, 500, 400}), MemoryError);
  EXPECT_EQ(left, 1000u);
  EXPECT_EQ(pool.bytes(), 0);
  pool.reserve(std::vector<std::size_t>{100, 0, 500, 70});  // 128 + 512 + 128 bytes
  EXPECT_EQ(left, 1000u - 768);
  {
    SharedBytes one = pool.take(20), two = pool.take(128), three = pool.take(3);
    EXPECT_EQ(three.size(), 3u);
    EXPECT_EQ(left, 1000u - 768);
    const SharedBytes more = pool.take(60);
    EXPECT_EQ(left, 1000u - 768 - 64);
    EXPECT_EQ(pool.bytes(), 768 + 64);
    EXPECT_THROW((void)pool.take(300), MemoryError);
  }
  pool.reserve(std::vector<std::size_t>{64});  // the others are given back
  EXPECT_EQ(left, 1000u - 64);
  EXPECT_EQ(pool.bytes(), 64);
  EXPECT_EQ(pool.take(64).size(), 64u);
  EXPECT_EQ(left, 1000u - 64);
}

TEST(shared_bytes, buffers_may_outlive_their_pool) {
  SharedBytes bytes;
  {
    BytePool pool;
    bytes = pool.take(64);
  }
  bytes.writable()[63] = std::byte{7};
  EXPECT_EQ(bytes.view()[63], std::byte{7});
}

/// Every value of the graph, from all ranks.
void expect_serial_values(const Dag& dag, const std::map<index_t, std::uint64_t>& values) {
  const std::vector<std::uint64_t> expected = serial_values(dag);
  ASSERT_EQ(values.size(), expected.size());
  for (const auto& [task, value] : values) ASSERT_EQ(value, expected[task]) << "task " << task;
}

void run_on_threads(const Dag& dag, int threads_each,
                    const std::function<std::unique_ptr<Transport>(Transport&)>& wrap) {
  ThreadWorld world(dag.num_ranks);
  std::mutex mutex;
  std::map<index_t, std::uint64_t> values;
  world.run([&](Transport& plain) {
    const std::unique_ptr<Transport> wrapped = wrap ? wrap(plain) : nullptr;
    Transport& transport = wrapped ? *wrapped : plain;
    DagProgram program(dag, transport, 24);
    ThreadTeam team(threads_each);
    drive(program, transport, team, {30});
    EXPECT_EQ(transport.agree(0), 0);
    const std::lock_guard lock(mutex);
    values.merge(program.results());
  });
  expect_serial_values(dag, values);
}

TEST(threads, a_graph_of_tasks_gives_the_serial_values_for_any_number_of_ranks_and_threads) {
  for (const index_t ranks : {1, 2, 3, 4, 6, 8})
    for (const int threads : {1, 2}) run_on_threads(random_dag(200, ranks, 0.03, 7 + ranks), threads, {});
}

TEST(threads, ranks_without_a_task_end_at_once) { run_on_threads(random_dag(3, 8, 0.5, 3), 1, {}); }

TEST(threads, wrappers_change_no_value) {
  const Dag dag = random_dag(200, 4, 0.05, 11);
  run_on_threads(dag, 1, [](Transport& inner) { return std::make_unique<Recorder>(inner); });
  run_on_threads(dag, 1, [](Transport& inner) { return std::make_unique<Aggregator>(inner); });
  run_on_threads(dag, 1, [](Transport& inner) { return std::make_unique<Checked>(inner); });
  run_on_threads(dag, 2, [](Transport& inner) {
    return std::make_unique<Aggregator>(inner, Aggregator::Options{16, 64});  // 24 bytes are not small
  });
}

TEST(threads, a_payload_is_not_copied) {
  ThreadWorld world(2);
  BytePool pool;
  const SharedBytes bytes = pool.take(1000);
  world.rank(0).send(1, 5, bytes);
  Message message;
  ASSERT_TRUE(world.rank(1).poll(message));
  EXPECT_EQ(message.payload.data(), bytes.data());
  EXPECT_EQ(message.source, 0);
  EXPECT_EQ(message.tag, 5);
  EXPECT_THROW(world.rank(0).send(2, 0, {}), UsageError);
  EXPECT_THROW(ThreadWorld(0), UsageError);
}

TEST(threads, sums_are_taken_in_the_order_of_ranks) {
  // In floating point 1e16 + 1 − 1e16 is 0 in this order and 1 in others.
  const double values[] = {1e16, 1, -1e16};
  ThreadWorld world(3);
  world.run([&](Transport& transport) {
    for (int round = 0; round < 50; ++round) {
      EXPECT_EQ(transport.sum(values[transport.rank()]), 0);
      EXPECT_EQ(transport.agree(transport.rank() == 1 ? 4 : 0), 4);
    }
  });
}

TEST(threads, a_failing_rank_ends_all_and_its_error_reaches_the_caller) {
  ThreadWorld world(3);
  std::atomic<int> broken{0};
  EXPECT_THROW(world.run([&](Transport& transport) {
    if (transport.rank() == 1) throw IoError("a.mtx", 3, "bad");
    try {
      transport.sum(1);
    } catch (const BrokenRun& error) {
      EXPECT_NE(std::string(error.what()).find("rank 1"), std::string::npos) << error.what();
      ++broken;
      throw;
    }
  }), IoError);
  EXPECT_EQ(broken.load(), 2);
}

TEST(threads, a_rank_that_does_not_come_to_an_agreement_is_named_by_the_watchdog) {
  ThreadWorld world(3);
  std::atomic<bool> over{false};
  std::vector<std::string> told(2);
  EXPECT_THROW(world.run([&](Transport& transport) {
    const index_t rank = transport.rank();
    transport.set_watchdog(0.05);
    transport.agree(0);
    if (rank == 2) {
      while (!over) std::this_thread::yield();
      return;
    }
    try {
      transport.agree(0);
    } catch (const BrokenRun& error) {
      told[rank] = error.what();
      over = true;
      throw;
    }
  }), BrokenRun);
  for (const std::string& text : told) EXPECT_NE(text.find("not come: rank 2"), std::string::npos) << text;
}

/// Loses the message with this tag.
class Losing final : public TransportWrapper {
 public:
  Losing(Transport& inner, std::int64_t lost) : TransportWrapper(inner), lost_(lost) {}
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    if (tag != lost_) inner_.send(destination, tag, std::move(payload));
  }

 private:
  std::int64_t lost_;
};

/// A chain over ranks 0, 1, 0, 1, …
Dag chain(index_t num_tasks) {
  Dag dag{2, {}, std::vector<std::vector<index_t>>(num_tasks), std::vector<std::vector<index_t>>(num_tasks)};
  for (index_t task = 0; task < num_tasks; ++task) {
    dag.owner.push_back(task % 2);
    if (task > 0) {
      dag.predecessors[task].push_back(task - 1);
      dag.successors[task - 1].push_back(task);
    }
  }
  return dag;
}

TEST(drive, silence_becomes_an_error_that_names_who_waits_for_what) {
  const Dag dag = chain(10);
  ThreadWorld world(2);
  try {
    world.run([&](Transport& plain) {
      Losing transport(plain, 5);
      DagProgram program(dag, transport);
      ThreadTeam team(1);
      drive(program, transport, team, {0.05});
    });
    FAIL() << "a lost message went unnoticed";
  } catch (const BrokenRun& error) {
    const std::string text = error.what();
    // Task 6 on rank 0 waits for 5 of rank 1; task 7 on rank 1 for 6 of rank 0; either may notice first.
    EXPECT_TRUE(text.find("value 5 from rank 1") != std::string::npos ||
                text.find("value 6 from rank 0") != std::string::npos)
        << text;
  }
}

/// Flips one bit of every message.
class Flipping final : public TransportWrapper {
 public:
  Flipping(Transport& inner, std::size_t bit) : TransportWrapper(inner), bit_(bit) {}
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    SharedBytes damaged = pool_.copy(payload.view());
    damaged.writable()[bit_ / 8] ^= std::byte{static_cast<unsigned char>(1u << bit_ % 8)};
    inner_.send(destination, tag, std::move(damaged));
  }

 private:
  std::size_t bit_;
  BytePool pool_;
};

TEST(checked, every_single_flipped_bit_is_noticed) {
  BytePool pool;
  for (const std::size_t bytes : {0, 1, 7, 8, 31, 32, 33, 100}) {
    SharedBytes payload = pool.take(bytes);
    for (std::size_t at = 0; at < bytes; ++at)
      payload.writable()[at] = std::byte{static_cast<unsigned char>(37 * at + 1)};
    for (std::size_t bit = 0; bit < 8 * (bytes + 8); ++bit) {
      const auto loopback = make_loopback();
      Flipping flipping(*loopback, bit);
      Checked checked(flipping);
      checked.send(0, 17, payload);
      Message message;
      EXPECT_THROW(checked.poll(message), BrokenRun) << bytes << " bytes, bit " << bit;
    }
  }
}

TEST(recorder, counts_messages_and_bytes_for_each_destination) {
  const Dag dag = random_dag(100, 3, 0.05, 5);
  ThreadWorld world(3);
  std::mutex mutex;
  std::vector<TrafficEntry> entries;
  world.run([&](Transport& plain) {
    Recorder recorder(plain);
    DagProgram program(dag, recorder, 40);
    ThreadTeam team(1);
    drive(program, recorder, team, {30});
    const Traffic sent = recorder.sent();
    const std::lock_guard lock(mutex);
    entries.insert(entries.end(), sent.entries.begin(), sent.entries.end());
  });
  const Traffic traffic = make_traffic(3, entries);
  EXPECT_EQ(traffic.messages(), messages_of(dag));
  EXPECT_EQ(traffic.bytes(), 40 * messages_of(dag));
  for (const TrafficEntry& entry : traffic.entries) EXPECT_NE(entry.source, entry.destination);
}

TEST(aggregator, packs_small_messages_and_loses_none) {
  const auto loopback = make_loopback();
  Recorder below(*loopback);
  Aggregator aggregator(below, {64, 200});
  BytePool pool;
  for (int number = 0; number < 50; ++number) {
    const SharedBytes payload = pool.take(static_cast<std::size_t>(number));
    if (number > 0) payload.view();
    aggregator.send(0, number, payload);
  }
  aggregator.send(0, 99, pool.take(65));  // too large to be packed
  aggregator.flush();
  EXPECT_LT(below.sent().messages(), 20);
  std::set<std::int64_t> tags;
  Message message;
  while (aggregator.poll(message)) {
    EXPECT_EQ(message.payload.size(), message.tag == 99 ? 65u : static_cast<std::size_t>(message.tag));
    EXPECT_TRUE(tags.insert(message.tag).second);
  }
  EXPECT_EQ(tags.size(), 51u);
}

// A poll that finds nothing is the beginning of a task. The first packet leaves before the third task after
// its first message, and younger packets stay.
TEST(aggregator, packets_leave_when_they_are_as_old_as_allowed) {
  const auto loopback = make_loopback();
  Recorder below(*loopback);
  Packing packing;
  packing.max_age_tasks = 3;
  Aggregator aggregator(below, packing);
  BytePool pool;
  Message message;
  std::vector<std::int64_t> left;
  for (int turn = 0; turn < 5; ++turn) {
    if (turn < 4) aggregator.send(0, turn, pool.take(8));
    while (aggregator.poll(message)) left.push_back(message.tag);
    EXPECT_EQ(below.sent().messages(), turn < 2 ? 0 : 1) << turn;
  }
  EXPECT_EQ(left, (std::vector<std::int64_t>{0, 1, 2}));
  aggregator.flush();
  EXPECT_EQ(below.sent().messages(), 2);
  while (aggregator.poll(message)) left.push_back(message.tag);
  EXPECT_EQ(left.size(), 4u);
  EXPECT_EQ(aggregator.records(), 8);
}

/// Runs the graph in a simulated world; returns its report.
SimulationResult simulate(const Dag& dag, const SimulationOptions& options) {
  SimulatedWorld world(dag.num_ranks, options);
  std::vector<std::unique_ptr<DagProgram>> programs;
  std::vector<RankProgram*> pointers;
  for (index_t rank = 0; rank < dag.num_ranks; ++rank) {
    programs.push_back(std::make_unique<DagProgram>(dag, world.rank(rank)));
    pointers.push_back(programs.back().get());
  }
  SimulationResult result = world.run(pointers);
  std::map<index_t, std::uint64_t> values;
  for (const auto& program : programs) values.merge(program->results());
  expect_serial_values(dag, values);
  return result;
}

TEST(simulated, a_chain_takes_the_time_of_its_tasks_and_hops) {
  // 10 tasks of 3 s, 9 hops of 2 s + 0.5 s for each of 8 bytes.
  SimulationOptions options;
  options.seconds_per_cost = 3;
  options.network_seconds = [](index_t, index_t, std::size_t bytes) {
    return 2 + 0.5 * static_cast<double>(bytes);
  };
  const SimulationResult result = simulate(chain(10), options);
  EXPECT_DOUBLE_EQ(result.seconds, 10 * 3 + 9 * (2 + 0.5 * 8));
  EXPECT_DOUBLE_EQ(result.busy_seconds[0], 15);
  EXPECT_DOUBLE_EQ(result.busy_seconds[1], 15);
  EXPECT_EQ(result.traffic.messages(), 9);
  EXPECT_EQ(result.traffic.bytes(), 72);
}

TEST(simulated, every_seed_gives_the_serial_values_and_the_same_messages_and_each_seed_the_same_time) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto ranks = static_cast<index_t>(1 + seed % 9);
    const Dag dag = random_dag(60, ranks, 0.05, seed);
    SimulationOptions options;
    options.seed = seed;
    options.seconds_per_cost = 1e-6;
    options.jitter = static_cast<double>(seed % 4) * 20;
    options.slow_ranks = 0.3;
    options.slowness = 50;
    options.idle_wakeups = 0.3;
    const SimulationResult first = simulate(dag, options), second = simulate(dag, options);
    EXPECT_EQ(first.seconds, second.seconds);
    EXPECT_EQ(first.events, second.events);
    EXPECT_EQ(first.traffic.messages(), messages_of(dag));
  }
}

TEST(simulated, silence_is_an_error_that_names_who_waits_for_what) {
  const Dag dag = chain(10);
  SimulatedWorld world(2, {});
  Losing first(world.rank(0), 5), second(world.rank(1), 5);
  DagProgram a(dag, first), b(dag, second);
  RankProgram* const programs[] = {&a, &b};
  try {
    world.run(programs);
    FAIL() << "a lost message went unnoticed";
  } catch (const BrokenRun& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 waits for value 5 from rank 1"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("rank 1 waits for value 6 from rank 0"), std::string::npos)
        << error.what();
  }
}

TEST(simulated, options_that_cannot_be_are_refused) {
  SimulationOptions options;
  options.slow_ranks = 1.5;
  EXPECT_THROW(SimulatedWorld(2, options), UsageError);
  EXPECT_THROW(SimulatedWorld(0, {}), UsageError);
  SimulatedWorld world(2, {});
  EXPECT_THROW(world.rank(2), UsageError);
  EXPECT_THROW(world.rank(0).sum(1), UsageError);
  EXPECT_THROW(world.run({}), DimensionError);
}

/// Rank 0 receives one message from each other rank and notes their order.
class Collector final : public RankProgram {
 public:
  Collector(Transport& transport, std::set<std::vector<index_t>>* seen)
      : transport_(transport), seen_(seen) {}
  void start() override {
    if (transport_.rank() != 0) transport_.send(0, 0, {});
  }
  void on_message(const Message& message) override { order_.push_back(message.source); }
  bool run_one_task(int) override { return false; }
  bool done() const override {
    return transport_.rank() != 0 || static_cast<index_t>(order_.size()) + 1 == transport_.num_ranks();
  }
  void note() const { seen_->insert(order_); }

 private:
  Transport& transport_;
  std::set<std::vector<index_t>>* seen_;
  std::vector<index_t> order_;
};

TEST(explore, every_order_of_arrival_is_tried) {
  // 4 messages to one rank: 4! = 24 orders, each of which must be seen.
  std::set<std::vector<index_t>> seen;
  const Exploration result = explore_orders(5, 100000, [&](SimulatedWorld& world) {
    ExploredRun run;
    for (index_t rank = 0; rank < 5; ++rank)
      run.programs.push_back(std::make_unique<Collector>(world.rank(rank), &seen));
    const auto* collector = static_cast<const Collector*>(run.programs[0].get());
    run.check = [collector] { collector->note(); };
    return run;
  });
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(seen.size(), 24u);
}

Exploration explore_graph(const Dag& dag, std::int64_t most_orders) {
  return explore_orders(dag.num_ranks, most_orders, [&](SimulatedWorld& world) {
    ExploredRun run;
    std::vector<const DagProgram*> programs;
    for (index_t rank = 0; rank < dag.num_ranks; ++rank) {
      auto program = std::make_unique<DagProgram>(dag, world.rank(rank));
      programs.push_back(program.get());
      run.programs.push_back(std::move(program));
    }
    run.check = [&dag, programs] {
      std::map<index_t, std::uint64_t> values;
      for (const DagProgram* program : programs) values.merge(program->results());
      expect_serial_values(dag, values);
    };
    return run;
  });
}

TEST(explore, small_graphs_give_the_serial_values_in_all_orders) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Exploration result =
        explore_graph(random_dag(5, static_cast<index_t>(2 + seed % 3), 0.4, seed), 200000);
    EXPECT_TRUE(result.complete) << "seed " << seed << ": " << result.orders << " orders were not all";
    EXPECT_GE(result.orders, 1);
  }
}

/// Wrong: assumes that rank 1's message arrives before rank 2's.
class Hasty final : public RankProgram {
 public:
  explicit Hasty(Transport& transport) : transport_(transport) {}
  void start() override {
    if (transport_.rank() != 0) transport_.send(0, 0, {});
  }
  void on_message(const Message& message) override {
    if (message.source == 1) first_came_ = true;
    else if (first_came_) done_ = true;
  }
  bool run_one_task(int) override { return false; }
  bool done() const override { return transport_.rank() != 0 || done_; }

 private:
  Transport& transport_;
  bool first_came_ = false;
  bool done_ = false;
};

TEST(explore, a_program_that_relies_on_an_order_is_caught) {
  EXPECT_THROW(explore_orders(3, 1000, [](SimulatedWorld& world) {
    ExploredRun run;
    for (index_t rank = 0; rank < 3; ++rank)
      run.programs.push_back(std::make_unique<Hasty>(world.rank(rank)));
    return run;
  }), BrokenRun);
}

}  // namespace
}  // namespace palmette
