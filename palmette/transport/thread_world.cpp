// Ranks that are threads: a mailbox for each, and one meeting point for sums.
#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "palmette/base/base.hpp"
#include "palmette/transport/held_offers.hpp"
#include "palmette/transport/thread_world.hpp"

namespace palmette {
namespace {

/// Some tens of microseconds: waking a thread takes as long as a small solve.
constexpr int turns_before_sleep = 1000;
constexpr auto longest_sleep = std::chrono::milliseconds(1);

/// Messages in the order of arrival. Two arrays are swapped, so that in the long run none is allocated.
class Mailbox {
 public:
  void put(Message message) {
    const std::lock_guard lock(mutex_);
    arriving_.push_back(std::move(message));
    waiting_.store(true, std::memory_order_release);
    if (asleep_) came_.notify_one();
  }
  bool take(Message& message) {
    if (next_ == taken_.size()) {
      taken_.clear();
      next_ = 0;
      if (!waiting_.load(std::memory_order_acquire)) return false;
      const std::lock_guard lock(mutex_);
      taken_.swap(arriving_);
      waiting_.store(false, std::memory_order_relaxed);
    }
    if (next_ == taken_.size()) return false;
    message = std::move(taken_[next_++]);
    return true;
  }
  void sleep() {
    std::unique_lock lock(mutex_);
    asleep_ = true;
    came_.wait_for(lock, longest_sleep, [&] { return !arriving_.empty() || woken_; });
    asleep_ = false;
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    came_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::vector<Message> arriving_;
  std::atomic<bool> waiting_{false};
  bool asleep_ = false;
  bool woken_ = false;
  std::vector<Message> taken_;  // the receiver's
  std::size_t next_ = 0;
};

/// Where all ranks meet: each contributes a value, each sees all.
class Meeting {
 public:
  explicit Meeting(index_t num_ranks)
      : values_(num_ranks), here_(values_.size(), 0) {}

  /// @param seconds  time limit; 0: none
  template <class Join>
  double exchange(index_t rank, double value, double seconds, const Join& join) {
    std::unique_lock lock(mutex_);
    if (!why_.empty()) throw BrokenRun(why_);
    values_[rank] = value;
    here_[rank] = 1;
    const std::uint64_t round = round_;
    if (++arrived_ == values_.size()) {
      result_ = join(values_);
      arrived_ = 0;
      std::fill(here_.begin(), here_.end(), 0);
      round_.fetch_add(1, std::memory_order_release);
      all_here_.notify_all();
      return result_;
    }
    // The others often arrive soon.
    lock.unlock();
    for (int turns = 0; turns < turns_before_sleep && round_.load(std::memory_order_acquire) == round &&
                        !broken_.load(std::memory_order_relaxed);
         ++turns)
      wait_politely(turns);
    lock.lock();
    const auto over = [&] { return round_ != round || !why_.empty(); };
    if (seconds <= 0) all_here_.wait(lock, over);
    else if (!all_here_.wait_for(lock, std::chrono::duration<double>(seconds), over))
      break_up(absent(rank, seconds));
    if (round_ == round) throw BrokenRun(why_);
    return result_;
  }
  void abandon(const std::string& why) {
    const std::lock_guard lock(mutex_);
    break_up(why);
  }
  void look() {
    if (!broken_.load(std::memory_order_acquire)) return;
    const std::lock_guard lock(mutex_);
    throw BrokenRun(why_);
  }

 private:
  // With mutex_ held.
  void break_up(const std::string& why) {
    if (why_.empty()) why_ = why;
    broken_.store(true, std::memory_order_release);
    all_here_.notify_all();
  }
  std::string absent(index_t rank, double seconds) const {
    std::string who;
    for (std::size_t other = 0; other < here_.size(); ++other)
      if (here_[other] == 0) who += (who.empty() ? "rank " : ", rank ") + std::to_string(other);
    return "rank " + std::to_string(rank) + " of " + std::to_string(here_.size()) + " has waited " +
           text_of_seconds(seconds) + " for all to agree; not come: " + who;
  }

