// Messages of rank programs as stores: every byte once, in the order of sending; and a real rank program,
// recorded between threads.
#include <gtest/gtest.h>

#include "palmette/transfer/transfer.hpp"

namespace palmette::transfer {
namespace {

TimedMessage sent(double seconds, index_t to, std::size_t bytes) {
  return {seconds, true, to, 0, bytes};
}

Fabric plain_link() {
  Fabric fabric;
  fabric.gbs = 32;
  fabric.latency_us = 1;
  fabric.credit_bytes = 65536;
  fabric.packet = {24, 4, 4096, 0};
  return fabric;
}

// Rank 0 sends 20 bytes to rank 2, then 8 to rank 1. Addresses are by receiver: 0…8 and 8…32.
TEST(message_trace, each_message_has_its_place_and_its_warp) {
  const std::vector<RankTimeline> ranks = {
      {{{0, 0.5, "task", SweepPhase::none, 0, 0}}, {sent(1, 2, 20), sent(2, 1, 8)}}, {}, {}};
  const StoreTrace trace = message_trace("m", ranks, {true, 100});
  EXPECT_EQ(trace.memory_bytes, 32u);
  const TracedKernel& kernel = trace.phases[0].kernels[0];
  EXPECT_EQ(kernel.work_bytes, 0.5 * 100e9);
  ASSERT_EQ(kernel.accesses.size(), 3u + 1 + 1 + 1);
  EXPECT_EQ(kernel.accesses[0].address, 8u);
  EXPECT_EQ(kernel.accesses[0].to, only(2));
  EXPECT_EQ(kernel.accesses[2].bytes, 4) << "20 = 8 + 8 + 4";
  EXPECT_EQ(kernel.accesses[3].kind, AccessKind::release);
  EXPECT_EQ(kernel.accesses[4].thread, 32u) << "the next message has the next warp";
  EXPECT_EQ(kernel.accesses[4].to, only(1));
  ASSERT_EQ(kernel.copies.size(), 2u);
  EXPECT_EQ(kernel.copies[1].end, 32u);
  EXPECT_EQ(trace.phases[1].kernels[2].accesses.size(), 3u);
  EXPECT_EQ(trace.phases[1].kernels[1].accesses.size(), 1u);
}

TEST(message_trace, a_rank_outside_and_too_many_ranks_are_refused) {
  EXPECT_THROW(message_trace("m", std::vector<RankTimeline>{{{}, {sent(0, 1, 8)}}}), UsageError);
  EXPECT_THROW(message_trace("m", std::vector<RankTimeline>(17)), UsageError);
  EXPECT_THROW(message_trace("m", std::vector<RankTimeline>{}), UsageError);
}

// 100 messages of 64 bytes: a packet each as stores, and if each is released.
TEST(message_trace, a_release_after_each_message_leaves_nothing_to_pack) {
  std::vector<RankTimeline> ranks(2);
  for (int k = 0; k < 100; ++k) ranks[0].messages.push_back(sent(k, 1, 64));
  ReplayOptions options;
  const auto packets = [&](bool releases, Paradigm paradigm) {
    options.paradigm = paradigm;
    const TransferResult result =
        simulate_transfers(message_trace("m", ranks, {releases, 296}), plain_link(), options);
    EXPECT_EQ(result.different_bytes, 0);
    EXPECT_EQ(result.useful_bytes, 6400);
    return result.packets;
  };
  EXPECT_EQ(packets(true, Paradigm::peer_stores), 100);
  EXPECT_EQ(packets(true, Paradigm::finepack), 100);
  // Two messages fill a line; 30 lines of 128 + 5 bytes fit into a packet. Half of the 31st line fits too,
  // and its other half then makes a second packet of this line; 19 lines are left for a third.
  EXPECT_EQ(packets(false, Paradigm::finepack), 3);
  EXPECT_EQ(packets(true, Paradigm::copies), 2);
}

/// Rank 0 counts down with rank 1: a message of as many words as its number.
class CountDown : public RankProgram {
 public:
  explicit CountDown(Transport& transport) : transport_(transport) {}
  void start() override {
    if (transport_.rank() == 0) send(9);
  }
  void on_message(const Message& message) override {
    if (message.tag > 0) send(message.tag - 1);
    if (message.tag <= 1) is_done_ = true;
  }
  bool run_one_task(int) override { return false; }
  bool done() const override { return is_done_; }
  std::string waiting_for() const override { return "a message"; }

 private:
  void send(std::int64_t number) {
    transport_.send(1 - transport_.rank(), number, pool_.take(static_cast<std::size_t>(8 * number)));
  }
  Transport& transport_;
  BytePool pool_;
  bool is_done_ = false;
};

TEST(message_trace, what_a_rank_program_sent_is_in_its_stores) {
  std::vector<RankRecord> records;
  for (int rank = 0; rank < 2; ++rank) records.emplace_back(1, true);
  ThreadWorld world(2);
  world.run([&](Transport& thread) {
    SendClock transport(thread, records[thread.rank()]);
    CountDown program(transport);
    ThreadTeam team(1);
    DriveOptions options;
    options.record = &records[thread.rank()];
    drive(program, transport, team, options);
  });
  const std::vector<RankTimeline> lines = {records[0].timeline(), records[1].timeline()};
  const StoreTrace trace = message_trace("count", lines);
  const auto stores = [&](int rank) {
    std::size_t count = 0;
    for (const Access& one : trace.phases[0].kernels[rank].accesses) count += one.kind == AccessKind::store;
    return count;
  };
  EXPECT_EQ(stores(0), 9u + 7 + 5 + 3 + 1);
  EXPECT_EQ(stores(1), 8u + 6 + 4 + 2);
}

}  // namespace
}  // namespace palmette::transfer
