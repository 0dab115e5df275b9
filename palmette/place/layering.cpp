// Cutting the tree of supernodes into layers.
#include "palmette/place/layering.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {
namespace {

/// Subtrees of less than 1/64 of a layer's share are negligible: they go to whichever part has less.
constexpr double dust_parts = 64;
/// Parts that differ by less count as equal.
constexpr double even = 1.02;

class Cutter {
 public:
  Cutter(const SymbolicFactor& symbolic, index_t num_layers)
      : symbolic_(symbolic),
        own_(sweep_entries(symbolic)),
        total_(own_),
        child_ptr_(own_.size() + 1),
        half_(own_.size(), -1) {
    result_.num_layers = num_layers;
    result_.node_of.assign(own_.size(), -1);
    result_.leaf.assign(num_layers, -1);
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
      const index_t parent = symbolic.parent[s];
      if (parent == -1) continue;
      total_[parent] += total_[s];
      ++child_ptr_[parent + 1];
    }
    std::partial_sum(child_ptr_.begin(), child_ptr_.end(), child_ptr_.begin());
    child_.resize(child_ptr_.back());
    std::vector<index_t> next(child_ptr_.begin(), child_ptr_.end());
    for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
      if (symbolic.parent[s] != -1)
        child_[next[symbolic.parent[s]]++] = s;
  }

  Layering run() {
    std::vector<index_t> roots;
    for (index_t s = 0; s < symbolic_.num_supernodes(); ++s)
      if (symbolic_.parent[s] == -1) roots.push_back(s);
    cut({0, 0, result_.num_layers, -1}, std::move(roots), 0);
    return std::move(result_);
  }

 private:
  double own(index_t s) const { return own_[s]; }
  double total(index_t s) const { return total_[s]; }
  std::span<const index_t> children(index_t s) const {
    const auto at = static_cast<std::size_t>(s);
    return {child_.data() + child_ptr_[at], static_cast<std::size_t>(child_ptr_[at + 1] - child_ptr_[at])};
  }
  bool is_larger(index_t a, index_t b) const { return total(a) != total(b) ? total(a) > total(b) : a < b; }

  /// Two parts that are being filled, and the number of layers of each.
  struct Halves {
    double load[2] = {0, 0};
    double layers[2] = {1, 1};
    int emptier(double weight) const {
      return (load[0] + weight) / layers[0] <= (load[1] + weight) / layers[1] ? 0 : 1;
    }
    double most() const { return std::max(load[0] / layers[0], load[1] / layers[1]); }
  };

  /// Subtrees in order of size, and the supernodes taken off them.
  struct Forest {
    std::vector<index_t> large;  // descending
    std::vector<index_t> dust;
    std::vector<index_t> taken;
    double dust_weight = 0;
    double taken_weight = 0;
  };
  void add(Forest& forest, index_t tree, double least) const {
    if (total(tree) < least) {
      forest.dust.push_back(tree);
      forest.dust_weight += total(tree);
      return;
    }
    const auto before = [this](index_t a, index_t b) { return is_larger(a, b); };
    forest.large.insert(std::lower_bound(forest.large.begin(), forest.large.end(), tree, before), tree);
  }
  void take_one_off(Forest& forest, double least) const {
    const index_t tree = forest.large.front();
    forest.large.erase(forest.large.begin());
    forest.taken.push_back(tree);
    forest.taken_weight += own(tree);
    for (const index_t child : children(tree)) add(forest, child, least);
  }
  Forest forest_of(const std::vector<index_t>& roots, double least) const {
    Forest forest;
    for (const index_t root : roots) (total(root) < least ? forest.dust : forest.large).push_back(root);
    for (const index_t root : forest.dust) forest.dust_weight += total(root);
    std::sort(forest.large.begin(), forest.large.end(),
              [this](index_t a, index_t b) { return is_larger(a, b); });
    return forest;
  }

