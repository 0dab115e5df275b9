// Columns of a triangle dealt to devices, and the slots for what devices add to rows of others.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "palmette/tasks/tasks.hpp"

namespace palmette {
namespace {

/// Columns of a strict lower triangle, in the order of rows.
SparsityPattern strict_pattern(index_t n, int entries_of_column, unsigned seed) {
  std::mt19937 random(seed);
  SparsityPattern made;
  made.rows = made.cols = n;
  made.column_ptr = {0};
  for (index_t column = 0; column < n; ++column) {
    std::set<index_t> rows;
    for (int k = 0; k < entries_of_column && column + 1 < n; ++k)
      rows.insert(column + 1 + static_cast<index_t>(random() % static_cast<unsigned>(n - column - 1)));
    made.row_index.insert(made.row_index.end(), rows.begin(), rows.end());
    made.column_ptr.push_back(static_cast<offset_t>(made.row_index.size()));
  }
  return made;
}

/// Rows 0 and 1 on device 0, 2 and 3 on device 1, 4 on device 2. L has (2,0), (2,1), (4,0), (4,3), (4,2).
TEST(column_deal, a_small_case_by_hand) {
  SparsityPattern strict;
  strict.rows = strict.cols = 5;
  strict.column_ptr = {0, 2, 3, 4, 5, 5};
  strict.row_index = {2, 4, 2, 4, 4};
  const ColumnDeal deal = ColumnDeal::of(5, 3, 1);
  EXPECT_EQ(deal.columns_of_task, 2);
  const auto sources = column_sources(strict, false, deal);
  EXPECT_EQ(sources, (std::vector<unsigned>{0, 0, 0b001, 0, 0b011}));
  const ColumnSlots slots = column_slots(sources, deal);
  EXPECT_EQ(slots.first, (std::vector<unsigned>{0, 0, 0, 1, 0}));
  EXPECT_EQ(slots.most, 2u);  // of device 2, for row 4
  EXPECT_EQ(slots.of(4, 0b011, 0), 0u);
  EXPECT_EQ(slots.of(4, 0b011, 1), 1u);
  EXPECT_EQ(column_sources(strict, true, deal), (std::vector<unsigned>{0b110, 0b010, 0b100, 0b100, 0}));
  EXPECT_EQ(most_column_slots(strict, deal), 3u);  // of device 0, for the columns 0 and 1
}

/// Each slot of an element belongs to one row and one source, and no sum of another row has one.
TEST(column_deal, every_sum_from_elsewhere_has_a_slot_of_its_own_and_no_other_has) {
  for (const int elements : {1, 2, 3, 7, 32})
    for (const index_t n : {0, 1, 5, 60}) {
      const SparsityPattern strict = strict_pattern(n, 4, static_cast<unsigned>(elements));
      const ColumnDeal deal = ColumnDeal::of(n, elements, 1 + elements % 3);
      std::size_t most = 0;
      for (const bool transposed : {false, true}) {
        const auto sources = column_sources(strict, transposed, deal);
        const ColumnSlots slots = column_slots(sources, deal);
        std::vector<std::set<unsigned>> taken(elements);
        for (index_t row = 0; row < n; ++row) {
          const int owner = deal.element_of(row);
          const unsigned others = sources[row] & ~(1u << owner);
          for (int source = 0; source < elements; ++source)
            if ((others >> source & 1) != 0) {
              EXPECT_TRUE(taken[owner].insert(slots.of(row, others, source)).second);
            }
        }
        for (const auto& one : taken) {
          EXPECT_LE(one.size(), slots.most);
          if (!one.empty()) {
            EXPECT_EQ(*one.rbegin(), one.size() - 1);
          }
        }
        most = std::max(most, slots.most);
      }
      EXPECT_EQ(most_column_slots(strict, deal), most);
    }
}

TEST(column_deal, misuse_is_named) {
  EXPECT_THROW((void)ColumnDeal::of(5, 33, 1), UsageError);
  EXPECT_THROW((void)ColumnDeal::of(5, 2, 0), UsageError);
}

}  // namespace
}  // namespace palmette
