// Stores between the threads and the wire: what is packed is unpacked, and packets end where they must.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "tests/transfer/fabrics.hpp"

namespace palmette::transfer {
namespace {

using testing_transfer::pcie;

Access store(std::uint64_t address, int bytes, std::uint64_t value) {
  Access one;
  one.address = address;
  one.bytes = static_cast<std::uint8_t>(bytes);
  one.value = value;
  one.to = 2;
  return one;
}

LineStore line_store(std::uint64_t address, int bytes, std::uint8_t value) {
  LineStore one;
  one.address = address;
  one.bytes = bytes;
  one.to = 2;
  one.data.fill(value);
  return one;
}

TEST(coalescer, neighbours_join_within_lines_whatever_the_order_of_lanes) {
  std::vector<LineStore> stores;
  std::vector<Access> lanes;
  for (int lane = 31; lane >= 0; --lane) lanes.push_back(store(64 + 8 * lane, 8, 1000 + lane));
  coalesce(lanes, stores);
  ASSERT_EQ(stores.size(), 3u) << "256 bytes from 64 on touch three lines";
  EXPECT_EQ(stores[0].address, 64u);
  EXPECT_EQ(stores[0].bytes, 64);
  EXPECT_EQ(stores[1].bytes, 128);
  EXPECT_EQ(stores[2].bytes, 64);
  std::uint64_t value;
  std::memcpy(&value, stores[1].data.data() + 8, 8);
  EXPECT_EQ(value, 1009u);
}

TEST(coalescer, gaps_destinations_and_line_crossings_split) {
  std::vector<LineStore> stores;
  Access other = store(8, 4, 1);
  other.to = 4;
  coalesce(std::vector<Access>{store(0, 4, 1), store(4, 4, 2), other, store(16, 4, 3), store(124, 8, 4)},
           stores);
  ASSERT_EQ(stores.size(), 5u);
  EXPECT_EQ(stores[0].bytes, 8);
}

/// Random stores, packed and unpacked, leave the memory that the stores themselves leave.
void packed_memory_is_stored_memory(int subheader_bytes, int entries, bool plain) {
  std::mt19937_64 random(7);
  FinePackQueue queue({subheader_bytes, entries, plain}, pcie);
  std::map<std::uint64_t, std::uint8_t> direct, packed;
  const auto sink = [&](StorePacket&& packet) {
    EXPECT_LE(packet.payload.size(), 4096u);
    unpack(packet, subheader_bytes, [&](std::uint64_t address, std::span<const std::uint8_t> bytes) {
      for (std::size_t k = 0; k < bytes.size(); ++k) packed[address + k] = bytes[k];
    });
  };
  for (int k = 0; k < 20000; ++k) {
    const int bytes = 1 + static_cast<int>(random() % 16);
    std::uint64_t address = random() % (1 << (k % 2 == 0 ? 12 : 24));
    address -= address % line_bytes > static_cast<std::uint64_t>(line_bytes - bytes) ? bytes : 0;
    const LineStore one = line_store(address, bytes, static_cast<std::uint8_t>(random()));
    for (int at = 0; at < bytes; ++at) direct[address + at] = one.data[at];
    queue.add(one, sink);
  }
  queue.flush(FlushCause::release, sink);
  EXPECT_EQ(direct, packed);
}

TEST(finepack_queue, packed_memory_is_stored_memory) {
  for (int h = 2; h <= 6; ++h)
    for (const int entries : {1, 7, 64}) packed_memory_is_stored_memory(h, entries, entries != 7);
}

TEST(finepack_queue, whole_lines_fill_a_packet_and_overwriting_costs_nothing) {
  FinePackQueue queue({5, 64, true}, pcie);
  std::vector<StorePacket> packets;
  const auto sink = [&](StorePacket&& packet) { packets.push_back(std::move(packet)); };
  for (int k = 0; k < 31; ++k) queue.add(line_store(128 * k, 128, 1), sink);
  ASSERT_EQ(packets.size(), 1u) << "30 lines with sub-headers of 5 bytes are 3,990 of 4,096 bytes";
  EXPECT_EQ(packets[0].stores, 30);
  EXPECT_EQ(queue.flushes(FlushCause::payload), 1);
  packets.clear();
  for (int k = 0; k < 1000; ++k) queue.add(line_store(30 * 128, 128, 2), sink);
  queue.flush(FlushCause::release, sink);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_TRUE(packets[0].is_plain) << "one store goes without a sub-header";
  EXPECT_EQ(packets[0].payload.size(), 128u);
}

TEST(finepack_queue, neighbours_in_a_line_share_one_sub_header) {
  FinePackQueue queue({5, 64, false}, pcie);
  std::vector<StorePacket> packets;
  const auto sink = [&](StorePacket&& packet) { packets.push_back(std::move(packet)); };
  for (int part = 0; part < 32; ++part)
    for (int line = 0; line < 30; ++line) queue.add(line_store(128 * line + 4 * part, 4, 1), sink);
  EXPECT_TRUE(packets.empty()) << "30 whole lines fit, in whatever pieces they come";
  queue.flush(FlushCause::release, sink);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].payload.size(), 30u * 133);
}

