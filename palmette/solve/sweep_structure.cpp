// Gathers supernodes into groups and finds every local place once, so that a sweep needs no look-ups.
#include "palmette/solve/sweep_structure.hpp"

#include <algorithm>
#include <numeric>

namespace palmette::solve_detail {
namespace {

// A subtree whose panels and vectors fit into a core's second-level cache is not worth cutting; small factors
// are cut finer, so that there are tasks to share at all. The limit depends on the structure alone, so
// results keep their bits. Whoever changes these raises panel_layout_version.
constexpr double largest_group_bytes = 512 * 1024;
constexpr double smallest_group_bytes = 16 * 1024;
constexpr double groups_wanted = 64;

// Two registers for each entry of a bundle of complex numbers in double precision gain nothing.
constexpr int most_bytes_bundled = 8;

/// Number of entries that one sweep reads for supernode s, in its triangle and its rows below.
double entries_of(const SymbolicFactor& symbolic, index_t s) {
  const double width = symbolic.width(s);
  return width * (width + 1) / 2 + width * symbolic.num_rows_below(s);
}

/// Are they contiguous from `start` on? Then nothing is stored.
offset_t keep_places(std::span<const index_t> found, std::vector<index_t>& list) {
  bool consecutive = true;
  for (std::size_t k = 1; k < found.size() && consecutive; ++k)
    consecutive = found[k] == found[0] + static_cast<index_t>(k);
  if (consecutive) return found.empty() ? 0 : found[0];
  const offset_t begin = static_cast<offset_t>(list.size());
  list.insert(list.end(), found.begin(), found.end());
  return -1 - begin;
}

}  // namespace

SweepGroups::SweepGroups(std::shared_ptr<const SymbolicFactor> symbolic, int entry_bytes,
                               double group_bytes)
    : symbolic_(std::move(symbolic)), entry_bytes_(entry_bytes) {
  find_groups(group_bytes);
  find_boundaries();
  find_children_in_place();
  place_boundaries();
  find_local_rows();
  bundles_ = SupernodeBundles(*this, entry_bytes <= most_bytes_bundled);
  find_places_in_parents();
  make_graphs();
}

SweepGroups::SweepGroups(std::shared_ptr<const SymbolicFactor> symbolic, int entry_bytes,
                               TreePartition groups)
    : symbolic_(std::move(symbolic)), entry_bytes_(entry_bytes), partition_(std::move(groups)) {
  measure();
  find_children();
  find_boundaries();
  find_children_in_place();
  place_boundaries();
  find_local_rows();
  find_places_in_parents();
  make_graphs();
}

std::vector<double> SweepGroups::measure() {
  const index_t count = symbolic_->num_supernodes();
  std::vector<double> weight = sweep_entries(*symbolic_);
  block_offset_.assign(count + 1, 0);
  for (index_t s = 0; s < count; ++s) {
    entries_ += weight[s];
    weight[s] *= entry_bytes_;
    block_offset_[s + 1] = block_offset_[s] + offset_t{symbolic_->width(s)} * symbolic_->width(s);
    widest_ = std::max(widest_, symbolic_->width(s));
    most_rows_below_ = std::max(most_rows_below_, symbolic_->num_rows_below(s));
  }
  return weight;
}

void SweepGroups::find_groups(double group_bytes) {
  const std::vector<double> weight = measure();
  if (group_bytes <= 0)
    group_bytes =
        std::clamp(entries_ * entry_bytes_ / groups_wanted, smallest_group_bytes, largest_group_bytes);
  partition_ = join_small_siblings(partition_tree(*symbolic_, weight, group_bytes), weight, group_bytes);
  find_children();
}

void SweepGroups::find_children() {
  child_ptr_.assign(num_groups() + 1, 0);
  for (const index_t above : partition_.parent)
    if (above != -1) ++child_ptr_[above + 1];
  std::partial_sum(child_ptr_.begin(), child_ptr_.end(), child_ptr_.begin());
  child_.resize(child_ptr_.back());
  std::vector<offset_t> next(child_ptr_);
  for (index_t group = 0; group < num_groups(); ++group)
    if (partition_.parent[group] != -1) child_[next[partition_.parent[group]]++] = group;
}

void SweepGroups::find_boundaries() {
  boundary_ptr_ = {0};
  for (index_t group = 0; group < num_groups(); ++group) {
    const offset_t begin = static_cast<offset_t>(boundary_row_.size());
    index_t roots = 0;
    // Rows outside the group are those of its topmost supernodes: the rows of any other occur in its parent.
    for (index_t s = supernode_begin(group); s < supernode_end(group); ++s) {
      if (symbolic_->parent[s] != -1 && symbolic_->parent[s] < supernode_end(group)) continue;
      const auto rows = symbolic_->rows_below(s);
      boundary_row_.insert(boundary_row_.end(), rows.begin(), rows.end());
      ++roots;
    }
    if (roots > 1) {
      std::sort(boundary_row_.begin() + begin, boundary_row_.end());
      boundary_row_.erase(std::unique(boundary_row_.begin() + begin, boundary_row_.end()),
                          boundary_row_.end());
    }
    boundary_ptr_.push_back(static_cast<offset_t>(boundary_row_.size()));
    longest_local_ =
        std::max(longest_local_, num_columns(group) + static_cast<index_t>(boundary(group).size()));
  }
}

void SweepGroups::find_children_in_place() {
  child_in_place_.assign(num_groups(), -1);
  for (index_t group = 0; group < num_groups(); ++group) {
    const index_t end = column_begin(group) + num_columns(group);
    for (const index_t child : children(group)) {
      const auto rows = boundary(child);
      const auto passed_on = std::lower_bound(rows.begin(), rows.end(), end);
      // All of them are rows of the group's boundary, so as many are the same.
      if (rows.end() - passed_on != static_cast<std::ptrdiff_t>(boundary(group).size())) continue;
      child_in_place_[group] = child;
      break;
    }
  }
}

void SweepGroups::place_boundaries() {
  // First within the rows that the subtree of a group takes; then those of subtrees side by side.
  std::vector<offset_t> subtree_rows(num_groups(), 0);
  std::vector<offset_t>& place = boundary_place_;
  place.assign(num_groups(), 0);
  const auto rows_of = [&](index_t group) { return static_cast<offset_t>(boundary(group).size()); };
  for (index_t group = 0; group < num_groups(); ++group) {
    offset_t subtree = 0, free = 0;  // the first rows behind those of a child that leave enough
    for (const index_t child : children(group)) {
      const offset_t begin = subtree + place[child];
      if (begin < free + rows_of(group)) free = begin + rows_of(child);
      if (child == child_in_place_[group]) place[group] = begin + rows_of(child) - rows_of(group);
      subtree += subtree_rows[child];
    }
    if (child_in_place_[group] == -1) place[group] = free;
    subtree_rows[group] = std::max(subtree, place[group] + rows_of(group));
  }
  std::vector<offset_t> subtree_begin(num_groups(), 0);
  total_boundary_ = 0;
  for (index_t group = num_groups(); group-- > 0;) {
    if (partition_.parent[group] == -1) {
      subtree_begin[group] = total_boundary_;
      total_boundary_ += subtree_rows[group];
    }
    offset_t next = subtree_begin[group];
    for (const index_t child : children(group)) {
      subtree_begin[child] = next;
      next += subtree_rows[child];
    }
    place[group] += subtree_begin[group];
  }
}

index_t SweepGroups::local_place(index_t group, index_t row) const {
  const index_t columns = num_columns(group);
  if (row < column_begin(group) + columns) return row - column_begin(group);
  const auto rows = boundary(group);
  return columns + static_cast<index_t>(std::lower_bound(rows.begin(), rows.end(), row) - rows.begin());
}

void SweepGroups::find_local_rows() {
  row_start_.resize(symbolic_->num_supernodes());
  // of boundary rows, valid for the current group
  std::vector<index_t> place_of(symbolic_->n);
  std::vector<index_t> found;
  for (index_t group = 0; group < num_groups(); ++group) {
    const index_t first = column_begin(group);
    const index_t columns = num_columns(group);
    const auto rows = boundary(group);
    for (std::size_t k = 0; k < rows.size(); ++k) place_of[rows[k]] = columns + static_cast<index_t>(k);
    for (index_t s = supernode_begin(group); s < supernode_end(group); ++s) {
      found.clear();
      for (const index_t row : symbolic_->rows_below(s))
        found.push_back(row < first + columns ? row - first : place_of[row]);
      row_start_[s] = keep_places(found, row_list_);
    }
  }
  // packed_forward reads whole registers of places, beyond the last list too.
  row_list_.insert(row_list_.end(), packed_slack, 0);
  row_list_.shrink_to_fit();
}

void SweepGroups::find_places_in_parents() {
  up_start_.assign(num_groups(), 0);
  std::vector<index_t> found;
  for (index_t group = 0; group < num_groups(); ++group) {
    if (partition_.parent[group] == -1) continue;
    found.clear();
    for (const index_t row : boundary(group)) found.push_back(local_place(partition_.parent[group], row));
    up_start_[group] = keep_places(found, up_list_);
  }
  up_list_.shrink_to_fit();
}

void SweepGroups::make_graphs() {
  std::vector<double> cost(num_groups());
  for (index_t group = 0; group < num_groups(); ++group) {
    double bytes = 0;
    for (index_t s = supernode_begin(group); s < supernode_end(group); ++s) {
      bytes += entries_of(*symbolic_, s) * entry_bytes_;
      if (local_rows(s).list != nullptr) bytes += 4.0 * symbolic_->num_rows_below(s);
    }
    cost[group] =
        bytes + 2.0 * entry_bytes_ * (num_columns(group) + static_cast<double>(boundary(group).size()));
  }
  TaskGraph graph = tree_tasks(partition_, cost);
  backward_ = make_schedule(reversed(graph));
  forward_ = make_schedule(std::move(graph));
}

offset_t SweepGroups::memory_bytes() const {
  const auto bytes = [](const auto& list) {
    return static_cast<offset_t>(list.capacity() * sizeof(list[0]));
  };
  return bytes(partition_.group_begin) + bytes(partition_.parent) + bytes(boundary_ptr_) +
         bytes(boundary_row_) + bytes(boundary_place_) + bytes(child_in_place_) + bytes(row_start_) +
         bytes(row_list_) + bytes(up_start_) + bytes(up_list_) +
         bytes(child_ptr_) + bytes(child_) + bytes(block_offset_) + bundles_.memory_bytes() +
         forward_.memory_bytes() + backward_.memory_bytes();
}

}  // namespace palmette::solve_detail
