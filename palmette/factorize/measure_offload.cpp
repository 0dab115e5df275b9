// Times calls on both places.
#include "palmette/factorize/measure_offload.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "palmette/device/device.hpp"
#include "palmette/factorize/host_dense.hpp"

namespace palmette {
namespace {

/// The shortest of the calls that fit into `seconds`, at least two of them.
template <class Call>
double fastest(double seconds, Call&& call) {
  double best = infinity, spent = 0;
  for (int calls = 0; calls < 2 || spent < seconds; ++calls) {
    const Stopwatch watch;
    call();
    const double one = watch.seconds();
    best = std::min(best, one);
    spent += one;
  }
  return best;
}

/// One place's operations on square matrices.
class Bench {
 public:
  virtual ~Bench() = default;
  /// Seconds of one call, by the fastest of several.
  virtual double seconds(DenseOperation operation, index_t side) = 0;
};

/// Near the identity, and so are its factor and its inverse: any number of factorizations and divisions in
/// place neither overflow nor underflow.
std::vector<double> near_identity(index_t side) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-0.25 / side, 0.25 / side);
  std::vector<double> values(static_cast<std::size_t>(side) * side);
  for (double& value : values) value = uniform(generator);
  for (index_t k = 0; k < side; ++k) values[static_cast<std::size_t>(k) * (side + 1)] = 1;
  return values;
}

constexpr RowTriangle lower_transposed{.upper = false, .transposed = true};

class HostBench final : public Bench {
 public:
  explicit HostBench(double seconds_each) : seconds_each_(seconds_each) {}

  double seconds(DenseOperation operation, index_t side) override {
    const std::vector<double> a = near_identity(side), b = near_identity(side);
    std::vector<double> c = a;
    const DenseView<const double> left{a.data(), side, side, side}, right{b.data(), side, side, side};
    const DenseView<double> out{c.data(), side, side, side};
    return fastest(seconds_each_, [&] {
      if (operation == DenseOperation::gemm) multiply_rows<double>(false, left, right, out);
      if (operation == DenseOperation::syrk) multiply_rows<double>(false, left, left, out);
      if (operation == DenseOperation::trsm)
        factorize_detail::divide_on_host<double>(lower_transposed, right, out);
      if (operation == DenseOperation::potrf) (void)factor_llt(out);
    });
  }

 private:
  double seconds_each_;
};

class DeviceBench final : public Bench {
 public:
  DeviceBench(std::shared_ptr<Device> device, double seconds_each)
      : device_(std::move(device)), seconds_each_(seconds_each),
        operations_(make_dense_operations<double>(device_, factorize_detail::host_dense<double>())) {}

  /// With the copy of one entry that waits for the result.
  double seconds(DenseOperation operation, index_t side) override {
    const std::vector<double> values = near_identity(side);
    const DeviceArray<double> a(device_, values), b(device_, values), c(device_, values);
    const DenseView<const double> left{a.data(), side, side, side}, right{b.data(), side, side, side};
    const DenseView<double> out{c.data(), side, side, side};
    const index_t cut[] = {side};
    double first = 0;
    const auto wait = [&] { device_->copy_out(&first, c.data(), sizeof(first)); };
    return fastest(seconds_each_, [&] {
      if (operation == DenseOperation::gemm) operations_->multiply_rows({false, left, right, out}, cut);
      if (operation == DenseOperation::syrk) operations_->multiply_rows({false, left, left, out, true}, cut);
      if (operation == DenseOperation::trsm) operations_->divide_rows({lower_transposed, right, out}, cut);
      if (operation == DenseOperation::potrf) (void)operations_->factor_llt(out);
      wait();
    });
  }

  double copy_seconds(std::size_t bytes) {
    std::vector<char> here(bytes);
    const DeviceArray<char> there(device_, bytes);
    return fastest(seconds_each_, [&] {
             device_->copy_in(there.data(), here.data(), bytes);
             device_->copy_out(here.data(), there.data(), bytes);
           }) /
           2;
  }

 private:
  std::shared_ptr<Device> device_;
  double seconds_each_;
  std::unique_ptr<DenseLibrary<double>> operations_;
};

double gflops(DenseOperation operation, double side, double seconds) {
  return DenseCall{operation, side, side, side}.flops() / seconds * 1e-9;
}

/// Rates at one side over that of gemm there. @param waiting  in each time
RelativeRates relative_rates(Bench& bench, index_t side, double waiting) {
  RelativeRates rates{};
  const auto rate = [&](DenseOperation operation) {
    const double seconds = std::max(bench.seconds(operation, side) - waiting, 1e-9);
    return gflops(operation, side, seconds);
  };
  const double products = rate(DenseOperation::gemm);
  for (const DenseOperation operation : dense_operations)
    rates[static_cast<std::size_t>(operation)] =
        operation == DenseOperation::gemm ? 1 : rate(operation) / products;
  return rates;
}

}  // namespace

OffloadModel measure_offload(const std::shared_ptr<Device>& device, const OffloadMeasurement& options) {
  blas::use_one_thread();
  HostBench host(options.seconds_each);
  DeviceBench there(device, options.seconds_each);
  OffloadModel model;
  model.source = "measured on the device " + device->info().address() + " (" + device->info().name + ")";
  if (device->info().kind == "emulated")
    model.source += ": figures of the emulator on this CPU, not of a GPU";
  const std::size_t large = std::size_t(32) << 20;
  const double shortest = there.copy_seconds(sizeof(double)), longest = there.copy_seconds(large);
  model.bus_latency_us = shortest * 1e6;
  model.bus_gbs = static_cast<double>(large) / std::max(longest - shortest, 1e-9) * 1e-9;
  const double smallest = there.seconds(DenseOperation::gemm, 1);
  const double launch = std::max(smallest - shortest, 0.0);
  model.launch_us = launch * 1e6;
  for (const double side : options.sides) {
    const auto n = static_cast<index_t>(side);
    model.host_gflops.push_back(
        {side, gflops(DenseOperation::gemm, side, host.seconds(DenseOperation::gemm, n))});
    const double seconds = std::max(there.seconds(DenseOperation::gemm, n) - smallest, 1e-9);
    model.device_gflops.push_back({side, gflops(DenseOperation::gemm, side, seconds)});
  }
  const auto largest = static_cast<index_t>(options.sides.back());
  model.host_relative = relative_rates(host, largest, 0);
  model.device_relative = relative_rates(there, largest, smallest);
  return model;
}

}  // namespace palmette
