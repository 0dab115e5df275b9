// A device's share of a factorization: the same bits as without it, also if its memory runs out at any
// moment; host tasks go on meanwhile; every call and byte is counted.
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tests/factorize/factor_testing.hpp"
#include "tests/factorize/plain_device.hpp"
#include "tests/factorize/same_factor.hpp"

namespace palmette {
namespace {

using namespace palmette::testing;

template <class T>
Outcome<Factor<T>> factored_with(const Problem<T>& problem, FactorKind kind, std::shared_ptr<Device> device,
                                 int threads = 1, OffloadWhen mode = OffloadWhen::always,
                                 index_t task_rows = 2048) {
  ThreadTeam team(threads);
  FactorizeOptions options;
  options.kind = kind;
  options.team = &team;
  options.offload = {std::move(device), mode, {}, task_rows};
  return factorize(problem.matrix, problem.symbolic, problem.ordering, options);
}

template <class T>
void expect_same_bits(const std::string& name, index_t n, FactorKind kind, index_t max_width = 128) {
  AnalyzeOptions analyze_options;
  analyze_options.max_width = max_width;
  const Problem<T> problem(convert<T>(generate({name, n})), kind, analyze_options);
  const Factor<T> alone = problem.factored(kind).value();
  for (const auto& [threads, task_rows] : {std::pair{1, 2048}, {3, 2048}, {2, 256}}) {
    const auto device = std::make_shared<PlainDevice>();
    const Factor<T> together =
        factored_with(problem, kind, device, threads, OffloadWhen::always, task_rows).value();
    expect_same_factor(together, alone);
    ASSERT_TRUE(together.offload);
    EXPECT_GT(together.offload->device[DenseOperation::gemm].calls, 0);
    EXPECT_EQ(together.offload->fallbacks, 0);
    EXPECT_EQ(device->bytes_in_use(), 0) << "memory of the device was not released";
  }
}

TEST(offload, llt_has_the_bits_of_the_host) {
  expect_same_bits<double>("poisson3d7", 14, FactorKind::llt);
  expect_same_bits<float>("elasticity3d", 7, FactorKind::llt);
  expect_same_bits<std::complex<double>>("poisson3d27", 9, FactorKind::llt);
}
TEST(offload, supernodes_beyond_the_own_loops_have_the_bits_of_the_host) {
  expect_same_bits<double>("elasticity3d", 10, FactorKind::llt, 512);
}
TEST(offload, panels_of_many_tasks_have_the_bits_of_the_host) {
  const Problem<double> problem(generate({"elasticity3d", 10}), FactorKind::llt);
  index_t tallest = 0;
  for (index_t s = 0; s < problem.symbolic->num_supernodes(); ++s)
    tallest = std::max(tallest, static_cast<index_t>(problem.symbolic->leading_dimension(s)));
  ASSERT_GT(tallest, 2 * 256) << "one task takes every panel whole: the test is empty";
  const Factor<double> alone = problem.factored(FactorKind::llt).value();
  for (const index_t task_rows : {1, 257, 10000})
    expect_same_factor(factored_with(problem, FactorKind::llt, std::make_shared<PlainDevice>(), 3,
                                     OffloadWhen::always, task_rows)
                           .value(),
                       alone);
}
TEST(offload, ldlt_has_the_bits_of_the_host) {
  expect_same_bits<double>("kkt3d", 10, FactorKind::ldlt);
  expect_same_bits<std::complex<float>>("indefinite2d", 60, FactorKind::ldlt);
}
TEST(offload, lu_has_the_bits_of_the_host) {
  expect_same_bits<double>("convection_diffusion3d", 12, FactorKind::lu);
  expect_same_bits<std::complex<double>>("convection_diffusion2d", 60, FactorKind::lu, 256);
}

TEST(offload, the_emulated_device_has_the_bits_of_the_host) {
  if (!device_kind_list().front().available()) GTEST_SKIP() << device_kind_list().front().unavailable;
  const Problem<double> problem(generate({"poisson3d7", 12}), FactorKind::llt);
  expect_same_factor(factored_with(problem, FactorKind::llt, make_emulated_device(), 2).value(),
                     problem.factored(FactorKind::llt).value());
}

TEST(offload, tiny_matrices_pass) {
  for (const index_t n : {1, 2, 3}) {
    const Problem<double> problem(generate({"poisson2d5", n}), FactorKind::llt);
    expect_same_factor(factored_with(problem, FactorKind::llt, std::make_shared<PlainDevice>()).value(),
                       problem.factored(FactorKind::llt).value());
  }
  const Problem<double> empty(SparseMatrix<double>(), FactorKind::llt);
  EXPECT_TRUE(factored_with(empty, FactorKind::llt, std::make_shared<PlainDevice>()));
}

TEST(offload, a_failing_allocation_changes_nothing_but_the_place) {
  const Problem<double> problem(generate({"poisson3d7", 6}), FactorKind::llt);
  const Factor<double> alone = problem.factored(FactorKind::llt).value();
  const auto counted = std::make_shared<PlainDevice>();
  ASSERT_TRUE(factored_with(problem, FactorKind::llt, counted));
  const long allocations = counted->allocations;
  ASSERT_GT(allocations, 20);
  offset_t evicted = 0, fallbacks = 0;
  for (long failing = 0; failing < allocations; ++failing) {
    const auto device = std::make_shared<PlainDevice>();
    device->failing_allocation = failing;
    const Factor<double> factor = factored_with(problem, FactorKind::llt, device).value();
    expect_same_factor(factor, alone);
    evicted += factor.offload->panels_evicted, fallbacks += factor.offload->fallbacks;
    EXPECT_EQ(device->bytes_in_use(), 0);
  }
  // The first finds nothing to release; later ones release a panel and succeed.
  EXPECT_GT(fallbacks, 0);
  EXPECT_GT(evicted, allocations / 2);
}

TEST(offload, the_host_goes_on_alone_when_no_allocation_succeeds_any_more) {
  for (const auto& [name, n, kind] :
       {std::tuple{"poisson3d7", 9, FactorKind::llt}, std::tuple{"kkt3d", 6, FactorKind::ldlt},
        std::tuple{"convection_diffusion3d", 8, FactorKind::lu}}) {
    const Problem<double> problem(generate({name, n}), kind);
    const Factor<double> alone = problem.factored(kind).value();
    for (const long from : {0, 1, 2, 5, 10, 17}) {
      const auto device = std::make_shared<PlainDevice>();
      device->all_fail_from = from;
      const Factor<double> factor = factored_with(problem, kind, device, 2).value();
      expect_same_factor(factor, alone);
      EXPECT_GT(factor.offload->fallbacks, 0);
      if (from == 0) {
        EXPECT_EQ(factor.offload->device.total().calls, 0);
      }
    }
  }
}

TEST(offload, panels_are_released_where_memory_is_short) {
  const Problem<double> problem(generate({"poisson3d7", 12}), FactorKind::llt);
  const Factor<double> alone = problem.factored(FactorKind::llt).value();
  const auto device = std::make_shared<PlainDevice>(alone.lower.bytes() / 4);
  const Factor<double> factor = factored_with(problem, FactorKind::llt, device, 2).value();
  expect_same_factor(factor, alone);
  EXPECT_GT(factor.offload->panels_evicted, 0);
  EXPECT_GT(factor.offload->device.total().calls, factor.offload->host.total().calls);
}

TEST(offload, a_bad_pivot_is_that_of_the_host) {
  SparseMatrix<double> matrix = generate({"poisson3d7", 9});
  for (index_t column = 0; column < matrix.cols(); ++column)
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1];
         ++entry)
      if (matrix.pattern.row_index[entry] == column && column == 400) matrix.values[entry] = -3;
  const Problem<double> problem(matrix, FactorKind::llt);
  const auto expected = problem.factored(FactorKind::llt);
  ASSERT_FALSE(expected);
  for (const int threads : {1, 4}) {
    const auto failed = factored_with(problem, FactorKind::llt, std::make_shared<PlainDevice>(), threads);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.failure().message, expected.failure().message);
  }
}

