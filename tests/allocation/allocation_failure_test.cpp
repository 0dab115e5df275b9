// Memory that runs out at any moment: every allocation of a run is made to fail in turn. Each failure must
// come back as MemoryError or bad_alloc, leak nothing, and leave the library usable. Also: factorizations of
// a known structure allocate nothing. This is a separate program, since it replaces operator new.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "palmette/capi/palmette.h"
#include "palmette/solver/solver.hpp"

namespace {

std::atomic<long> allocations_until_failure{-1};  // −1: never fail
std::atomic<long> alive{0};
std::atomic<long> requests{0};
std::atomic<long> largest_request{0};  // bytes

void* allocate(std::size_t size, std::size_t alignment) {
  if (allocations_until_failure.load() >= 0 && allocations_until_failure.fetch_sub(1) == 0) return nullptr;
  ++requests;
  for (long known = largest_request;
       known < static_cast<long>(size) &&
       !largest_request.compare_exchange_weak(known, static_cast<long>(size));) {}
  const std::size_t rounded = (size + alignment - 1) / alignment * alignment;
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size > 0 ? size : 1)
                     : std::aligned_alloc(alignment, rounded > 0 ? rounded : alignment);
  if (memory != nullptr) ++alive;
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) --alive;
  std::free(memory);
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* operator new(std::size_t size) { return allocate_or_throw(size, usual); }
void* operator new[](std::size_t size) { return allocate_or_throw(size, usual); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, usual); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return allocate(size, usual); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_or_throw(size, std::size_t(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, std::size_t(alignment));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t, const std::nothrow_t&) noexcept { release(memory); }

