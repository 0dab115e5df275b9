// What a call takes, by its flops and its size; the figures and where they come from.
#include "palmette/factorize/offload_model.hpp"

#include <cmath>

namespace palmette {
namespace {

double relative(const RelativeRates& rates, DenseOperation operation) {
  return rates[static_cast<std::size_t>(operation)];
}

bool is_complex(ScalarType scalar) {
  return scalar == ScalarType::complex64 || scalar == ScalarType::complex128;
}

/// Real flops of an operation in this scalar, in units that take as long as one in double precision.
double weight(ScalarType scalar) {
  const bool single = scalar == ScalarType::float32 || scalar == ScalarType::complex64;
  return (is_complex(scalar) ? 4.0 : 1.0) / (single ? 2.0 : 1.0);
}

void check_positive(const char* name, double value) {
  if (value > 0) return;
  throw UsageError(std::string("offload model: ") + name + " is " + std::to_string(value) +
                   "; give a positive number");
}

void check_rates(const std::string& name, const RateCurve& curve) {
  if (curve.empty()) throw UsageError("offload model: " + name + " has no points; give at least one");
  for (const RatePoint& point : curve) check_positive(name.c_str(), point.rate);
}

}  // namespace

double DenseCall::flops() const {
  switch (operation) {
    case DenseOperation::potrf: return n * n * n / 3;
    case DenseOperation::trsm: return m * n * n;
    case DenseOperation::syrk: return n * (n + 1) * k;
    case DenseOperation::gemm: return 2 * m * n * k;
  }
  return 0;
}

double DenseCall::side() const { return std::cbrt(flops() / 2); }

double OffloadModel::host_seconds(const DenseCall& call, ScalarType scalar) const {
  const double rate = rate_at(host_gflops, call.side()) * relative(host_relative, call.operation);
  return call.flops() * weight(scalar) / (rate * 1e9);
}

double OffloadModel::device_seconds(const DenseCall& call, ScalarType scalar) const {
  const double rate = rate_at(device_gflops, call.side()) * relative(device_relative, call.operation);
  return launch_us * 1e-6 + call.flops() * weight(scalar) / (rate * 1e9);
}

void check(const OffloadModel& model) {
  check_rates("host_gflops", model.host_gflops);
  check_rates("device_gflops", model.device_gflops);
  for (const DenseOperation operation : dense_operations) {
    check_positive("host_relative", relative(model.host_relative, operation));
    check_positive("device_relative", relative(model.device_relative, operation));
  }
  check_positive("bus_gbs", model.bus_gbs);
  check_positive("scatter_gbs", model.scatter_gbs);
}

OffloadModel offload_model(const Cluster& host, const Cluster& device) {
  if (device.bus_gbs <= 0 || device.dense_gflops.empty())
    throw UsageError("the machine '" + device.name +
                     "' describes no device beside a host: it lacks bus_gbs or dense_gflops");
  OffloadModel model;
  model.source = "products of '" + host.name + "' and '" + device.name + "'";
  model.host_gflops = host.kernel_gflops;
  model.device_gflops = device.dense_gflops;
  model.launch_us = device.launch_us;
  model.bus_latency_us = device.bus_latency_us;
  model.bus_gbs = device.bus_gbs;
  check(model);
  return model;
}

OffloadModel estimated_offload_model() {
  OffloadModel model;
  model.source = "estimates for an NVIDIA A100 on PCIe 4 beside one core, not measured";
  model.host_gflops = {{8, 6}, {32, 20}, {128, 30}, {512, 34}};
  model.device_gflops = {{32, 30}, {64, 200}, {128, 1000}, {256, 3500}, {512, 6500}, {2048, 8700}};
  model.launch_us = 6;
  model.bus_latency_us = 10;
  model.bus_gbs = 20;
  return model;
}

std::string_view name_of(OffloadWhen mode) {
  constexpr std::string_view names[] = {"auto", "never", "always"};
  return names[static_cast<std::size_t>(mode)];
}

}  // namespace palmette
