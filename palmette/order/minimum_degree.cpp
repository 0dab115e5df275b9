// Elimination in the quotient graph.
#include "palmette/order/minimum_degree.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace palmette::order_detail {
namespace {

/// Buckets for the hashes of an element's variables: as many as variables, and few enough to stay in the
/// first-level cache where these are tens.
std::uint32_t buckets_for(std::size_t variables) {
  constexpr std::size_t fewest = 1 << 10;
  return static_cast<std::uint32_t>(std::bit_ceil(std::max(variables, fewest)));
}

}  // namespace

/// The node of a vertex; a halo vertex gets its node when it is first met.
index_t HaloMinimumDegree::local(index_t vertex) {
  if (local_[vertex] == 0) {
    vertex_.push_back(vertex);
    local_[vertex] = static_cast<index_t>(vertex_.size());
  }
  return local_[vertex] - 1;
}

/// Lists of the region's vertices, and of the halo's vertices, which contain only neighbours in the region.
void HaloMinimumDegree::load_lists(const LevelGraph& graph, std::span<const index_t> region) {
  offset_t end = 0;
  for (const index_t vertex : region) end += static_cast<offset_t>(graph.neighbours(vertex).size());
  if (lists_.size() < static_cast<std::size_t>(end)) lists_.resize(static_cast<std::size_t>(end));
  nodes_.clear();
  end = 0;
  for (const index_t vertex : region) {
    Node& node = nodes_.emplace_back();
    node.begin = end;
    for (const index_t other : graph.neighbours(vertex)) lists_[end++] = local(other);
    node.length = static_cast<index_t>(end - node.begin);
  }
  nodes_.resize(vertex_.size());
  for (offset_t at = 0; at < end; ++at)
    if (is_halo(lists_[at])) ++nodes_[lists_[at]].length;
  for (std::size_t at = region.size(); at < nodes_.size(); ++at) {
    nodes_[at].begin = end;
    end += std::exchange(nodes_[at].length, 0);
  }
  used_ = end;
  const std::size_t room = static_cast<std::size_t>(used_ + used_ / 2) + nodes_.size();
  if (lists_.size() < room) lists_.resize(room);
  for (index_t inner = 0; inner < inner_; ++inner)
    for (index_t at = 0; at < nodes_[inner].length; ++at) {
      const index_t other = lists_[nodes_[inner].begin + at];
      if (is_halo(other)) lists_[nodes_[other].begin + nodes_[other].length++] = inner;
    }
}

void HaloMinimumDegree::load(const LevelGraph& graph, std::span<const index_t> region) {
  local_.resize(graph.n, 0);
  vertex_.clear();
  inner_ = static_cast<index_t>(region.size());
  for (const index_t vertex : region) local(vertex);
  load_lists(graph, region);
  const std::size_t nodes = vertex_.size();
  for (const index_t vertex : vertex_) local_[vertex] = 0;
  weight_.resize(nodes);
  weight_left_ = 0;
  for (std::size_t node = 0; node < nodes; ++node)
    weight_left_ += weight_[node] = graph.weight[vertex_[node]];
  links_.resize(nodes + static_cast<std::size_t>(weight_left_) + 1);
  for (index_t at = 0; at < static_cast<index_t>(links_.size()); ++at) links_[at] = {at, at, -1, at};
  first_of_hash_.assign(buckets_for(nodes), -1);
  mark_ = 2;
  lowest_ = 0;
  for (Node& node : nodes_)
    for (offset_t entry = node.begin; entry < node.begin + node.length; ++entry)
      node.degree += weight_[lists_[entry]];
  for (index_t node = 0; node < inner_; ++node) insert(node);
}

void HaloMinimumDegree::insert(index_t variable) {
  if (is_halo(variable)) return;
  const index_t degree = nodes_[variable].degree, head = head_of(degree), next = links_[head].next;
  links_[variable].next = next;
  links_[variable].previous = head;
  links_[next].previous = variable;
  links_[head].next = variable;
  lowest_ = std::min(lowest_, degree);
}

void HaloMinimumDegree::remove(index_t variable) {
  if (is_halo(variable)) return;
  const auto [next, previous, member_next, last_member] = links_[variable];
  links_[previous].next = next;
  links_[next].previous = previous;
}

index_t HaloMinimumDegree::next_pivot() {
  while (links_[head_of(lowest_)].next == head_of(lowest_)) ++lowest_;
  const index_t pivot = links_[head_of(lowest_)].next;
  remove(pivot);
  return pivot;
}

