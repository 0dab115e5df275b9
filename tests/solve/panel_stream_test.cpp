// Panels that stay in a file: x has the bits of a plan in memory; pieces are read in the order of the sweeps,
// and what is in memory is not read again; a reader that fails ends one solve and nothing else.
#include "palmette/solve/panel_stream.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <numeric>
#include <thread>

#include "tests/scalars.hpp"
#include "tests/solve/reference.hpp"

namespace palmette {
namespace {

using reference::Wish;

/// A file in memory. It can fail at one of its reads.
class MemoryReader final : public PanelReader {
 public:
  std::vector<std::byte> bytes;
  std::atomic<int> fails_at{-1};  // counted from now on
  std::vector<std::uint64_t> positions;
  bool keeps_positions = true;

  template <class V>
  std::uint64_t append(std::span<const V> values) {
    const std::uint64_t position = bytes.size();
    const auto more = std::as_bytes(values);
    bytes.insert(bytes.end(), more.begin(), more.end());
    return position;
  }
  std::int64_t read(std::uint64_t position, std::span<std::byte> to) override {
    if (fails_at >= 0 && fails_at-- == 0) throw IoError("panels", 0, "the disk has gone");
    if (keeps_positions) positions.push_back(position);
    std::memcpy(to.data(), bytes.data() + position, to.size());
    return static_cast<std::int64_t>(to.size() / 2);
  }
};

/// A factor and a plan as a file keeps them.
template <class T>
struct InFile {
  std::shared_ptr<MemoryReader> reader = std::make_shared<MemoryReader>();
  std::shared_ptr<const Factor<T>> factor;  // without panels
  std::shared_ptr<const PlanStructure> structure;
  SolvePlan<T> in_memory;
  PanelsInFile panels;

