// Matching and contraction, in chunks of vertices that several threads can share.
#include "palmette/order/coarsen.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <numeric>

namespace palmette::order_detail {
namespace {

// vertices that are first matched among themselves; fixed, so that the result does not depend on threads
constexpr index_t chunk_vertices = 8192;
constexpr double slowest_shrinkage = 0.93; // coarser ÷ finer vertices above which coarsening stops
constexpr index_t fewest_to_share = 20000; // smaller levels are contracted by one thread

/// Run work(chunk) for each chunk, on all threads.
template <class Work>
void for_each_chunk(ThreadTeam& team, index_t chunks, const Work& work) {
  if (chunks == 1) return work(0);
  team.share_parts(chunks, work);
}

/// Clusters under construction: each vertex stores its leader; a leader is its own leader.
class Clusters {
 public:
  Clusters(const LevelGraph& graph, offset_t heaviest)
      : graph_(graph), heaviest_(heaviest), leader_(graph.n, -1),
        weight_(graph.weight.begin(), graph.weight.end()) {}

  /// Match the free vertices of [begin, end) with free neighbours there.
  void match(index_t begin, index_t end) {
    for (index_t vertex = begin; vertex < end; ++vertex) {
      if (leader_[vertex] >= 0) continue;
      const index_t mate =
          graph_.edge_weight.empty() ? first_free(vertex, begin, end) : best_free(vertex, begin, end);
      if (mate >= 0) pair(vertex, mate);
    }
  }
  /// Vertices that are still unmatched join the cluster of a neighbour, or another unmatched vertex of the
  /// same neighbour.
  void place_the_rest() {
    std::vector<index_t> waiting;
    for (index_t vertex = 0; vertex < graph_.n; ++vertex) {
      if (leader_[vertex] >= 0) continue;
      const index_t friendly = lightest_neighbour(vertex);
      if (friendly < 0) {
        leader_[vertex] = vertex;
      } else if (leader_[friendly] >= 0 && weight_[leader_[friendly]] + graph_.weight[vertex] <= heaviest_) {
        weight_[leader_[friendly]] += graph_.weight[vertex];
        leader_[vertex] = leader_[friendly];
      } else {
        if (waiting.empty()) waiting.assign(graph_.n, -1);
        wait_at(friendly, vertex, waiting);
      }
    }
    for (const index_t vertex : waiting)
      if (vertex >= 0) leader_[vertex] = vertex;
  }
  /// Number the clusters by their leaders. @returns their number; `cluster` gets the number for each vertex
  index_t number(std::vector<index_t>& cluster) const {
    cluster.resize(leader_.size());
    index_t count = 0;
    for (index_t vertex = 0; vertex < graph_.n; ++vertex)
      if (leader_[vertex] == vertex) cluster[vertex] = count++;
    for (index_t vertex = 0; vertex < graph_.n; ++vertex)
      if (leader_[vertex] != vertex) cluster[vertex] = cluster[leader_[vertex]];
    return count;
  }

