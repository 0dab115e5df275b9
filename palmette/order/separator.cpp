// Greedy growth of one side, and passes of moves that can be undone.
#include "palmette/order/separator.hpp"

#include <algorithm>

#include "palmette/order/scramble.hpp"
#include "palmette/order/vertex_queue.hpp"

namespace palmette::order_detail {
namespace {

// A pass ends after this many moves without improvement for each vertex of the separator, within these
// limits.
constexpr std::size_t idle_moves_for_each = 2;
constexpr std::size_t fewest_idle_moves = 15, most_idle_moves = 600;
constexpr int passes_after_growth = 6;

/// The figures of a cut without its lists.
struct CutWeights {
  explicit CutWeights(const Cut& cut)
      : side{cut.side_weight[0], cut.side_weight[1]}, separator(cut.separator_weight) {}
  offset_t excess(offset_t allowed) const {
    return std::max<offset_t>(std::max(side[0], side[1]) - allowed, 0);
  }
  double price() const {
    const double uneven = static_cast<double>(side[0] - side[1]) /
                          static_cast<double>(std::max<offset_t>(side[0] + side[1], 1));
    return static_cast<double>(separator) * (1 + uneven * uneven);
  }
  bool is_better_than(const CutWeights& other, offset_t allowed) const {
    const offset_t over = excess(allowed), other_over = other.excess(allowed);
    return over != other_over ? over < other_over : price() < other.price();
  }

  offset_t side[2];
  offset_t separator;
};

/// A vertex to which no way is longer from `start`.
index_t farthest_from(index_t start, const LevelGraph& graph) {
  VertexQueue queue(graph);
  queue.push(start);
  while (queue.is_waiting()) queue.advance();
  return queue.last();
}

}  // namespace

bool is_better(const Cut& one, const Cut& other) {
  return CutWeights(one).is_better_than(CutWeights(other), one.heaviest_allowed());
}

void SeparatorSearch::work_on(const LevelGraph& graph, Cut& cut) {
  graph_ = &graph;
  side_ = cut.side.data();
  if (pulled_.size() < cut.side.size()) pulled_.resize(cut.side.size());
  moves_.fit(cut.side.size(), cut.total() / std::max<index_t>(graph.n, 1));
}

index_t SeparatorSearch::weight_on(index_t vertex, Side side) const {
  index_t weight = 0;
  for (const index_t other : graph_->neighbours(vertex))
    if (side_[other] == side) weight += graph_->weight[other];
  return weight;
}

void SeparatorSearch::change(index_t vertex, Side to) {
  changes_.push_back({vertex, side_[vertex]});
  side_[vertex] = to;
}

/// A neighbour of a vertex that moved comes from side `from` into the separator.
void SeparatorSearch::pull(Cut& cut, index_t vertex, int from) {
  const index_t weight = graph_->weight[vertex];
  change(vertex, Side::separator);
  cut.side_weight[from] -= weight;
  cut.separator_weight += weight;
  cut.separator.push_back(vertex);
  index_t pulled = 0;
  for (const index_t other : graph_->neighbours(vertex)) {
    if (side_[other] == static_cast<Side>(from)) {
      pulled += graph_->weight[other];
    } else if (side_[other] == Side::separator && moves_.holds(other)) {
      pulled_[other] -= weight;
      moves_.change(other, gain(other));
    }
  }
  pulled_[vertex] = pulled;
  moves_.insert(vertex, gain(vertex));
}

/// Move a vertex from the separator to `side`, which no vertex leaves before the end of the pass.
void SeparatorSearch::move(Cut& cut, index_t vertex, int side) {
  const index_t weight = graph_->weight[vertex];
  moves_.remove(vertex);
  change(vertex, static_cast<Side>(side));
  cut.side_weight[side] += weight;
  cut.separator_weight -= weight;
  for (const index_t other : graph_->neighbours(vertex))
    if (side_[other] == static_cast<Side>(1 - side)) pull(cut, other, 1 - side);
}

void SeparatorSearch::list_moves(const Cut& cut, int side) {
  for (const index_t vertex : cut.separator) {
    pulled_[vertex] = weight_on(vertex, static_cast<Side>(1 - side));
    moves_.insert(vertex, gain(vertex));
  }
}

void SeparatorSearch::undo_to(std::size_t length) {
  while (changes_.size() > length) {
    side_[changes_.back().vertex] = changes_.back().before;
    changes_.pop_back();
  }
}

/// Keep in the list what is in the separator.
void SeparatorSearch::end_pass(Cut& cut) {
  std::erase_if(cut.separator, [&](index_t vertex) { return side_[vertex] != Side::separator; });
  moves_.clear();
  changes_.clear();
}

/// @returns whether the cut is better than before
bool SeparatorSearch::run_pass(Cut& cut, int side) {
  const std::size_t idle_limit =
      std::clamp(idle_moves_for_each * cut.separator.size(), fewest_idle_moves, most_idle_moves);
  const offset_t allowed = cut.heaviest_allowed();
  list_moves(cut, side);
  CutWeights best(cut);
  std::size_t best_length = 0, idle = 0;
  for (index_t vertex = moves_.first(); vertex >= 0 && idle < idle_limit; vertex = moves_.first(), ++idle) {
    const offset_t grown = cut.side_weight[side] + graph_->weight[vertex];
    if (grown > allowed && grown > cut.side_weight[1 - side]) break;
    move(cut, vertex, side);
    const CutWeights now(cut);
    if (!now.is_better_than(best, allowed)) continue;
    best = now;
    best_length = changes_.size();
    idle = 0;
  }
  undo_to(best_length);
  cut.side_weight[0] = best.side[0];
  cut.side_weight[1] = best.side[1];
  cut.separator_weight = best.separator;
  end_pass(cut);
  return best_length > 0;
}

void SeparatorSearch::improve(const LevelGraph& graph, Cut& cut, int passes) {
  work_on(graph, cut);
  int side = cut.side_weight[0] < cut.side_weight[1] ? 1 : 0, fruitless = 0;
  for (int pass = 0; pass < passes && fruitless < 2; ++pass, side = 1 - side)
    fruitless = run_pass(cut, side) ? 0 : fruitless + 1;
}

/// If no vertex is left to add, growth continues from the first vertex of the second side.
void SeparatorSearch::grow(Cut& cut, index_t seed) {
  index_t next_seed = 0;
  pull(cut, seed, 1);
  while (cut.side_weight[0] < cut.side_weight[1]) {
    if (const index_t vertex = moves_.first(); vertex >= 0) {
      move(cut, vertex, 0);
      continue;
    }
    while (next_seed < graph_->n && side_[next_seed] != Side::second) ++next_seed;
    if (next_seed == graph_->n) break;
    pull(cut, next_seed, 1);
  }
  end_pass(cut);
}

Cut SeparatorSearch::begin(const LevelGraph& graph, std::uint64_t name) {
  Cut cut;
  cut.side.assign(graph.n, Side::second);
  for (const index_t weight : graph.weight) cut.side_weight[1] += weight;
  if (graph.n == 0) return cut;
  work_on(graph, cut);
  grow(cut, farthest_from(scrambled_index(name, graph.n), graph));
  improve(graph, cut, passes_after_growth);
  return cut;
}

}  // namespace palmette::order_detail