  /// The number of supernodes to take off so that a layer reads least.
  std::size_t best_count(const std::vector<index_t>& roots, Halves empty, double least) const {
    Forest forest = forest_of(roots, least);
    std::size_t best = 0;
    double best_cost = -1;
    for (;;) {
      Halves halves = empty;
      double weight = forest.dust_weight;
      for (const index_t tree : forest.large) {
        halves.load[halves.emptier(total(tree))] += total(tree);
        weight += total(tree);
      }
      const double fair = weight / (empty.layers[0] + empty.layers[1]), most = std::max(fair, halves.most());
      if (best_cost < 0 || forest.taken_weight + most < best_cost) {
        best_cost = forest.taken_weight + most;
        best = forest.taken.size();
      }
      if (most <= even * fair || forest.large.empty() || forest.taken_weight >= best_cost) return best;
      take_one_off(forest, least);
    }
  }

  void cut(LayerNode node, std::vector<index_t> roots, index_t depth) {
    const auto number = static_cast<index_t>(result_.nodes.size());
    result_.depth = std::max(result_.depth, depth);
    node.middle = node.is_leaf() ? node.end : node.first + (node.end - node.first + 1) / 2;
    result_.nodes.push_back(node);
    if (node.is_leaf()) {
      result_.leaf[node.first] = number;
      for (const index_t root : roots)
        std::fill(result_.node_of.begin() + symbolic_.first_descendant[root],
                  result_.node_of.begin() + root + 1, number);
      return;
    }
    std::vector<index_t> part[2];
    split(number, roots, part);
    cut({node.first, 0, node.middle, number}, std::move(part[0]), depth + 1);
    cut({node.middle, 0, node.end, number}, std::move(part[1]), depth + 1);
  }

  /// Assigns each tree to a half. A supernode above them goes with its children if they agree, and otherwise
  /// stays with the node.
  void split(index_t number, const std::vector<index_t>& roots, std::vector<index_t> (&part)[2]) {
    const LayerNode node = result_.nodes[number];
    Halves halves;
    halves.layers[0] = node.middle - node.first;
    halves.layers[1] = node.end - node.middle;
    double all = 0;
    for (const index_t root : roots) all += total(root);
    const double least = all / (dust_parts * (node.end - node.first));
    const std::size_t count = best_count(roots, halves, least);
    Forest forest = forest_of(roots, least);
    while (forest.taken.size() < count) take_one_off(forest, least);
    for (const std::vector<index_t>* trees : {&forest.large, &forest.dust})
      for (const index_t tree : *trees) {
        const int half = halves.emptier(total(tree));
        halves.load[half] += total(tree);
        half_[tree] = static_cast<signed char>(half);
      }
    std::sort(forest.taken.begin(), forest.taken.end());
    for (const index_t s : forest.taken) half_[s] = half_of_children(s, halves);
    const auto hand_down = [&](index_t s) {
      const signed char half = half_[s];
      if (half != both) part[half].push_back(s);
      else result_.node_of[s] = number;
    };
    for (const index_t root : roots) hand_down(root);
    for (const index_t s : forest.taken)
      if (half_[s] == both)
        for (const index_t child : children(s)) hand_down(child);
    for (std::vector<index_t>& trees : part) std::sort(trees.begin(), trees.end());
  }
  signed char half_of_children(index_t s, Halves& halves) const {
    if (children(s).empty()) {
      const int half = halves.emptier(own(s));
      halves.load[half] += own(s);
      return static_cast<signed char>(half);
    }
    signed char half = half_[children(s)[0]];
    for (const index_t child : children(s))
      if (half_[child] != half) half = both;
    return half;
  }

  static constexpr signed char both = 2;
  const SymbolicFactor& symbolic_;
  std::vector<double> own_;    // entries of each supernode
  std::vector<double> total_;  // of its subtree
  std::vector<index_t> child_ptr_;
  std::vector<index_t> child_;
  std::vector<signed char> half_;
  Layering result_;
};

}  // namespace

Layering cut_into_layers(const SymbolicFactor& symbolic, index_t num_layers) {
  if (num_layers < 1)
    throw UsageError("a grid of " + std::to_string(num_layers) + " layers; there must be at least 1");
  return Cutter(symbolic, num_layers).run();
}

}  // namespace palmette
