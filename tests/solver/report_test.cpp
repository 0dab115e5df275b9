// The walk over a report's fields: public names in order, sections of absent phases null.
#include <gtest/gtest.h>

#include "tests/solver/systems.hpp"

namespace palmette {
namespace {

/// Records the paths of the fields.
class Paths final : public ReportVisitor {
 public:
  void open(std::string_view section) override { prefix_ = std::string(section) + "."; }
  void close() override { prefix_ = prefix_ == "inertia." ? "factorize." : ""; }
  void field(std::string_view name, std::string_view) override { add(name); }
  void field(std::string_view name, double) override { add(name); }
  void field(std::string_view name, std::int64_t) override { add(name); }
  void field(std::string_view name, bool) override { add(name); }
  void null(std::string_view name) override { add(std::string(name) + "=null"); }
  void list(std::string_view name, const std::vector<std::string>&) override { add(name); }
  void list(std::string_view name, const std::vector<index_t>&) override { add(name); }
  std::vector<std::string> paths;

 private:
  void add(std::string_view name) { paths.push_back(prefix_ + std::string(name)); }
  std::string prefix_;
};

TEST(report, fields_of_a_solve_stand_under_their_public_names) {
  auto solver =
      Solver<double>::create(testing::generated<double>("poisson2d5", 5), testing::quiet_options()).value();
  const DenseMatrix<double> b = testing::some_right_hand_sides<double>(25, 1);
  DenseMatrix<double> x(25, 1);
  Paths paths;
  visit(solver.solve(b.view(), x.view()).value(), paths);
  const std::vector<std::string> expected = {"matrix.rows",
                                             "matrix.cols",
                                             "matrix.nnz",
                                             "matrix.scalar",
                                             "matrix.symmetry",
                                             "order.method",
                                             "order.seconds",
                                             "order.matched",
                                             "analyze.seconds",
                                             "analyze.nnz_factor",
                                             "analyze.flops",
                                             "analyze.supernodes",
                                             "analyze.diagonal_blocks",
                                             "analyze.memory_bytes_predicted",
                                             "factorize.kind",
                                             "factorize.scalar",
                                             "factorize.threads",
                                             "factorize.seconds",
                                             "factorize.gflops",
                                             "factorize.perturbed_pivots",
                                             "factorize.perturbed_columns",
                                             "factorize.structural_deficiency",
                                             "inertia.positive",
                                             "inertia.negative",
                                             "inertia.zero",
                                             "factorize.capacitance=null",
                                             "factorize.log_abs_determinant",
                                             "factorize.memory_bytes",
                                             "factorize.offload=null",
                                             "solve.method",
                                             "solve.threads",
                                             "solve.num_rhs",
                                             "solve.seconds",
                                             "solve.bytes",
                                             "solve.bandwidth_gbs",
                                             "solve.stream_gbs=null",
                                             "solve.roofline_fraction=null",
                                             "solve.critical_path_seconds=null",
                                             "solve.guarded_blocks",
                                             "solve.device=null",
                                             "solve.file=null",
                                             "verify.backward_error",
                                             "verify.componentwise_backward_error",
                                             "verify.condition_1norm=null",
                                             "verify.forward_error_bound=null",
                                             "verify.refine_steps",
                                             "verify.bound",
                                             "verify.verified",
                                             "verify.singular_distance=null",
                                             "verify.null_directions=null",
                                             "verify.least_squares_error=null",
                                             "notes",
                                             "peak_memory_bytes",
                                             "version"};
  EXPECT_EQ(paths.paths, expected);
}

TEST(report, phases_that_did_not_take_place_are_null) {
  Paths paths;
  visit(Report{}, paths);
  for (const char* section : {"order=null", "analyze=null", "factorize=null", "solve=null", "verify=null"})
    EXPECT_NE(std::find(paths.paths.begin(), paths.paths.end(), section), paths.paths.end()) << section;
}

TEST(report, stream_bandwidth_and_roofline_fraction_are_measured_where_asked) {
  SolverOptions options;
  options.threads = 1;
  auto solver = Solver<double>::create(testing::generated<double>("poisson2d5", 40), options).value();
  const DenseMatrix<double> b = testing::some_right_hand_sides<double>(1600, 1);
  DenseMatrix<double> x(1600, 1);
  SolveRequest request;
  request.repeat = 3;
  const Report report = solver.solve(b.view(), x.view(), request).value();
  EXPECT_GT(report.solve->stream_gbs, 0);
  // fraction = (bytes / seconds) / stream, by definition
  EXPECT_NEAR(report.solve->roofline_fraction,
              report.solve->bytes / report.solve->seconds / 1e9 / report.solve->stream_gbs, 1e-9);
  EXPECT_GT(report.solve->critical_path_seconds, 0);
}

}  // namespace
}  // namespace palmette
