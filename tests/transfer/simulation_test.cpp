// Replays: nothing is lost, bytes add up, and small programs take the time that arithmetic says.
#include <gtest/gtest.h>

#include <map>

#include "tests/transfer/fabrics.hpp"

namespace palmette::transfer {
namespace {

using testing_transfer::crossbar, testing_transfer::pcie;

Fabric tree() {
  return {"tree", "", 32, 1, 8, 65536, pcie, Topology::tree, 2, 32};
}

ApplicationOptions small(int devices = 4) {
  ApplicationOptions options;
  options.devices = devices;
  options.scale = 1.0 / 32;
  return options;
}

/// One device stores `stores` of 8 bytes, far from each other, into device 1.
StoreTrace scattered(int stores) {
  StoreTrace trace;
  trace.name = "scattered";
  trace.devices = 2;
  trace.memory_bytes = static_cast<std::uint64_t>(stores) * 256;
  trace.phases.resize(2);
  for (TracedPhase& phase : trace.phases) phase.kernels.resize(2);
  TracedKernel& kernel = trace.phases[0].kernels[0];
  TracedKernel& reader = trace.phases[1].kernels[1];
  for (int k = 0; k < stores; ++k) {
    Access one;
    one.address = 256u * static_cast<unsigned>(k);
    one.value = static_cast<std::uint64_t>(k) * 7919;
    one.bytes = 8;
    one.to = 2;
    one.thread = static_cast<std::uint32_t>(k);
    kernel.accesses.push_back(one);
    one.kind = AccessKind::load;
    one.to = 0;
    reader.accesses.push_back(one);
  }
  kernel.copies.push_back({0, trace.memory_bytes, 2});
  return trace;
}

ReplayOptions of(Paradigm paradigm) {
  ReplayOptions options;
  options.paradigm = paradigm;
  return options;
}

// 1,000 packets of 32 bytes leave one after the other at 32 GB/s, pass one more link, and take 1 µs more; the
// second phase only reads. Two launches.
TEST(replay, peer_stores_take_the_time_of_their_bytes) {
  ReplayOptions options = of(Paradigm::peer_stores);
  options.device.launch_us = 5;
  const TransferResult result = simulate_transfers(scattered(1000), crossbar(), options);
  EXPECT_EQ(result.wire_bytes, 32000);
  EXPECT_NEAR(result.seconds, 10e-6 + 1001 * 1e-9 + 1e-6, 1e-12);
  EXPECT_EQ(result.useful_bytes, 8000);
  EXPECT_EQ(result.overhead_bytes, 24000);
  EXPECT_EQ(result.stores, 1000);
  EXPECT_EQ(result.small_stores, 1000);
}

// 64 stores of 8 + 5 bytes a packet: 15 packets of 24 + 832 bytes, and one of the last 40.
TEST(replay, finepack_packs_64_stores) {
  const TransferResult result = simulate_transfers(scattered(1000), crossbar(), of(Paradigm::finepack));
  EXPECT_EQ(result.packets, 16);
  EXPECT_EQ(result.wire_bytes, 15 * (24 + 832) + 24 + 520);
  EXPECT_EQ(result.flushes[static_cast<int>(FlushCause::entries)], 15);
  EXPECT_EQ(result.different_bytes, 0);
}

// A copy of 256,000 bytes: 63 packets, 8 of them useful of each 256.
TEST(replay, copies_waste_what_nobody_reads) {
  const TransferResult result = simulate_transfers(scattered(1000), crossbar(), of(Paradigm::copies));
  EXPECT_EQ(result.wire_bytes, 256000 + 63 * 24);
  EXPECT_EQ(result.useful_bytes, 8000);
  EXPECT_EQ(result.wasted_bytes, 248000);
  EXPECT_NEAR(result.seconds, 10e-6 + 8e-6 + (256000 + 63 * 24 + 4120) / 32e9 + 1e-6, 0.2e-6);
}

// 1,000 lines of 24 + 128 bytes, of which 8 bytes each are of use.
TEST(replay, gps_sends_whole_lines_to_those_who_load_the_page) {
  const TransferResult result = simulate_transfers(scattered(1000), crossbar(), of(Paradigm::gps));
  EXPECT_EQ(result.wire_bytes, 152000);
  EXPECT_EQ(result.wasted_bytes, 120000);
  EXPECT_EQ(result.tlb_lookups, 1000);
  EXPECT_EQ(result.tlb_hits, 996) << "256,000 bytes lie in 4 pages";
  EXPECT_EQ(result.pages_by_subscribers[2], 4);
}

// Each load asks for one sector: 24 bytes there, 24 + 32 back.
TEST(replay, peer_loads_ask_for_sectors) {
  const TransferResult result = simulate_transfers(scattered(1000), crossbar(), of(Paradigm::peer_loads));
  EXPECT_EQ(result.wire_bytes, 1000 * (24 + 56));
  EXPECT_GT(result.seconds, 10e-6 + 4 * 2e-6) << "four times 256 loads, each a round trip of 2 us";
}

// Stores into 4 pages that both have, then loads of them: a fault each, on multiprocessors of their own.
TEST(replay, unified_memory_faults_once_for_each_page) {
  ReplayOptions options = of(Paradigm::unified_memory);
  const TransferResult hinted = simulate_transfers(scattered(1000), crossbar(), options);
  EXPECT_EQ(hinted.page_faults, 8) << "4 pages lose their replica, and are read again";
  EXPECT_NEAR(hinted.seconds, 110e-6, 1e-9) << "two phases, the faults of each side by side";
}

TEST(replay, a_system_release_ends_packets) {
  StoreTrace trace = scattered(1000);
  TracedKernel& kernel = trace.phases[0].kernels[0];
  std::vector<Access> accesses;
  for (Access one : kernel.accesses) {
    accesses.push_back(one);
    one.kind = AccessKind::release;
    one.scope = AccessScope::system;
    one.instruction = 1;
    accesses.push_back(one);
  }
  kernel.accesses = accesses;
  order_by_warp(kernel);
  const TransferResult result = simulate_transfers(trace, crossbar(), of(Paradigm::finepack));
  EXPECT_EQ(result.packets, 32) << "1,000 threads are 32 warps, each of which releases once";
}

TEST(replay, a_store_of_system_scope_collapses_its_page) {
  StoreTrace trace = scattered(1000);
  trace.phases[0].kernels[0].accesses[0].scope = AccessScope::system;
  const TransferResult result = simulate_transfers(trace, crossbar(), of(Paradigm::gps));
  EXPECT_EQ(result.queue_stores, 1000 - 256 + 31)
      << "those of the page stay at home, but for the lanes that stored at the same instruction";
  EXPECT_EQ(result.different_bytes, 0);
}

class every_application : public ::testing::TestWithParam<Application> {};

TEST_P(every_application, agrees_with_the_serial_answer_on_1_to_8_devices) {
  for (const int devices : {1, 2, 3, 4, 8}) {
    const ApplicationRun run = run_application(GetParam(), small(devices));
    EXPECT_LE(run.error, 1e-5) << devices;
    EXPECT_GT(run.trace.num_accesses(), 0);
    check(run.trace);
  }
}

TEST_P(every_application, leaves_equal_memory_and_bytes_that_add_up_under_every_paradigm) {
  const ApplicationRun run = run_application(GetParam(), small());
  std::map<Paradigm, TransferResult> found;
  for (const Paradigm paradigm : paradigms)
    for (const IssueOrder order : issue_orders)
      for (const Fabric& fabric : {crossbar(), tree()}) {
        ReplayOptions options = of(paradigm);
        options.order = order;
        options.device.resident_warps = 7;
        const TransferResult result = simulate_transfers(run.trace, fabric, options);
        EXPECT_EQ(result.different_bytes, 0) << name_of(paradigm) << ' ' << name_of(order);
        EXPECT_EQ(result.wire_bytes, result.useful_bytes + result.wasted_bytes + result.overhead_bytes);
        EXPECT_GE(result.overhead_bytes, 0);
        EXPECT_GE(result.wasted_bytes, 0);
        found[paradigm] = result;
      }
  for (const Paradigm paradigm : paradigms) {
    if (paradigm == Paradigm::single) continue;
    EXPECT_GE(found[paradigm].seconds, found[Paradigm::infinite].seconds * (1 - 1e-9)) << name_of(paradigm);
  }
  EXPECT_GE(found[Paradigm::broadcast].wire_bytes, found[Paradigm::gps].wire_bytes);
  EXPECT_LE(found[Paradigm::finepack].wire_bytes, found[Paradigm::peer_stores].wire_bytes);
}

INSTANTIATE_TEST_SUITE_P(applications, every_application, ::testing::ValuesIn(applications),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST(replay, narrow_links_take_longer_and_never_deadlock) {
  const ApplicationRun run = run_application(Application::transpose, small(8));
  double last = 0;
  for (const double gbs : {64.0, 16.0, 4.0, 0.25}) {
    Fabric fabric = tree();
    fabric.gbs = fabric.root_gbs = gbs;
    fabric.credit_bytes = 4120;
    const double seconds = simulate_transfers(run.trace, fabric, of(Paradigm::peer_stores)).seconds;
    EXPECT_GT(seconds, last);
    last = seconds;
  }
}

TEST(replay, proact_hides_transfers_and_its_profile_is_never_worse_than_one_chunk) {
  const ApplicationRun run = run_application(Application::jacobi, small());
  ReplayOptions options = of(Paradigm::proact);
  const TransferResult best = profile_proact(run.trace, crossbar(), options, usual_chunks());
  for (const std::int64_t bytes : usual_chunks()) {
    options.proact.chunk_bytes = bytes;
    EXPECT_LE(best.seconds, simulate_transfers(run.trace, crossbar(), options).seconds);
  }
}

// 4 paradigms, 5 chunks, and 9 parameters at half and twice their value with the best 3.
TEST(advice, reports_each_of_its_63_replays) {
  int calls = 0;
  double last = 0;
  advise(scattered(100), crossbar(), {}, [&](std::string_view, double fraction) {
    ++calls;
    EXPECT_GT(fraction, last);
    last = fraction;
  });
  EXPECT_EQ(calls, 63);
  EXPECT_EQ(last, 1);
}

TEST(replay, options_that_cannot_be_used_are_refused) {
  ReplayOptions options = of(Paradigm::finepack);
  options.finepack.subheader_bytes = 7;
  EXPECT_THROW(simulate_transfers(scattered(10), crossbar(), options), UsageError);
  options = of(Paradigm::proact);
  options.proact.agents = 0;
  EXPECT_THROW(simulate_transfers(scattered(10), crossbar(), options), UsageError);
  EXPECT_THROW(run_application(Application::jacobi, small(17)), UsageError);
}

}  // namespace
}  // namespace palmette::transfer
