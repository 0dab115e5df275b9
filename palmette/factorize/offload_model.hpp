// Part of the door of `factorize`: which dense operations of a factorization are worth sending to a device.
#pragma once

#include "palmette/analyze/analyze.hpp"
#include "palmette/blocks/blocks.hpp"
#include "palmette/machine/machine.hpp"

namespace palmette {

/// A dense operation: potrf is n × n; trsm is m rows divided by a triangle of n; syrk and gemm have the inner
/// size k, and syrk is n × n.
struct DenseCall {
  DenseOperation operation = DenseOperation::gemm;
  double m = 0, n = 0, k = 0;
  /// Real flops of a real operation.
  double flops() const;
  /// The side of a product of square matrices with as many flops; the rates of both places depend on it.
  double side() const;
};

/// By operation, its rate over that of gemm at the same side.
using RelativeRates = std::array<double, dense_operations.size()>;

/// What an operation takes on one core, and on a device. The figures are for double precision: single
/// precision counts as twice as fast, a complex operation as four real ones.
struct OffloadModel {
  std::string source;          ///< where the figures are from
  RateCurve host_gflops;       ///< gemm on one core, by side
  RelativeRates host_relative = {0.5, 0.8, 0.9, 1.0};
  RateCurve device_gflops;     ///< gemm on the whole device, by side, without its launch
  RelativeRates device_relative = {0.15, 0.5, 0.8, 1.0};
  double launch_us = 0;        ///< before an operation in device memory begins
  double bus_latency_us = 0;   ///< of one copy between host and device
  double bus_gbs = 0;          ///< 10⁹ bytes/s, each way
  double scatter_gbs = 8;      ///< one core that subtracts a product from a panel, by the product's bytes

  double host_seconds(const DenseCall& call, ScalarType scalar) const;
  /// Operands and results are in device memory.
  double device_seconds(const DenseCall& call, ScalarType scalar) const;
  double copy_seconds(double bytes) const { return bus_latency_us * 1e-6 + bytes / (bus_gbs * 1e9); }
};

/// @throws UsageError naming the figure that is missing or not positive
void check(const OffloadModel& model);

/// The model of a device beside a host, by their machine files.
/// @throws UsageError if the device's description lacks its bus or the rates of its products
OffloadModel offload_model(const Cluster& host, const Cluster& device);

/// Figures for a device of which nothing is known: estimates for an NVIDIA A100 on PCIe 4 beside a core of
/// its time. `source` says so.
OffloadModel estimated_offload_model();

/// Which operations go to the device. The results of both places are used together, so a plan is a choice of
/// speed and of nothing else.
enum class OffloadWhen : char {
  automatic,  ///< those that the model finds faster there
  never,
  always,     ///< all that a device can do: for tests
};
std::string_view name_of(OffloadWhen mode);

/// Where each operation of a factorization runs. Made from the structure alone.
struct OffloadPlan {
  std::vector<char> diagonal_on_device;  ///< by supernode: potrf (LLᵀ only)
  std::vector<char> rows_on_device;      ///< by supernode: trsm, and its result is kept (LLᵀ only)
  std::vector<char> update_on_device;    ///< by block: what it updates, by syrk and gemm

  bool none() const;
  /// True if the panel of s is read on the device.
  bool keeps(const SymbolicFactor& symbolic, index_t s) const;
};

/// For each supernode the cheapest of: no part of it on the device; finished on the host and copied there
/// for some updates; its rows finished on the device. An update runs on the device if t_launch + t_device +
/// t_copy of its result is less than t_host; the copy of the panel is charged once, to all updates together.
/// A triangular solve on the device pays for the copy both ways, and so does a diagonal block, which is
/// decided for alone.
/// @cost O(blocks)
OffloadPlan plan_offload(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                         const OffloadModel& model, OffloadWhen mode = OffloadWhen::automatic);

/// Seconds of the plan on the model's clock.
struct PlannedSeconds {
  double host = 0;         ///< of one core
  double device = 0;       ///< computing
  double bus = 0;          ///< copying
  double host_alone = 0;   ///< of one core without a device
};

/// What the plan counts with memory for everything that it keeps; one operation for each supernode (potrf,
/// trsm), or each block that it updates (syrk, gemm).
struct PlannedOffload {
  OffloadCounts counts;
  PlannedSeconds seconds;
  double kept_bytes = 0;   ///< panels kept on the device, if none is released
};
PlannedOffload planned_offload(const SymbolicFactor& symbolic, FactorKind kind, ScalarType scalar,
                               const OffloadModel& model, const OffloadPlan& plan);

}  // namespace palmette
