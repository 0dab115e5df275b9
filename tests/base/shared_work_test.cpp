// Offers between threads: each part is done once, and no helper is in a work that has ended.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "palmette/base/base.hpp"
#include "tests/repeating_threads.hpp"

namespace palmette {
namespace {

/// Parts that are taken one by one; its owner takes what is left.
class CountedParts final : public SharedWork {
 public:
  explicit CountedParts(int parts) : done_(parts) {}
  ~CountedParts() override { ended_ = true; }
  void help() override {
    EXPECT_FALSE(ended_);
    if (take()) ++helped_;
  }
  bool take() {
    const int part = next_.fetch_add(1);
    if (part >= static_cast<int>(done_.size())) return false;
    ++done_[part];
    return true;
  }
  int helped() const { return helped_; }
  void expect_all_done_once() const {
    for (const auto& count : done_) EXPECT_EQ(count.load(), 1);
  }

 private:
  std::vector<std::atomic<int>> done_;
  std::atomic<int> next_{0}, helped_{0};
  std::atomic<bool> ended_{false};
};

/// Threads that wait, and help, as long as this lives.
class Helpers {
 public:
  Helpers(WorkOffers& offers, int count)
      : offers_(offers), count_(count), threads_(count, [&offers](int) { offers.help(); }) {
    for (int k = 0; k < count_; ++k) offers_.begin_waiting();
  }
  ~Helpers() {
    for (int k = 0; k < count_; ++k) offers_.end_waiting();
  }

 private:
  WorkOffers& offers_;
  const int count_;
  testing::RepeatingThreads threads_;
};

TEST(shared_work, is_done_once_whoever_comes_and_nobody_is_in_it_at_its_end) {
  WorkOffers offers(2);
  const Helpers helpers(offers, 2);
  std::vector<std::thread> owners;
  for (int thread = 0; thread < 2; ++thread)
    owners.emplace_back([&offers, thread] {
      for (int round = 0; round < 2000; ++round) {
        CountedParts parts(round % 40);
        {
          const WorkOffer offer({&offers, thread}, parts);
          while (parts.take()) {
          }
        }
        parts.expect_all_done_once();
      }
    });
  for (std::thread& owner : owners) owner.join();
}

TEST(shared_work, parts_are_done_once_alone_and_with_help) {
  WorkOffers offers(1);
  for (const int helpers : {0, 2}) {
    const Helpers others(offers, helpers);
    for (int round = 0; round < 500; ++round) {
      std::vector<std::atomic<int>> done(round % 9);
      share_parts({&offers, 0}, round % 9, [&](int part) { ++done[part]; });
      for (const auto& count : done) EXPECT_EQ(count.load(), 1);
    }
  }
}

TEST(shared_work, waiting_threads_take_what_is_offered) {
  WorkOffers offers(1);
  const Helpers helpers(offers, 1);
  CountedParts parts(5);
  const WorkOffer offer({&offers, 0}, parts);
  // The owner does nothing: else the helper might come too late.
  while (parts.helped() < 5) processor_pause();
  parts.expect_all_done_once();
}

TEST(shared_work, without_offers_nobody_waits_and_nothing_is_done) {
  EXPECT_EQ(OffersOfThread().waiting(), 0);
  WorkOffers offers(3);
  offers.help();
  EXPECT_EQ(offers.waiting(), 0);
  CountedParts parts(3);
  { const WorkOffer offer({&offers, 1}, parts); }
  offers.help();
  EXPECT_EQ(parts.helped(), 0);
}

}  // namespace
}  // namespace palmette
