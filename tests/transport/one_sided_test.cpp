// Queues in remote memory that behaves as badly as MPI allows: words arrive in any order and late, additions
// overtake puts. Our protocol must give the serial values; a protocol that flushes locally before its signal
// must be detected.
#include <gtest/gtest.h>

#include "dag_program.hpp"
#include "torn_memory.hpp"

namespace palmette {
namespace {

using testing_transport::Dag;
using testing_transport::DagProgram;
using testing_transport::plan_of;
using testing_transport::random_dag;
using testing_transport::Fabric;
using testing_transport::LocallyFlushed;
using testing_transport::OneSidedQueue;
using testing_transport::QueueEnd;
using testing_transport::QueueLayout;
using testing_transport::serial_values;
using testing_transport::TearingMemory;

/// The result of the graph: true if every value is the serial one.
template <class Queue>
bool run_over_queues(const Dag& dag, Publication publication, std::uint64_t seed, int runs = 2) {
  const std::size_t payload_bytes = 8 * (1 + seed % 5);
  const TransportPlan plan = plan_of(dag, payload_bytes);
  const QueueLayout layout(plan);
  std::vector<std::size_t> bytes;
  for (index_t rank = 0; rank < dag.num_ranks; ++rank) bytes.push_back(layout.window_bytes(rank));
  Fabric fabric(bytes, seed);
  std::vector<std::unique_ptr<TearingMemory>> memory;
  std::vector<std::unique_ptr<OneSidedQueue>> queues;
  std::vector<std::unique_ptr<QueueEnd>> ends;
  for (index_t rank = 0; rank < dag.num_ranks; ++rank) {
    memory.push_back(std::make_unique<TearingMemory>(fabric, rank, dag.num_ranks));
    queues.push_back(std::make_unique<Queue>(*memory.back(), plan, publication));
    ends.push_back(std::make_unique<QueueEnd>(*memory.back(), *queues.back()));
  }
  for (int run = 1; run <= runs; ++run) {
    std::vector<std::unique_ptr<DagProgram>> programs;
    for (index_t rank = 0; rank < dag.num_ranks; ++rank) {
      queues[rank]->begin(static_cast<std::uint32_t>(run));
      programs.push_back(std::make_unique<DagProgram>(dag, *ends[rank], payload_bytes));
      programs.back()->start();
    }
    // All words arrive in the end with probability 1; this many turns without it are a fault.
    for (int turn = 0; turn < 200000; ++turn) {
      const auto rank = static_cast<index_t>(fabric.random()() % static_cast<std::uint64_t>(dag.num_ranks));
      Message message;
      if (ends[rank]->poll(message)) programs[rank]->on_message(message);
      else programs[rank]->run_one_task(0);
      if (std::all_of(programs.begin(), programs.end(), [](const auto& program) { return program->done(); }))
        break;
    }
    std::map<index_t, std::uint64_t> values;
    for (const auto& program : programs) {
      if (!program->done()) return false;
      values.merge(program->results());
    }
    const std::vector<std::uint64_t> expected = serial_values(dag);
    for (const auto& [task, value] : values)
      if (value != expected[task]) return false;
    for (const auto& queue : queues) queue->flush();
  }
  return true;
}

TEST(one_sided_queue, both_protocols_give_the_serial_values_when_words_arrive_in_any_order) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Dag dag =
        random_dag(static_cast<index_t>(5 + seed % 40), static_cast<index_t>(2 + seed % 4), 0.1, seed);
    ASSERT_TRUE(run_over_queues<OneSidedQueue>(dag, Publication::checksum, seed)) << "seed " << seed;
    ASSERT_TRUE(run_over_queues<OneSidedQueue>(dag, Publication::counter, seed)) << "seed " << seed;
  }
}

TEST(one_sided_queue, a_signal_after_a_local_flush_is_caught) {
  int caught = 0;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const Dag dag = random_dag(30, 3, 0.15, seed);
    try {
      caught += run_over_queues<LocallyFlushed>(dag, Publication::counter, seed, 1) ? 0 : 1;
    } catch (const Error&) {
      ++caught;  // a size or a tag that had not arrived
    }
  }
  EXPECT_GE(caught, 40) << "the test would not see a protocol that is wrong";
}

/// Two ranks; rank 0 sends, rank 1 receives, nothing is torn.
struct Pair {
  TransportPlan plan{{{}, {{0, 3, 100}}}};
  QueueLayout layout{plan};
  Fabric fabric{{layout.window_bytes(0), layout.window_bytes(1)}, 1};
  TearingMemory from{fabric, 0, 2}, to{fabric, 1, 2};
  OneSidedQueue sender{from, plan, Publication::checksum}, receiver{to, plan, Publication::checksum};
  BytePool pool;
  Pair() {
    sender.begin(1);
    receiver.begin(1);
  }
};

TEST(one_sided_queue, what_the_plan_does_not_allow_is_refused) {
  Pair pair;
  EXPECT_THROW(pair.receiver.send(0, 1, {}), UsageError);
  EXPECT_THROW(pair.sender.send(2, 1, {}), UsageError);
  EXPECT_THROW(pair.sender.send(1, 1, pair.pool.take(1000)), UsageError);
  EXPECT_THROW(pair.sender.begin(1), UsageError);
  EXPECT_THROW(publication("flag"), UsageError);
  EXPECT_EQ(publication("counter"), Publication::counter);
}

TEST(one_sided_queue,
     a_flipped_bit_anywhere_in_a_record_keeps_it_from_being_delivered_and_the_watchdog_hears_of_it) {
  const std::size_t record = 32 + 24;
  for (std::size_t bit = 0; bit < 8 * record; ++bit) {
    Pair pair;
    const SharedBytes payload = pair.pool.copy(std::vector<std::byte>(20, std::byte{0x5A}));
    pair.sender.send(1, 9, payload);
    pair.sender.flush();
    const std::size_t begin = pair.layout.region(1, 0).begin;
    pair.fabric.memory(1)[begin + bit / 8] ^= std::byte{static_cast<unsigned char>(1u << bit % 8)};
    Message message;
    const bool padding = bit >= 8 * (32 + 20);  // zeros behind the payload, which nobody reads
    EXPECT_EQ(pair.receiver.poll(message), padding) << "bit " << bit;
    if (!padding && bit >= 64) {
      EXPECT_NE(pair.receiver.state().find("message 0 of rank 0"), std::string::npos);
    }
  }
}

TEST(one_sided_queue, a_message_of_an_earlier_run_is_not_taken_for_one_of_this) {
  Pair pair;
  pair.sender.send(1, 7, pair.pool.copy(std::vector<std::byte>(8, std::byte{1})));
  pair.sender.flush();
  Message message;
  ASSERT_TRUE(pair.receiver.poll(message));
  EXPECT_EQ(message.tag, 7);
  pair.sender.begin(2);
  pair.receiver.begin(2);
  EXPECT_FALSE(pair.receiver.poll(message));
  pair.sender.send(1, 8, {});
  pair.sender.flush();
  ASSERT_TRUE(pair.receiver.poll(message));
  EXPECT_EQ(message.tag, 8);
  EXPECT_EQ(message.payload.size(), 0u);
}

}  // namespace
}  // namespace palmette
