// Fuzzes the C interface: arbitrary arrays, options and calls must end in a status, never in a crash; an
// answer reported as verified must have a small backward error by an independent dense computation.
#include <fuzzer/FuzzedDataProvider.h>

#include <cmath>
#include <complex>
#include <cstdlib>
#include <vector>

#include "palmette/capi/palmette.h"
#include "palmette/solve/solve.hpp"

namespace {

template <class T>
struct System {
  int32_t n;
  std::vector<int64_t> column_ptr;
  std::vector<int32_t> row_index;
  std::vector<T> values;
};

double some_value(FuzzedDataProvider& data) {
  switch (data.ConsumeIntegralInRange(0, 9)) {
    case 0: return 0;
    case 1: return data.ConsumeFloatingPoint<double>();  // anything: NaN, infinities, denormals
    default: return data.ConsumeIntegralInRange(-4, 4);
  }
}

template <class T>
T some_scalar(FuzzedDataProvider& data) {
  if constexpr (std::is_same_v<T, double>) {
    return some_value(data);
  } else {
    const double re = some_value(data);
    return {re, some_value(data)};
  }
}

/// Mostly well formed, sometimes not: decreasing pointers or rows out of range must be rejected.
template <class T>
System<T> some_system(FuzzedDataProvider& data) {
  System<T> system{data.ConsumeIntegralInRange<int32_t>(0, 9), {0}, {}, {}};
  for (int32_t j = 0; j < system.n; ++j) {
    const int entries = data.ConsumeIntegralInRange(0, 4);
    for (int k = 0; k < entries; ++k) {
      system.row_index.push_back(data.ConsumeIntegralInRange<int32_t>(0, 99) == 0
                                     ? data.ConsumeIntegral<int32_t>()
                                     : data.ConsumeIntegralInRange(0, system.n - 1));
      system.values.push_back(some_scalar<T>(data));
    }
    system.column_ptr.push_back(static_cast<int64_t>(system.row_index.size()));
  }
  if (system.n > 0 && data.ConsumeIntegralInRange(0, 99) == 0)
    system.column_ptr[data.ConsumeIntegralInRange<std::size_t>(0, system.n - 1)] =
        data.ConsumeIntegralInRange<int64_t>(-3, 0);
  return system;
}

template <class T>
double backward_error(const System<T>& system, const std::vector<T>& b, const std::vector<T>& x) {
  std::vector<T> residual = b;
  std::vector<double> row_sum(b.size(), 0);
  for (int32_t j = 0; j < system.n; ++j)
    for (int64_t entry = system.column_ptr[j]; entry < system.column_ptr[j + 1]; ++entry) {
      residual[system.row_index[entry]] -= system.values[entry] * x[j];
      row_sum[system.row_index[entry]] += std::abs(system.values[entry]);
    }
  double size_r = 0, size_a = 0, size_x = 0, size_b = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    size_r = std::max(size_r, std::abs(residual[i]));
    size_a = std::max(size_a, row_sum[i]);
    size_x = std::max(size_x, std::abs(x[i]));
    size_b = std::max(size_b, std::abs(b[i]));
  }
  const double scale = size_a * size_x + size_b;
  return size_r == 0 ? 0 : size_r / scale;
}

bool is_status(palmette_status status) {
  return status == PALMETTE_OK || (status >= PALMETTE_USAGE && status <= PALMETTE_NOT_VERIFIED);
}

/// All of the list, those that run elsewhere among them, and what is none.
std::vector<const char*> some_methods() {
  std::vector<const char*> names = {"auto", "nonsense", nullptr};
  for (const palmette::SolveMethodInfo& info : palmette::solve_method_list())
    names.push_back(info.name.data());
  return names;
}

palmette_options some_options(FuzzedDataProvider& data) {
  palmette_options options;
  palmette_default_options(&options);
  options.threads = 1;
  if (data.ConsumeIntegralInRange(0, 3) > 0) return options;
  static const char* const orderings[] = {"auto", "amd", "natural", "metis", "nonsense", nullptr};
  static const std::vector<const char*> methods = some_methods();
  options.kind = static_cast<palmette_kind>(data.ConsumeIntegralInRange(0, 4));
  options.ordering = orderings[data.ConsumeIntegralInRange(0, 5)];
  options.method = methods[data.ConsumeIntegralInRange<std::size_t>(0, methods.size() - 1)];
  options.mixed_precision = data.ConsumeBool();
  options.condition = data.ConsumeBool();
  options.max_refine_steps = data.ConsumeIntegralInRange(-1, 3);
  return options;
}

void require(bool condition) {
  if (!condition) std::abort();
}

template <class T, class Create, class Solve, class Refactor>
void run(FuzzedDataProvider& data, Create create, Solve solve, Refactor refactor) {
  System<T> system = some_system<T>(data);
  const auto storage = static_cast<palmette_storage>(
      data.ConsumeIntegralInRange(0, 15) < 13 ? 0 : data.ConsumeIntegralInRange(1, 3));
  const palmette_options options = some_options(data);
  palmette_solver* solver = nullptr;
  const auto* values = reinterpret_cast<const double*>(system.values.data());
  const palmette_status made =
      create(system.n, system.column_ptr.data(), system.row_index.data(), values, storage, &options, &solver);
  require(is_status(made) && (made == PALMETTE_OK) == (solver != nullptr));
  if (solver == nullptr) return;
  std::vector<T> b(system.n), x(b.size());
  for (T& value : b) value = some_scalar<T>(data);
  const auto operation = static_cast<palmette_operation>(
      data.ConsumeIntegralInRange(0, 5) < 4 ? 0 : data.ConsumeIntegralInRange(1, 3));
  palmette_report report;
  const palmette_status status = solve(solver, operation, 1, reinterpret_cast<const double*>(b.data()),
                                       system.n, reinterpret_cast<double*>(x.data()), system.n, &report);
  require(is_status(status));
  // Products near the ends of the range overflow in this plain check, so it judges only the usual sizes.
  const bool usual = [&] {
    for (const T& value : system.values)
      if (std::abs(value) > 1e100 || (value != T(0) && std::abs(value) < 1e-100)) return false;
    for (const std::vector<T>* side : {&b, &x})
      for (const T& value : *side)
        if (std::abs(value) > 1e100 || (value != T(0) && std::abs(value) < 1e-100)) return false;
    return true;
  }();
  if (status == PALMETTE_OK && operation == PALMETTE_PLAIN && storage == PALMETTE_FULL && usual)
    require(backward_error(system, b, x) <= 1e-13);
  if (data.ConsumeBool()) require(is_status(refactor(solver, values)));
  palmette_destroy(solver);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  FuzzedDataProvider data(bytes, size);
  if (data.ConsumeBool()) run<double>(data, palmette_create_d, palmette_solve_d, palmette_refactor_d);
  else run<std::complex<double>>(data, palmette_create_z, palmette_solve_z, palmette_refactor_z);
  return 0;
}
