// Placement: every block has exactly one owner, and that owner exists.
#include <gtest/gtest.h>

#include "palmette/place/place.hpp"

namespace palmette {
namespace {

TEST(place, owners_are_ranks_of_the_grid_and_columns_cycle_over_it) {
  SymbolicFactor symbolic;
  symbolic.parent.assign(7, -1);
  const Placement placement = place(symbolic, {2, 3});
  for (index_t i = 0; i < 7; ++i)
    for (index_t j = 0; j < 7; ++j) {
      EXPECT_GE(placement.owner(i, j), 0);
      EXPECT_LT(placement.owner(i, j), 6);
      EXPECT_EQ(placement.owner(i, j), placement.owner(i + 2, j));
      EXPECT_EQ(placement.owner(i, j), placement.owner(i, j + 3));
    }
  // Row 1 of the grid, column 2: rank 1·3 + 2.
  EXPECT_EQ(placement.owner(1, 2), 5);
}

TEST(place, grid_without_ranks_is_refused) {
  EXPECT_THROW(place(SymbolicFactor{}, {0, 1}), UsageError);
  EXPECT_THROW(place(SymbolicFactor{}, {1, -2}), UsageError);
}

}  // namespace
}  // namespace palmette
