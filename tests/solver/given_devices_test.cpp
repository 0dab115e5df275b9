// Triangles and factors that the caller provides, on several devices of one process and over ranks with one
// device each: the solutions of the host, for every kind of factors.
#include <gtest/gtest.h>

#include "rank_systems.hpp"
#include "tests/scalars.hpp"

namespace palmette {
namespace {

using testing::said_by_all, testing::some_right_hand_sides;

constexpr Operation operations[] = {Operation::plain, Operation::transpose, Operation::adjoint};

enum class Kind { symmetric, hermitian, lu, permuted };
constexpr Kind kinds[] = {Kind::symmetric, Kind::hermitian, Kind::lu, Kind::permuted};

/// A triangle of any pattern, not closed under elimination, with a diagonal that dominates.
template <class T>
SparseMatrix<T> sparse_triangle(index_t n, bool lower, unsigned seed) {
  std::mt19937 random(seed);
  const auto value = [&] {
    const auto part = [&] { return static_cast<real_t<T>>(static_cast<int>(random() % 200) - 100) / 100; };
    if constexpr (is_complex_v<T>) return T(part(), part());
    else return T(part());
  };
  Triplets<T> kept{n, n, {}, {}, {}};
  for (index_t row = 0; row < n; ++row) {
    kept.row.push_back(row), kept.column.push_back(row), kept.value.push_back(T(8) + value());
    for (int k = 0; row > 0 && k < 3; ++k) {
      const auto column = static_cast<index_t>(random() % static_cast<unsigned>(row));
      kept.row.push_back(lower ? row : column), kept.column.push_back(lower ? column : row);
      kept.value.push_back(value());
    }
  }
  return from_triplets(kept);
}

Permutation turned(index_t n, index_t by) {
  std::vector<index_t> order;
  for (index_t k = 0; k < n; ++k) order.push_back((k + by) % n);
  return Permutation(std::move(order));
}

template <class T>
std::shared_ptr<OwnFactors<T>> factors_of(index_t n, Kind kind) {
  auto made = std::make_shared<OwnFactors<T>>();
  made->lower = sparse_triangle<T>(n, true, 3);
  made->hermitian = kind == Kind::hermitian;
  if (kind == Kind::lu || kind == Kind::permuted) made->upper = sparse_triangle<T>(n, false, 4);
  if (kind != Kind::permuted) return made;
  made->row = turned(n, 2);
  made->column = turned(n, 5);
  made->lower_unit_diagonal = true;
  for (T& value : made->lower.values) value *= static_cast<real_t<T>>(0.25);
  for (index_t k = 0; k < n; ++k) {
    made->row_scale.push_back(k % 3 == 0 ? 2 : 0.5);
    made->column_scale.push_back(k % 2 == 0 ? 4 : 1);
  }
  return made;
}

TriangularSolverOptions quiet() {
  TriangularSolverOptions options;
  options.measure = false;
  options.watchdog_seconds = 60;
  return options;
}

/// x of all operations, one behind the other.
template <class T>
std::vector<DenseMatrix<T>> solutions_of(TriangularSolver<T>& solver, const DenseMatrix<T>& b) {
  std::vector<DenseMatrix<T>> all;
  for (const Operation operation : operations) {
    SolveRequest request;
    request.operation = operation;
    DenseMatrix<T> x(b.rows, b.cols);
    EXPECT_TRUE(solver.solve(b.view(), x.view(), request).value().verify->verified) << name_of(operation);
    all.push_back(std::move(x));
  }
  return all;
}

template <class T>
void expect_near(const std::vector<DenseMatrix<T>>& x, const std::vector<DenseMatrix<T>>& judge,
                 const std::string& words) {
  ASSERT_EQ(x.size(), judge.size());
  for (std::size_t one = 0; one < x.size(); ++one)
    for (std::size_t k = 0; k < x[one].values.size(); ++k)
      ASSERT_LE(std::abs(x[one].values[k] - judge[one].values[k]),
                100 * unit_roundoff<T> * (1 + std::abs(judge[one].values[k])))
          << words << ", operation " << one;
}

template <class T>
class GivenOnDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!emulate::emulator_is_available()) GTEST_SKIP() << "the emulator does not run in this build";
  }
};
TYPED_TEST_SUITE(GivenOnDevices, TestedScalars);

