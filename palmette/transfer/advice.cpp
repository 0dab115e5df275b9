// Candidates are replayed as they are; then each estimated parameter is halved and doubled, and the three
// fastest are replayed again.
#include "palmette/transfer/advice.hpp"

#include <algorithm>
#include <iterator>

namespace palmette::transfer {
namespace {

struct Setting {
  Fabric fabric;
  ReplayOptions options;
};

struct Parameter {
  const char* name;
  void (*scale)(Setting& setting, double factor);
};

void scale_count(int& count, double factor) {
  count = std::max(1, static_cast<int>(count * factor));
}

const Parameter parameters[] = {
    {"work_gbs", [](Setting& one, double factor) { one.options.device.work_gbs *= factor; }},
    {"launch_us", [](Setting& one, double factor) { one.options.device.launch_us *= factor; }},
    {"gbs", [](Setting& one, double factor) { one.fabric.gbs *= factor, one.fabric.root_gbs *= factor; }},
    {"latency_us", [](Setting& one, double factor) { one.fabric.latency_us *= factor; }},
    {"copy_start_us", [](Setting& one, double factor) { one.fabric.copy_start_us *= factor; }},
    {"chunk_start_us", [](Setting& one, double factor) { one.options.proact.start_us *= factor; }},
    {"tracking", [](Setting& one, double factor) { one.options.proact.tracking *= factor; }},
    {"outstanding_loads",
     [](Setting& one, double factor) { scale_count(one.options.device.outstanding_loads, factor); }},
    {"page_fault_us", [](Setting& one, double factor) { one.options.device.page_fault_us *= factor; }},
};

class Replays {
 public:
  Replays(std::size_t all, const ProgressCallback& progress) : all_(all), progress_(progress) {}
  void count() {
    ++done_;
    if (progress_) progress_("simulate", static_cast<double>(done_) / static_cast<double>(all_));
  }

 private:
  std::size_t all_, done_ = 0;
  const ProgressCallback& progress_;
};

void sort_by_time(std::vector<TransferResult>& results) {
  std::stable_sort(results.begin(), results.end(),
                   [](const TransferResult& a, const TransferResult& b) { return a.seconds < b.seconds; });
}

double margin_of(const std::vector<TransferResult>& sorted) {
  return sorted[1].seconds / sorted[0].seconds;
}

/// The same paradigm (and chunk) as before, with another parameter.
TransferResult again(const StoreTrace& trace, const Setting& setting, const TransferResult& before) {
  ReplayOptions options = setting.options;
  options.paradigm = before.paradigm;
  options.proact.is_inline = before.chunk_bytes == 0;
  if (before.chunk_bytes > 0) options.proact.chunk_bytes = before.chunk_bytes;
  return simulate_transfers(trace, setting.fabric, options);
}

}  // namespace

bool Advice::is_sensitive() const {
  return std::any_of(sensitivity.begin(), sensitivity.end(),
                     [&](const Sensitivity& one) { return one.winner != candidates.front().paradigm; });
}

Advice advise(const StoreTrace& trace, const Fabric& fabric, const ReplayOptions& options,
              const ProgressCallback& progress) {
  Advice advice;
  Replays replays(4 + usual_chunks().size() + 6 * std::size(parameters), progress);
  for (const Paradigm paradigm :
       {Paradigm::copies, Paradigm::unified_memory, Paradigm::peer_loads, Paradigm::peer_stores}) {
    ReplayOptions one = options;
    one.paradigm = paradigm;
    advice.candidates.push_back(simulate_transfers(trace, fabric, one));
    replays.count();
  }
  // Inline is the same as peer stores: here only chunks count as PROACT.
  TransferResult best;
  for (const std::int64_t bytes : usual_chunks()) {
    ReplayOptions one = options;
    one.paradigm = Paradigm::proact;
    one.proact.chunk_bytes = bytes;
    TransferResult found = simulate_transfers(trace, fabric, one);
    replays.count();
    if (best.chunk_bytes == 0 || found.seconds < best.seconds) best = std::move(found);
  }
  advice.candidates.push_back(std::move(best));
  sort_by_time(advice.candidates);
  advice.margin = margin_of(advice.candidates);
  if (advice.candidates[0].paradigm == Paradigm::proact)
    advice.chunk_bytes = advice.candidates[0].chunk_bytes;
  for (const Parameter& parameter : parameters)
    for (const double factor : {0.5, 2.0}) {
      Setting setting{fabric, options};
      parameter.scale(setting, factor);
      std::vector<TransferResult> results;
      for (std::size_t k = 0; k < 3; ++k) {
        results.push_back(again(trace, setting, advice.candidates[k]));
        replays.count();
      }
      sort_by_time(results);
      advice.sensitivity.push_back({parameter.name, factor, results[0].paradigm, margin_of(results)});
    }
  return advice;
}

}  // namespace palmette::transfer
