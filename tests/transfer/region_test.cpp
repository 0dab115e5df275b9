// Regions: in every order no chunk is lost, delivered twice or read before it is complete, and no byte counts
// for another epoch. Each planted fault is found by the same checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>

#include "palmette/transfer/transfer.hpp"
#include "tests/seeds.hpp"
#include "tests/transfer/refusals.hpp"
#include "tests/transfer/region_values.hpp"

namespace palmette::transfer {
namespace {

using testing_transfer::Checker;
using testing_transfer::refusal;
using testing_transfer::region_work;

ExploredRun programs_of(SimulatedWorld& world, const TransferChoice& choice, const RegionWork& work) {
  auto checkers = std::make_shared<std::vector<Checker>>(world.num_ranks());
  ExploredRun run;
  for (index_t rank = 0; rank < world.num_ranks(); ++rank)
    run.programs.push_back(std::make_unique<RegionProgram>(
        (*checkers)[rank].attach(work, rank, choice.chunk_bytes), choice, world.rank(rank)));
  const std::size_t expected = testing_transfer::reads_of(work, choice, world.num_ranks());
  run.check = [checkers, expected] {
    for (const Checker& one : *checkers) {
      if (one.wrong > 0) throw Error(std::to_string(one.wrong) + " chunks with wrong bytes");
      if (one.reads != expected) throw Error("a chunk was lost or read twice");
    }
  };
  return run;
}

class Mechanisms : public ::testing::TestWithParam<Mechanism> {};
std::string name_of_case(const ::testing::TestParamInfo<Mechanism>& one) {
  return name_of(one.param);
}
INSTANTIATE_TEST_SUITE_P(All, Mechanisms, ::testing::ValuesIn(mechanisms), name_of_case);

// Two ranks, two tasks of 8 bytes that share a chunk, two epochs.
TEST_P(Mechanisms, deliver_every_chunk_once_in_all_orders_of_two_ranks) {
  const Exploration all = explore_orders(2, 200000, [&](SimulatedWorld& world) {
    return programs_of(world, {GetParam(), 16, 1}, region_work(2, 8, 2));
  });
  EXPECT_TRUE(all.complete);
  EXPECT_GT(all.orders, 10);
}

/// Epochs as they are sent: two chunks of 8 bytes each.
struct KeepingLink final : Transport {
  std::vector<Message> sent;
  index_t rank() const override { return 0; }
  index_t num_ranks() const override { return 2; }
  void send(index_t, std::int64_t tag, SharedBytes payload) override {
    sent.push_back({0, tag, std::move(payload)});
  }
  bool poll(Message&) override { return false; }
  void flush() override {}
  double sum(double value) override { return value; }
  int agree(int status) override { return status; }
  void abandon(const std::string&) override {}
};

// Three epochs of two chunks in all 720 orders: the third is held while the first is open.
TEST(Receiver, reads_every_epoch_in_all_orders_in_which_its_messages_can_arrive) {
  constexpr std::int64_t epochs = 3;
  const RegionWork work = region_work(2, 8, epochs);
  const RegionPlan plan = cut_region(work.bytes, 8, work.writes);
  std::vector<std::byte> source(work.bytes);
  KeepingLink kept;
  TransportLink link(plan, source, kept, {1});
  RegionWriter writer(plan, {Mechanism::by_writer, 8, 1}, 1, link);
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    writer.begin_epoch();
    for (index_t task = 0; task < 2; ++task) {
      testing_transfer::fill(source, work.writes[task], 0, epoch);
      writer.wrote(task);
    }
  }
  std::vector<int> order{0, 1, 2, 3, 4, 5};
  std::size_t most_held = 0;
  do {
    RegionReceiver receiver(plan);
    std::int64_t epoch = 0;
    for (const int k : order) {
      receiver.on_message(kept.sent[k]);
      most_held = std::max(most_held, receiver.held());
      for (; receiver.landing().is_complete(epoch); ++epoch) {
        for (index_t chunk = 0; chunk < 2; ++chunk)
          ASSERT_TRUE(testing_transfer::is_right(receiver.landing().read(epoch, chunk), 0, epoch, chunk * 8));
        receiver.release(epoch);
      }
    }
    ASSERT_EQ(epoch, epochs);
    ASSERT_EQ(receiver.held(), 0u);
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(most_held, 2u);
}

void run_with_seed(int seed, Mechanism mechanism, RegionFault fault) {
  palmette::SimulationOptions options;
  options.seed = static_cast<std::uint64_t>(seed);
  options.jitter = 50;
  options.slow_ranks = 0.3;
  options.slowness = 40;
  options.idle_wakeups = 0.2;
  SimulatedWorld world(2 + seed % 4, options);
  RegionWork work = region_work(7, 24, 5);
  work.runs_ahead = seed % 2 == 1;
  work.fault = fault;
  const ExploredRun run = programs_of(world, {mechanism, 16 + 8 * (seed % 5), 1 + seed % 3}, work);
  std::vector<RankProgram*> programs;
  for (const auto& program : run.programs) programs.push_back(program.get());
  world.run(programs);
  run.check();
}

TEST_P(Mechanisms, deliver_every_chunk_once_with_500_seeds) {
  for (int seed = 0; seed < testing::num_seeds(500); ++seed)
    ASSERT_NO_THROW(run_with_seed(seed, GetParam(), RegionFault::none)) << "seed " << seed;
}

int found(Mechanism mechanism, RegionFault fault) {
  int count = 0;
  for (int seed = 0; seed < 20; ++seed) {
    try {
      run_with_seed(seed, mechanism, fault);
    } catch (const Error&) {
      ++count;
    }
  }
  return count;
}

TEST_P(Mechanisms, with_a_counter_off_by_one_are_caught) {
  EXPECT_GT(found(GetParam(), RegionFault::counter_off_by_one), 10);
}

TEST_P(Mechanisms, with_an_epoch_unchecked_are_caught) {
  EXPECT_GT(found(GetParam(), RegionFault::epoch_unchecked), 0);
}

TEST(Region, whose_jobs_are_taken_twice_is_caught) {
  EXPECT_GT(found(Mechanism::polling, RegionFault::taken_twice), 10);
}

struct CountingLink final : ChunkLink {
  std::vector<std::atomic<int>> times;
  explicit CountingLink(std::size_t chunks) : times(chunks) {}
  bool put(const ChunkPacket& packet, std::size_t&) override {
    for (const index_t chunk : packet.chunks) ++times[chunk];
    return true;
  }
};

// Six threads share every counter.
TEST_P(Mechanisms, hand_over_each_chunk_once_whichever_thread_writes_last) {
  constexpr int threads = 6, epochs = 60;
  std::vector<WrittenBytes> writes;
  for (int task = 0; task < 6 * threads; ++task) writes.push_back({task * 8, task * 8 + 8});
  const RegionPlan plan = cut_region(8 * 6 * threads, 100, writes);
  CountingLink link(plan.writers.size());
  RegionWriter writer(plan, {GetParam(), 100, 2}, 1, link);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    writer.begin_epoch();
    std::vector<std::thread> team;
    for (int me = 0; me < threads; ++me)
      team.emplace_back([&, me] {
        for (int task = me; task < 6 * threads; task += threads) {
          writer.wrote(task);
          writer.progress(me % 2);
        }
      });
    for (std::thread& one : team) one.join();
    while (writer.progress(0) || writer.progress(1)) {}
    ASSERT_TRUE(writer.all_sent());
    for (const auto& times : link.times) ASSERT_EQ(times, epoch + 1);
  }
}

// One thread writes, two agents send, one reads, over landings.
TEST_P(Mechanisms, move_right_bytes_between_threads) {
  constexpr int epochs = 40;
  const RegionWork work = region_work(24, 40, epochs);
  const RegionPlan plan = cut_region(work.bytes, 64, work.writes);
  std::vector<std::byte> source(work.bytes);
  Landing landing(plan);
  ThreadLink link(source, {&landing});
  RegionWriter writer(plan, {GetParam(), 64, 2}, 1, link);
  std::atomic<bool> stop{false};
  std::vector<std::thread> agents;
  for (int agent = 0; agent < 2; ++agent)
    agents.emplace_back([&, agent] {
      while (!stop)
        if (!writer.progress(agent)) std::this_thread::yield();
    });
  int wrong = 0;
  std::thread reader([&] {
    for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
      for (index_t chunk = 0; chunk < plan.num_chunks(); ++chunk) {
        while (!landing.is_complete(epoch, chunk)) std::this_thread::yield();
        wrong += testing_transfer::is_right(landing.read(epoch, chunk), 0, epoch, plan.begin(chunk)) ? 0 : 1;
      }
      landing.release(epoch);
    }
  });
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    writer.begin_epoch();
    for (index_t task = 0; task < 24; ++task) {
      testing_transfer::fill(source, work.writes[task], 0, epoch);
      writer.wrote(task);
    }
    while (!writer.all_sent()) std::this_thread::yield();
  }
  reader.join();
  stop = true;
  for (std::thread& one : agents) one.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Packed, gathers_ready_chunks_into_fewer_packets) {
  const RegionWork work = region_work(8, 8, 1);
  const RegionPlan plan = cut_region(work.bytes, 8, work.writes);
  CountingLink link(8);
  RegionWriter writer(plan, {Mechanism::packed, 8, 1}, 1, link);
  writer.begin_epoch();
  for (index_t task = 0; task < 8; ++task) writer.wrote(task);
  EXPECT_TRUE(writer.progress(0));
  EXPECT_EQ(writer.packets(), 1);
  EXPECT_TRUE(writer.all_sent());
}