TYPED_TEST(GivenOnDevices, factors_of_every_kind_are_solved_by_several_devices_as_by_the_host) {
  using T = TypeParam;
  const DenseMatrix<T> b = some_right_hand_sides<T>(30, 3);
  for (const Kind kind : kinds) {
    auto host = TriangularSolver<T>::from_factors(factors_of<T>(30, kind), nullptr, quiet()).value();
    const auto judge = solutions_of(host, b);
    for (const SolveMethod method :
         {SolveMethod::automatic, SolveMethod::devices_pushed, SolveMethod::devices_unified}) {
      TriangularSolverOptions options = quiet();
      options.method = method;
      set_devices(options, "emulated", 3);
      auto factors = factors_of<T>(30, kind);
      factors->plan.world = options.triangle.plan.world;
      factors->plan.of_world = options.triangle.plan.of_world;
      auto solver = TriangularSolver<T>::from_factors(factors, nullptr, options).value();
      expect_near(solutions_of(solver, b), judge, "kind " + std::to_string(static_cast<int>(kind)));
    }
  }
}

/// A dense lower factor has wide supernodes: the devices take those, unless the method takes columns.
TYPED_TEST(GivenOnDevices, supernodes_of_given_factors_are_distributed_where_they_pay) {
  using T = TypeParam;
  const index_t n = 40;
  auto factors = std::make_shared<OwnFactors<T>>();
  Triplets<T> dense{n, n, {}, {}, {}};
  for (index_t column = 0; column < n; ++column)
    for (index_t row = column; row < n; ++row) {
      dense.row.push_back(row), dense.column.push_back(column);
      dense.value.push_back(row == column ? T(4) : T(static_cast<real_t<T>>((row + 2 * column) % 5)) / T(40));
    }
  factors->lower = from_triplets(dense);
  const DenseMatrix<T> b = some_right_hand_sides<T>(n, 2);
  auto host = TriangularSolver<T>::from_factors(factors, nullptr, quiet()).value();
  const auto judge = solutions_of(host, b);
  for (const SolveMethod method : {SolveMethod::automatic, SolveMethod::devices_zero_copy}) {
    TriangularSolverOptions options = quiet();
    options.method = method;
    set_devices(options, "emulated", 2);
    factors->plan.world = options.triangle.plan.world;
    factors->plan.of_world = options.triangle.plan.of_world;
    auto solver = TriangularSolver<T>::from_factors(factors, nullptr, options).value();
    expect_near(solutions_of(solver, b), judge, std::string(name_of(method)));
    DenseMatrix<T> x(n, b.cols);
    const Report report = solver.solve(b.view(), x.view()).value();
    EXPECT_EQ(report.solve->method, method == SolveMethod::automatic ? SolveMethod::devices_fan_out : method);
    ASSERT_TRUE(report.solve->device.has_value());
    EXPECT_GT(report.solve->device->counts.launches, 0);
    EXPECT_EQ(report.solve->stream_gbs, 0);  // the memory of the host is not what limits devices
  }
}

TYPED_TEST(GivenOnDevices, factors_of_every_kind_are_solved_over_ranks_as_by_the_host) {
  using T = TypeParam;
  for (const index_t n : {0, 1, 30})
    for (const Kind kind : kinds) {
      const DenseMatrix<T> b = some_right_hand_sides<T>(n, 3);
      auto host = TriangularSolver<T>::from_factors(factors_of<T>(n, kind), nullptr, quiet()).value();
      const auto judge = solutions_of(host, b);
      for (const index_t num_ranks : {1, 3, 5}) {
        std::vector<std::vector<DenseMatrix<T>>> found(num_ranks);
        ThreadWorld(num_ranks).run([&](Transport& transport) {
          auto factors = factors_of<T>(n, kind);
          factors->plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
          factors->plan.of_world.tasks_per_element = 3;
          auto solver = TriangularSolver<T>::from_factors(factors, nullptr, quiet(), transport).value();
          EXPECT_EQ(solver.size(), n);
          found[transport.rank()] = solutions_of(solver, b);
        });
        const std::string words = std::to_string(n) + " rows, kind " +
                                  std::to_string(static_cast<int>(kind)) + ", " +
                                  std::to_string(num_ranks) + " ranks";
        for (const auto& one : found) {
          expect_near(one, judge, words);
          for (std::size_t k = 0; k < one.size(); ++k) EXPECT_EQ(one[k].values, found[0][k].values) << words;
        }
      }
    }
}

