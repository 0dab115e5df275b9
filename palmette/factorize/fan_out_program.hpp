// Inside `factorize`: the state machine of one rank: panels wait for blocks, and advance as far as the
// received blocks allow.
#pragma once

#include <atomic>
#include <mutex>

#include "palmette/factorize/block_messages.hpp"
#include "palmette/factorize/panel_waits.hpp"

namespace palmette::factorize_detail {

template <class T>
class FanOutProgram final : public RankProgram {
 public:
  FanOutProgram(const RankWork<T>& work, const RankFactorizeOptions& options, const Placement& placement,
                Transport& transport);

  void start() override;
  void on_message(const Message& message) override;
  bool run_one_task(int thread) override;
  bool done() const override { return left_.load(std::memory_order_acquire) == 0; }
  double last_cost() const override { return last_[0].work.flops; }
  TaskNote last_task(int thread) const override { return last_[thread]; }
  std::string waiting_for() const override { return waits_.waiting_for(); }

  const BadPivot& failure() const { return failure_; }
  PivotTally tally() const;

 private:
  /// The products that a task computed: their flops, number and size. The smallest dimension of a product
  /// limits the speed at which a machine computes it.
  struct DoneWork {
    double flops = 0;
    double products = 0;
    double flops_by_length = 0;  // Σ flops · smallest dimension
    void add(double work, double length) {
      flops += work;
      flops_by_length += work * length;
      ++products;
    }
  };
  /// Belongs to the thread that has taken the panel; others read without_content once the panel is finished.
  struct Panel {
    bool assembled = false;
    bool without_content = false;  // it depends on a bad pivot
  };

  DoneWork run_panel(index_t p, RankScratch<T>& scratch);
  void take_step(index_t p, offset_t step, RankScratch<T>& scratch, DoneWork& done);
  void take_own_step(index_t p, const UpdateStep& what, RankScratch<T>& scratch, DoneWork& done);
  void count_product(const Block& left, const UpdateStep& what, DoneWork& done) const;
  /// @returns false if the block arrived without content
  bool find(offset_t need, index_t source, FinishedBlock<T>& found) const;
  void finish_panel(index_t p, RankScratch<T>& scratch, DoneWork& done);
  /// @returns the diagonal block of panel p, if it has content
  DenseView<T> diagonal_of(index_t p);
  void make_diagonal(index_t p, DenseView<T> block);
  void finish_below(index_t p, DenseView<T> block, RankScratch<T>& scratch);

  const RankWork<T> work_;
  const FanOut& fan_;
  const Placement& placement_;
  BlockMessages<T> messages_;
  PanelWaits waits_;
  std::vector<RankScratch<T>> scratch_;  // one for each thread
  std::vector<Panel> panels_;
  std::vector<PivotTally> tallies_;  // by panel; empty where another rank has the diagonal block
  std::mutex mutex_;                 // for the next one
  BadPivot failure_;
  std::atomic<index_t> left_;
  std::vector<TaskNote> last_;  // by thread
};

}  // namespace palmette::factorize_detail