 private:
  bool fits(index_t vertex, index_t other) const {
    return leader_[other] < 0 &&
           static_cast<offset_t>(graph_.weight[vertex]) + graph_.weight[other] <= heaviest_;
  }
  index_t first_free(index_t vertex, index_t begin, index_t end) const {
    for (const index_t other : graph_.neighbours(vertex))
      if (other >= begin && other < end && fits(vertex, other)) return other;
    return -1;
  }
  /// Heavy edges between light vertices first: they leave the least edge weight for the vertices' size.
  index_t best_free(index_t vertex, index_t begin, index_t end) const {
    index_t best = -1;
    float best_rating = 0;
    for (offset_t edge = graph_.start[vertex]; edge < graph_.start[vertex + 1]; ++edge) {
      const index_t other = graph_.neighbour[edge];
      if (other < begin || other >= end || !fits(vertex, other)) continue;
      const float heavy = static_cast<float>(graph_.edge_weight[edge]);
      const float rating = heavy * heavy / static_cast<float>(graph_.weight[other]);
      if (rating > best_rating) {
        best_rating = rating;
        best = other;
      }
    }
    return best;
  }
  index_t lightest_neighbour(index_t vertex) const {
    index_t best = -1;
    offset_t lightest = 0;
    for (const index_t other : graph_.neighbours(vertex)) {
      const offset_t weight = weight_[leader_[other] >= 0 ? leader_[other] : other];
      if (best >= 0 && weight >= lightest) continue;
      best = other;
      lightest = weight;
    }
    return best;
  }
  void pair(index_t vertex, index_t mate) {
    leader_[vertex] = leader_[mate] = vertex;
    weight_[vertex] += graph_.weight[mate];
  }
  void wait_at(index_t place, index_t vertex, std::vector<index_t>& waiting) {
    const index_t other = waiting[place];
    if (other >= 0 && fits(vertex, other)) {
      pair(other, vertex);
      waiting[place] = -1;
    } else {
      if (other >= 0) leader_[other] = other;
      waiting[place] = vertex;
    }
  }
  const LevelGraph& graph_;
  offset_t heaviest_;
  std::vector<index_t> leader_;
  std::vector<offset_t> weight_;  // of the cluster, by leader
};

/// Lists of the members of each cluster, ascending.
void list_members(const std::vector<index_t>& cluster, index_t count, LevelGraph& level) {
  level.cluster_start.assign(count + 1, 0);
  for (const index_t c : cluster) ++level.cluster_start[c + 1];
  std::partial_sum(level.cluster_start.begin(), level.cluster_start.end(), level.cluster_start.begin());
  std::vector<index_t> next(level.cluster_start.begin(), level.cluster_start.end() - 1);
  level.cluster_member.resize(cluster.size());
  for (index_t vertex = 0; vertex < level.n; ++vertex) level.cluster_member[next[cluster[vertex]]++] = vertex;
}

/// The edges of a range of coarse vertices, found by one thread.
struct EdgeRun {
  std::vector<offset_t> end;  // by coarse vertex of the range
  std::unique_ptr<index_t[]> neighbour, weight;  // with room for more
  offset_t size() const { return end.empty() ? 0 : end.back(); }
};

/// Merge the lists of each cluster's members.
void merge_lists_kernel(const LevelGraph& fine, const index_t* cluster, index_t begin, index_t end,
                        EdgeRun& run) {
  // by coarse vertex: position of its edge in the list that is being made, if already there
  std::vector<index_t> seen(fine.cluster_start.size() - 1, -1);
  offset_t most = 0;
  for (index_t at = fine.cluster_start[begin]; at < fine.cluster_start[end]; ++at)
    most += fine.start[fine.cluster_member[at] + 1] - fine.start[fine.cluster_member[at]];
  run.neighbour = std::make_unique_for_overwrite<index_t[]>(most);
  run.weight = std::make_unique_for_overwrite<index_t[]>(most);
  run.end.reserve(end - begin);
  index_t* const neighbour = run.neighbour.get();
  index_t* const weight = run.weight.get();
  const index_t* const edge_weight = fine.edge_weight.empty() ? nullptr : fine.edge_weight.data();
  offset_t count = 0;
  for (index_t coarse = begin; coarse < end; ++coarse) {
    const offset_t first = count;
    for (index_t at = fine.cluster_start[coarse]; at < fine.cluster_start[coarse + 1]; ++at) {
      const index_t vertex = fine.cluster_member[at];
      for (offset_t edge = fine.start[vertex], last = fine.start[vertex + 1]; edge < last; ++edge) {
        const index_t other = cluster[fine.neighbour[edge]];
        if (other == coarse) continue;
        const index_t more = edge_weight == nullptr ? 1 : edge_weight[edge];
        if (seen[other] >= 0) {
          weight[first + seen[other]] += more;
        } else {
          seen[other] = static_cast<index_t>(count - first);
          neighbour[count] = other;
          weight[count++] = more;
        }
      }
    }
    for (offset_t at = first; at < count; ++at) seen[neighbour[at]] = -1;
    run.end.push_back(count);
  }
}

/// Append them in order to the coarse graph's arrays.
void join_runs(const std::vector<EdgeRun>& runs, LevelGraph& coarse) {
  coarse.own_start.reserve(coarse.n + 1);
  coarse.own_start.push_back(0);
  for (const EdgeRun& run : runs) {
    const offset_t base = coarse.own_start.back();
    for (const offset_t end : run.end) coarse.own_start.push_back(base + end);
  }
  coarse.own_neighbour.reserve(coarse.own_start.back());
  coarse.edge_weight.reserve(coarse.own_start.back());
  const auto append = [](std::vector<index_t>& to, const index_t* from, offset_t count) {
    to.insert(to.end(), from, from + count);
  };
  for (const EdgeRun& run : runs) {
    append(coarse.own_neighbour, run.neighbour.get(), run.size());
    append(coarse.edge_weight, run.weight.get(), run.size());
  }
}

LevelGraph contract(const LevelGraph& fine, const std::vector<index_t>& cluster, index_t count,
                    ThreadTeam& team) {
  LevelGraph coarse;
  coarse.n = count;
  coarse.own_weight.assign(count, 0);
  for (index_t vertex = 0; vertex < fine.n; ++vertex)
    coarse.own_weight[cluster[vertex]] += fine.weight[vertex];
  const index_t threads = fine.n < fewest_to_share ? 1 : team.size();
  std::vector<EdgeRun> runs(threads);
  for_each_chunk(team, threads, [&](index_t part) {
    const auto bound = [&](index_t at) {
      return static_cast<index_t>(static_cast<offset_t>(count) * at / threads);
    };
    merge_lists_kernel(fine, cluster.data(), bound(part), bound(part + 1), runs[part]);
  });
  join_runs(runs, coarse);
  coarse.start = coarse.own_start;
  coarse.neighbour = coarse.own_neighbour;
  coarse.weight = coarse.own_weight;
  return coarse;
}

}  // namespace

LevelGraph finest_level(const Graph& graph) {
  LevelGraph level;
  level.n = graph.n;
  level.start = graph.start;
  level.neighbour = graph.neighbour;
  if (graph.weight.empty()) level.own_weight.assign(graph.n, 1);
  level.weight = graph.weight.empty() ? std::span<const index_t>(level.own_weight)
                                      : std::span<const index_t>(graph.weight);
  return level;
}

std::vector<LevelGraph> coarsen(const Graph& graph, index_t coarsest, ThreadTeam& team) {
  std::vector<LevelGraph> levels;
  levels.push_back(finest_level(graph));
  const offset_t total = std::accumulate(levels[0].weight.begin(), levels[0].weight.end(), offset_t{0});
  std::vector<index_t> cluster;
  while (levels.back().n > coarsest) {
    LevelGraph& fine = levels.back();
    Clusters clusters(fine, std::max<offset_t>(4 * total / fine.n, 2));
    const index_t chunks = (fine.n + chunk_vertices - 1) / chunk_vertices;
    for_each_chunk(team, chunks, [&](index_t chunk) {
      clusters.match(chunk * chunk_vertices, std::min(fine.n, (chunk + 1) * chunk_vertices));
    });
    if (chunks > 1) clusters.match(0, fine.n);
    clusters.place_the_rest();
    const index_t count = clusters.number(cluster);
    if (count > slowest_shrinkage * fine.n) break;
    list_members(cluster, count, fine);
    levels.push_back(contract(fine, cluster, count, team));
  }
  return levels;
}

}  // namespace palmette::order_detail