/// Ensure that the pivot's element fits behind the lists in use, by closing their gaps if necessary.
void HaloMinimumDegree::make_room(index_t pivot) {
  const Node& taken = nodes_[pivot];
  offset_t needed = taken.length;
  for (index_t at = 0; at < taken.elements; ++at) needed += nodes_[lists_[taken.begin + at]].length;
  if (used_ + needed <= static_cast<offset_t>(lists_.size())) return;
  std::vector<index_t> packed;
  packed.reserve(lists_.size());
  for (index_t at = 0; at < static_cast<index_t>(vertex_.size()); ++at) {
    const bool is_live = is_element(at) ? nodes_[at].seen != 0 : weight_[at] != 0;
    if (!is_live) continue;
    const auto first = lists_.begin() + nodes_[at].begin;
    nodes_[at].begin = static_cast<offset_t>(packed.size());
    packed.insert(packed.end(), first, first + nodes_[at].length);
  }
  used_ = static_cast<offset_t>(packed.size());
  packed.resize(std::max(lists_.size(), static_cast<std::size_t>(used_ + used_ / 2 + needed)));
  lists_ = std::move(packed);
}

void HaloMinimumDegree::add_live(index_t variable) {
  const index_t weight = weight_[variable];
  if (weight <= 0) return;
  element_weight_ += weight;
  weight_[variable] = -weight;
  lists_[element_begin_ + element_length_++] = variable;
  remove(variable);
}

/// The variables adjacent to the pivot and its elements; the elements are absorbed.
void HaloMinimumDegree::form_element(index_t pivot) {
  element_begin_ = used_;
  element_length_ = 0;
  element_weight_ = 0;
  weight_[pivot] = -weight_[pivot];
  const Node taken = nodes_[pivot];
  for (index_t at = 0; at < taken.elements; ++at) {
    Node& element = nodes_[lists_[taken.begin + at]];
    const offset_t end = element.begin + element.length;
    for (offset_t entry = element.begin; entry < end; ++entry) add_live(lists_[entry]);
    element.seen = 0;
    links_[lists_[taken.begin + at]].next = pivot;
  }
  for (index_t at = taken.elements; at < taken.length; ++at) add_live(lists_[taken.begin + at]);
  nodes_[pivot].begin = element_begin_;
  nodes_[pivot].elements = -1;
}

/// For each element adjacent to the new one: seen − mark_ becomes its weight outside the new one.
void HaloMinimumDegree::measure_elements() {
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    const index_t weight = -weight_[variable];
    const Node& node = nodes_[variable];
    const offset_t end = node.begin + node.elements;
    for (offset_t at = node.begin; at < end; ++at) {
      Node& element = nodes_[lists_[at]];
      const mark_t seen = element.seen, whole = mark_ + element.degree;
      const mark_t so_far = seen >= mark_ ? seen : whole;
      element.seen = seen == 0 ? 0 : so_far - weight;
    }
  }
}

/// Drop what is dead or covered by the new element, put the new element in front, and bound the degree.
/// @returns false if nothing but the new element is left: then the variable can be eliminated with the pivot
bool HaloMinimumDegree::update_variable(index_t variable, index_t pivot) {
  Node& node = nodes_[variable];
  const offset_t begin = node.begin, end = begin + node.length, elements_end = begin + node.elements;
  offset_t kept = begin;
  offset_t degree = 0;  // elements overlap: their sum may be larger than the graph
  std::uint32_t hash = 0;
  // What is kept is as good as random, so entries are written first and then kept or not.
  for (offset_t at = begin; at < elements_end; ++at) {
    const index_t element = lists_[at];
    mark_t& seen = nodes_[element].seen;
    const bool is_kept = seen > mark_;  // else absorbed, or it lies within the new element
    if (seen == mark_) links_[element].next = pivot;
    degree += is_kept ? seen - mark_ : 0;
    hash += is_kept ? static_cast<std::uint32_t>(element) : 0;
    seen = is_kept ? seen : 0;
    lists_[kept] = element;
    kept += is_kept;
  }
  const offset_t variables_begin = kept;
  for (offset_t at = elements_end; at < end; ++at) {
    const index_t other = lists_[at], weight = weight_[other];
    const bool is_kept = weight > 0;
    degree += is_kept ? weight : 0;
    hash += is_kept ? static_cast<std::uint32_t>(other) : 0;
    lists_[kept] = other;
    kept += is_kept;
  }
  if (kept == begin && !is_halo(variable)) return false;
  lists_[kept] = lists_[variables_begin];
  lists_[variables_begin] = lists_[begin];
  lists_[begin] = pivot;
  node.elements = static_cast<index_t>(variables_begin - begin) + 1;
  node.length = static_cast<index_t>(kept - begin) + 1;
  node.degree = static_cast<index_t>(std::min<offset_t>(node.degree, degree));
  node.hash = hash;
  return true;
}

