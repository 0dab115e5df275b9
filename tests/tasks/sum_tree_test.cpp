// Order of sums: each contribution is added once, in the same association, wherever it comes from.
#include <gtest/gtest.h>

#include "palmette/tasks/sum_tree.hpp"

namespace palmette {
namespace {

/// The sum as text, as formed by one participant that has everything.
std::string expression(const SumTree& tree, index_t node) {
  const index_t begin = tree.child_ptr[node], end = tree.child_ptr[node + 1];
  if (begin == end) return std::to_string(tree.contributor[node]);
  std::string text = "(";
  for (index_t child = begin; child < end; ++child)
    text += (child == begin ? "" : "+") + expression(tree, tree.child[child]);
  return text + ")";
}

TEST(sum_tree, a_forest_adds_children_first_and_then_the_node_itself) {
  // 0 and 1 hang below 2, 2 and 3 are tops.
  const SumTree tree = sum_along_forest({2, 2, -1, -1});
  ASSERT_EQ(tree.tops.size(), 2u);
  EXPECT_EQ(expression(tree, tree.tops[0]), "(0+1+2)");
  EXPECT_EQ(expression(tree, tree.tops[1]), "3");
}

TEST(sum_tree, classes_are_joined_by_powers_of_two_and_then_by_three) {
  // 0 and 48 share a class; 0 and 6 agree modulo 3 and 2 but not 4; 1 and 0 differ modulo 3.
  const SumTree tree = sum_by_classes({0, 1, 6, 48});
  ASSERT_EQ(tree.tops.size(), 1u);
  EXPECT_EQ(expression(tree, tree.tops[0]), "(((0+3)+2)+1)");
}

TEST(sum_tree, ranks_dealt_round_in_twos_threes_or_sixes_pass_on_three_sums_at_most) {
  std::vector<index_t> blocks(200);
  for (index_t k = 0; k < 200; ++k) blocks[k] = k;
  const SumTree tree = sum_by_classes(blocks);
  for (const index_t ranks : {1, 2, 3, 4, 6, 8, 12, 16, 24, 48}) {
    for (index_t rank = 0; rank < ranks; ++rank) {
      std::vector<index_t> have;
      for (index_t node = 0; node < tree.size(); ++node)
        if (tree.contributor[node] != -1 && tree.contributor[node] % ranks == rank) have.push_back(node);
      EXPECT_LE(partial_sums(tree, have).outgoing.size(), 3u) << ranks;
    }
  }
}

TEST(sum_tree, whoever_has_everything_ends_with_the_tops_however_it_came) {
  const SumTree tree = sum_along_forest({3, 3, 5, 5, 5, -1, 7, -1});
  std::vector<index_t> even, odd;
  for (index_t node = 0; node < tree.size(); ++node)
    if (tree.contributor[node] != -1) (tree.contributor[node] % 2 == 0 ? even : odd).push_back(node);
  std::vector<index_t> have = partial_sums(tree, even).outgoing;
  for (const index_t node : partial_sums(tree, odd).outgoing) have.push_back(node);
  EXPECT_EQ(partial_sums(tree, have).outgoing, tree.tops);
}

}  // namespace
}  // namespace palmette
