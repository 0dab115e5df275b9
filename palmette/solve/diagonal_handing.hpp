// Inside `solve`: ranks with devices multiply by C·B⁻¹, also where another rank holds B; so the ranks of a
// column get its diagonal block once, before the first solve.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "palmette/blocks/blocks.hpp"
#include "palmette/solve/element_program.hpp"
#include "palmette/transport/transport.hpp"

namespace palmette::solve_detail {

/// Of one rank.
struct DiagonalPlan {
  struct Gift {
    index_t supernode = 0;  ///< as the factor numbers them
    index_t rank = 0;       ///< of all layers: to whom, or from whom
  };
  std::vector<Gift> gives, gets;
};

/// @param all      the programs of all ranks
/// @param element  the rank's
/// @param system   its layer's; null: there is only one
DiagonalPlan diagonal_plan(const HostElements& all, int element, const LayerSystem* system);

/// The program of the exchange. Messages that come late or early only wait.
template <class T>
class DiagonalHanding final : public RankProgram {
 public:
  /// @param whole  what to do when all has come, with the blocks by supernode: w × w
  DiagonalHanding(std::shared_ptr<const RankFactor<T>> factor, DiagonalPlan plan,
                  std::function<void(std::map<index_t, SharedBytes>&)> whole)
      : factor_(std::move(factor)), plan_(std::move(plan)), whole_(std::move(whole)) {}
  void use(Transport& transport) { transport_ = &transport; }

  void start() override;
  void on_message(const Message& message) override {
    blocks_[static_cast<index_t>(message.tag)] = message.payload;
  }
  bool run_one_task(int thread) override;
  bool done() const override { return done_.load(std::memory_order_acquire); }
  std::string waiting_for() const override;

 private:
  std::shared_ptr<const RankFactor<T>> factor_;
  DiagonalPlan plan_;
  std::function<void(std::map<index_t, SharedBytes>&)> whole_;
  Transport* transport_ = nullptr;
  std::map<index_t, SharedBytes> blocks_;
  BytePool pool_;
  std::atomic<bool> done_{false};
};

}  // namespace palmette::solve_detail
