// Elimination in the quotient graph.
#include "palmette/order/minimum_degree.hpp"

#include <algorithm>
#include <bit>

namespace palmette::order_detail {

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
  lists_.clear();
  begin_.clear();
  length_.clear();
  for (const index_t vertex : region) {
    begin_.push_back(static_cast<offset_t>(lists_.size()));
    for (const index_t other : graph.neighbours(vertex)) lists_.push_back(local(other));
    length_.push_back(static_cast<index_t>(static_cast<offset_t>(lists_.size()) - begin_.back()));
  }
  const std::size_t nodes = vertex_.size(), inner_entries = lists_.size();
  length_.resize(nodes, 0);
  begin_.resize(nodes, 0);
  for (std::size_t at = 0; at < inner_entries; ++at)
    if (is_halo(lists_[at])) ++length_[lists_[at]];
  offset_t end = static_cast<offset_t>(inner_entries);
  for (std::size_t node = region.size(); node < nodes; ++node) {
    begin_[node] = end;
    end += length_[node];
    length_[node] = 0;
  }
  used_ = end;
  lists_.resize(static_cast<std::size_t>(used_ + used_ / 2) + nodes);
  for (index_t node = 0; node < inner_; ++node)
    for (index_t at = 0; at < length_[node]; ++at) {
      const index_t other = lists_[begin_[node] + at];
      if (is_halo(other)) lists_[begin_[other] + length_[other]++] = node;
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
  elements_.assign(nodes, 0);
  degree_.assign(nodes, 0);
  seen_.assign(nodes, 1);
  next_.resize(nodes);
  previous_.resize(nodes);
  member_next_.assign(nodes, -1);
  last_member_.resize(nodes);
  hash_.resize(nodes);
  alike_next_.resize(nodes);
  first_of_degree_.assign(weight_left_ + 1, -1);
  first_of_hash_.assign(std::bit_ceil(nodes + 1), -1);
  mark_ = 2;
  lowest_ = 0;
  for (index_t node = 0; node < static_cast<index_t>(nodes); ++node) {
    last_member_[node] = node;
    for (index_t at = 0; at < length_[node]; ++at) degree_[node] += weight_[lists_[begin_[node] + at]];
  }
  for (index_t node = 0; node < inner_; ++node) insert(node);
}

void HaloMinimumDegree::insert(index_t variable) {
  if (is_halo(variable)) return;
  index_t& first = first_of_degree_[degree_[variable]];
  next_[variable] = first;
  previous_[variable] = -1;
  if (first >= 0) previous_[first] = variable;
  first = variable;
  lowest_ = std::min(lowest_, degree_[variable]);
}

void HaloMinimumDegree::remove(index_t variable) {
  if (is_halo(variable)) return;
  if (previous_[variable] >= 0) next_[previous_[variable]] = next_[variable];
  else first_of_degree_[degree_[variable]] = next_[variable];
  if (next_[variable] >= 0) previous_[next_[variable]] = previous_[variable];
}

index_t HaloMinimumDegree::next_pivot() {
  while (first_of_degree_[lowest_] < 0) ++lowest_;
  const index_t pivot = first_of_degree_[lowest_];
  remove(pivot);
  return pivot;
}

/// Ensure that the pivot's element fits behind the lists in use, by closing their gaps if necessary.
void HaloMinimumDegree::make_room(index_t pivot) {
  offset_t needed = length_[pivot];
  for (index_t at = 0; at < elements_[pivot]; ++at) needed += length_[lists_[begin_[pivot] + at]];
  if (used_ + needed <= static_cast<offset_t>(lists_.size())) return;
  std::vector<index_t> packed;
  packed.reserve(lists_.size());
  for (index_t node = 0; node < static_cast<index_t>(vertex_.size()); ++node) {
    const bool is_live = is_element(node) ? seen_[node] != 0 : weight_[node] != 0;
    if (!is_live) continue;
    const auto first = lists_.begin() + begin_[node];
    begin_[node] = static_cast<offset_t>(packed.size());
    packed.insert(packed.end(), first, first + length_[node]);
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
  const offset_t begin = begin_[pivot];
  const index_t num_elements = elements_[pivot], length = length_[pivot];
  for (index_t at = 0; at < num_elements; ++at) {
    const index_t element = lists_[begin + at];
    const offset_t first = begin_[element], end = first + length_[element];
    for (offset_t entry = first; entry < end; ++entry) add_live(lists_[entry]);
    seen_[element] = 0;
  }
  for (index_t at = num_elements; at < length; ++at) add_live(lists_[begin + at]);
  begin_[pivot] = element_begin_;
  elements_[pivot] = -1;
}

/// For each element adjacent to the new one: seen_ − mark_ becomes its weight outside the new one.
void HaloMinimumDegree::measure_elements() {
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    const index_t weight = -weight_[variable];
    const offset_t begin = begin_[variable];
    for (index_t at = 0; at < elements_[variable]; ++at) {
      const index_t element = lists_[begin + at];
      mark_t& seen = seen_[element];
      if (seen >= mark_) seen -= weight;
      else if (seen != 0) seen = mark_ + degree_[element] - weight;
    }
  }
}

/// Drop what is dead or covered by the new element, put the new element in front, and bound the degree.
/// @returns false if nothing but the new element is left: then the variable can be eliminated with the pivot
bool HaloMinimumDegree::update_variable(index_t variable, index_t pivot) {
  const offset_t begin = begin_[variable], end = begin + length_[variable];
  const offset_t elements_end = begin + elements_[variable];
  offset_t kept = begin;
  index_t degree = 0;
  std::uint32_t hash = 0;
  for (offset_t at = begin; at < elements_end; ++at) {
    const index_t element = lists_[at];
    if (seen_[element] == 0) continue;
    const mark_t outside = seen_[element] - mark_;
    if (outside == 0) {
      seen_[element] = 0;  // it lies within the new element
      continue;
    }
    degree += static_cast<index_t>(outside);
    hash += static_cast<std::uint32_t>(element);
    lists_[kept++] = element;
  }
  const offset_t variables_begin = kept;
  for (offset_t at = elements_end; at < end; ++at) {
    const index_t other = lists_[at];
    if (weight_[other] <= 0) continue;
    degree += weight_[other];
    hash += static_cast<std::uint32_t>(other);
    lists_[kept++] = other;
  }
  if (kept == begin && !is_halo(variable)) return false;
  lists_[kept] = lists_[variables_begin];
  lists_[variables_begin] = lists_[begin];
  lists_[begin] = pivot;
  elements_[variable] = static_cast<index_t>(variables_begin - begin) + 1;
  length_[variable] = static_cast<index_t>(kept - begin) + 1;
  degree_[variable] = std::min(degree_[variable], degree);
  hash_[variable] = hash;
  return true;
}

void HaloMinimumDegree::absorb(index_t into, index_t variable) {
  member_next_[last_member_[into]] = variable;
  last_member_[into] = last_member_[variable];
  weight_[into] += weight_[variable];
  weight_[variable] = 0;
}

void HaloMinimumDegree::update_variables(index_t pivot) {
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    if (update_variable(variable, pivot)) continue;
    element_weight_ += weight_[variable];  // is negative here
    absorb(pivot, variable);
  }
  degree_[pivot] = element_weight_;
}