TEST(Region, names_the_byte_without_a_writer_and_the_chunk_not_complete) {
  const std::vector<WrittenBytes> gap{{0, 8}, {12, 16}}, twice{{0, 8}, {4, 16}}, good{{0, 16}};
  EXPECT_NE(refusal<UsageError>([&] { cut_region(16, 8, gap); }).find("byte 8 of the region has no writer"),
            std::string::npos);
  EXPECT_NE(refusal<UsageError>([&] { cut_region(16, 8, twice); }).find("byte 4 of the region has two"),
            std::string::npos);
  const Landing landing(cut_region(16, 8, good));
  EXPECT_NE(refusal<UsageError>([&] { landing.read(0, 1); }).find("chunk 1 of epoch 0"), std::string::npos);
}

// Processor 0: task 0, then task 1 which reads task 2. Processor 1: task 2 reads task 0. One chunk for tasks
// 0 and 1: task 2 waits for the chunk, the chunk for task 1, task 1 for task 2.
ChunkGraph graph_with(index_t chunk_of_task_1) {
  ChunkGraph graph;
  graph.tasks = {{0, 0, {}}, {0, chunk_of_task_1, {2}}, {1, 2, {0}}};
  return graph;
}

TEST(Chunks, that_close_a_cycle_are_refused_with_it) {
  const std::string error = refusal<UsageError>([] { check_no_deadlock(graph_with(0)); });
  for (const char* const name : {"task 1 of processor 0", "task 2 of processor 1", "chunk 0", "chunk 2"})
    EXPECT_NE(error.find(name), std::string::npos) << error;
  EXPECT_NO_THROW(check_no_deadlock(graph_with(1)));
}

// No cycle among chunks; but processor 0 waits in task 0 for task 3, processor 1 in task 2 for task 1.
TEST(Chunks, deadlock_with_processors_that_wait_and_not_with_those_that_put_off) {
  ChunkGraph graph;
  graph.tasks = {{0, 0, {3}}, {0, 1, {}}, {1, 2, {1}}, {1, 3, {}}};
  EXPECT_TRUE(find_deadlock(graph).empty());
  graph.waits = {1, 0};
  EXPECT_TRUE(find_deadlock(graph).empty());
  graph.waits = {1, 1};
  EXPECT_FALSE(find_deadlock(graph).empty());
}

}  // namespace
}  // namespace palmette::transfer
