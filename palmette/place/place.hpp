// The door of `place`: SymbolicFactor + process grid → Placement: which rank owns which block.
#pragma once

#include "palmette/place/communication_tree.hpp"
#include "palmette/place/layering.hpp"
#include "palmette/place/owned_blocks.hpp"
#include "palmette/place/placement.hpp"
#include "palmette/place/tree_partition.hpp"
