// The rows of a supernode are those whose subtree contains it, behind its own columns.
#include "palmette/analyze/block_structure.hpp"

#include <algorithm>
#include <numeric>

namespace palmette {
namespace {

std::vector<index_t> nodes_of_columns(const std::vector<index_t>& begin) {
  std::vector<index_t> node_of(begin.back());
  for (std::size_t node = 0; node + 1 < begin.size(); ++node)
    std::fill(node_of.begin() + begin[node], node_of.begin() + begin[node + 1], static_cast<index_t>(node));
  return node_of;
}

/// Lengths of the row lists: what follows a piece in its supernode, then the supernode's own rows, which are
/// those of its last column.
void fill_row_ptr(const std::vector<index_t>& column_count, const std::vector<index_t>& unsplit,
                  SymbolicFactor& symbolic) {
  const std::size_t count = symbolic.supernode_begin.size() - 1;
  symbolic.row_ptr.resize(count + 1);
  std::size_t node = 0;
  for (std::size_t piece = 0; piece < count; ++piece) {
    const index_t end = symbolic.supernode_begin[piece + 1];
    while (unsplit[node + 1] < end) ++node;
    const index_t node_end = unsplit[node + 1];
    symbolic.row_ptr[piece + 1] =
        symbolic.row_ptr[piece] + (node_end - end) + (column_count[node_end - 1] - 1);
  }
}

/// An unsplit supernode while its list of rows grows.
struct GrowingList {
  index_t parent;      // supernode; −1 at roots
  index_t last_row;    // that was visited
  offset_t next;       // place in row_index
};

/// Rows, in ascending order, join the lists of the supernodes of their subtree, which are found by walking up
/// from the columns where the row has entries. So lists ascend without being sorted.
/// @param first_row  by supernode: where its list begins in row_index
/// @source [Gilbert et al. 1994], row subtrees
void list_rows(const NumberedTree& tree, const std::vector<index_t>& unsplit,
               const std::vector<offset_t>& first_row, std::vector<index_t>& row_index) {
  const std::vector<index_t> node_of = nodes_of_columns(unsplit);
  std::vector<GrowingList> lists(unsplit.size() - 1);
  for (std::size_t node = 0; node < lists.size(); ++node) {
    const index_t above = tree.parent[unsplit[node + 1] - 1];
    lists[node] = {above == -1 ? -1 : node_of[above], -1, first_row[node]};
  }
  for (index_t row = 0; row < tree.graph.size(); ++row) {
    lists[node_of[row]].last_row = row;
    for (const index_t column : tree.graph.earlier(tree.order.new_to_old()[row]))
      for (index_t node = node_of[tree.order.old_to_new()[column]]; lists[node].last_row != row;
           node = lists[node].parent) {
        lists[node].last_row = row;
        row_index[lists[node].next++] = row;
      }
  }
}

/// The rows of unsplit supernodes go to their last pieces, whose rows they are; other pieces copy them.
void fill_rows(const NumberedTree& tree, const std::vector<index_t>& unsplit, SymbolicFactor& symbolic) {
  const std::vector<index_t>& begin = symbolic.supernode_begin;
  std::vector<offset_t> first_row(unsplit.size() - 1);
  std::size_t node = 0;
  for (std::size_t piece = 0; piece + 1 < begin.size(); ++piece)
    if (begin[piece + 1] == unsplit[node + 1]) first_row[node++] = symbolic.row_ptr[piece];
  symbolic.row_index.resize(static_cast<std::size_t>(symbolic.row_ptr.back()));
  list_rows(tree, unsplit, first_row, symbolic.row_index);
  node = 0;
  for (std::size_t piece = 0; piece + 1 < begin.size(); ++piece) {
    if (begin[piece + 1] == unsplit[node + 1]) {
      ++node;
      continue;
    }
    const auto rows = symbolic.row_index.begin();
    const index_t between = unsplit[node + 1] - begin[piece + 1];
    std::iota(rows + symbolic.row_ptr[piece], rows + symbolic.row_ptr[piece] + between, begin[piece + 1]);
    std::copy_n(rows + first_row[node], symbolic.row_ptr[piece + 1] - symbolic.row_ptr[piece] - between,
                rows + symbolic.row_ptr[piece] + between);
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

void fill_block_structure(const NumberedTree& tree, const std::vector<index_t>& unsplit,
                          SymbolicFactor& symbolic) {
  symbolic.supernode_of = nodes_of_columns(symbolic.supernode_begin);
  fill_row_ptr(tree.count, unsplit, symbolic);
  fill_rows(tree, unsplit, symbolic);
  fill_panel_offsets(symbolic);
  fill_tree(symbolic);
  fill_blocks(symbolic);
}

}  // namespace palmette
