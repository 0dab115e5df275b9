// Closed forms against the published figures that they must reproduce exactly.
#include <cmath>

#include <gtest/gtest.h>

#include "tests/transfer/fabrics.hpp"

namespace palmette::transfer {
namespace {

using testing_transfer::pcie;

const PacketFormat nvlink{16, 16, 256, 16};

double percent(double fraction) {
  return std::round(1000 * fraction) / 10;
}

// 4 of 24 + 4 bytes, and 4 of a header, byte enables and one flit of 16 bytes each. [Muthukrishnan 2022],
// figure 2.2.
TEST(goodput, a_store_of_4_bytes_is_a_seventh_of_its_packet_on_pcie_and_a_twelfth_on_nvlink) {
  EXPECT_EQ(percent(store_goodput(pcie, 4)), 14.3);
  EXPECT_EQ(percent(store_goodput(nvlink, 4)), 8.3);
  EXPECT_EQ(percent(store_goodput(pcie, 128)), 84.2);
  EXPECT_EQ(percent(goodput(pcie, 4096)), 99.4);
}

// Figure 5.1: 32 bytes beside 128.
TEST(goodput, stores_of_32_bytes_reach_two_thirds_of_whole_lines) {
  EXPECT_NEAR(store_goodput(pcie, 32) / store_goodput(pcie, 128), 0.68, 0.005);
  EXPECT_NEAR(store_goodput(nvlink, 32) / store_goodput(nvlink, 128), 0.63, 0.006);
}

TEST(goodput, payloads_are_padded_and_split) {
  EXPECT_EQ(wire_bytes(pcie, 0), 24);
  EXPECT_EQ(wire_bytes(pcie, 1), 28);
  EXPECT_EQ(wire_bytes(pcie, 4097), 48 + 4100);
  EXPECT_EQ(store_wire_bytes(nvlink, 128), 16 + 128) << "a whole line needs no byte enables";
  EXPECT_EQ(store_wire_bytes(nvlink, 4), 48);
}

// Table 5.2.
TEST(finepack_packets, windows_are_those_of_table_5_2) {
  const std::int64_t expected[] = {64, 16 << 10, 4 << 20, 1 << 30, std::int64_t{256} << 30};
  for (int h = 2; h <= 6; ++h) EXPECT_EQ(packet_window_bytes(h), expected[h - 2]) << h;
  EXPECT_THROW(packet_window_bytes(1), UsageError);
  EXPECT_THROW(packet_window_bytes(7), UsageError);
}

TEST(finepack_packets, at_most_31_or_30_whole_lines_fit) {
  EXPECT_EQ(most_stores_per_packet(pcie, 4, 128), 31);
  EXPECT_EQ(most_stores_per_packet(pcie, 5, 128), 30);
}

// 64 stores in a packet: 64·8 of 24 + 64·12 bytes, and so on.
TEST(finepack_packets, isolated_stores_of_64_in_a_packet) {
  EXPECT_NEAR(100 * packed_goodput(pcie, {4, 4, 64}), 47.8, 0.05);
  EXPECT_NEAR(100 * packed_goodput(pcie, {8, 4, 64}), 64.7, 0.06);
  EXPECT_NEAR(100 * packed_goodput(pcie, {4, 5, 64}), 42.7, 0.05);
  EXPECT_NEAR(100 * packed_goodput(pcie, {8, 5, 64}), 59.8, 0.05);
}

// §5.5.3: about 18 %, for 32 to 64 stores of 40 bytes.
TEST(finepack_packets, configuration_packets_lose_18_3_percent) {
  EXPECT_EQ(percent(configuration_packet_loss(pcie, {40, 4, 38}, 10)), 18.3);
}

// Table 4.1 and §4.5.2.
TEST(gps_tables, sizes_are_those_of_table_4_1) {
  const GpsTables tables;
  EXPECT_EQ(tables.queue_bytes(), 8640);
  EXPECT_EQ(tables.page_entry_bits(), 126);
  EXPECT_EQ(GpsTables::bitmap_bytes(std::int64_t{32} << 30), 64 << 10);
}

// Figure 3.6: an image of 512³ floats and a subset's sinogram of 7256/24·64·888 floats are exchanged every
// 4.866 s of one GPU's computing (20 iterations of 24 subsets in 3.46 · 11.25 minutes).
TEST(copy_law, crossovers_of_figure_3_6) {
  const double bytes = 4.0 * 512 * 512 * 512 + 4.0 * 7256 / 24 * 64 * 888;
  const double step = 3.46 * 11.25 * 60 / 480;
  EXPECT_NEAR(copy_law(bytes, 16, step).crossover(), 11.85, 0.01);
  EXPECT_NEAR(copy_law(bytes, 64, step).crossover(), 23.2, 0.05);
  EXPECT_NEAR(copy_law(bytes, 16, step).copies(11, 11), 6, 0.05 * 6) << "published maximum";
  EXPECT_NEAR(copy_law(bytes, 64, step).copies(23, 23), 12, 0.05 * 12);
  EXPECT_NEAR(copy_law(bytes, 16, step).crossover(), 12, 0.05 * 12);
  EXPECT_NEAR(copy_law(bytes, 64, step).crossover(), 24, 0.05 * 24);
}

// Figure 2.10 on 16 GPUs: with one fitted share of 0.0295 PROACT over copies is 1.2, 2.2 and 5.3 (published),
// where PROACT reaches 90, 87 and 77 % of a limit that itself bends.
TEST(copy_law, ratios_of_figure_2_10_follow_from_one_share) {
  const CopyLaw law{0.0295};
  const auto efficiency = [](int n) { return n <= 8 ? 0.9 : 11 / 0.77 / 16; };
  const struct {
    int devices;
    double published, of_limit;
  } rows[] = {{4, 1.2, .90}, {8, 2.2, .87}, {16, 5.3, .77}};
  for (const auto& row : rows) {
    const double limit = efficiency(row.devices) * row.devices;
    EXPECT_NEAR(row.of_limit * limit / law.copies(row.devices, limit), row.published, 0.08 * row.published);
  }
  EXPECT_EQ(law.best_devices(16), 6) << "published: copies level off at 5 to 6 GPUs";
}

TEST(fabric, bad_descriptions_name_their_field) {
  Fabric fabric{"pcie", "", 32, 1, 5, 65536, pcie, Topology::crossbar, 0, 0};
  check(fabric);
  EXPECT_NEAR(as_link_level(fabric, 4).link.bandwidth_gbs, 32 * 4096.0 / 4120, 1e-9);
  fabric.credit_bytes = 100;
  try {
    check(fabric);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("credit_bytes"), std::string::npos);
  }
}

}  // namespace
}  // namespace palmette::transfer
