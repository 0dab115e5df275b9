// A factor's panels on a device: unpacked they have the host's bits, and they take the bytes that were
// predicted.
#include "palmette/solve/device_factor.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/scalars.hpp"
#include "tests/solve/device_plans.hpp"

namespace palmette {
namespace {

using reference::Wish;
using solve_detail::DevicePanels;
using solve_detail::PanelSource;
using solve_detail::SupernodalTriangle;

/// L of a factor, with its diagonal blocks inverted or not.
template <class T>
SupernodalTriangle<T> lower_of(const Factor<T>& factor, const PlanStructure& structure, double growth_limit) {
  solve_detail::TriangleSource<T> source;
  source.diagonal = source.below = factor.lower.data();
  source.unit_diagonal = factor.kind != FactorKind::llt;
  source.place = factor.kind != FactorKind::llt ? factor.place.data() : nullptr;
  PlanOptions options;
  options.inverse_growth_limit = growth_limit;
  return SupernodalTriangle<T>(structure, source, options);
}

/// What a kernel finds in a panel: zero where nothing is stored. Memory of the emulated device is the host's.
template <class T>
DenseMatrix<T> unpacked(const device::Panels<T>& panels, const SymbolicFactor& symbolic, index_t s) {
  const auto rows = static_cast<index_t>(symbolic.leading_dimension(s));
  const device::PanelLayout layout{symbolic.width(s), rows, 1 << panels.log_height[s],
                                   device::rows_per_load<T>};
  DenseMatrix<T> m(rows, symbolic.width(s));
  for (int chunk = 0; chunk < layout.num_chunks(); ++chunk)
    for (int column = 0; column < layout.columns(chunk); ++column)
      for (int row = chunk * layout.height; row < std::min((chunk + 1) * layout.height, layout.rows); ++row)
        m.view()(row, column) = panels.values[panels.offset[s] + layout.place(row, column)];
  return m;
}

template <class T>
class device_factor : public reference::OnEmulator {};
TYPED_TEST_SUITE(device_factor, TestedScalars);

TYPED_TEST(device_factor, unpacked_has_the_bits_of_the_host) {
  using T = TypeParam;
  for (const Wish& wish : reference::all_wishes<T>())
    for (const double growth_limit : {1e8, 0.0}) {
      SCOPED_TRACE(reference::words(wish));
      const auto factor = reference::naive_factor(reference::make_problem<T>(wish), wish);
      const SymbolicFactor& symbolic = *factor->symbolic;
      const auto structure = plan_structure(factor->symbolic, ScalarTraits<T>::type);
      const auto triangle = lower_of(*factor, *structure, growth_limit);
      const auto tasks = block_tasks(symbolic);
      const DevicePanels<T> there(make_emulated_device(), PanelSource<T>::of(triangle), tasks);
      for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
        DenseMatrix<T> here(static_cast<index_t>(symbolic.leading_dimension(s)), symbolic.width(s));
        const bool inverted = triangle.expand(s, here.view());
        EXPECT_EQ((there.view().form[s] & device::guarded) == 0, inverted);
        EXPECT_EQ(inverted, growth_limit > 0);
        // The diagonal of a block that is not inverted holds reciprocals.
        for (index_t k = 0; !inverted && k < here.cols; ++k) here.view()(k, k) = T(1) / here.view()(k, k);
        EXPECT_TRUE(reference::same_bits(here, unpacked(there.view(), symbolic, s))) << "supernode " << s;
      }
    }
}

TYPED_TEST(device_factor, takes_the_bytes_that_were_predicted) {
  using T = TypeParam;
  for (const Wish& wish : reference::all_wishes<T>()) {
    const auto factor = reference::naive_factor(reference::make_problem<T>(wish), wish);
    const auto structure = plan_structure(factor->symbolic, ScalarTraits<T>::type);
    const auto triangle = lower_of(*factor, *structure, 1e8);
    const auto tasks = block_tasks(*factor->symbolic);
    const DevicePanels<T> there(make_emulated_device(), PanelSource<T>::of(triangle), tasks);
    EXPECT_EQ(there.memory_bytes(),
              DevicePanels<T>::predicted_bytes(*factor->symbolic, tasks, triangle.may_be_permuted()));
  }
}

}  // namespace
}  // namespace palmette