TEST(given_devices, several_devices_need_a_kind) {
  for (const char* const kind : {"none", "auto", "auto@16e9"}) {
    TriangularSolverOptions options = quiet();
    EXPECT_EQ(said_by_all<UsageError>(1, [&](Transport&) { set_devices(options, kind, 2); }),
              "2 devices need a kind of device: name cuda, hip or emulated");
    SolverOptions of_matrix;
    EXPECT_EQ(said_by_all<UsageError>(1, [&](Transport&) { set_devices(of_matrix, kind, {2, 1}); }),
              "2 devices need a kind of device: name cuda, hip or emulated");
  }
}

class GivenOverRanks : public GivenOnDevices<double> {};

/// With A, solutions are refined and verified by it on every rank.
TEST_F(GivenOverRanks, factors_with_their_matrix_are_refined) {
  auto matrix = std::make_shared<const SparseMatrix<double>>(sparse_triangle<double>(30, true, 3));
  const DenseMatrix<double> b = some_right_hand_sides<double>(30, 1);
  std::vector<std::vector<double>> ones(30, std::vector<double>(30));
  for (int k = 0; k < 30; ++k) ones[k][k] = 1;
  ThreadWorld(3).run([&](Transport& transport) {
    auto factors = std::make_shared<OwnFactors<double>>();
    factors->lower = *matrix;
    for (double& value : factors->lower.values) value *= 1 + 1e-5;
    factors->upper = *testing::matrix_of<double>(ones);
    factors->plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
    auto solver = TriangularSolver<double>::from_factors(factors, matrix, quiet(), transport).value();
    DenseMatrix<double> x(30, 1);
    const Report report = solver.solve(b.view(), x.view()).value();
    EXPECT_TRUE(report.verify->verified);
    EXPECT_GE(report.verify->refine_steps, 1);
    EXPECT_EQ(report.notes.back().find("solved by 3 ranks"), 0u) << report.notes.back();
  });
}

TEST_F(GivenOverRanks, misuse_is_the_same_error_of_all) {
  const auto refused = [&](auto change) {
    return said_by_all<UsageError>(3, [&](Transport& transport) {
      auto factors = factors_of<double>(12, Kind::lu);
      factors->plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
      change(*factors, transport.rank());
      (void)TriangularSolver<double>::from_factors(factors, nullptr, quiet(), transport);
    });
  };
  const auto has = [](const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  };
  EXPECT_TRUE(has(refused([](OwnFactors<double>& f, index_t rank) {
                    if (rank == 1) f.plan.device = nullptr;
                  }),
                  "rank 1: a plain triangle over ranks needs a device on each"));
  EXPECT_TRUE(has(refused([](OwnFactors<double>& f, index_t rank) {
                    if (rank == 2) std::swap(f.lower, f.upper);
                  }),
                  "rank 2: "));
  EXPECT_TRUE(has(refused([](OwnFactors<double>& f, index_t) { f.plan.world = make_emulated_world(2); }),
                  "rank 0: a triangle over ranks has one device on each"));
}

/// Each rank's own b would make them refine differently, and wait for each other.
TEST_F(GivenOverRanks, different_right_hand_sides_or_requests_are_the_same_error_of_all) {
  for (const bool request_differs : {false, true}) {
    const std::string said = said_by_all<UsageError>(3, [&](Transport& transport) {
      auto triangle = std::make_shared<const SparseMatrix<double>>(sparse_triangle<double>(12, true, 3));
      TriangularSolverOptions options = quiet();
      options.triangle.plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
      auto solver = TriangularSolver<double>::create(triangle, options, transport).value();
      DenseMatrix<double> b = some_right_hand_sides<double>(12, 1), x(12, 1);
      SolveRequest request;
      if (transport.rank() == 1 && request_differs) request.operation = Operation::transpose;
      if (transport.rank() == 1 && !request_differs) b.values[3] += 1;
      try {
        (void)solver.solve(std::as_const(b).view(), x.view(), request);
      } catch (const UsageError&) {
        b = some_right_hand_sides<double>(12, 1);
        EXPECT_TRUE(solver.solve(std::as_const(b).view(), x.view()).value().verify->verified);
        throw;
      }
    });
    EXPECT_NE(said.find("b or the request differ from those of another rank"), std::string::npos) << said;
  }
}