bool HaloMinimumDegree::are_alike(index_t kept, index_t other) const {
  if (length_[other] != length_[kept] || elements_[other] != elements_[kept] ||
      is_halo(other) != is_halo(kept))
    return false;
  for (offset_t at = begin_[other] + 1; at < begin_[other] + length_[other]; ++at)
    if (seen_[lists_[at]] != mark_) return false;
  return true;
}

/// Merge variables of the new element whose lists are equal.
void HaloMinimumDegree::merge_alike() {
  const std::uint32_t mask = static_cast<std::uint32_t>(first_of_hash_.size() - 1);
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    if (weight_[variable] == 0) continue;
    index_t& first = first_of_hash_[hash_[variable] & mask];
    alike_next_[variable] = first;
    first = variable;
  }
  for (index_t entry = 0; entry < element_length_; ++entry) {
    const index_t variable = lists_[element_begin_ + entry];
    if (weight_[variable] == 0) continue;
    index_t kept = first_of_hash_[hash_[variable] & mask];
    first_of_hash_[hash_[variable] & mask] = -1;
    for (; kept >= 0 && alike_next_[kept] >= 0; kept = alike_next_[kept]) {
      ++mark_;
      for (offset_t at = begin_[kept] + 1; at < begin_[kept] + length_[kept]; ++at) seen_[lists_[at]] = mark_;
      for (index_t before = kept, other = alike_next_[kept]; other >= 0; other = alike_next_[before]) {
        if (hash_[other] == hash_[kept] && are_alike(kept, other)) {
          absorb(kept, other);
          alike_next_[before] = alike_next_[other];
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
    degree_[variable] = std::min(degree_[variable] + element_weight_ - weight, weight_left_ - weight);
    insert(variable);
    lists_[element_begin_ + kept++] = variable;
  }
  length_[pivot] = kept;
  used_ = element_begin_ + kept;
  if (kept == 0) seen_[pivot] = 0;
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
  seen_[pivot] = 1;
  close_element(pivot);
}

void HaloMinimumDegree::order(const LevelGraph& graph, std::span<const index_t> region,
                              std::span<index_t> out) {
  load(graph, region);
  std::size_t place = 0;
  while (place < out.size()) {
    const index_t pivot = next_pivot();
    eliminate(pivot);
    for (index_t member = pivot; member >= 0; member = member_next_[member]) out[place++] = vertex_[member];
  }
}

}  // namespace palmette::order_detail
