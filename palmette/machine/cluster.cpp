// Curves, shares, and the checks of a description.
#include "palmette/machine/cluster.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {
namespace {

std::string plainly(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

class Checker {
 public:
  explicit Checker(const std::string& name) : name_(name) {}
  void positive(const char* field, double value) const {
    if (!(value > 0) || !std::isfinite(value)) fail(field, value, "it must be a finite number above 0");
  }
  void not_negative(const char* field, double value) const {
    if (!(value >= 0) || !std::isfinite(value)) fail(field, value, "it must be a finite number, 0 or more");
  }
  void curve(const char* field, const RateCurve& curve) const {
    if (curve.empty())
      throw UsageError("machine " + name_ + ": " + field + " has no points; give at least one");
    double before = 0;
    for (const RatePoint& point : curve) {
      if (!(point.at > before)) fail(field, point.at, "points must ascend, from above 0");
      positive(field, point.rate);
      before = point.at;
    }
  }
  void overheads(const std::string& at, const TaskOverheads& one) const {
    not_negative((at + ".task_us").c_str(), one.task_us);
    not_negative((at + ".panel_us").c_str(), one.panel_us);
    not_negative((at + ".row_ns").c_str(), one.row_ns);
    not_negative((at + ".byte_ns").c_str(), one.byte_ns);
    not_negative((at + ".memory_byte_ns").c_str(), one.memory_byte_ns);
    not_negative((at + ".column_ns").c_str(), one.column_ns);
    not_negative((at + ".handoff_us").c_str(), one.handoff_us);
  }
  void at_least_one(const char* field, index_t value) const {
    if (value < 1) fail(field, value, "it must be at least 1");
  }
  void links(const std::vector<LinkLevel>& levels) const {
    if (levels.empty()) throw UsageError("machine " + name_ + ": links is empty; give at least one level");
    index_t below = 1;
    for (std::size_t number = 0; number < levels.size(); ++number) {
      const std::string at = "links[" + std::to_string(number) + "]";
      const LinkLevel& level = levels[number];
      link(at, level);
      const bool last = number + 1 == levels.size();
      const bool fits = last ? level.ranks == 0 : level.ranks >= below && level.ranks % below == 0;
      if (!fits)
        fail((at + ".ranks").c_str(), level.ranks,
             last ? "the last level holds all ranks: 0" : "it must be a multiple of the level below");
      if (!level.pairs.empty()) pairs(at, level, number);
      if (last && level.injection_gbs != 0)
        fail((at + ".injection_gbs").c_str(), level.injection_gbs, "nothing leaves the last level: 0");
      below = level.ranks;
    }
  }

 private:
  void link(const std::string& at, const LinkLevel& level) const {
    link(at, level.link);
    not_negative((at + ".injection_gbs").c_str(), level.injection_gbs);
  }
  void link(const std::string& at, const Link& one) const {
    not_negative((at + ".latency_us").c_str(), one.latency_us);
    positive((at + ".bandwidth_gbs").c_str(), one.bandwidth_gbs);
    not_negative((at + ".send_overhead_us").c_str(), one.send_overhead_us);
    not_negative((at + ".receive_overhead_us").c_str(), one.receive_overhead_us);
  }
  void pairs(const std::string& at, const LinkLevel& level, std::size_t number) const {
    const auto all = static_cast<std::size_t>(level.ranks) * level.ranks;
    if (number != 0 || level.pairs.size() != all)
      fail((at + ".pairs").c_str(), static_cast<double>(level.pairs.size()),
           "only the first level may list pairs, one for each two ranks of a group");
    for (index_t source = 0; source < level.ranks; ++source)
      for (index_t other = 0; other < level.ranks; ++other)
        if (source != other) link(at + ".pairs", level.of_pair(source, other));
  }
  [[noreturn]] void fail(const char* field, double value, const char* remedy) const {
    throw UsageError("machine " + name_ + ": " + field + " is " + plainly(value) + "; " + remedy);
  }
  const std::string& name_;
};

}  // namespace

double rate_at(const RateCurve& curve, double at) {
  if (curve.empty()) return 0;
  const auto above =
      std::find_if(curve.begin(), curve.end(), [at](const RatePoint& point) { return point.at >= at; });
  if (above == curve.begin()) return curve.front().rate;
  if (above == curve.end()) return curve.back().rate;
  const RatePoint& below = *(above - 1);
  return below.rate + (above->rate - below.rate) * (at - below.at) / (above->at - below.at);
}

double cached_share(double cache_bytes, double bytes) {
  return bytes > 0 ? std::min(1.0, cache_bytes / bytes) : 0;
}

std::vector<LinkLevel> node_links(index_t ranks_per_node, const Link& on_node, const Link& network,
                                  double injection_gbs) {
  return {{"node", ranks_per_node, on_node, injection_gbs}, {"network", 0, network, 0}};
}

std::size_t Cluster::level_of(index_t source, index_t destination) const {
  std::size_t level = 0;
  while (level + 1 < links.size() && source / links[level].ranks != destination / links[level].ranks) ++level;
  return level;
}

double Cluster::rank_memory_gbs(index_t ranks) const {
  const double readers = std::clamp<index_t>(ranks, 1, ranks_per_memory);
  return rate_at(memory_gbs, readers) / readers;
}

double Cluster::rank_cache(index_t ranks) const {
  const double whole = cache_bytes * ranks_per_memory;
  const double sharers = std::clamp<index_t>(ranks, 1, ranks_per_memory);
  return std::min(std::max(lone_cache_bytes, cache_bytes), whole / sharers);
}

double Cluster::rank_read_gbs(index_t ranks, double bytes) const {
  const double memory = rank_memory_gbs(ranks), cached = cached_share(rank_cache(ranks), bytes);
  if (cache_gbs <= memory || cached <= 0) return memory;
  return 1 / (cached / cache_gbs + (1 - cached) / memory);
}

double Cluster::solve_gbs(const TaskOverheads& extra, double cached, double memory) const {
  const double in_cache = cache_gbs > 0 ? cached : 0;
  // Others can use the part of the memory's rate that one rank alone leaves unused.
  const double from_memory = std::max(1 / rate_at(memory_gbs, 1) + extra.memory_byte_ns, 1 / memory);
  return 1 / (in_cache / std::max(cache_gbs, memory) + (1 - in_cache) * from_memory + extra.byte_ns);
}

double Cluster::rank_solve_gbs(index_t ranks, double bytes) const {
  return solve_gbs(overheads_of_ranks(), cached_share(rank_cache(ranks), bytes), rank_memory_gbs(ranks));
}

double Cluster::seconds(const TaskWork& work, double read_gbs, const TaskOverheads& extra) const {
  const double gflops = rate_at(kernel_gflops, work.num_rhs);
  const double main = std::max(work.bytes / (read_gbs * 1e9), gflops > 0 ? work.flops / (gflops * 1e9) : 0);
  return main + extra.task_us * 1e-6 + extra.panel_us * 1e-6 * work.panels +
         (extra.row_ns * work.rows + extra.column_ns * work.columns) * 1e-9 * work.num_rhs;
}

double Cluster::rank_seconds(const TaskWork& work, double read_gbs) const {
  TaskOverheads extra = overheads_of_ranks();
  extra.panel_us /= workers;
  return seconds(work, read_gbs, extra);
}

double Cluster::worker_seconds(const TaskWork& work, double read_gbs, index_t busy) const {
  const double share = read_gbs / busy;
  TaskWork mine = work;
  mine.flops *= busy;
  return seconds(mine, worker_gbs > 0 ? std::min(worker_gbs, share) : share, overheads_of_ranks());
}

namespace {

RateCurve shared(const RateCurve& curve, double at, double rate) {
  RateCurve result = curve;
  for (RatePoint& point : result) point = {point.at * at, point.rate * rate};
  return result;
}

TaskOverheads shared(const TaskOverheads& one, double times) {
  return {one.task_us * times,        one.panel_us * times,  one.row_ns * times,    one.byte_ns * times,
          one.memory_byte_ns * times, one.column_ns * times, one.handoff_us * times};
}

Link shared(Link link, double times) {
  link.send_overhead_us *= times;
  link.receive_overhead_us *= times;
  return link;
}

/// Two ranks of one processor have the link of a processor to itself.
std::vector<Link> shared_pairs(const LinkLevel& level, index_t each) {
  std::vector<Link> pairs;
  if (level.pairs.empty()) return pairs;
  for (index_t source = 0; source < level.ranks * each; ++source)
    for (index_t other = 0; other < level.ranks * each; ++other)
      pairs.push_back(shared(source / each == other / each ? level.link
                                                           : level.of_pair(source / each, other / each),
                             each));
  return pairs;
}

}  // namespace

Cluster with_shared_processors(const Cluster& cluster, index_t ranks_each) {
  if (ranks_each < 1)
    throw UsageError(std::to_string(ranks_each) + " ranks on each processor; there must be at least 1");
  const double times = ranks_each;
  Cluster result = cluster;
  result.ranks_per_memory *= ranks_each;
  result.cache_bytes /= times;
  result.lone_cache_bytes = std::max(cluster.lone_cache_bytes, cluster.cache_bytes) / times;
  result.cache_gbs /= times;
  result.memory_gbs = shared(cluster.memory_gbs, times, 1);
  result.kernel_gflops = shared(cluster.kernel_gflops, 1, 1 / times);
  result.overheads = shared(cluster.overheads, times);
  if (cluster.rank_overheads) result.rank_overheads = shared(*cluster.rank_overheads, times);
  result.worker_gbs /= times;
  result.launch_us *= times;
  for (LinkLevel& level : result.links) {
    level.pairs = shared_pairs(level, ranks_each);
    level.ranks *= ranks_each;
    level.link = shared(level.link, times);
  }
  return result;
}

void check(const Cluster& cluster) {
  const Checker checker(cluster.name);
  checker.at_least_one("ranks_per_memory", cluster.ranks_per_memory);
  checker.at_least_one("workers", cluster.workers);
  checker.not_negative("worker_gbs", cluster.worker_gbs);
  checker.not_negative("launch_us", cluster.launch_us);
  checker.not_negative("launch_tasks", cluster.launch_tasks);
  checker.not_negative("cache_bytes", cluster.cache_bytes);
  checker.not_negative("lone_cache_bytes", cluster.lone_cache_bytes);
  checker.not_negative("cache_gbs", cluster.cache_gbs);
  checker.curve("memory_gbs", cluster.memory_gbs);
  checker.curve("kernel_gflops", cluster.kernel_gflops);
  if (!cluster.dense_gflops.empty()) checker.curve("dense_gflops", cluster.dense_gflops);
  checker.not_negative("bus_gbs", cluster.bus_gbs);
  checker.not_negative("bus_latency_us", cluster.bus_latency_us);
  checker.overheads("overheads", cluster.overheads);
  if (cluster.rank_overheads) checker.overheads("rank_overheads", *cluster.rank_overheads);
  checker.links(cluster.links);
}

}  // namespace palmette
