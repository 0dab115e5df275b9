// Names of trees, and which ranks take part.
#include "palmette/place/communication_tree.hpp"

namespace palmette {

std::string_view name_of(TreeShape shape) { return shape == TreeShape::binary ? "binary" : "flat"; }

TreeShape tree_shape(std::string_view name) {
  return choice_named("tree", name, tree_shapes);
}

CommunicationTree communication_tree(TreeShape shape, index_t root, std::vector<index_t> members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  CommunicationTree tree{shape, {root}};
  for (const index_t rank : members)
    if (rank != root) tree.ranks.push_back(rank);
  return tree;
}

}  // namespace palmette
