// Sweeps over panels that threads share, against the same sweeps of one thread, bit for bit.
#include "palmette/blocks/shared_sweeps.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "tests/blocks/dense_testing.hpp"
#include "tests/repeating_threads.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
class SharedSweeps : public ::testing::Test {};
TYPED_TEST_SUITE(SharedSweeps, TestedScalars);

/// A panel whose sweeps neither grow nor vanish, and a vector.
template <class T>
struct SweptPanel {
  DenseMatrix<T> memory;
  std::vector<T> start;
  bool unit;
  ReadingOrder order = ReadingOrder::eight_streams;

  SweptPanel(index_t width, index_t below, bool unit_diagonal)
      : memory(random_dense<T>(width + below, width, 5)),
        start(random_dense<T>(width + below + sweep_slack, 1, 8).values), unit(unit_diagonal) {
    for (index_t column = 0; column < width; ++column) {
      for (index_t row = column + 1; row < width; ++row) memory.view()(row, column) /= T(width);
      memory.view()(column, column) += T(3);
    }
    start.resize(width + below + sweep_slack);
  }
  WholePanel<T> panel() const {
    return {{memory.view().data, memory.rows, memory.cols, memory.view().ld}, unit, order};
  }
  /// What a sweep makes of the vector, without the slack behind it.
  template <class Sweep>
  std::vector<T> swept(Sweep&& sweep) const {
    std::vector<T> v = start;
    sweep(panel(), v.data());
    v.resize(memory.rows);
    return v;
  }
  std::vector<T> forward(const OffersOfThread& offers = {}) const {
    return swept([&](const WholePanel<T>& all, T* v) { panel_forward(all, v, offers); });
  }
  std::vector<T> backward(const OffersOfThread& offers = {}) const {
    return swept([&](const WholePanel<T>& all, T* v) { panel_backward(true, all, v, offers); });
  }
};

/// A thread that comes, helps for a moment, and leaves again.
void help_for_a_moment(WorkOffers& offers, int thread, int& visit) {
  offers.begin_waiting();
  for (int look = 0; look < 1 + 37 * (visit % (thread + 3)); ++look) offers.help();
  offers.end_waiting();
  if (++visit % 5 == 0) std::this_thread::yield();
}

TYPED_TEST(SharedSweeps, give_the_bits_of_one_thread_however_many_help) {
  using T = TypeParam;
  for (const index_t width : {61, 128, 300, 700})
    for (const index_t below : {0, 5, 260, 1403})
      for (const bool unit : {false, true}) {
        SCOPED_TRACE(std::to_string(width) + " columns, " + std::to_string(below) + " below");
        SweptPanel<T> given(width, below, unit);
        const std::vector<T> forward = given.forward(), backward = given.backward();
        for (const int helpers : {1, 3}) {
          given.order = helpers == 1 ? ReadingOrder::one_stream : ReadingOrder::eight_streams;
          WorkOffers offers(1);
          int visits[3] = {};
          const RepeatingThreads others(
              helpers, [&](int thread) { help_for_a_moment(offers, thread, visits[thread]); });
          for (int repeat = 0; repeat < 3; ++repeat) {
            EXPECT_EQ(given.forward({&offers, 0}), forward);
            EXPECT_EQ(given.backward({&offers, 0}), backward);
          }
        }
      }
}

TYPED_TEST(SharedSweeps, a_helper_can_do_the_whole_rectangle_of_a_backward_sweep) {
  using T = TypeParam;
  const SweptPanel<T> given(128, 600, false);
  const std::vector<T> alone = given.backward();
  const std::vector<T> shared = given.swept([](const WholePanel<T>& panel, T* v) {
    panel_sweep::BackwardShare<T> share(true, panel, v, panel.entries.cols, 1);
    const std::vector<T> before(v, v + panel.entries.cols);
    for (int block = 0; block < 4; ++block) share.help();
    for (index_t column = 0; column < panel.entries.cols; ++column) EXPECT_NE(v[column], before[column]);
    share.help();  // nothing is left
    EXPECT_EQ(share.run(), 0);
  });
  EXPECT_EQ(shared, alone);
}

TYPED_TEST(SharedSweeps, helpers_have_nothing_to_do_before_the_triangle_begins) {
  using T = TypeParam;
  const SweptPanel<T> given(128, 600, false);
  const std::vector<T> shared = given.swept([&](const WholePanel<T>& panel, T* v) {
    panel_sweep::ForwardShare<T> share(panel, v, 0, 1);
    share.help();
    EXPECT_TRUE(std::equal(given.start.begin(), given.start.end(), v));
    EXPECT_EQ(share.run(), 128);
    share.help();
  });
  EXPECT_EQ(shared, given.forward());
}

}  // namespace
}  // namespace palmette
