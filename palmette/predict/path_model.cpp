// Levels, the busiest rank of each, and the costs of messages of its diagonal blocks.
#include "palmette/predict/path_model.hpp"

#include <algorithm>
#include <cmath>

namespace palmette {
namespace {

struct LevelBlock {
  index_t level = 0;
  index_t rank = 0;
  index_t row = 0;
  index_t column = 0;
  double seconds = 0;
};

class Modeller {
 public:
  Modeller(const PathModelCase& given, const Cluster& cluster)
      : symbolic_(given.symbolic),
        placement_(given.placement),
        cluster_(cluster),
        given_(given),
        seconds_per_entry_(given.scalar_bytes /
                           (cluster.rank_memory_gbs(given.placement.num_ranks()) * 1e9)) {}

  PathModel run() {
    add_sweep(true);
    add_sweep(false);
    return std::move(result_);
  }

 private:
  void add_sweep(bool forward) {
    find_levels(forward);
    std::sort(blocks_.begin(), blocks_.end(), [](const LevelBlock& a, const LevelBlock& b) {
      return a.level != b.level     ? a.level < b.level
             : a.rank != b.rank     ? a.rank < b.rank
             : a.column != b.column ? a.column < b.column
                                    : a.row < b.row;
    });
    std::vector<double> of_rank(placement_.num_ranks());
    for (const LevelBlock& block : blocks_) of_rank[block.rank] += block.seconds;
    result_.compute_lower_seconds += *std::max_element(of_rank.begin(), of_rank.end());
    index_t levels = 0;
    for (std::size_t first = 0, end = 0; first < blocks_.size(); first = end, ++levels) {
      while (end < blocks_.size() && blocks_[end].level == blocks_[first].level) ++end;
      add_level(first, end, forward);
    }
    if (forward) result_.levels = levels;
  }

  void find_levels(bool forward) {
    const index_t count = symbolic_.num_supernodes();
    std::vector<index_t> diagonal(count, 0);
    blocks_.clear();
    for (index_t k = 0; k < count; ++k) {
      const index_t s = forward ? k : count - 1 - k;
      // Backward, values come from rows below, which are already known.
      if (!forward)
        for (const Block& block : symbolic_.blocks_of(s))
          raise(diagonal[s],
                diagonal[block.row_supernode] + 2);
      const double width = symbolic_.width(s);
      add(diagonal[s], s, s, width * (width + 1) / 2);
      for (const Block& block : symbolic_.blocks_of(s)) {
        const index_t source = forward ? s : block.row_supernode;
        add(diagonal[source] + 1, block.row_supernode, s, width * block.count);
        if (forward)
          raise(diagonal[block.row_supernode],
                diagonal[s] + 2);
      }
    }
  }
  static void raise(index_t& level, index_t least) { level = std::max(level, least); }
  void add(index_t level, index_t row, index_t column, double entries) {
    blocks_.push_back({level, placement_.owner(row, column), row, column, entries * seconds_per_entry_});
  }

  void add_level(std::size_t first, std::size_t end, bool forward) {
    std::size_t best_first = first, best_end = first, longest = first;
    double best = -1;
    for (std::size_t begin = first, stop = first; begin < end; begin = stop) {
      double seconds = 0;
      while (stop < end && blocks_[stop].rank == blocks_[begin].rank) seconds += blocks_[stop++].seconds;
      if (seconds > best) best = seconds, best_first = begin, best_end = stop;
    }
    result_.compute_upper_seconds += best;
    for (std::size_t at = best_first; at < best_end; ++at)
      if (blocks_[at].seconds > blocks_[longest].seconds || longest < best_first) longest = at;
    for (std::size_t at = best_first; at < best_end; ++at) {
      const LevelBlock& block = blocks_[at];
      if (forward) result_.path.push_back({block.row, block.column, block.level, at == longest});
      if (block.row == block.column) add_messages(block.row, forward);
    }
  }

  void add_messages(index_t s, bool forward) {
    index_t in = other_ranks_in_row(s), out = other_ranks_in_column(s);
    if (!forward) std::swap(in, out);
    const double rows =
        std::exp2(std::ceil(std::log2(std::max(1.0, double(symbolic_.width(s)) * given_.num_rhs))));
    const Link& link = cluster_.link_among(placement_.num_ranks());
    const double latency = link.latency_us * 1e-6,
                 transfer = rows * given_.scalar_bytes / (link.bandwidth_gbs * 1e9);
    const double first = out > 0 ? latency : 0;
    result_.communication_binary_seconds +=
        std::log2(in + 1.0) * (latency + transfer) + first + std::log2(out + 1.0) * transfer;
    result_.communication_flat_seconds += in * (latency + transfer) + first + out * transfer;
  }

  index_t other_ranks_in_row(index_t s) {
    ranks_.clear();
    for (const Updater& updater : symbolic_.updaters_of(s))
      ranks_.push_back(placement_.owner(s, updater.source));
    return others(s);
  }
  index_t other_ranks_in_column(index_t s) {
    ranks_.clear();
    for (const Block& block : symbolic_.blocks_of(s))
      ranks_.push_back(placement_.owner(block.row_supernode, s));
    return others(s);
  }
  index_t others(index_t s) {
    const index_t root = placement_.owner(s, s);
    std::sort(ranks_.begin(), ranks_.end());
    ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
    return static_cast<index_t>(ranks_.size()) -
           (std::binary_search(ranks_.begin(), ranks_.end(), root) ? 1 : 0);
  }

  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  const Cluster& cluster_;
  PathModelCase given_;
  double seconds_per_entry_;
  std::vector<LevelBlock> blocks_;
  std::vector<index_t> ranks_;
  PathModel result_;
};

}  // namespace

PathModel path_model(const PathModelCase& given, const Cluster& cluster) {
  check(cluster);
  return Modeller(given, cluster).run();
}

}  // namespace palmette
