// The queue of a device, and what there is to say where cuBLAS is missing.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "palmette/base/base.hpp"
#include "palmette/device/dense_cuda.hpp"
#include "palmette/device/device_queue.hpp"

namespace palmette {
namespace {

TEST(device_queue, work_is_done_in_order_while_the_caller_goes_on) {
  std::vector<int> order;
  std::latch may_begin(1);
  std::shared_ptr<const DeviceQueue::Ticket> last;
  {
    DeviceQueue queue;
    queue.submit([&] { may_begin.wait(); });
    for (int number = 0; number < 100; ++number)
      last = queue.submit([&, number] { order.push_back(number); });
    EXPECT_FALSE(last->done());
    may_begin.count_down();
    EXPECT_TRUE(last->wait());
    queue.submit([&] { order.push_back(100); });
  }
  EXPECT_EQ(order.size(), 101u) << "work that was queued when the queue ended was not done";
  for (int number = 0; number <= 100; ++number) EXPECT_EQ(order[number], number);
}

TEST(device_queue, failures_reach_those_who_wait) {
  DeviceQueue queue;
  EXPECT_FALSE(queue.submit([] { throw MemoryError("none left"); })->wait());
  EXPECT_THROW((void)queue.submit([] { throw DeviceError("broken"); })->wait(), DeviceError);
  EXPECT_TRUE(queue.submit([] {})->wait());
}

TEST(dense_operations, a_missing_library_is_named) {
  const std::string why = device::why_no_dense_cuda();
  if (why.empty()) GTEST_SKIP() << "cuBLAS and cuSOLVER are here";
  EXPECT_TRUE(why.find("cuBLAS") != std::string::npos || why.find("cuSOLVER") != std::string::npos) << why;
}

}  // namespace
}  // namespace palmette