/// A device whose first copy waits until the host has reported progress: a host that waited for the device
/// at once would never get there.
TEST(offload, host_tasks_run_while_the_device_is_busy) {
  const Problem<double> problem(generate({"poisson3d7", 16}), FactorKind::llt);
  const OffloadPlan all = plan_offload(*problem.symbolic, FactorKind::llt, ScalarType::float64,
                                       estimated_offload_model(), OffloadWhen::always);
  ASSERT_FALSE(all.none());
  std::mutex mutex;
  std::condition_variable changed;
  int reports = 0;
  bool timed_out = false;
  const auto device = std::make_shared<PlainDevice>();
  device->before_copy_in = [&] {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, std::chrono::seconds(20), [&] { return reports >= 2; })) timed_out = true;
  };
  // Only large operations go to the device, so subtrees stay on the host.
  OffloadModel model = estimated_offload_model();
  model.launch_us = 20;
  ThreadTeam team(1);
  FactorizeOptions options;
  options.team = &team;
  options.offload = {device, OffloadWhen::automatic, model, 256};
  options.progress = [&](std::string_view, double) {
    const std::lock_guard lock(mutex);
    ++reports;
    changed.notify_all();
  };
  const Factor<double> factor =
      factorize(problem.matrix, problem.symbolic, problem.ordering, options).value();
  EXPECT_FALSE(timed_out) << "the host waited for the device and ran no task of its own";
  EXPECT_GT(factor.offload->copies_in, 0) << "nothing was sent to the device: the test is empty";
  expect_same_factor(factor, problem.factored(FactorKind::llt).value());
}

