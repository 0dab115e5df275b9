// Real matrices over ranks: small backward errors, the same bits for any number of ranks, as threads and
// under virtual time, the number of messages that the structure gives, and the same failure if there is one.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <map>

#include "palmette/solver/solver.hpp"
#include "rank_testing.hpp"

namespace palmette {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t small_file_bytes = testing::sanitized ? 40000 : 200000;
#ifdef PALMETTE_THREAD_SANITIZER
constexpr index_t rank_counts[] = {1, 3, 4};  // all of them take minutes, and the threads do the same
#else
constexpr index_t rank_counts[] = {1, 2, 3, 4, 6, 8};
#endif

/// Small files of this tree and of the collection next to it.
std::vector<fs::path> small_files() {
  std::vector<fs::path> files;
  for (const fs::path& folder :
       {fs::path(PALMETTE_DATA_FOLDER), fs::path(PALMETTE_DATA_FOLDER) / "../../shared/matrices"}) {
    if (!fs::is_directory(folder)) continue;
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string extension = entry.path().extension();
      const bool is_text = extension == ".md" || extension == ".txt" || extension == ".json";
      if (entry.is_regular_file() && !is_text && entry.file_size() <= small_file_bytes)
        files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

template <class T>
DenseMatrix<T> num_rhs(index_t n) {
  DenseMatrix<T> b(n, 2);
  for (std::size_t at = 0; at < b.values.size(); ++at)
    b.values[at] = T(static_cast<real_t<T>>(static_cast<int>(at * 7 % 11) - 5));
  return b;
}

/// x of all ranks, or what is wrong with the matrix; checks the backward errors.
template <class T>
std::variant<std::vector<T>, std::string> through_the_hall(
    const std::shared_ptr<const SparseMatrix<T>>& matrix, Transport& transport) {
  RankSolverOptions options;
  options.watchdog_seconds = 60;
  options.whole = {true, 500};
  Outcome<RankSolver<T>> solver = RankSolver<T>::create(matrix, options, transport);
  if (!solver) return solver.failure().message;
  DenseMatrix<T> x = num_rhs<T>(matrix->rows());
  const Outcome<RankReport> report = solver.value().solve(std::as_const(x).view(), x.view());
  if (!report) return report.failure().message;
  EXPECT_LE(report.value().run.verify->backward_error, 1e-14);
  return x.values;
}

template <class T>
void expect_one_answer(const std::shared_ptr<const SparseMatrix<T>>& matrix) {
  const auto alone = make_loopback();
  const auto expected = through_the_hall(matrix, *alone);
  for (const index_t ranks : rank_counts) {
    ThreadWorld world(ranks);
    world.run([&](Transport& transport) {
      const auto mine = through_the_hall(matrix, transport);
      ASSERT_EQ(mine.index(), expected.index()) << ranks << " ranks";
      if (mine.index() == 1) { EXPECT_EQ(std::get<1>(mine), std::get<1>(expected)); }
      else { EXPECT_TRUE(testing::same_bits(std::get<0>(mine), std::get<0>(expected))) << ranks << " ranks"; }
    });
  }
}

/// The same programs under virtual time and, through recorders, as threads: bits and messages.
template <class T>
struct Programs {
  const SparseMatrix<T>& matrix;
  FactorKind kind;
  Ordering ordering;
  std::shared_ptr<const SymbolicFactor> symbolic;
  std::shared_ptr<const Placement> placement;

  Programs(const SparseMatrix<T>& a, FactorKind chosen, Ordering found)
      : matrix(a), kind(chosen), ordering(std::move(found)) {
    AnalyzeOptions narrow;
    narrow.max_width = 16;
    symbolic = std::make_shared<const SymbolicFactor>(analyze(matrix.pattern, ordering, narrow));
  }
  RankFactorization<T> part(Transport& transport) const {
    return RankFactorization<T>({matrix, symbolic, placement, ordering}, {kind, 0, 1}, transport);
  }
  /// b of this rank's rows.
  static DenseMatrix<T> own_side(const RankSolvePlan<T>& plan) {
    DenseMatrix<T> own(static_cast<index_t>(plan.rows().size()), 1);
    for (std::size_t k = 0; k < own.values.size(); ++k)
      own.values[k] = T(static_cast<real_t<T>>(plan.rows()[k] * 7 % 11 - 5));
    return own;
  }
  Traffic predicted_blocks() const {
    return predicted_fan_out_traffic(*symbolic, *placement, kind, sizeof(T));
  }
  Traffic predicted_vectors() const {
    return predicted_solve_traffic(*symbolic, *placement, TreeShape::binary,
                                   padded_rhs(sizeof(T), 1) * offset_t{sizeof(T)});
  }

  std::map<index_t, T> simulated() const {
    const index_t ranks = placement->num_ranks();
    SimulationOptions late;
    late.jitter = 20;
    late.seed = static_cast<std::uint64_t>(ranks);
    std::vector<RankSolvePlan<T>> plans;
    {
      SimulatedWorld world(ranks, late);
      std::vector<RankFactorization<T>> parts;
      std::vector<RankProgram*> programs;
      for (index_t rank = 0; rank < ranks; ++rank) parts.push_back(part(world.rank(rank)));
      for (auto& one : parts) programs.push_back(&one.program());
      EXPECT_EQ(world.run(programs).traffic, predicted_blocks());
      for (auto& one : parts) plans.emplace_back(std::make_shared<const RankFactor<T>>(one.take()));
    }
    SimulatedWorld world(ranks, late);
    std::vector<DenseMatrix<T>> own;
    std::vector<RankProgram*> programs;
    for (const RankSolvePlan<T>& plan : plans) own.push_back(own_side(plan));
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
      programs.push_back(&plans[rank].begin(Operation::plain, std::as_const(own[rank]).view(),
                                            own[rank].view(), world.rank(static_cast<index_t>(rank))));
    EXPECT_EQ(world.run(programs).traffic, predicted_vectors());
    std::map<index_t, T> x;
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
      for (std::size_t k = 0; k < own[rank].values.size(); ++k)
        x[plans[rank].rows()[k]] = own[rank].values[k];
    return x;
  }

  void expect_same_of_threads(const std::map<index_t, T>& expected) const {
    std::vector<Traffic> blocks(placement->num_ranks()), vectors = blocks;
    ThreadWorld world(placement->num_ranks());
    world.run([&](Transport& thread) {
      const auto rank = static_cast<std::size_t>(thread.rank());
      ThreadTeam team(1);
      Recorder first(thread), second(thread);
      RankFactorization<T> mine = part(first);
      drive(mine.program(), first, team, {60});
      first.agree(0);
      RankSolvePlan<T> plan(std::make_shared<const RankFactor<T>>(mine.take()));
      DenseMatrix<T> own = own_side(plan);
      drive(plan.begin(Operation::plain, std::as_const(own).view(), own.view(), second), second, team, {60});
      second.agree(0);
      for (std::size_t k = 0; k < own.values.size(); ++k)
        EXPECT_EQ(std::memcmp(&own.values[k], &expected.at(plan.rows()[k]), sizeof(T)), 0)
            << "row " << plan.rows()[k];
      blocks[rank] = first.sent();
      vectors[rank] = second.sent();
    });
    const auto joined = [&](const std::vector<Traffic>& parts) {
      std::vector<TrafficEntry> all;
      for (const Traffic& one : parts) all.insert(all.end(), one.entries.begin(), one.entries.end());
      return make_traffic(placement->num_ranks(), std::move(all));
    };
    EXPECT_EQ(joined(blocks), predicted_blocks());
    EXPECT_EQ(joined(vectors), predicted_vectors());
  }
};

template <class T>
void expect_predicted_messages(const SparseMatrix<T>& matrix) {
  const FactorKind kind = matrix.symmetry == Symmetry::general ? FactorKind::lu : FactorKind::ldlt;
  OrderOptions how;
  how.pivot_need = kind == FactorKind::lu ? PivotNeed::unsymmetric : PivotNeed::indefinite;
  Outcome<Ordering> found = order(matrix, how);
  if (!found) return;  // structurally singular: the hall has reported it
  Programs<T> programs(matrix, kind, std::move(found).value());
  std::optional<std::map<index_t, T>> first;
  for (const index_t ranks : rank_counts) {
    programs.placement = std::make_shared<const Placement>(
        place(*programs.symbolic, nearly_square_grid(ranks),
              ranks % 2 == 0 ? PlacementMap::subtree_to_subcube : PlacementMap::block_cyclic, {true, 200}));
    const std::map<index_t, T> x = programs.simulated();
    if (!first) first = x;
    for (const auto& [row, value] : x)
      ASSERT_EQ(std::memcmp(&value, &first->at(row), sizeof(T)), 0) << ranks << " ranks, row " << row;
    programs.expect_same_of_threads(*first);
  }
}

TEST(collection_over_ranks, every_small_matrix_has_one_answer_and_the_messages_of_its_structure) {
  int matrices = 0;
  for (const fs::path& file : small_files()) {
    AnyMatrix any;
    try {
      any = read_matrix(file.string()).matrix;
    } catch (const Error&) {
      continue;  // no matrix
    }
    std::visit(
        [&]<class T>(const SparseMatrix<T>& matrix) {
          if (matrix.rows() != matrix.cols() || matrix.symmetry == Symmetry::skew) return;
          SCOPED_TRACE(file.filename().string());
          ++matrices;
          expect_one_answer(std::make_shared<const SparseMatrix<T>>(matrix));
          expect_predicted_messages(matrix);
        },
        any);
  }
  EXPECT_GE(matrices, 10);
}

}  // namespace
}  // namespace palmette
