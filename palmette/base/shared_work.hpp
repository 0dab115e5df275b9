// Threads that wait for the result of another one help it instead: who has much to do offers parts of it.
#pragma once

#include <atomic>
#include <memory>

namespace palmette {

/// Work of which other threads than its owner can do parts.
class SharedWork {
 public:
  virtual ~SharedWork() = default;
  /// Do some of it, if there is something to do now; never waits. Called by several threads at a time.
  virtual void help() = 0;
};

/// What the threads of one run offer to each other. Nothing depends on help: an owner does all parts that
/// nobody takes. Thread-safe.
class WorkOffers {
 public:
  /// @param threads  numbered from 0; a thread offers one work at a time
  explicit WorkOffers(int threads);
  WorkOffers(const WorkOffers&) = delete;
  WorkOffers& operator=(const WorkOffers&) = delete;

  /// Number of threads that wait, and would help.
  int waiting() const { return waiting_.load(std::memory_order_relaxed); }
  void begin_waiting() { waiting_.fetch_add(1, std::memory_order_relaxed); }
  void end_waiting() { waiting_.fetch_sub(1, std::memory_order_relaxed); }

  /// Do some of what other threads offer, if anything is offered. Called by a thread that waits, again and
  /// again.
  void help();

  void open(int thread, SharedWork& work);
  /// Returns once no other thread is in the work of this one.
  void close(int thread);

 private:
  struct alignas(64) Slot {
    std::atomic<SharedWork*> work{nullptr};
    std::atomic<int> inside{0};
  };
  const int threads_;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<int> waiting_{0};
  std::atomic<int> open_{0};
};

/// The offers of a run as one of its threads sees them. Without offers: a thread alone.
struct OffersOfThread {
  WorkOffers* offers = nullptr;
  int thread = 0;

  int waiting() const { return offers != nullptr ? offers->waiting() : 0; }
};

/// Others may help as long as this lives.
class WorkOffer {
 public:
  WorkOffer(const OffersOfThread& by, SharedWork& work) : by_(by) { by_.offers->open(by_.thread, work); }
  ~WorkOffer() { by_.offers->close(by_.thread); }
  WorkOffer(const WorkOffer&) = delete;
  WorkOffer& operator=(const WorkOffer&) = delete;

 private:
  const OffersOfThread by_;
};

/// work(part) once for each part in [0, parts), by a thread and whoever helps it.
template <class Work>
void share_parts(const OffersOfThread& offers, int parts, const Work& work) {
  class Parts final : public SharedWork {
   public:
    Parts(int count, const Work& each) : count_(count), each_(each) {}
    void help() override { take(); }
    bool take() {
      const int part = next_.fetch_add(1, std::memory_order_relaxed);
      if (part < count_) each_(part);
      return part < count_;
    }

   private:
    const int count_;
    const Work& each_;
    std::atomic<int> next_{0};
  };
  if (offers.waiting() == 0) {
    for (int part = 0; part < parts; ++part) work(part);
    return;
  }
  Parts shared(parts, work);
  const WorkOffer offer(offers, shared);  // its end waits for those who help
  while (shared.take()) {
  }
}

}  // namespace palmette
