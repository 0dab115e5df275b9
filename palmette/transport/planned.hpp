// A transport for the messages of one kind of run: queues are sized once, and used for every run.
#pragma once

#include <functional>
#include <memory>

#include "palmette/transport/one_sided_queue.hpp"

namespace palmette {

/// Created from a TransportPlan; a run exchanges no more than it allows.
class PlannedTransport {
 public:
  virtual ~PlannedTransport() = default;
  /// Begin the next run. Every rank must call it, and all must have agreed on something since the previous
  /// run, so that no rank still reads its messages.
  virtual void begin_run() = 0;
  virtual Transport& transport() = 0;
  /// Memory of this rank's queues.
  virtual std::size_t memory_bytes() const = 0;
};

/// Makes such a transport; every rank must call it with the same plan. @returns null, on all ranks, if there
/// is not enough memory
using PlannedTransports = std::function<std::unique_ptr<PlannedTransport>(const TransportPlan& plan)>;

/// The transport of one kind of run: planned if possible, otherwise the general one.
class RunTransport {
 public:
  /// @param make     empty: the general one
  /// @param general  must outlive this
  /// @param plan     used only if `make` is given
  RunTransport(const PlannedTransports& make, Transport& general, const std::function<TransportPlan()>& plan)
      : general_(&general), planned_(make ? make(plan()) : nullptr), refused_(make && !planned_) {}
  /// As PlannedTransport::begin_run. @returns what the run goes through
  Transport& begin() {
    if (!planned_) return *general_;
    planned_->begin_run();
    return planned_->transport();
  }
  /// A planned transport was requested, but could not be created.
  bool refused() const { return refused_; }
  std::size_t memory_bytes() const { return planned_ ? planned_->memory_bytes() : 0; }

 private:
  Transport* general_;
  std::unique_ptr<PlannedTransport> planned_;
  bool refused_;
};

}  // namespace palmette
