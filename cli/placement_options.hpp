// The options of a placement that commands over ranks and predictions share.
#pragma once

#include <string>

#include "cli/help.hpp"
#include "cli/names.hpp"
#include "palmette/place/place.hpp"

namespace palmette::cli {

/// --map and --trees. @param map, trees  PlacementMap and TreeShape, or optional ones
template <class Map, class Trees>
void add_map_and_trees(OptionGroup& group, Map& map, Trees& trees) {
  group.value({"--map", bars(names_of(placement_maps)),
               "which rank owns which block (default: subtree_to_subcube)"},
              [&map](const std::string& text) { map = choose_of("--map", text, placement_maps); });
  group.value({"--trees", bars(names_of(tree_shapes)),
               "trees in which ranks pass values on (default: binary)"},
              [&trees](const std::string& text) { trees = choose_of("--trees", text, tree_shapes); });
}

}  // namespace palmette::cli
