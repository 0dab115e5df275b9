// The hall over ranks with a device each: budgets of their memory.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "rank_systems.hpp"

namespace palmette {
namespace {

using testing::generated;
using testing::said_by_all;

class RanksWithDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
  std::shared_ptr<const SparseMatrix<double>> matrix_ = generated<double>("poisson2d5", 12);
};

/// One rank has too little: for its part of the factor, for one right-hand side, or for more of them. Then
/// all go on with one. Native messages need room, too, on ranks that send and on those that get.
TEST_F(RanksWithDevices, a_budget_that_is_too_small_on_one_is_the_same_error_of_all) {
  using enum MemoryKind;
  const auto matrix = generated<double>("poisson2d5", 30);  // large enough for messages
  const std::pair<MemoryKind, index_t> cases[] = {
      {reference, 1}, {native, 0}, {native, 1}, {native, 2}, {symmetric, 1}};
  for (const auto& one : cases) {
    const MemoryKind memory = one.first;
    const index_t poor = one.second;
    std::vector<offset_t> in_use;  // of that rank, after create and after solves
    std::atomic<int> went_on{0};
    const auto run = [&](Transport& transport, offset_t budget) {
      RankSolverOptions options;
      options.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
      options.memory = memory;
      options.watchdog_seconds = 60;
      if (transport.rank() == poor && budget > 0) options.device->limit_memory(budget);
      auto solver = RankSolver<double>::create(matrix, options, transport).value();
      if (transport.rank() == poor && budget == 0) in_use.push_back(options.device->bytes_in_use());
      const auto solve = [&](index_t num_rhs) {
        DenseMatrix<double> x(solver.size(), num_rhs);
        std::fill(x.values.begin(), x.values.end(), 1.0);
        EXPECT_TRUE(solver.solve(std::as_const(x).view(), x.view()).value().run.verify->verified);
        if (transport.rank() == poor && budget == 0) in_use.push_back(options.device->bytes_in_use());
      };
      solve(1);
      try {
        solve(40);
      } catch (const MemoryError&) {
        solve(1);
        ++went_on;
        throw;
      }
    };
    EXPECT_EQ(said_by_all<MemoryError>(3, [&](Transport& transport) { run(transport, 0); }), "");
    ASSERT_EQ(in_use.size(), 3u);
    for (const offset_t room : in_use) {
      const std::string said =
          said_by_all<MemoryError>(3, [&](Transport& transport) { run(transport, room - 1); });
      const std::string words = "rank " + std::to_string(poor) + ": " + std::to_string(room - 1);
      EXPECT_EQ(said.find(words + " bytes of the memory of the device"), 0u) << said;
    }
    EXPECT_EQ(went_on, 3);  // all, where there was no room for 40
  }
}

/// T·x = b by columns over ranks: b and x of all, verified by each.
TEST_F(RanksWithDevices, plain_triangles_are_solved_and_verified_by_all) {
  const index_t n = matrix_->rows();
  const DenseMatrix<double> b = testing::some_right_hand_sides<double>(n, 70);
  for (const index_t num_ranks : {1, 3})
    for (const bool lower : {true, false}) {
      std::vector<DenseMatrix<double>> x(num_ranks);
      ThreadWorld(num_ranks).run([&](Transport& transport) {
        TriangularSolverOptions options;
        options.triangle.lower = lower;
        options.triangle.plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
        options.method = lower ? SolveMethod::automatic : SolveMethod::devices_pushed;
        options.watchdog_seconds = 60;
        auto solver = TriangularSolver<double>::create(matrix_, options, transport).value();
        EXPECT_EQ(solver.size(), n);
        for (const Operation operation : {Operation::plain, Operation::transpose}) {
          SolveRequest request;
          request.operation = operation;
          DenseMatrix<double> mine(n, b.cols);
          const Report report = solver.solve(b.view(), mine.view(), request).value();
          EXPECT_TRUE(report.verify->verified);
          EXPECT_EQ(report.solve->method, SolveMethod::devices_pushed);
          EXPECT_EQ(report.solve->stream_gbs, 0);  // the memory of the host is not what limits devices
          ASSERT_TRUE(report.solve->device.has_value());
          EXPECT_EQ(report.solve->device->counts.launches, 2);
          EXPECT_EQ(report.notes.back().find("solved by " + std::to_string(num_ranks) + " ranks"), 0u);
          x[transport.rank()] = std::move(mine);
        }
      });
      for (const DenseMatrix<double>& one : x) EXPECT_EQ(one.values, x[0].values);
    }
}

TEST_F(RanksWithDevices, misuse_of_triangles_is_the_same_error_of_all) {
  const auto refused = [&](auto change) {
    return said_by_all<UsageError>(3, [&](Transport& transport) {
      TriangularSolverOptions options;
      options.triangle.plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
      change(options, transport.rank());
      (void)TriangularSolver<double>::create(matrix_, options, transport);
    });
  };
  const auto has = [](const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  };
  EXPECT_TRUE(has(refused([](TriangularSolverOptions& options, index_t rank) {
                    if (rank == 1) options.triangle.plan.device = nullptr;
                  }),
                  "rank 1: a plain triangle over ranks needs a device on each"));
  EXPECT_TRUE(has(refused([](TriangularSolverOptions& options, index_t) {
                    options.method = SolveMethod::devices_zero_copy;
                  }),
                  "over ranks choose auto or devices_pushed"));
  EXPECT_TRUE(has(refused([](TriangularSolverOptions& options, index_t) {
                    options.triangle.plan.of_world.tasks_per_element = 0;
                  }),
                  "0 tasks for each device"));
  EXPECT_TRUE(has(refused([](TriangularSolverOptions& options, index_t rank) {
                    if (rank == 2) options.triangle.plan.world = make_emulated_world(2);
                  }),
                  "rank 2: a triangle over ranks has one device on each"));
  EXPECT_TRUE(has(refused([](TriangularSolverOptions& options, index_t) {
                    options.triangle.plan.of_world.by_network = true;
                  }),
                  "rank 0: by_network, grid and layers are for a world of devices"));
}

/// What one rank passes is refused on all; then all solve.
TEST_F(RanksWithDevices, wrong_vectors_of_one_rank_are_the_same_error_of_all_and_the_run_goes_on) {
  const index_t n = matrix_->rows();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto said = [&](index_t rows, index_t columns, double value) {
    return said_by_all<UsageError>(3, [&](Transport& transport) {
      TriangularSolverOptions options;
      options.triangle.plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
      options.watchdog_seconds = 60;
      auto solver = TriangularSolver<double>::create(matrix_, options, transport).value();
      const bool is_wrong = transport.rank() == 1;
      DenseMatrix<double> right(n, 2);
      DenseMatrix<double> wrong(is_wrong ? rows : n, is_wrong ? columns : 2);
      if (is_wrong) wrong.values[1] = value;
      const auto solve = [&](DenseMatrix<double>& x) {
        return solver.solve(std::as_const(x).view(), x.view()).value();
      };
      EXPECT_EQ(solver.device(), nullptr);
      EXPECT_THROW((void)solver.solve(OnDevice<const double>(right.view()), OnDevice<double>(right.view())),
                   UsageError);
      try {
        (void)solve(wrong);
      } catch (const UsageError&) {
        EXPECT_TRUE(solve(right).verify->verified);
        throw;
      }
    });
  };
  EXPECT_EQ(said(n, 2, nan).find("rank 1: "), 0u);
  EXPECT_EQ(said(n - 1, 2, 1).find("rank 1: "), 0u);
  EXPECT_NE(said(n, 1, 1).find("columns, but on another rank"), std::string::npos);
}

/// Then all go on with fewer right-hand sides, also in the direction that was solved before.
TEST_F(RanksWithDevices, a_triangle_for_which_one_device_has_no_room_is_the_same_error_of_all) {
  const std::string said = said_by_all<MemoryError>(3, [&](Transport& transport) {
    TriangularSolverOptions options;
    options.triangle.plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
    options.watchdog_seconds = 60;
    if (transport.rank() == 2) options.triangle.plan.device->limit_memory(30000);
    auto solver = TriangularSolver<double>::create(matrix_, options, transport).value();
    const auto solve = [&](Operation operation, index_t num_rhs) {
      SolveRequest request;
      request.operation = operation;
      DenseMatrix<double> x = testing::some_right_hand_sides<double>(solver.size(), num_rhs);
      EXPECT_TRUE(solver.solve(std::as_const(x).view(), x.view(), request).value().verify->verified);
    };
    solve(Operation::plain, 2);
    try {
      solve(Operation::transpose, 40);
    } catch (const MemoryError&) {
      solve(Operation::plain, 2);
      solve(Operation::transpose, 1);
      throw;
    }
  });
  EXPECT_EQ(said.find("rank 2: 30000 bytes of the memory of the device"), 0u) << said;
}

}  // namespace
}  // namespace palmette
