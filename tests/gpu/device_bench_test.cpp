// The benchmark of devices on the emulated one, with libraries that stand in for those of the rivals: every
// solver answers, nothing of the emulated device is timed, and a rival that is not there says so.
#include <gtest/gtest.h>

#include <algorithm>

#include "bench/device/device_bench.hpp"
#include "bench/device/rivals.hpp"
#include "bench/device/vendor_library.hpp"

namespace palmette::benchmarks {
namespace {

using Rows = std::vector<DeviceBenchRow>;

class device_bench : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
};

template <class T = double>
Solver<T> solver_of(const std::string& problem, index_t n, FactorKind kind) {
  GenerateOptions options;
  options.problem = problem;
  options.n = n;
  const SparseMatrix<double> made = generate(options);
  SparseMatrix<T> matrix{made.pattern, std::vector<T>(made.values.begin(), made.values.end()), made.symmetry};
  SolverOptions how;
  how.kind = kind;
  how.measure = false;
  return Solver<T>::create(std::make_shared<const SparseMatrix<T>>(std::move(matrix)), how).value();
}

const DeviceBenchRow& row_of(const Rows& rows, const std::string& solver, index_t num_rhs) {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const DeviceBenchRow& row) {
    return row.solver == solver && row.num_rhs == num_rhs;
  });
  if (found == rows.end()) throw UsageError("no row " + solver);
  return *found;
}

Rows bench(FactorKind kind, const std::string& problem, const std::string& folder) {
  const auto solver = solver_of(problem, 6, kind);
  return bench_device(solver, make_emulated_device(), {{1, 3}, 2, folder});
}

TEST_F(device_bench, every_solver_answers_for_every_kind_of_factor) {
  const std::pair<FactorKind, std::string> cases[] = {{FactorKind::llt, "poisson2d9"},
                                                      {FactorKind::ldlt, "kkt3d"},
                                                      {FactorKind::lu, "convection_diffusion2d"}};
  for (const auto& [kind, problem] : cases) {
    SCOPED_TRACE(problem);
    for (const DeviceBenchRow& row : bench(kind, problem, PALMETTE_STAND_INS)) {
      SCOPED_TRACE(row.solver);
      if (row.solver == "cusparse" && kind == FactorKind::ldlt) {
        EXPECT_NE(row.unavailable.find("LDL^T"), std::string::npos);
        continue;
      }
      EXPECT_EQ(row.unavailable, "");
      EXPECT_LE(row.backward_error, 1e-13);
    }
  }
}

TEST_F(device_bench, the_emulated_device_counts_and_is_never_timed) {
  const Rows rows = bench(FactorKind::llt, "poisson2d9", PALMETTE_STAND_INS);
  EXPECT_EQ(rows.size(), 2 * (1 + solve_method_list(SolveWhere::device).size() + 2));
  for (const DeviceBenchRow& row : rows) {
    EXPECT_FALSE(row.seconds) << row.solver;
    EXPECT_FALSE(row.device_seconds) << row.solver;
  }
  for (const index_t num_rhs : {1, 3}) {
    for (const SolveMethodInfo& method : solve_method_list(SolveWhere::device)) {
      const DeviceBenchRow& row = row_of(rows, std::string(method.name), num_rhs);
      EXPECT_EQ(row.counts_on_device.launches, row.counts.launches) << row.solver;
      EXPECT_EQ(row.counts_on_device.bytes_in, 0) << row.solver;
      EXPECT_EQ(row.counts_on_device.bytes_out, 0) << row.solver;
    }
    EXPECT_GT(row_of(rows, "device_tree", num_rhs).counts.launches, 0);
    EXPECT_EQ(row_of(rows, "device_tree", num_rhs).counts.bytes_in,
              row_of(rows, "device_tree", num_rhs).counts.bytes_out);
    EXPECT_EQ(row_of(rows, "cusparse", num_rhs).counts.bytes_in, 36 * num_rhs * 8);
    EXPECT_EQ(row_of(rows, "serial", num_rhs).counts.launches, 0);
  }
}

TEST_F(device_bench, rivals_that_are_not_there_say_why) {
  const Rows rows = bench(FactorKind::llt, "poisson2d9", "no-such-folder");
  for (const char* const rival : {"cusparse", "cudss"}) {
    const std::string& why = row_of(rows, rival, 1).unavailable;
    EXPECT_NE(why.find("was not loaded"), std::string::npos) << why;
    EXPECT_EQ(why.find('\n'), std::string::npos) << why;
  }
}

TEST_F(device_bench, rivals_do_not_run_on_the_emulated_device_unless_their_folder_is_named) {
  for (const DeviceBenchRow& row : bench(FactorKind::llt, "poisson2d9", ""))
    EXPECT_TRUE(row.solver != "cusparse" && row.solver != "cudss");
}

TEST_F(device_bench, rivals_are_left_out_for_other_scalars) {
  const auto solver = solver_of<float>("poisson2d9", 6, FactorKind::llt);
  const Rows rows = bench_device(solver, make_emulated_device(), {{1}, 2, PALMETTE_STAND_INS});
  EXPECT_NE(row_of(rows, "cudss", 1).unavailable.find("double precision"), std::string::npos);
  EXPECT_EQ(row_of(rows, "device_tree", 1).unavailable, "");
}

TEST(vendor_library, a_status_other_than_zero_names_the_function) {
  const VendorLibrary library("cuDSS", PALMETTE_STAND_INS, {"absent", "libcudss.so.1"});
  void* data = nullptr;
  try {
    library.call<void*, void**>("cudssDataCreate", nullptr, &data);
    FAIL() << "the status was overlooked";
  } catch (const VendorError& error) {
    EXPECT_STREQ(error.what(), "cuDSS: cudssDataCreate returned 3");
  }
  library.call<void*, void*>("cudssDataDestroy", nullptr, data);
  EXPECT_THROW(library.call<>("cudssNoSuchFunction"), VendorError);
}

}  // namespace
}  // namespace palmette::benchmarks
