// Traces as text and bytes: what is written is read, and what cannot be used is refused with its line.
#include <gtest/gtest.h>

#include <sstream>

#include "palmette/transfer/transfer.hpp"
#include "tests/transfer/refusals.hpp"

namespace palmette::transfer {
namespace {

using testing_transfer::error_of;

const char* const halo_text = R"(palmette trace 1
name halo
devices 2
memory 4096
phase
kernel 0 1000 64
s 40 0 8 8 0x11 0x2   # thread, instruction, address, bytes, value, devices
s 3 0 0 8 0x10 0x2 system
r 3 1 system
copy 0 64 0x2
phase
kernel 1 500 32
l 0 0 0 8
)";

StoreTrace trace_of(const std::string& text) {
  std::istringstream stream(text);
  return read_trace(stream, "t.txt");
}

TEST(trace, text_is_read_and_ordered_by_warp) {
  const StoreTrace trace = trace_of(halo_text);
  EXPECT_EQ(trace.name, "halo");
  ASSERT_EQ(trace.phases.size(), 2u);
  const TracedKernel& kernel = trace.phases[0].kernels[0];
  ASSERT_EQ(kernel.accesses.size(), 3u);
  EXPECT_EQ(kernel.accesses[0].thread, 3u) << "its warp comes first";
  EXPECT_EQ(kernel.accesses[0].scope, AccessScope::system);
  EXPECT_EQ(kernel.accesses[1].kind, AccessKind::release);
  EXPECT_EQ(kernel.accesses[2].value, 0x11u);
  EXPECT_EQ(kernel.copies[0].end, 64u);
  EXPECT_TRUE(trace.phases[0].kernels[1].accesses.empty());
  EXPECT_EQ(trace.num_accesses(), 4);
}

TEST(trace, both_formats_keep_everything) {
  const StoreTrace trace = trace_of(halo_text);
  std::ostringstream text, bytes, again;
  write_text(trace, text);
  write_binary(trace, bytes);
  write_text(trace_of(bytes.str()), again);
  EXPECT_EQ(text.str(), again.str());
  std::ostringstream from_text;
  write_text(trace_of(text.str()), from_text);
  EXPECT_EQ(text.str(), from_text.str());
}

TEST(trace, errors_name_their_line) {
  EXPECT_NE(error_of(trace_of, "hello\n").find("t.txt:1:"), std::string::npos);
  const std::string head = "palmette trace 1\ndevices 2\nmemory 64\n";
  EXPECT_NE(error_of(trace_of, head + "s 0 0 0 8 1 1\n").find("t.txt:4: an access or a copy needs"),
            std::string::npos);
  EXPECT_NE(error_of(trace_of, head + "phase\nkernel 2 0 32\n").find("no such device"), std::string::npos);
  EXPECT_NE(error_of(trace_of, head + "phase\nkernel 1 0 32\ns 0 0 0 9 1 1\n").find("number of bytes is 9"),
            std::string::npos);
  EXPECT_NE(error_of(trace_of, head + "phase\nkernel 1 0 32\ns 0 0 60 8 1 1\n").find("outside 64 bytes"),
            std::string::npos);
  EXPECT_NE(error_of(trace_of, head + "phase\nkernel 1 0 32\ns 0 0 0 8 1 4\n").find("goes to a device"),
            std::string::npos);
  EXPECT_NE(error_of(trace_of, head + "phase\nkernel 1 -3 32\n").find("-3"), std::string::npos);
  EXPECT_NE(error_of(trace_of, "palmette trace 1 binary\nabc").find("ends too early"), std::string::npos);
}

TEST(trace, damaged_bytes_are_refused) {
  std::ostringstream bytes;
  write_binary(trace_of(halo_text), bytes);
  for (std::size_t length = 30; length < bytes.str().size(); length += 7)
    EXPECT_NE(error_of(trace_of, bytes.str().substr(0, length)), "") << length;
}

TEST(trace, pages_are_subscribed_by_those_who_touch_them) {
  StoreTrace trace = trace_of(halo_text);
  trace.memory_bytes = 3 * page_bytes;
  trace.phases[1].kernels[1].accesses[0].address = page_bytes - 4;
  EXPECT_EQ(tracked_subscribers(trace), (std::vector<DeviceSet>{3, 2, 0}));
}

// Two warps of a block; each lane stores 16 bytes into device 1 and releases.
TEST(trace_recorder, what_threads_do_becomes_a_trace) {
  TraceRecorder recorder("seen", 2, 64);
  for (int lane = 63; lane >= 0; --lane) {
    recorder.store({0, 0, lane}, 1, 4096 + 16 * static_cast<unsigned>(lane), 16);
    recorder.release({0, 0, lane}, AccessScope::system);
  }
  recorder.work(0, 1000);
  recorder.end_phase();
  recorder.load({1, 2, 5}, 4096, 8);
  const StoreTrace trace = recorder.take();
  ASSERT_EQ(trace.phases.size(), 2u);
  const TracedKernel& kernel = trace.phases[0].kernels[0];
  EXPECT_EQ(kernel.accesses.size(), 3u * 64);
  EXPECT_EQ(kernel.accesses[0].thread, 0u) << "ordered by warp";
  EXPECT_EQ(kernel.accesses[32].instruction, 1u) << "the second half of 16 bytes";
  EXPECT_EQ(kernel.accesses[0].to, only(1));
  EXPECT_EQ(trace.phases[1].kernels[1].accesses[0].thread, 2u * 64 + 5);
  EXPECT_EQ(trace.memory_bytes, 4096u + 1024);
  ReplayOptions options;
  options.paradigm = Paradigm::finepack;
  const Fabric fabric{"pcie", "", 32, 1, 8, 65536, {24, 4, 4096, 0}, Topology::crossbar, 0, 0};
  const TransferResult result = simulate_transfers(trace, fabric, options);
  EXPECT_EQ(result.packets, 2) << "a release of system scope ends the packet of each warp";
  EXPECT_EQ(result.different_bytes, 0);
  EXPECT_THROW(recorder.store({0, 0, 64}, 1, 0, 8), UsageError);
  EXPECT_THROW(recorder.store({0, 0, 0}, 2, 0, 8), UsageError);
}

}  // namespace
}  // namespace palmette::transfer
