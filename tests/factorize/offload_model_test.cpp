// The cost model and the plans that follow from it.
#include <gtest/gtest.h>

#include "tests/factorize/factor_testing.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

/// One rate everywhere, so that times can be derived by hand.
OffloadModel flat_model(double host_gflops, double device_gflops) {
  OffloadModel model;
  model.host_gflops = {{1, host_gflops}};
  model.device_gflops = {{1, device_gflops}};
  model.host_relative = model.device_relative = {1, 1, 1, 1};
  model.launch_us = 10;
  model.bus_latency_us = 5;
  model.bus_gbs = 10;
  model.scatter_gbs = 1e9;
  return model;
}

TEST(offload_model, times_are_those_of_flops_launches_and_bytes) {
  const OffloadModel model = flat_model(2, 100);
  const DenseCall product{DenseOperation::gemm, 100, 100, 100};
  EXPECT_DOUBLE_EQ(product.flops(), 2e6);
  EXPECT_DOUBLE_EQ(product.side(), 100);
  EXPECT_DOUBLE_EQ(model.host_seconds(product, ScalarType::float64), 1e-3);
  EXPECT_DOUBLE_EQ(model.device_seconds(product, ScalarType::float64), 10e-6 + 20e-6);
  EXPECT_DOUBLE_EQ(model.device_seconds(product, ScalarType::float32), 10e-6 + 10e-6);
  EXPECT_DOUBLE_EQ(model.host_seconds(product, ScalarType::complex128), 4e-3);
  EXPECT_DOUBLE_EQ(model.copy_seconds(1e6), 5e-6 + 1e-4);
  EXPECT_DOUBLE_EQ((DenseCall{DenseOperation::potrf, 30, 30, 30}.flops()), 9000);
  EXPECT_DOUBLE_EQ((DenseCall{DenseOperation::trsm, 7, 30, 30}.flops()), 6300);
  EXPECT_DOUBLE_EQ((DenseCall{DenseOperation::syrk, 4, 4, 5}.flops()), 100);
}

TEST(offload_model, unusable_figures_are_refused) {
  for (void (*spoil)(OffloadModel&) : {+[](OffloadModel& m) { m.bus_gbs = 0; },
                                       +[](OffloadModel& m) { m.host_gflops.clear(); },
                                       +[](OffloadModel& m) { m.device_gflops = {{1, 0}}; },
                                       +[](OffloadModel& m) { m.device_relative[2] = -1; }}) {
    OffloadModel model = flat_model(1, 1);
    spoil(model);
    EXPECT_THROW(check(model), UsageError);
  }
  EXPECT_THROW(offload_model(Cluster(), Cluster()), UsageError);
}

SymbolicFactor structure(const std::string& name, index_t n) {
  return *Problem<double>(generate({name, n}), FactorKind::llt).symbolic;
}

PlannedOffload planned(const SymbolicFactor& symbolic, const OffloadModel& model,
                       OffloadWhen mode = OffloadWhen::automatic, FactorKind kind = FactorKind::llt) {
  return planned_offload(symbolic, kind, ScalarType::float64, model,
                         plan_offload(symbolic, kind, ScalarType::float64, model, mode));
}

TEST(offload_model, a_device_slower_than_the_host_gets_nothing) {
  const SymbolicFactor symbolic = structure("poisson3d7", 10);
  EXPECT_EQ(planned(symbolic, flat_model(10, 9)).counts.device.total().calls, 0);
  OffloadModel slow_bus = flat_model(10, 1e6);
  slow_bus.bus_gbs = 1e-3;
  EXPECT_EQ(planned(symbolic, slow_bus).counts.device.total().calls, 0);
}

TEST(offload_model, a_device_without_costs_gets_everything) {
  const SymbolicFactor symbolic = structure("poisson3d7", 10);
  OffloadModel free = flat_model(1, 1e9);
  free.launch_us = free.bus_latency_us = 0;
  free.bus_gbs = 1e9;
  EXPECT_EQ(planned(symbolic, free).counts.host.total().calls, 0);
}

TEST(offload_model, every_operation_is_counted_once_in_one_place) {
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu}) {
    const SymbolicFactor symbolic = structure("elasticity3d", 7);
    const PlannedOffload some = planned(symbolic, flat_model(2, 500), OffloadWhen::automatic, kind);
    const PlannedOffload none = planned(symbolic, flat_model(2, 500), OffloadWhen::never, kind);
    EXPECT_GT(some.counts.device.total().calls, 0);
    EXPECT_GT(some.counts.host.total().calls, some.counts.device.total().calls);
    for (const DenseOperation operation : dense_operations)
      EXPECT_EQ(some.counts.device[operation].calls + some.counts.host[operation].calls,
                none.counts.host[operation].calls);
    EXPECT_DOUBLE_EQ(some.seconds.host_alone, none.seconds.host);
    EXPECT_LT(some.seconds.host + some.seconds.device + some.seconds.bus, none.seconds.host);
  }
}

/// Doubling the launch and the latency can only take operations from the device.
TEST(offload_model, dearer_launches_send_no_more) {
  const SymbolicFactor symbolic = structure("elasticity3d", 8);
  OffloadModel model = flat_model(5, 2000);
  double before = 1e30;
  for (const double launch_us : {0.1, 1.0, 10.0, 100.0, 1e4}) {
    model.launch_us = launch_us;
    const double flops = planned(symbolic, model).counts.device.total().flops;
    EXPECT_LE(flops, before);
    before = flops;
  }
  EXPECT_EQ(before, 0);
}

}  // namespace
}  // namespace palmette