/// What one rank alone passes: would make it lay out other slots, refine by itself, or give up alone.
TEST_F(GivenOverRanks, different_triangles_are_the_same_error_of_all) {
  const auto refused = [&](auto change) {
    return said_by_all<UsageError>(3, [&](Transport& transport) {
      SparseMatrix<double> triangle = sparse_triangle<double>(12, true, 3);
      TriangularSolverOptions options = quiet();
      options.watchdog_seconds = 10;
      options.triangle.plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
      if (transport.rank() == 1) change(triangle, options);
      auto shared = std::make_shared<const SparseMatrix<double>>(std::move(triangle));
      (void)TriangularSolver<double>::create(shared, options, transport);
    });
  };
  using Triangle = SparseMatrix<double>;
  using Options = TriangularSolverOptions;
  const std::function<void(Triangle&, Options&)> changes[] = {
      [](Triangle& t, Options&) { t.values[0] = 0; },  // there is no solution
      [](Triangle& t, Options&) { t.values[1] += 1; },
      [](Triangle& t, Options&) { t = sparse_triangle<double>(12, true, 4); },
      [](Triangle& t, Options&) { t = sparse_triangle<double>(11, true, 3); },
      [](Triangle& t, Options&) { t.symmetry = Symmetry::symmetric; },
      [](Triangle&, Options& o) { o.triangle.lower = false; },
      [](Triangle&, Options& o) { o.triangle.unit_diagonal = true; },
      [](Triangle&, Options& o) { o.triangle.plan.of_world.tasks_per_element = 3; },
  };
  for (std::size_t k = 0; k < std::size(changes); ++k) {
    const std::string said = refused(changes[k]);
    EXPECT_NE(said.find("the triangle or its options differ from those of another rank"), std::string::npos)
        << "change " << k << ": " << said;
  }
}

TEST_F(GivenOverRanks, different_factors_are_the_same_error_of_all) {
  struct Given {
    std::shared_ptr<OwnFactors<double>> factors = factors_of<double>(12, Kind::permuted);
    std::shared_ptr<const SparseMatrix<double>> matrix =
        std::make_shared<const SparseMatrix<double>>(sparse_triangle<double>(12, true, 5));
    std::shared_ptr<const SparseMatrix<double>> other =
        std::make_shared<const SparseMatrix<double>>(sparse_triangle<double>(12, true, 6));
  };
  const std::function<void(Given&)> changes[] = {
      [](Given& g) { g.matrix = nullptr; },
      [](Given& g) { g.matrix = g.other; },
      [](Given& g) { g.factors->upper.values[0] = 0; },  // there is no solution
      [](Given& g) { g.factors->lower.values[1] += 1; },
      [](Given& g) { g.factors->upper = {}; },
      [](Given& g) { g.factors->row = turned(12, 3); },
      [](Given& g) { g.factors->row = {}; },
      [](Given& g) { g.factors->column = turned(12, 3); },
      [](Given& g) { g.factors->row_scale[4] = 8; },
      [](Given& g) { std::swap(g.factors->row_scale, g.factors->column_scale); },
      [](Given& g) { g.factors->column_scale.clear(); },
      [](Given& g) { g.factors->lower_unit_diagonal = false; },
      [](Given& g) { g.factors->upper_unit_diagonal = true; },
      [](Given& g) { g.factors->hermitian = true; },
      [](Given& g) { g.factors->plan.of_world.tasks_per_element = 3; },
  };
  for (std::size_t k = 0; k < std::size(changes); ++k) {
    const std::string said = said_by_all<UsageError>(3, [&](Transport& transport) {
      Given given;
      TriangularSolverOptions options = quiet();
      options.watchdog_seconds = 10;
      given.factors->plan.device = make_emulated_device({.index = static_cast<int>(transport.rank())});
      if (transport.rank() == 1) changes[k](given);
      (void)TriangularSolver<double>::from_factors(given.factors, given.matrix, options, transport);
    });
    EXPECT_NE(said.find("the factors, A or the options differ from those of another rank"), std::string::npos)
        << "change " << k << ": " << said;
  }
}

/// Emulated devices must be numbered as their ranks: rank 1 cannot join, and all say so.
TEST_F(GivenOverRanks, a_device_that_cannot_join_the_network_is_the_same_error_of_all) {
  const std::string said = said_by_all<UsageError>(3, [&](Transport& transport) {
    auto triangle = std::make_shared<const SparseMatrix<double>>(sparse_triangle<double>(12, true, 3));
    TriangularSolverOptions options = quiet();
    const auto rank = static_cast<int>(transport.rank());
    options.triangle.plan.device = make_emulated_device({.index = rank == 1 ? 7 : rank});
    (void)TriangularSolver<double>::create(triangle, options, transport);
  });
  EXPECT_EQ(said.find("rank 1: rank 1 joins a network with emulated:7"), 0u) << said;
}

}  // namespace
}  // namespace palmette