  std::mutex mutex_;
  std::condition_variable all_here_;
  std::vector<double> values_;
  std::vector<char> here_;
  std::size_t arrived_ = 0;
  std::atomic<std::uint64_t> round_{0};
  // No later round can begin before all ranks have left this one with its result, since a round needs every
  // rank.
  double result_ = 0;
  std::string why_;
  std::atomic<bool> broken_{false};
};

class ThreadRank final : public Transport {
 public:
  ThreadRank(index_t rank, std::vector<Mailbox>& mailboxes, std::vector<transport_detail::HeldOffers>& offers,
             Meeting& meeting)
      : rank_(rank), mailboxes_(mailboxes), offers_(offers), meeting_(meeting) {}
  index_t rank() const override { return rank_; }
  index_t num_ranks() const override { return static_cast<index_t>(mailboxes_.size()); }
  void send(index_t destination, std::int64_t tag, SharedBytes payload) override {
    check_rank(destination, num_ranks());
    mailboxes_[destination].put({rank_, tag, std::move(payload)});
  }
  bool poll(Message& message) override {
    meeting_.look();
    return own().take(message);
  }
  void flush() override {}
  double sum(double value) override {
    return meeting_.exchange(rank_, value, watchdog_seconds_, [](const std::vector<double>& all) {
      return std::accumulate(all.begin(), all.end(), 0.0);
    });
  }
  int agree(int status) override {
    const double largest = meeting_.exchange(
        rank_, status, watchdog_seconds_,
        [](const std::vector<double>& all) { return *std::max_element(all.begin(), all.end()); });
    offers_[rank_].forget();
    return static_cast<int>(largest);
  }
  Offer offer(std::int64_t tag, SharedBytes bytes) override {
    return offers_[rank_].hold(tag, std::move(bytes));
  }
  void get(index_t source, const Offer& offer) override {
    check_rank(source, num_ranks());
    own().put({source, offer.tag, offers_[source].look_up(offer)});
  }
  bool carry_from(const std::shared_ptr<BytePool>&) override { return true; }
  void set_watchdog(double seconds) override { watchdog_seconds_ = seconds; }
  void rest(int turns) override {
    if (turns < turns_before_sleep) wait_politely(turns);
    else own().sleep();
  }
  void abandon(const std::string& why) override {
    meeting_.abandon(why);
    for (Mailbox& mailbox : mailboxes_) mailbox.wake();
  }

 private:
  Mailbox& own() { return mailboxes_[rank_]; }
  index_t rank_;
  std::vector<Mailbox>& mailboxes_;
  std::vector<transport_detail::HeldOffers>& offers_;  // by rank
  Meeting& meeting_;
  double watchdog_seconds_ = 0;
};

}  // namespace

struct ThreadWorld::State {
  explicit State(index_t num_ranks)
      : mailboxes(num_ranks),
        offers(num_ranks),
        meeting(num_ranks) {
    for (index_t rank = 0; rank < num_ranks; ++rank)
      ranks.push_back(std::make_unique<ThreadRank>(rank, mailboxes, offers, meeting));
  }
  std::vector<Mailbox> mailboxes;
  std::vector<transport_detail::HeldOffers> offers;
  Meeting meeting;
  std::vector<std::unique_ptr<ThreadRank>> ranks;
};

ThreadWorld::ThreadWorld(index_t num_ranks) {
  check_num_ranks(num_ranks);
  state_ = std::make_unique<State>(num_ranks);
}
ThreadWorld::~ThreadWorld() = default;

index_t ThreadWorld::num_ranks() const { return static_cast<index_t>(state_->ranks.size()); }
Transport& ThreadWorld::rank(index_t rank) {
  check_rank(rank, num_ranks());
  return *state_->ranks[rank];
}

void ThreadWorld::run(const std::function<void(Transport&)>& work) {
  std::mutex mutex;
  // the first of each kind: a rank that stopped because another did must not hide the cause
  std::exception_ptr cause, consequence;
  std::vector<std::thread> threads;
  const auto keep = [&](std::exception_ptr& kept, Transport& transport, const std::exception& error) {
    {
      const std::lock_guard lock(mutex);
      if (!kept) kept = std::current_exception();
    }
    transport.abandon("rank " + std::to_string(transport.rank()) + " failed: " + error.what());
  };
  for (const auto& rank : state_->ranks)
    threads.emplace_back([&, transport = rank.get()] {
      try {
        work(*transport);
      } catch (const BrokenRun& error) {
        keep(consequence, *transport, error);
      } catch (const std::exception& error) {
        keep(cause, *transport, error);
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (cause) std::rethrow_exception(cause);
  if (consequence) std::rethrow_exception(consequence);
}

}  // namespace palmette