namespace palmette {
namespace {

struct Case {
  const char* problem;
  index_t n;
  int threads;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.problem << "_" << c.threads; }

/// Order, analyze, factorize, solve, refine, verify. @returns true if verified
bool whole_run(const std::shared_ptr<const SparseMatrix<double>>& matrix, int threads) {
  SolverOptions options;
  options.threads = threads;
  options.measure = false;
  Solver<double> solver = Solver<double>::create(matrix, options).value();
  DenseMatrix<double> b(matrix->rows(), 2), x(matrix->rows(), 2);
  for (std::size_t i = 0; i < b.values.size(); ++i) b.values[i] = 1 + double(i % 7);
  SolveRequest request;
  request.condition = true;
  return solver.solve(std::as_const(b).view(), x.view(), request).value().verify->verified;
}

class AllocationFailure : public ::testing::TestWithParam<Case> {};

TEST_P(AllocationFailure, each_one_is_an_error_that_leaks_nothing) {
  GenerateOptions how;
  how.problem = GetParam().problem;
  how.n = GetParam().n;
  const auto matrix = std::make_shared<const SparseMatrix<double>>(generate(how));
  ASSERT_TRUE(whole_run(matrix, GetParam().threads));
  long failures = 0;
  bool finished = false;
  for (long place = 0; !finished; ++place) {
    const long before = alive.load();
    allocations_until_failure.store(place);
    bool failed = false;
    try {
      finished = whole_run(matrix, GetParam().threads);
    } catch (const MemoryError&) {
      failed = true;
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    // If the failure hit something optional (a thread, a message), the run succeeds.
    finished = finished && allocations_until_failure.load() >= 0;
    allocations_until_failure.store(-1);
    failures += failed;
    ASSERT_EQ(alive.load(), before) << "allocation " << place << " leaks when it fails";
    ASSERT_LT(place, 200000);
  }
  EXPECT_GT(failures, 50);
  EXPECT_TRUE(whole_run(matrix, GetParam().threads)) << "the library is unusable after failures";
}

INSTANTIATE_TEST_SUITE_P(runs, AllocationFailure,
                         ::testing::Values(Case{"poisson2d5", 9, 1}, Case{"poisson2d5", 9, 3},
                                           Case{"kkt3d", 3, 2}, Case{"random_unsymmetric", 60, 2}));

std::shared_ptr<const SparseMatrix<double>> model(const char* problem, index_t n) {
  GenerateOptions how;
  how.problem = problem;
  how.n = n;
  return std::make_shared<const SparseMatrix<double>>(generate(how));
}

TEST(allocation, a_factorization_of_known_structure_asks_for_its_owner_count_alone) {
  struct Kind {
    const char* problem;
    index_t n;
    FactorKind kind;
    PivotNeed need;
  };
  for (const Kind& what : {Kind{"poisson2d9", 40, FactorKind::llt, PivotNeed::none},
                           Kind{"kkt3d", 6, FactorKind::ldlt, PivotNeed::indefinite},
                           Kind{"convection_diffusion3d", 9, FactorKind::lu, PivotNeed::unsymmetric}}) {
    const auto matrix = model(what.problem, what.n);
    OrderOptions order_options;
    order_options.pivot_need = what.need;
    const Ordering ordering = order(*matrix, order_options).value();
    const auto symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix->pattern, ordering));
    ThreadTeam team(2);
    team.muster();  // otherwise any factorization that finds the processors free would start workers
    FactorizeOptions options;
    options.kind = what.kind;
    options.team = &team;
    FactorizeMemory<double> memory;
    for (int repeat = 0; repeat < 2; ++repeat)  // the second one lists where the entries go
      ASSERT_TRUE(factorize_again(memory, *matrix, symbolic, ordering, options).ok());
    const long before = requests;
    largest_request = 0;
    for (int repeat = 0; repeat < 20; ++repeat)
      ASSERT_TRUE(factorize_again(memory, *matrix, symbolic, ordering, options).ok());
    EXPECT_LE(requests - before, 20) << what.problem;
    EXPECT_LE(largest_request, 128) << what.problem;
  }
}

TEST(allocation, new_values_and_their_solve_take_no_new_panels) {
  struct Kind {
    const char* problem;
    index_t n;
    FactorKind kind;
  };
  for (const Kind& what : {Kind{"poisson2d9", 60, FactorKind::llt}, Kind{"kkt3d", 8, FactorKind::ldlt},
                           Kind{"convection_diffusion3d", 12, FactorKind::lu}}) {
    const auto matrix = model(what.problem, what.n);
    SolverOptions options;
    options.threads = 2;
    options.measure = false;
    options.kind = what.kind;
    options.ordering = OrderingMethod::amd;  // given explicitly, so that supernodes factor
    Solver<double> solver = Solver<double>::create(matrix, options).value();
    DenseMatrix<double> b(matrix->rows(), 1), x(matrix->rows(), 1);
    for (double& value : b.values) value = 1;
    for (int repeat = 0; repeat < 3; ++repeat) {
      ASSERT_TRUE(solver.refactor(matrix).ok());
      ASSERT_TRUE(solver.solve(std::as_const(b).view(), x.view()).ok());
    }
    long largest_of_refactor = 0, largest_of_solve = 0;
    for (int repeat = 0; repeat < 3; ++repeat) {
      largest_request = 0;
      ASSERT_TRUE(solver.refactor(matrix).ok());
      largest_of_refactor = std::max<long>(largest_of_refactor, largest_request);
      largest_request = 0;
      ASSERT_TRUE(solver.solve(std::as_const(b).view(), x.view()).ok());
      largest_of_solve = std::max<long>(largest_of_solve, largest_request);
    }
    // threads that prepare the solves have room for one narrow panel each; verification takes vectors
    const long factor_bytes = static_cast<long>(solver.report().factorize->memory_bytes);
    EXPECT_LT(largest_of_refactor, factor_bytes / 10) << what.problem;
    EXPECT_LE(largest_of_solve, 4L * matrix->rows() * long{sizeof(double)}) << what.problem;
  }
}

TEST(allocation, ten_thousand_refactorizations_leave_nothing_behind) {
  const auto matrix = model("poisson2d5", 5);
  SolverOptions options;
  options.threads = 1;
  options.measure = false;
  options.ordering = OrderingMethod::amd;  // given explicitly, so that supernodes factor
  Solver<double> solver = Solver<double>::create(matrix, options).value();
  DenseMatrix<double> b(matrix->rows(), 1), x(matrix->rows(), 1);
  for (double& value : b.values) value = 1;
  const auto again = [&] {
    ASSERT_TRUE(solver.refactor(matrix).ok());
    ASSERT_TRUE(solver.solve(std::as_const(b).view(), x.view()).ok());
  };
  again();
  again();
  const long alive_before = alive, requests_before = requests;
  again();
  const long requests_of_one = requests - requests_before;
  for (int repeat = 1; repeat < 10000; ++repeat) again();
  EXPECT_EQ(alive, alive_before);
  EXPECT_EQ(requests - requests_before, 10000 * requests_of_one);
}

TEST(allocation_failure, c_interface_reports_out_of_memory_as_its_status) {
  const int64_t column_ptr[] = {0, 1, 2};
  const int32_t row_index[] = {0, 1};
  const double values[] = {2, 4};
  palmette_status status = PALMETTE_MEMORY;
  for (long place = 0; status != PALMETTE_OK; ++place) {
    palmette_solver* solver = nullptr;
    allocations_until_failure.store(place);
    status = palmette_create_d(2, column_ptr, row_index, values, PALMETTE_FULL, nullptr, &solver);
    allocations_until_failure.store(-1);
    ASSERT_TRUE(status == PALMETTE_OK || (status == PALMETTE_MEMORY && solver == nullptr))
        << palmette_last_error();
    palmette_destroy(solver);
    ASSERT_LT(place, 100000);
  }
}

}  // namespace
}  // namespace palmette
