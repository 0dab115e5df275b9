// Supernode by supernode: the cheapest place for its operations.
#include <algorithm>

#include "palmette/factorize/offload_model.hpp"
#include "palmette/factorize/offload_sizes.hpp"

namespace palmette {
namespace {

using factorize_detail::OffloadSizes;

/// What one supernode costs as a source of updates.
struct UpdateCosts {
  double on_host = 0;   ///< all of them there
  double cheapest = 0;  ///< each where it is faster, the panel being on the device
  bool any = false;     ///< one is faster there
};

class Planner {
 public:
  Planner(const OffloadSizes& sizes, const OffloadModel& model, OffloadWhen mode)
      : sizes_(sizes), model_(model), mode_(mode) {
    const auto supernodes = static_cast<std::size_t>(sizes.symbolic.num_supernodes());
    plan_.diagonal_on_device.resize(supernodes);
    plan_.rows_on_device.resize(supernodes);
    plan_.update_on_device.resize(sizes.symbolic.blocks.size());
  }

  OffloadPlan run() {
    if (mode_ == OffloadWhen::never) return plan_;
    for (index_t s = 0; s < sizes_.symbolic.num_supernodes(); ++s) {
      if (mode_ == OffloadWhen::always)
        everything(s);
      else
        choose(s);
    }
    return plan_;
  }

 private:
  void everything(index_t s) {
    const bool llt = sizes_.kind == FactorKind::llt;
    plan_.diagonal_on_device[s] = llt;
    plan_.rows_on_device[s] = llt && sizes_.symbolic.num_rows_below(s) > 0;
    for (offset_t block = sizes_.first_block(s); block < sizes_.first_block(s + 1); ++block)
      plan_.update_on_device[block] = 1;
  }

  double host_seconds(index_t s, offset_t block) const {
    return sizes_.host_update_seconds(model_, s, block);
  }
  double device_seconds(index_t s, offset_t block) const {
    return sizes_.device_update_seconds(model_, s, block) +
           model_.copy_seconds(sizes_.product_bytes(s, block)) + sizes_.scatter_seconds(model_, s, block);
  }

  UpdateCosts updates(index_t s) const {
    UpdateCosts costs;
    for (offset_t block = sizes_.first_block(s); block < sizes_.first_block(s + 1); ++block) {
      const double host = host_seconds(s, block), device = device_seconds(s, block);
      costs.on_host += host;
      costs.cheapest += std::min(host, device);
      costs.any |= device < host;
    }
    return costs;
  }

  void choose(index_t s) {
    const UpdateCosts costs = updates(s);
    const double host_rows = model_.host_seconds(sizes_.trsm(s), sizes_.scalar);
    const double copied = model_.copy_seconds(sizes_.kept_bytes(s));
    const double stay = host_rows + costs.on_host;
    const double copy = host_rows + copied + costs.cheapest;
    double compute = stay;
    if (sizes_.kind == FactorKind::llt && sizes_.symbolic.num_rows_below(s) > 0)
      compute = 2 * copied + model_.device_seconds(sizes_.trsm(s), sizes_.scalar) + costs.cheapest;
    plan_.rows_on_device[s] = compute < std::min(stay, copy);
    const bool kept = plan_.rows_on_device[s] || (costs.any && copy < stay);
    if (kept)
      for (offset_t block = sizes_.first_block(s); block < sizes_.first_block(s + 1); ++block)
        plan_.update_on_device[block] = device_seconds(s, block) < host_seconds(s, block);
    if (sizes_.kind == FactorKind::llt)
      plan_.diagonal_on_device[s] = 2 * model_.copy_seconds(sizes_.diagonal_bytes(s)) +
                                        model_.device_seconds(sizes_.potrf(s), sizes_.scalar) <
                                    model_.host_seconds(sizes_.potrf(s), sizes_.scalar);
  }

  const OffloadSizes& sizes_;
  const OffloadModel& model_;
  OffloadWhen mode_;
  OffloadPlan plan_;
};

/// Adds up what a plan does.
class Accountant {
 public:
  Accountant(const OffloadSizes& sizes, const OffloadModel& model, const OffloadPlan& plan)
      : sizes_(sizes), model_(model), plan_(plan) {}

  PlannedOffload run() {
    for (index_t s = 0; s < sizes_.symbolic.num_supernodes(); ++s) {
      finish(s);
      for (offset_t block = sizes_.first_block(s); block < sizes_.first_block(s + 1); ++block)
        update(s, block);
    }
    return sum_;
  }

 private:
  void call(const DenseCall& one, bool on_device) {
    if (one.flops() == 0) return;
    (on_device ? sum_.counts.device : sum_.counts.host)[one.operation].add(sizes_.flops(one));
    const double host = model_.host_seconds(one, sizes_.scalar);
    sum_.seconds.host_alone += host;
    if (on_device)
      sum_.seconds.device += model_.device_seconds(one, sizes_.scalar);
    else
      sum_.seconds.host += host;
  }
  void copy(bool in, double bytes, offset_t copies = 1) {
    (in ? sum_.counts.bytes_in : sum_.counts.bytes_out) += bytes;
    (in ? sum_.counts.copies_in : sum_.counts.copies_out) += copies;
    sum_.seconds.bus += model_.copy_seconds(bytes);
  }
  void finish(index_t s) {
    call(sizes_.potrf(s), plan_.diagonal_on_device[s] != 0);
    for (int panel = 0; panel < sizes_.panels(); ++panel) call(sizes_.trsm(s), plan_.rows_on_device[s] != 0);
    if (plan_.diagonal_on_device[s]) {
      copy(true, sizes_.diagonal_bytes(s));
      copy(false, sizes_.diagonal_bytes(s));
    }
    if (!plan_.rows_on_device[s] && !plan_.keeps(sizes_.symbolic, s)) return;
    copy(true, sizes_.kept_bytes(s), sizes_.stored_panels());
    if (plan_.rows_on_device[s]) copy(false, sizes_.kept_bytes(s));
    ++sum_.counts.panels_kept;
    sum_.kept_bytes += sizes_.kept_bytes(s);
  }
  void update(index_t s, offset_t block) {
    const bool on_device = plan_.update_on_device[block] != 0;
    for (const DenseCall& one : sizes_.update(s, block)) call(one, on_device);
    if (!on_device) return;
    copy(false, sizes_.product_bytes(s, block));
    sum_.seconds.host += sizes_.scatter_seconds(model_, s, block);
  }

  const OffloadSizes& sizes_;
  const OffloadModel& model_;
  const OffloadPlan& plan_;
  PlannedOffload sum_;
};

}  // namespace

bool OffloadPlan::none() const {
  const auto set = [](const std::vector<char>& flags) {
    return std::find(flags.begin(), flags.end(), 1) != flags.end();
  };
  return !set(diagonal_on_device) && !set(rows_on_device) && !set(update_on_device);
}

bool OffloadPlan::keeps(const SymbolicFactor& symbolic, index_t s) const {
  const auto first = update_on_device.begin() + symbolic.block_ptr[s];
  const auto end = update_on_device.begin() + symbolic.block_ptr[s + 1];
  return std::find(first, end, 1) != end;
}

OffloadPlan plan_offload(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                         const OffloadModel& model, OffloadWhen mode) {
  check(model);
  return Planner({symbolic, kind, scalar}, model, mode).run();
}

PlannedOffload planned_offload(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                               const OffloadModel& model, const OffloadPlan& plan) {
  return Accountant({symbolic, kind, scalar}, model, plan).run();
}

}  // namespace palmette
