// Vectors of panels: what was written stays, however they grow and shrink, across the size from which on
// their pages are large.
#include "palmette/blocks/panel_vector.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <numeric>

namespace palmette {
namespace {

constexpr std::size_t page_of_doubles = large_page_bytes / sizeof(double);

TEST(PanelVector, values_stay_while_it_grows_beyond_a_large_page) {
  PanelVector<double> list;
  for (std::size_t k = 0; k < 3 * page_of_doubles; ++k) list.push_back(static_cast<double>(k));
  list.resize(2 * page_of_doubles);
  list.shrink_to_fit();
  list.resize(4 * page_of_doubles);
  for (std::size_t k = 0; k < 2 * page_of_doubles; ++k) ASSERT_EQ(list[k], static_cast<double>(k));
}

TEST(PanelVector, a_large_one_begins_at_a_large_page) {
  for (const std::size_t size : {page_of_doubles, page_of_doubles + 1, 5 * page_of_doubles}) {
    PanelVector<double> list(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(list.data()) % large_page_bytes, 0u) << size;
  }
}

TEST(PanelVector, copies_assignments_and_moves_keep_values) {
  for (const std::size_t size : {std::size_t(0), std::size_t(3), page_of_doubles}) {
    std::vector<std::complex<double>> given(size);
    std::iota(given.begin(), given.end(), 1.0);
    PanelVector<std::complex<double>> list(7, 2.0), moved;
    list.assign(given.begin(), given.end());
    const PanelVector<std::complex<double>> copy = list;
    moved = std::move(list);
    EXPECT_TRUE(std::equal(given.begin(), given.end(), copy.begin(), copy.end())) << size;
    EXPECT_EQ(moved, copy) << size;
  }
}

}  // namespace
}  // namespace palmette
