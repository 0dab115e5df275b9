// The C interface with vectors in the memory of the emulated device.
#include <gtest/gtest.h>

#include <complex>
#include <string>
#include <vector>

#include "palmette/capi/triangular.hpp"
#include "palmette/transport/transport.hpp"
#include "palmette/device/device.hpp"

namespace {

using palmette::DeviceArray;

/// A solver of tridiag(−1, 4, −1) of order n.
template <class T>
palmette_solver* tridiagonal(int n, const char* device) {
  std::vector<int64_t> ptr = {0};
  std::vector<int32_t> row;
  std::vector<T> value;
  for (int j = 0; j < n; ++j) {
    for (int i = std::max(0, j - 1); i <= std::min(n - 1, j + 1); ++i) {
      row.push_back(i);
      value.push_back(T(i == j ? 4 : -1));
    }
    ptr.push_back(static_cast<int64_t>(row.size()));
  }
  palmette_options options;
  palmette_default_options(&options);
  options.device = device;
  options.measure = 0;
  palmette_solver* solver = nullptr;
  const auto* values = reinterpret_cast<const double*>(value.data());
  const auto create = std::is_same_v<T, double> ? palmette_create_d : palmette_create_z;
  EXPECT_EQ(create(n, ptr.data(), row.data(), values, PALMETTE_FULL, &options, &solver), PALMETTE_OK)
      << palmette_last_error();
  return solver;
}

template <class T>
void solves_where_vectors_lie() {
  const int n = 20, k = 3;
  palmette_solver* const there = tridiagonal<T>(n, "emulated");
  palmette_solver* const here = tridiagonal<T>(n, "none");
  const auto solve = std::is_same_v<T, double> ? palmette_solve_d : palmette_solve_z;
  const auto solve_on_device =
      std::is_same_v<T, double> ? palmette_solve_on_device_d : palmette_solve_on_device_z;
  const std::vector<T> b(n * k, T(1));
  std::vector<T> want(n * k), found(n * k);
  auto* const wanted = reinterpret_cast<double*>(want.data());
  EXPECT_EQ(solve(there, PALMETTE_PLAIN, k, reinterpret_cast<const double*>(b.data()), n, wanted, n, nullptr),
            PALMETTE_OK);
  const auto device = palmette::open_device("emulated");
  const DeviceArray<T> b_there(device, b), x_there(device, b.size());
  const palmette_columns columns{k, reinterpret_cast<const double*>(b_there.data()), n,
                                 reinterpret_cast<double*>(x_there.data()), n};
  palmette_report report;
  EXPECT_EQ(solve_on_device(there, PALMETTE_PLAIN, &columns, nullptr, &report), PALMETTE_OK)
      << palmette_last_error();
  EXPECT_EQ(report.verified, 1);
  device->copy_out(found.data(), x_there.data(), x_there.bytes());
  EXPECT_EQ(found, want);

  EXPECT_EQ(solve_on_device(there, PALMETTE_PLAIN, nullptr, nullptr, nullptr), PALMETTE_USAGE);
  EXPECT_EQ(solve_on_device(here, PALMETTE_PLAIN, &columns, nullptr, nullptr), PALMETTE_USAGE);
  EXPECT_NE(std::string(palmette_last_error()).find("the factor on the host"), std::string::npos);
  const palmette_columns of_host{k, reinterpret_cast<const double*>(b.data()), n, wanted, n};
  EXPECT_EQ(solve_on_device(there, PALMETTE_PLAIN, &of_host, nullptr, nullptr), PALMETTE_USAGE);
  EXPECT_NE(std::string(palmette_last_error()).find("does not lie in the memory"), std::string::npos);
  palmette_destroy(there);
  palmette_destroy(here);
}

TEST(device_vectors, doubles_are_solved_where_they_lie) {
  if (!palmette::emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  solves_where_vectors_lie<double>();
}

TEST(device_vectors, complex_numbers_are_solved_where_they_lie) {
  if (!palmette::emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  solves_where_vectors_lie<std::complex<double>>();
}

struct SeveralDevices {
  int32_t rows, columns, layers;
};

/// Status of the creation on these devices; x of a system with right-hand side 1, if it succeeds.
palmette_status solve_on(const char* device, const SeveralDevices& several, std::vector<double>& x) {
  const int n = 60;
  std::vector<int64_t> ptr = {0};
  std::vector<int32_t> row;
  std::vector<double> value;
  for (int j = 0; j < n; ++j) {
    for (int i = std::max(0, j - 1); i <= std::min(n - 1, j + 1); ++i) {
      row.push_back(i);
      value.push_back(i == j ? 4 : -1);
    }
    ptr.push_back(static_cast<int64_t>(row.size()));
  }
  palmette_options options;
  palmette_default_options(&options);
  options.device = device;
  options.device_rows = several.rows;
  options.device_columns = several.columns;
  options.device_layers = several.layers;
  palmette_solver* solver = nullptr;
  const palmette_status made =
      palmette_create_d(n, ptr.data(), row.data(), value.data(), PALMETTE_FULL, &options, &solver);
  if (made != PALMETTE_OK) return made;
  const std::vector<double> b(n, 1);
  x.assign(n, 0);
  palmette_report report;
  EXPECT_EQ(palmette_solve_d(solver, PALMETTE_PLAIN, 1, b.data(), n, x.data(), n, &report), PALMETTE_OK);
  EXPECT_EQ(report.verified, 1);
  palmette_destroy(solver);
  return made;
}

TEST(several_devices, solve_in_grids_and_layers) {
  if (!palmette::emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  for (const int32_t layers : {1, 2, 3}) {
    std::vector<double> column, grid;
    EXPECT_EQ(solve_on("emulated", {2, 1, layers}, column), PALMETTE_OK) << palmette_last_error();
    EXPECT_EQ(solve_on("emulated", {1, 2, layers}, grid), PALMETTE_OK) << palmette_last_error();
    EXPECT_EQ(column, grid);
  }
}

TEST(several_devices, without_columns_form_a_grid_of_as_many_devices) {
  if (!palmette::emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  std::vector<double> column, chosen;
  EXPECT_EQ(solve_on("emulated", {2, 1, 1}, column), PALMETTE_OK) << palmette_last_error();
  EXPECT_EQ(solve_on("emulated", {2, 0, 1}, chosen), PALMETTE_OK) << palmette_last_error();
  EXPECT_EQ(column, chosen);
}

/// A chain of -1 below 2: with b = e_0, x_k = 2^-(k + 1).
struct ChainTriangle {
  int32_t size = 12;
  std::vector<int64_t> ptr{0};
  std::vector<int32_t> row;
  std::vector<double> value;

  ChainTriangle() {
    for (int32_t k = 0; k < size; ++k) {
      row.push_back(k), value.push_back(2);
      if (k + 1 < size) row.push_back(k + 1), value.push_back(-1);
      ptr.push_back(static_cast<int64_t>(row.size()));
    }
  }
  palmette_triangle given() const {
    return {{size, ptr.data(), row.data(), value.data(), PALMETTE_FULL}, 0, 0, 2};
  }
};

/// x of T·x = e_0, and y of T·Tᵀ·y = e_0, by the triangle and by the factors.
void expect_solutions_of_chain(palmette_triangular* by_triangle, palmette_triangular* by_factors,
                               const ChainTriangle& chain) {
  const auto size = static_cast<std::size_t>(chain.size);
  std::vector<double> b(size), x(size), y(size), with_factors(size);
  b[0] = 1;
  palmette_report report;
  palmette_columns columns = {1, b.data(), chain.size, x.data(), chain.size};
  EXPECT_EQ(palmette_triangular_solve_d(by_triangle, PALMETTE_PLAIN, &columns, &report), PALMETTE_OK)
      << palmette_last_error();
  EXPECT_EQ(report.verified, 1);
  for (std::size_t k = 0; k < size; ++k) EXPECT_EQ(x[k], std::ldexp(1, -static_cast<int>(k) - 1));
  columns = {1, x.data(), chain.size, y.data(), chain.size};
  EXPECT_EQ(palmette_triangular_solve_d(by_triangle, PALMETTE_TRANSPOSE, &columns, &report), PALMETTE_OK);
  columns = {1, b.data(), chain.size, with_factors.data(), chain.size};
  EXPECT_EQ(palmette_triangular_solve_d(by_factors, PALMETTE_PLAIN, &columns, &report), PALMETTE_OK);
  EXPECT_EQ(with_factors, y);
}

/// As the functions over MPI do, where there is no network of emulated devices.
TEST(ranks_with_devices, solve_with_triangles_and_factors) {
  if (!palmette::emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  using Solver = palmette::TriangularSolver<double>;
  const ChainTriangle chain;
  const palmette_triangle triangle = chain.given();
  palmette_factors factors = {};
  factors.lower = triangle.entries;
  for (const palmette::index_t num_ranks : {2, 3})
    palmette::ThreadWorld(num_ranks).run([&](palmette::Transport& transport) {
      const std::shared_ptr<palmette::Transport> lent(std::shared_ptr<void>(), &transport);
      palmette::TriangularSolverOptions options;
      options.watchdog_seconds = 60;
      options.triangle.plan.device =
          palmette::make_emulated_device({.index = static_cast<int>(transport.rank())});
      palmette_triangular *by_triangle = nullptr, *by_factors = nullptr;
      auto matrix = palmette::capi::triangle_from<double>(&triangle, options);
      auto given = palmette::capi::factors_from<double>(&factors, options);
      EXPECT_EQ(palmette::capi::keep(Solver::create(matrix, options, transport), lent, {}, &by_triangle),
                PALMETTE_OK);
      EXPECT_EQ(palmette::capi::keep(Solver::from_factors(given.factors, given.matrix, options, transport),
                                     lent, {}, &by_factors),
                PALMETTE_OK);
      expect_solutions_of_chain(by_triangle, by_factors, chain);
      std::vector<double> b(12), x(12);
      if (transport.rank() == 1) b[3] = 1;
      const palmette_columns different = {1, b.data(), 12, x.data(), 12};
      EXPECT_EQ(palmette_triangular_solve_d(by_triangle, PALMETTE_PLAIN, &different, nullptr),
                PALMETTE_USAGE);
      expect_solutions_of_chain(by_triangle, by_factors, chain);
      palmette_triangular_destroy(by_triangle);
      palmette_triangular_destroy(by_factors);
    });
}

TEST(several_devices, are_dealt_the_columns_of_triangles_and_factors) {
  if (!palmette::emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  const ChainTriangle chain;
  const palmette_triangle triangle = chain.given();
  palmette_factors factors = {};
  factors.lower = triangle.entries;
  palmette_options options;
  palmette_default_options(&options);
  options.device = "emulated";
  options.device_rows = 3;
  for (const char* const method : {"auto", "devices_pushed"}) {
    options.method = method;
    palmette_triangular *by_triangle = nullptr, *by_factors = nullptr;
    EXPECT_EQ(palmette_triangular_create_d(&triangle, &options, &by_triangle), PALMETTE_OK);
    EXPECT_EQ(palmette_triangular_from_factors_d(&factors, &options, &by_factors), PALMETTE_OK);
    expect_solutions_of_chain(by_triangle, by_factors, chain);
    palmette_triangular_destroy(by_triangle);
    palmette_triangular_destroy(by_factors);
  }
}

TEST(several_devices, need_a_kind_and_numbers_that_are_not_too_small) {
  std::vector<double> x;
  EXPECT_EQ(solve_on("none", {2, 1, 1}, x), PALMETTE_USAGE);
  EXPECT_NE(std::string(palmette_last_error()).find("need a kind of device"), std::string::npos);
  EXPECT_EQ(solve_on("emulated", {0, 1, 1}, x), PALMETTE_USAGE);
  EXPECT_NE(std::string(palmette_last_error()).find("0 x 1 x 1"), std::string::npos);
  EXPECT_EQ(solve_on("emulated", {2, -1, 1}, x), PALMETTE_USAGE);
  EXPECT_NE(std::string(palmette_last_error()).find("2 x -1 x 1"), std::string::npos);
}

}  // namespace
