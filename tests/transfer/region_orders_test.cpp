// Regions whose writer runs ahead: every order in which the messages of three epochs are sent, arrive and are
// read. And a landing that counts bytes without a fence.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "palmette/transfer/transfer.hpp"
#include "tests/transfer/region_values.hpp"

namespace palmette::transfer {
namespace {

constexpr std::int64_t epochs = 3;

/// Computes and sends one epoch in each task, and waits for nobody.
class Source final : public RankProgram {
 public:
  Source(const RegionWork& work, const RegionPlan& plan, Mechanism mechanism, Transport& transport)
      : work_(work),
        bytes_(static_cast<std::size_t>(work.bytes)),
        link_(plan, bytes_, transport, {1}),
        writer_(plan, {mechanism, plan.chunk_bytes, 1}, 1, link_) {}
  void start() override {}
  void on_message(const Message&) override {}
  bool run_one_task(int) override {
    if (writer_.progress(0)) return true;
    if (done()) return false;
    writer_.begin_epoch();
    for (std::size_t task = 0; task < work_.writes.size(); ++task) {
      testing_transfer::fill(bytes_, work_.writes[task], 0, writer_.epoch());
      writer_.wrote(static_cast<index_t>(task));
    }
    return true;
  }
  bool done() const override { return writer_.epoch() + 1 == epochs && writer_.all_sent(); }

 private:
  RegionWork work_;
  std::vector<std::byte> bytes_;
  TransportLink link_;
  RegionWriter writer_;
};

/// Reads one epoch in each task, so that others may arrive before or between.
class Reader final : public RankProgram {
 public:
  Reader(const RegionPlan& plan, RegionFault fault) : receiver_(plan, fault) {}
  void start() override {}
  void on_message(const Message& message) override {
    receiver_.on_message(message);
    most_held = std::max(most_held, receiver_.held());
  }
  bool run_one_task(int) override {
    const Landing& landing = receiver_.landing();
    const std::int64_t epoch = landing.open_epoch();
    if (epoch == epochs || !landing.is_complete(epoch)) return false;
    for (index_t chunk = 0; chunk < landing.plan().num_chunks(); ++chunk)
      if (!testing_transfer::is_right(landing.read(epoch, chunk), 0, epoch, landing.plan().begin(chunk)))
        throw Error("chunk " + std::to_string(chunk) + " of epoch " + std::to_string(epoch) + " is wrong");
    receiver_.release(epoch);
    return true;
  }
  bool done() const override { return receiver_.landing().open_epoch() == epochs; }
  std::size_t most_held = 0;

 private:
  RegionReceiver receiver_;
};

struct Orders {
  Exploration all;
  std::size_t most_held = 0;
};

Orders explore_three_epochs(Mechanism mechanism, RegionFault fault) {
  const RegionWork work = testing_transfer::region_work(2, 8, epochs);
  const RegionPlan plan = cut_region(work.bytes, 16, work.writes);  // two writers of one chunk
  Orders found;
  found.all = explore_orders(2, 200000, [&](SimulatedWorld& world) {
    ExploredRun run;
    auto reader = std::make_unique<Reader>(plan, fault);
    Reader* const reads = reader.get();
    run.programs.push_back(std::make_unique<Source>(work, plan, mechanism, world.rank(0)));
    run.programs.push_back(std::move(reader));
    run.check = [&found, reads] { found.most_held = std::max(found.most_held, reads->most_held); };
    return run;
  });
  return found;
}

class EveryMechanism : public ::testing::TestWithParam<Mechanism> {};
INSTANTIATE_TEST_SUITE_P(All, EveryMechanism, ::testing::ValuesIn(mechanisms),
                         [](const auto& one) { return std::string(name_of(one.param)); });

TEST_P(EveryMechanism, is_right_in_all_orders_of_three_epochs_that_run_ahead) {
  const Orders found = explore_three_epochs(GetParam(), RegionFault::none);
  EXPECT_TRUE(found.all.complete);
  EXPECT_GT(found.all.orders, 20);
  EXPECT_GT(found.most_held, 0u) << "some order has to bring the third epoch while the first is open";
  RecordProperty("orders", std::to_string(found.all.orders));
}

TEST_P(EveryMechanism, is_wrong_in_some_order_if_epochs_are_not_checked) {
  EXPECT_ANY_THROW(explore_three_epochs(GetParam(), RegionFault::epoch_unchecked));
}

/// One thread stores a chunk again and again, another reads it as soon as it is counted.
void move_between_threads(RegionFault fault) {
  const RegionWork work = testing_transfer::region_work(1, 64, 50);
  const RegionPlan plan = cut_region(work.bytes, 64, work.writes);
  Landing landing(plan, fault);
  std::thread reader([&] {
    int wrong = 0;
    for (std::int64_t epoch = 0; epoch < work.epochs; ++epoch) {
      while (!landing.is_complete(epoch)) std::this_thread::yield();
      wrong += testing_transfer::is_right(landing.read(epoch, 0), 0, epoch, 0) ? 0 : 1;
      landing.release(epoch);
    }
    if (wrong > 0) std::abort();
  });
  std::vector<std::byte> bytes(64);
  for (std::int64_t epoch = 0; epoch < work.epochs; ++epoch) {
    testing_transfer::fill(bytes, work.writes[0], 0, epoch);
    while (!landing.accept(epoch, 0, bytes)) std::this_thread::yield();
  }
  reader.join();
}

// This processor keeps the order of stores by itself, so only the thread sanitizer sees that the fence is
// missing. It ends the process with 66.
TEST(Landing, moves_right_bytes_and_without_a_fence_is_found_by_the_thread_sanitizer) {
  move_between_threads(RegionFault::none);
#if defined(PALMETTE_THREAD_SANITIZER)
  ::testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        move_between_threads(RegionFault::unfenced);
        std::exit(0);
      },
      ::testing::ExitedWithCode(66), "data race");
#endif
}

}  // namespace
}  // namespace palmette::transfer