  InFile(const std::shared_ptr<const Factor<T>>& whole, const PlanOptions& options)
      : structure(plan_structure(whole->symbolic, ScalarTraits<T>::type)),
        in_memory(plan_solve(whole, options, structure)) {
    const auto span_over = [](const PanelArray<T>& array) {
      return std::span<const T>(array.data(), static_cast<std::size_t>(array.size()));
    };
    const PlanValues<T> values = in_memory.values();
    panels.reader = reader;
    reader->bytes.resize(64);
    panels.plan_lower = reader->append(values.lower.panels);
    panels.plan_upper = reader->append(values.upper.panels);
    panels.lower = reader->append(span_over(whole->lower));
    panels.upper = reader->append(span_over(whole->upper));
    auto bare = std::make_shared<Factor<T>>();
    bare->kind = whole->kind;
    bare->hermitian = whole->hermitian;
    bare->symbolic = whole->symbolic;
    bare->d = whole->d;
    bare->d_below = whole->d_below;
    bare->place = whole->place;
    bare->row_scale = whole->row_scale;
    bare->column_scale = whole->column_scale;
    factor = bare;
  }
  PlanValues<T> known(std::uint64_t memory_bytes) const {
    PlanValues<T> values = in_memory.values();
    PanelsInFile file = panels;
    file.memory_bytes = memory_bytes;
    values.file = std::make_shared<const PanelsInFile>(file);
    return values;
  }
  std::uint64_t least() const {
    return static_cast<std::uint64_t>(least_panel_memory(factor, structure, known(0)));
  }
  SolvePlan<T> plan(std::uint64_t memory_bytes) const {
    return plan_solve(factor, {}, structure, known(memory_bytes));
  }
};

/// Of order side·(side + 1); with packed and with wide supernodes, or with many small ones.
template <class T>
InFile<T> some_file(FactorKind kind, index_t side = 9, double growth_limit = 1e8, bool small_panels = false) {
  const Wish wish{kind, kind == FactorKind::ldlt && is_complex_v<T>, side, 21};
  const auto problem = reference::make_problem<T>(wish);
  AnalyzeOptions analyze_options;
  analyze_options.relax_narrow_width = small_panels ? 1 : 48;
  if (small_panels) analyze_options.max_width = 4;
  PlanOptions options;
  options.inverse_growth_limit = growth_limit;
  return InFile<T>(reference::naive_factor(problem, wish, analyze_options), options);
}

template <class T>
class PanelsInAFile : public ::testing::Test {};
TYPED_TEST_SUITE(PanelsInAFile, TestedScalars);

TYPED_TEST(PanelsInAFile, give_the_bits_of_panels_in_memory) {
  using T = TypeParam;
  for (const FactorKind kind : {FactorKind::llt, FactorKind::ldlt, FactorKind::lu})
    for (const double growth_limit : {1e8, 4.0, 0.0}) {  // all blocks inverted, some, none
      SCOPED_TRACE(std::string(name_of(kind)) + ", limit " + std::to_string(growth_limit));
      // The larger system has bundles of supernodes, which stand together in a piece.
      const InFile<T> file = some_file<T>(kind, growth_limit == 4.0 ? 30 : 9, growth_limit);
      ASSERT_EQ(growth_limit == 4.0 && sizeof(T) <= 8, file.structure->bundles().count() > 0);
      for (const std::uint64_t memory : {file.least(), 2 * file.least(), std::uint64_t{1} << 24}) {
        const SolvePlan<T> plan = file.plan(memory);
        EXPECT_EQ(plan.guarded_blocks(), file.in_memory.guarded_blocks());
        for (const index_t num_rhs : {1, 3, 70}) {
          const DenseMatrix<T> b = reference::random_dense<T>(file.factor->size(), num_rhs, 5);
          for (const Operation operation : reference::all_operations)
            EXPECT_TRUE(reference::same_bits(reference::solved(plan, operation, b),
                                             reference::solved(file.in_memory, operation, b)))
                << memory << " bytes, " << num_rhs << " right-hand sides, " << name_of(operation);
        }
        const DenseMatrix<T> b = reference::random_dense<T>(file.factor->size(), 2, 6);
        DenseMatrix<T> x(b.rows, 2), y(b.rows, 2);
        plan.solve_part(FactorPart::lower, Operation::adjoint, b.view(), x.view());
        file.in_memory.solve_part(FactorPart::lower, Operation::adjoint, b.view(), y.view());
        EXPECT_TRUE(reference::same_bits(x, y));
      }
    }
}

TEST(panels_in_a_file, that_fit_are_read_once) {
  const InFile<double> file = some_file<double>(FactorKind::llt);
  const SolvePlan<double> plan = file.plan(1 << 24);
  const DenseMatrix<double> b = reference::random_dense<double>(file.factor->size(), 1, 5);
  DenseMatrix<double> x(b.rows, 1);
  const PanelReads first = plan.solve(Operation::plain, b.view(), x.view()).panels;
  EXPECT_GT(first.bytes, 0);
  EXPECT_LE(first.bytes, double(file.reader->bytes.size()));
  EXPECT_EQ(first.known_bytes, first.bytes);
  EXPECT_NEAR(first.cached_bytes, first.bytes / 2, 1.0 * file.reader->positions.size());
  EXPECT_EQ(plan.solve(Operation::plain, b.view(), x.view()).panels.bytes, 0);
}

TEST(panels_in_a_file, turn_round_with_what_is_in_memory) {
  const InFile<double> file = some_file<double>(FactorKind::llt, 28, 1e8, true);
  const SolvePlan<double> plan = file.plan(file.least());
  const DenseMatrix<double> b = reference::random_dense<double>(file.factor->size(), 1, 5);
  DenseMatrix<double> x(b.rows, 1);
  const SolveTrace first = plan.solve(Operation::plain, b.view(), x.view());
  const SolveTrace second = plan.solve(Operation::plain, b.view(), x.view());
  EXPECT_EQ(first.method, SolveMethod::serial);
  EXPECT_LT(second.panels.bytes, first.panels.bytes);
  EXPECT_GT(second.panels.bytes, 0);
}

TEST(panels_in_a_file, need_the_memory_that_is_named) {
  const InFile<double> file = some_file<double>(FactorKind::lu);
  EXPECT_THROW((void)file.plan(file.least() - 1), UsageError);
}

TEST(panels_in_a_file, that_cannot_be_read_end_the_solve_and_nothing_else) {
  const InFile<double> file = some_file<double>(FactorKind::lu, 28, 1e8, true);
  ASSERT_GT(file.structure->bundles().count(), 0);
  const SolvePlan<double> plan = file.plan(file.least());
  const DenseMatrix<double> b = reference::random_dense<double>(file.factor->size(), 1, 5);
  const DenseMatrix<double> expected = reference::solved(file.in_memory, Operation::plain, b);
  (void)reference::solved(plan, Operation::plain, b);
  file.reader->positions.clear();
  (void)reference::solved(plan, Operation::plain, b);
  const int reads = static_cast<int>(file.reader->positions.size());
  ASSERT_GT(reads, 10);
  // The thread that reads ahead decides by its progress which piece to replace: some solves need fewer reads.
  for (int failing = 0; failing < 2 * reads / 3; failing += 1 + reads / 9) {
    file.reader->fails_at = failing;
    EXPECT_THROW((void)reference::solved(plan, Operation::plain, b), IoError) << failing;
    file.reader->fails_at = -1;
    EXPECT_TRUE(reference::same_bits(reference::solved(plan, Operation::plain, b), expected)) << failing;
  }
}

TEST(panels_in_a_file, serve_one_solve_after_the_other) {
  const InFile<double> file = some_file<double>(FactorKind::llt, 9);
  const SolvePlan<double> plan = file.plan(file.least());
  const DenseMatrix<double> b = reference::random_dense<double>(file.factor->size(), 3, 5);
  const DenseMatrix<double> expected = reference::solved(file.in_memory, Operation::plain, b);
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 5; ++repeat)
        right += reference::same_bits(reference::solved(plan, Operation::plain, b), expected);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 20);
}