TEST(byte_mask, runs_are_counted_across_words) {
  ByteMask mask;
  EXPECT_EQ(mask.runs(), 0);
  mask.set(60, 8);
  EXPECT_EQ(mask.runs(), 1);
  mask.set(0, 1);
  mask.set(127, 1);
  EXPECT_EQ(mask.runs(), 3);
  mask.set(0, 128);
  EXPECT_EQ(mask.runs(), 1);
}

TEST(finepack_queue, a_store_outside_the_window_ends_the_packet) {
  FinePackQueue queue({4, 64, false}, pcie);
  int packets = 0;
  const auto sink = [&](StorePacket&&) { ++packets; };
  queue.add(line_store(0, 8, 1), sink);
  queue.add(line_store((4 << 20) - 8, 8, 1), sink);
  EXPECT_EQ(packets, 0);
  queue.add(line_store(4 << 20, 8, 1), sink);
  EXPECT_EQ(packets, 1);
  EXPECT_EQ(queue.flushes(FlushCause::window), 1);
}

TEST(finepack_queue, damaged_packets_are_refused) {
  StorePacket packet{0, false, 1, 8, {255, 3, 0, 0, 1}};
  const auto ignore = [](std::uint64_t, std::span<const std::uint8_t>) {};
  EXPECT_THROW(unpack(packet, 4, ignore), UsageError);
  packet.payload.resize(3);
  EXPECT_THROW(unpack(packet, 4, ignore), UsageError);
}

// 63 entries may be held: the 63rd line drives out the first, a store to a held line does not.
TEST(line_queue, the_oldest_line_leaves_at_the_watermark) {
  LineQueue queue(64);
  std::vector<std::uint64_t> left;
  const auto sink = [&](const PublishedLine& line) { left.push_back(line.line); };
  for (int k = 0; k < 62; ++k) queue.add(line_store(128 * k, 8, 1), sink);
  queue.add(line_store(8, 8, 1), sink);
  EXPECT_TRUE(left.empty());
  EXPECT_EQ(queue.hits(), 1);
  queue.add(line_store(128 * 62, 8, 1), sink);
  EXPECT_EQ(left, std::vector<std::uint64_t>{0});
  queue.drain(sink);
  EXPECT_EQ(left.size(), 63u);
}

// Two ways: pages 0, 16 and 32 are of one set of 16, so the least recently used one leaves.
TEST(page_tlb, the_least_recently_used_page_of_a_set_leaves) {
  PageTlb tlb(32, 2);
  EXPECT_FALSE(tlb.look_up(0));
  EXPECT_FALSE(tlb.look_up(16));
  EXPECT_TRUE(tlb.look_up(0));
  EXPECT_FALSE(tlb.look_up(32));
  EXPECT_TRUE(tlb.look_up(0));
  EXPECT_FALSE(tlb.look_up(16));
  EXPECT_EQ(tlb.hits(), 2);
  EXPECT_THROW(PageTlb(33, 4), UsageError);
}

}  // namespace
}  // namespace palmette::transfer