void HaloMinimumDegree::absorb(index_t into, index_t variable) {
  links_[links_[into].last_member].member_next = variable;
  links_[into].last_member = links_[variable].last_member;
  weight_[into] += weight_[variable];
  weight_[variable] = 0;
}

void HaloMinimumDegree::update_variables(index_t pivot) {
  const std::uint32_t buckets = buckets_for(static_cast<std::size_t>(element_length_));
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    if (update_variable(variable, pivot)) {
      index_t& first = first_of_hash_[nodes_[variable].hash & (buckets - 1)];
      links_[variable].next = first;
      first = variable;
      continue;
    }
    element_weight_ += weight_[variable];  // is negative here
    absorb(pivot, variable);
  }
  nodes_[pivot].degree = element_weight_;
}

bool HaloMinimumDegree::are_alike(index_t kept, index_t other) const {
  const Node& one = nodes_[kept];
  const Node& two = nodes_[other];
  if (two.length != one.length || two.elements != one.elements || is_halo(other) != is_halo(kept))
    return false;
  for (offset_t at = two.begin + 1; at < two.begin + two.length; ++at)
    if (nodes_[lists_[at]].seen != mark_) return false;
  return true;
}

/// Merge variables of the new element whose lists are equal.
void HaloMinimumDegree::merge_alike() {
  const std::uint32_t buckets = buckets_for(static_cast<std::size_t>(element_length_));
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    if (weight_[variable] == 0) continue;
    index_t kept = std::exchange(first_of_hash_[nodes_[variable].hash & (buckets - 1)], -1);
    for (; kept >= 0 && links_[kept].next >= 0; kept = links_[kept].next) {
      const Node& node = nodes_[kept];
      bool is_marked = false;
      for (index_t before = kept, other = links_[kept].next; other >= 0; other = links_[before].next) {
        if (nodes_[other].hash == node.hash && !is_marked) {
          ++mark_;
          for (offset_t at = node.begin + 1; at < node.begin + node.length; ++at)
            nodes_[lists_[at]].seen = mark_;
          is_marked = true;
        }
        if (nodes_[other].hash == node.hash && are_alike(kept, other)) {
          absorb(kept, other);
          links_[before].next = links_[other].next;
        } else {
          before = other;
        }
      }
    }
  }
}

/// Set the degrees of the element's variables, and drop the absorbed ones.
void HaloMinimumDegree::close_element(index_t pivot) {
  index_t kept = 0;
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    if (weight_[variable] == 0) continue;
    const index_t weight = weight_[variable] = -weight_[variable];
    index_t& degree = nodes_[variable].degree;
    degree = static_cast<index_t>(
        std::min<offset_t>(offset_t{degree} + element_weight_ - weight, weight_left_ - weight));
    insert(variable);
    lists_[element_begin_ + kept++] = variable;
  }
  nodes_[pivot].length = kept;
  used_ = element_begin_ + kept;
  if (kept == 0) nodes_[pivot].seen = 0;
}

void HaloMinimumDegree::eliminate(index_t pivot) {
  make_room(pivot);
  form_element(pivot);
  mark_ += weight_left_ + 1;  // larger than every mark plus weight so far
  measure_elements();
  update_variables(pivot);
  weight_left_ += weight_[pivot];  // is negative
  weight_[pivot] = 0;
  mark_ += weight_left_ + 1;
  merge_alike();
  ++mark_;
  nodes_[pivot].seen = 1;
  close_element(pivot);
}

/// A pivot's vertices come last in its branch of the tree. Places are given from the end: a pivot's parent
/// comes before it.
void HaloMinimumDegree::write_postorder(std::span<index_t> out) {
  for (const index_t pivot : pivots_)
    if (const auto [parent, below, next, last] = links_[pivot]; parent >= 0) links_[parent].previous += below;
  index_t end_of_roots = static_cast<index_t>(out.size());
  for (auto at = pivots_.rbegin(); at != pivots_.rend(); ++at) {
    Links& links = links_[*at];
    index_t& left = links.next >= 0 ? links_[links.next].previous : end_of_roots;
    index_t place = left;
    left -= links.previous;
    for (index_t member = *at; member >= 0; member = links_[member].member_next)
      out[--place] = vertex_[member];
    links.previous = place;
  }
}

void HaloMinimumDegree::order(const LevelGraph& graph, std::span<const index_t> region,
                              std::span<index_t> out) {
  load(graph, region);
  pivots_.clear();
  for (index_t left = inner_; left > 0;) {
    const index_t pivot = next_pivot();
    pivots_.push_back(pivot);
    links_[pivot].next = -1;
    eliminate(pivot);
    index_t members = 0;
    for (index_t member = pivot; member >= 0; member = links_[member].member_next) ++members;
    links_[pivot].previous = members;
    left -= members;
  }
  write_postorder(out);
}

}  // namespace palmette::order_detail