TEST(panels_in_a_file, solve_in_a_process_that_was_forked_beside_a_solve) {
#if defined(PALMETTE_THREAD_SANITIZER)
  GTEST_SKIP() << "this sanitizer starts no thread in a process that was forked beside threads";
#endif
  const InFile<double> file = some_file<double>(FactorKind::llt, 20, 1e8, true);
  file.reader->keeps_positions = false;  // a list that another thread may be lengthening
  auto plan = std::make_unique<const SolvePlan<double>>(file.plan(file.least()));
  const DenseMatrix<double> b = reference::random_dense<double>(file.factor->size(), 1, 5);
  const DenseMatrix<double> expected = reference::solved(file.in_memory, Operation::plain, b);
  std::atomic<bool> stops{false};
  std::thread beside([&] {
    while (!stops) (void)reference::solved(*plan, Operation::plain, b);
  });
  bool hung = false;  // for a reason that is not the library's
  for (int trial = 0; trial < 50; ++trial) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // ends a child that waits for threads of its parent
      bool right = true;
      for (int repeat = 0; repeat < 3; ++repeat)
        right = right && reference::same_bits(reference::solved(*plan, Operation::plain, b), expected);
      plan.reset();
      _exit(right ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
#if defined(PALMETTE_ADDRESS_SANITIZER)
    // Its allocator's lock stays locked in a child that is forked while another thread allocates, and the
    // child's own thread then waits for it before it begins.
    hung = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    if (hung) break;
#endif
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  stops = true;
  beside.join();
  if (hung) GTEST_SKIP() << "this sanitizer's allocator was locked when the process was forked";
}

TEST(panel_stream, reads_what_is_needed_last_over) {
  // Pieces of 8 bytes; three buffers; up and down again.
  auto reader = std::make_shared<MemoryReader>();
  std::vector<std::uint64_t> numbers(6);
  std::iota(numbers.begin(), numbers.end(), 0);
  reader->append(std::span<const std::uint64_t>(numbers));
  std::vector<solve_detail::PanelPiece> pieces;
  for (index_t k = 0; k < 6; ++k) pieces.push_back({k, k + 1, {{8 * static_cast<std::uint64_t>(k), 8, 0}}});
  solve_detail::PanelStream stream(reader, pieces, 8, 3);
  const std::vector<index_t> order = {0, 1, 2, 3, 4, 5, 5, 4, 3, 2, 1, 0};
  for (int repeat = 0; repeat < 2; ++repeat) {
    solve_detail::PanelStream::Pass pass(stream, order);
    for (std::size_t place = 0; place < order.size(); ++place) {
      std::uint64_t found = 99;
      std::memcpy(&found, pass.take(place), sizeof found);
      EXPECT_EQ(found, static_cast<std::uint64_t>(order[place])) << place;
    }
  }
  // All six, then 2, 1 and 0; the second pass begins with these three in memory.
  EXPECT_EQ(reader->positions.size(), 6u + 3u + 3u + 3u);
}

}  // namespace
}  // namespace palmette
