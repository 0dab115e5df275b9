// The structure of a supernode is the union of its columns' structures in A and its children's structures,
// without its own columns.
#include "palmette/analyze/block_structure.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {
namespace {

/// Row lists of the unsplit supernodes, flat.
struct RowUnion {
  std::vector<offset_t> ptr = {0};
  std::vector<index_t> row;
};

/// Lists of children of the unsplit supernodes: first child and next sibling.
struct ChildLists {
  std::vector<index_t> first;
  std::vector<index_t> next;
};

ChildLists children_of(const std::vector<index_t>& begin, const std::vector<index_t>& node_of,
                       const std::vector<index_t>& column_parent) {
  const index_t count = static_cast<index_t>(begin.size()) - 1;
  ChildLists lists{std::vector<index_t>(count, -1),
                   std::vector<index_t>(count, -1)};
  for (index_t node = count - 1; node >= 0; --node) {
    const index_t above = column_parent[begin[node + 1] - 1];
    if (above == -1) continue;
    lists.next[node] = lists.first[node_of[above]];
    lists.first[node_of[above]] = node;
  }
  return lists;
}

std::vector<index_t> nodes_of_columns(const std::vector<index_t>& begin) {
  std::vector<index_t> node_of(begin.back());
  for (std::size_t node = 0; node + 1 < begin.size(); ++node)
    std::fill(node_of.begin() + begin[node], node_of.begin() + begin[node + 1], static_cast<index_t>(node));
  return node_of;
}

RowUnion unite_rows(const EliminationGraph& graph, const std::vector<index_t>& column_parent,
                    const std::vector<index_t>& begin) {
  const ChildLists children = children_of(begin, nodes_of_columns(begin), column_parent);
  std::vector<index_t> stamp(graph.size(), -1);
  RowUnion lists;
  for (index_t node = 0; node + 1 < static_cast<index_t>(begin.size()); ++node) {
    const index_t end = begin[node + 1];
    const auto add = [&](index_t row) {
      if (row < end || stamp[row] == node) return;
      stamp[row] = node;
      lists.row.push_back(row);
    };
    for (index_t column = begin[node]; column < end; ++column)
      graph.for_each_neighbour(column, add);
    for (index_t child = children.first[node]; child != -1; child = children.next[child])
      for (offset_t entry = lists.ptr[child]; entry < lists.ptr[child + 1]; ++entry) add(lists.row[entry]);
    std::sort(lists.row.begin() + lists.ptr.back(), lists.row.end());
    lists.ptr.push_back(static_cast<offset_t>(lists.row.size()));
  }
  return lists;
}

/// Row list of each piece: the columns of its supernode that follow it, then the supernode's rows.
void distribute_rows(const RowUnion& lists, const std::vector<index_t>& unsplit, SymbolicFactor& symbolic) {
  const std::size_t count = symbolic.supernode_begin.size() - 1;
  symbolic.row_index.reserve(lists.row.size());
  std::size_t node = 0;
  for (std::size_t piece = 0; piece < count; ++piece) {
    const index_t end = symbolic.supernode_begin[piece + 1];
    while (unsplit[node + 1] < end) ++node;
    for (index_t row = end; row < unsplit[node + 1]; ++row) symbolic.row_index.push_back(row);
    symbolic.row_index.insert(symbolic.row_index.end(), lists.row.begin() + lists.ptr[node],
                              lists.row.begin() + lists.ptr[node + 1]);
    symbolic.row_ptr.push_back(static_cast<offset_t>(symbolic.row_index.size()));
  }
}

void fill_panel_offsets(SymbolicFactor& symbolic) {
  symbolic.panel_offset = {0};
  for (std::size_t piece = 0; piece + 1 < symbolic.supernode_begin.size(); ++piece) {
    const offset_t width = symbolic.supernode_begin[piece + 1] - symbolic.supernode_begin[piece];
    const offset_t rows = width + symbolic.row_ptr[piece + 1] - symbolic.row_ptr[piece];
    symbolic.panel_offset.push_back(symbolic.panel_offset.back() + width * rows);
  }
}

void fill_tree(SymbolicFactor& symbolic) {
  const index_t count = static_cast<index_t>(symbolic.supernode_begin.size()) - 1;
  symbolic.parent.assign(count, -1);
  symbolic.first_descendant.resize(count);
  std::iota(symbolic.first_descendant.begin(), symbolic.first_descendant.end(), 0);
  for (index_t s = 0; s < count; ++s) {
    if (symbolic.num_rows_below(s) == 0) continue;
    const index_t above = symbolic.supernode_of[symbolic.rows_below(s).front()];
    symbolic.parent[s] = above;
    symbolic.first_descendant[above] =
        std::min(symbolic.first_descendant[above], symbolic.first_descendant[s]);
  }
}

void fill_blocks(SymbolicFactor& symbolic) {
  const index_t count = symbolic.num_supernodes();
  symbolic.blocks.clear();
  symbolic.block_ptr = {0};
  std::vector<offset_t> updates(count + 1, 0);
  for (index_t s = 0; s < count; ++s) {
    const std::span<const index_t> rows = symbolic.rows_below(s);
    for (index_t first = 0; first < static_cast<index_t>(rows.size());) {
      const index_t row_supernode = symbolic.supernode_of[rows[first]];
      index_t end = first + 1;
      while (end < static_cast<index_t>(rows.size()) && symbolic.supernode_of[rows[end]] == row_supernode)
        ++end;
      symbolic.blocks.push_back({row_supernode, first, end - first});
      ++updates[row_supernode + 1];
      first = end;
    }
    symbolic.block_ptr.push_back(static_cast<offset_t>(symbolic.blocks.size()));
  }
  std::partial_sum(updates.begin(), updates.end(), updates.begin());
  symbolic.updaters.resize(symbolic.blocks.size());
  symbolic.updater_ptr = updates;
  for (index_t s = 0; s < count; ++s)
    for (offset_t block = symbolic.block_ptr[s]; block < symbolic.block_ptr[s + 1]; ++block)
      symbolic.updaters[updates[symbolic.blocks[block].row_supernode]++] = {s, block};
}

/// Whether values ascend from 0 to `last`.
template <class Index>
bool ascends(const std::vector<Index>& values, std::int64_t last, bool strictly) {
  if (values.empty() || values.front() != 0 || values.back() != last) return false;
  for (std::size_t k = 1; k < values.size(); ++k)
    if (values[k] < values[k - 1] + (strictly ? 1 : 0)) return false;
  return true;
}

/// @returns what is wrong with the parts of a structure; empty: nothing
std::string contradiction_in(const SymbolicFactor& given) {
  const auto n = static_cast<std::size_t>(given.n);
  if (given.n < 0 || given.row.size() != given.n || given.column.size() != given.n)
    return "permutations of another size";
  if (given.column_parent.size() != n || given.column_count.size() != n) return "a tree of another size";
  for (index_t column = 0; column < given.n; ++column) {
    const index_t parent = given.column_parent[column], count = given.column_count[column];
    if (parent >= given.n || (parent <= column && parent != -1)) return "a parent before its child";
    if (count < 1 || count > given.n - column) return "a column with too many or too few entries";
  }
  if (!ascends(given.supernode_begin, given.n, true)) return "supernodes that do not ascend";
  if (given.row_ptr.size() != given.supernode_begin.size() ||
      !ascends(given.row_ptr, static_cast<std::int64_t>(given.row_index.size()), false))
    return "lists of rows that do not ascend";
  for (std::size_t s = 0; s + 1 < given.row_ptr.size(); ++s) {
    index_t before = given.supernode_begin[s + 1] - 1;
    for (offset_t entry = given.row_ptr[s]; entry < given.row_ptr[s + 1]; ++entry) {
      if (given.row_index[entry] <= before || given.row_index[entry] >= given.n)
        return "a supernode with rows that do not ascend or lie outside the matrix";
      before = given.row_index[entry];
    }
  }
  return {};
}

}  // namespace

SymbolicFactor completed_structure(SymbolicFactor given) {
  const std::string wrong = contradiction_in(given);
  if (!wrong.empty()) throw UsageError("the structure of a factor has " + wrong);
  given.supernode_of = nodes_of_columns(given.supernode_begin);
  fill_panel_offsets(given);
  fill_tree(given);
  fill_blocks(given);
  count_entries(given);
  return given;
}

void count_entries(SymbolicFactor& symbolic) {
  symbolic.nnz_factor = 0;
  symbolic.flops_llt = 0;
  for (const index_t count : symbolic.column_count) {
    symbolic.nnz_factor += count;
    symbolic.flops_llt += double(count) * double(count);
  }
}

void fill_block_structure(const EliminationGraph& graph, const std::vector<index_t>& column_parent,
                          const std::vector<index_t>& unsplit, SymbolicFactor& symbolic) {
  symbolic.supernode_of = nodes_of_columns(symbolic.supernode_begin);
  distribute_rows(unite_rows(graph, column_parent, unsplit), unsplit, symbolic);
  fill_panel_offsets(symbolic);
  fill_tree(symbolic);
  fill_blocks(symbolic);
}

}  // namespace palmette
