// The loopback transport, and the driver of a rank program: it terminates, keeps order, and passes failures
// on.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "palmette/transport/transport.hpp"

namespace palmette {
namespace {

SharedBytes bytes_of(const int& value) {
  static BytePool pool;
  return pool.copy(std::as_bytes(std::span(&value, 1)));
}

TEST(loopback, messages_arrive_in_the_order_sent_with_tag_and_payload) {
  const auto transport = make_loopback();
  for (int value : {5, 6, 7}) transport->send(0, 100 + value, bytes_of(value));
  transport->flush();
  Message message;
  for (int value : {5, 6, 7}) {
    ASSERT_TRUE(transport->poll(message));
    EXPECT_EQ(message.source, 0);
    EXPECT_EQ(message.tag, 100 + value);
    ASSERT_EQ(message.payload.size(), sizeof(int));
    EXPECT_EQ(std::memcmp(message.payload.data(), &value, sizeof(int)), 0);
  }
  EXPECT_FALSE(transport->poll(message));
  EXPECT_EQ(transport->sum(2.5), 2.5);
  EXPECT_EQ(transport->agree(4), 4);
  EXPECT_THROW(transport->send(1, 0, {}), UsageError);
}

/// Sends itself a countdown: each message allows one task, each task sends the next message.
class Countdown final : public RankProgram {
 public:
  Countdown(Transport& transport, int from, int fail_at)
      : transport_(transport), left_(from), fail_at_(fail_at) {}
  void start() override { transport_.send(0, 1, bytes_of(left_)); }
  void on_message(const Message&) override { allowed_.fetch_add(1); }
  bool run_one_task(int) override {
    int allowed = allowed_.load();
    while (allowed > 0 && !allowed_.compare_exchange_weak(allowed, allowed - 1)) {
    }
    if (allowed == 0) return false;
    if (left_ == fail_at_) throw UsageError("task failed");
    if (--left_ > 0) transport_.send(0, 1, bytes_of(left_));
    else done_.store(true);
    return true;
  }
  bool done() const override { return done_.load(); }
  int left() const { return left_; }

 private:
  Transport& transport_;
  int left_;
  int fail_at_;
  std::atomic<int> allowed_{0};
  std::atomic<bool> done_{false};
};

TEST(drive, a_program_that_lives_on_its_own_messages_ends_for_any_number_of_threads) {
  for (const int threads : {1, 2, 5}) {
    const auto transport = make_loopback();
    ThreadTeam team(threads);
    Countdown program(*transport, 300, -1);
    drive(program, *transport, team);
    EXPECT_EQ(program.left(), 0);
  }
}

TEST(drive, a_failing_task_stops_every_thread_and_its_exception_reaches_the_caller) {
  for (const int threads : {1, 4}) {
    const auto transport = make_loopback();
    ThreadTeam team(threads);
    Countdown program(*transport, 300, 150);
    EXPECT_THROW(drive(program, *transport, team), UsageError);
    EXPECT_EQ(program.left(), 150);
  }
}

}  // namespace
}  // namespace palmette