TEST(offload, counts_are_those_of_the_device_and_of_the_plan) {
  const Problem<double> problem(generate({"poisson3d7", 12}), FactorKind::llt);
  const auto device = std::make_shared<PlainDevice>();
  const OffloadModel model = estimated_offload_model();
  const PlannedOffload planned = planned_offload(
      *problem.symbolic, FactorKind::llt, ScalarType::float64, model,
      plan_offload(*problem.symbolic, FactorKind::llt, ScalarType::float64, model, OffloadWhen::always));
  const OffloadCounts counts = *factored_with(problem, FactorKind::llt, device).value().offload;
  EXPECT_EQ(static_cast<double>(device->counts().bytes_in), counts.bytes_in);
  EXPECT_EQ(static_cast<double>(device->counts().bytes_out), counts.bytes_out);
  // No panel has more rows than a task: each block is one update.
  for (const DenseOperation operation : dense_operations) {
    EXPECT_EQ(counts.device[operation].calls, planned.counts.device[operation].calls) << name_of(operation);
    EXPECT_NEAR(counts.device[operation].flops, planned.counts.device[operation].flops,
                1e-9 * planned.counts.device[operation].flops);
    EXPECT_EQ(counts.host[operation].calls, 0) << name_of(operation);
  }
  EXPECT_EQ(counts.bytes_in, planned.counts.bytes_in);
  EXPECT_EQ(counts.bytes_out, planned.counts.bytes_out);
  EXPECT_EQ(counts.panels_kept, planned.counts.panels_kept);
}

TEST(offload, never_sends_nothing) {
  const Problem<double> problem(generate({"poisson3d7", 9}), FactorKind::llt);
  const auto device = std::make_shared<PlainDevice>();
  const Factor<double> factor =
      factored_with(problem, FactorKind::llt, device, 1, OffloadWhen::never).value();
  EXPECT_EQ(device->allocations, 0);
  EXPECT_EQ(factor.offload->device.total().calls, 0);
  EXPECT_GT(factor.offload->host.total().calls, 0);
}

}  // namespace
}  // namespace palmette
