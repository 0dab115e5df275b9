// Ranks with one device each that share a plain triangle, over the emulator's network.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "palmette/solve/solve.hpp"
#include "tests/solve/device_plans.hpp"

namespace palmette::reference {

struct TriangleRanksSetting {
  int num_ranks = 1;
  index_t tasks = 1;
  bool lower = true;
  bool unit_diagonal = false;
  int seed = 1;
  std::int64_t most_polls = 0;
  Launcher launcher = {};
  int last_looks = 0;
  /// what plans get instead of a rank's network; empty: the network
  std::function<std::shared_ptr<DeviceNetwork>(int rank, std::shared_ptr<Device>,
                                               std::shared_ptr<DeviceNetwork>)>
      wrap = {};
};

/// A network whose kernels seem to run for ever while `*runs`.
class SlowNetwork final : public DeviceNetwork {
 public:
  SlowNetwork(std::shared_ptr<Device> device, std::shared_ptr<DeviceNetwork> inner,
              std::shared_ptr<std::atomic<bool>> runs)
      : DeviceNetwork(std::move(device)), inner_(std::move(inner)), runs_(std::move(runs)) {}
  void begin(const device::KernelCall& call, const device::LaunchShape& shape) override {
    inner_->begin(call, shape);
  }
  bool ended() override { return !*runs_ && inner_->ended(); }

 protected:
  std::shared_ptr<void> do_allocate(std::size_t bytes) override { return inner_->allocate(bytes); }

 private:
  std::shared_ptr<DeviceNetwork> inner_;
  std::shared_ptr<std::atomic<bool>> runs_;
};

template <class T>
struct TriangleRanks {
  TriangleRanks(const SparseMatrix<T>& triangle, const TriangleRanksSetting& given) : size(triangle.cols()) {
    EmulatedDeviceOptions emulated;
    emulated.emulator = {};  // with races and delayed stores
    emulated.blocks = 1 + given.seed % 3;
    emulated.emulator.seed = static_cast<std::uint64_t>(given.seed);
    emulated.emulator.resident_blocks = 1 + given.seed % 3;
    emulated.emulator.last_looks = given.last_looks;
    for (int rank = 0; rank < given.num_ranks; ++rank)
      devices.push_back(make_emulated_device(
          {.index = rank, .blocks = emulated.blocks, .threads = 32 << given.seed % 2}));
    networks = make_emulated_networks(devices, emulated, given.launcher);
    for (int rank = 0; rank < given.num_ranks; ++rank) {
      RankTriangleOptions options;
      options.lower = given.lower;
      options.unit_diagonal = given.unit_diagonal;
      options.rank = rank;
      options.num_ranks = given.num_ranks;
      options.device = devices[rank];
      options.network = given.wrap ? given.wrap(rank, devices[rank], networks[rank]) : networks[rank];
      options.tasks_per_rank = given.tasks;
      options.most_polls = given.most_polls;
      plans.push_back(plan_rank_triangle(triangle, options).value());
    }
  }
  int count() const { return static_cast<int>(plans.size()); }

  /// Its rows of b; then they are of x.
  DenseMatrix<T> own_rows(int rank, const DenseMatrix<T>& b) const {
    const auto rows = plans[rank].rows();
    DenseMatrix<T> own(static_cast<index_t>(rows.size()), b.cols);
    for (index_t j = 0; j < b.cols; ++j)
      for (std::size_t k = 0; k < rows.size(); ++k)
        own.view()(static_cast<index_t>(k), j) = b.view()(rows[k], j);
    return own;
  }
  /// All in one thread: each looks in turn whether the kernels have ended.
  DenseMatrix<T> solve(Operation operation, const DenseMatrix<T>& b) {
    SimulatedWorld world(count(), {});
    std::vector<DenseMatrix<T>> mine;
    for (int rank = 0; rank < count(); ++rank) mine.push_back(own_rows(rank, b));
    std::vector<RankProgram*> programs;
    for (int rank = 0; rank < count(); ++rank)
      programs.push_back(&plans[rank].begin(operation, std::as_const(mine[rank]).view(), mine[rank].view(),
                                            world.rank(rank)));
    for (RankProgram* const one : programs) one->start();
    for (auto one = programs.rbegin(); one != programs.rend(); ++one) {
      (void)(*one)->run_one_task(0);
      EXPECT_TRUE((*one)->done());
    }
    DenseMatrix<T> x(b.rows, b.cols);
    for (int rank = 0; rank < count(); ++rank)
      for (index_t j = 0; j < b.cols; ++j)
        for (std::size_t k = 0; k < plans[rank].rows().size(); ++k)
          x.view()(plans[rank].rows()[k], j) = mine[rank].view()(static_cast<index_t>(k), j);
    return x;
  }
  std::string error_of(Operation operation, const DenseMatrix<T>& b) {
    try {
      (void)solve(operation, b);
    } catch (const DeviceError& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  index_t size;
  std::vector<std::shared_ptr<Device>> devices;
  std::vector<std::shared_ptr<DeviceNetwork>> networks;
  std::vector<RankTrianglePlan<T>> plans;
};

/// Rows in four levels, with small whole numbers and a diagonal of ones and twos: all sums are exact, so x
/// has the same values in every order of additions.
template <class T>
SparseMatrix<T> exact_triangle(index_t n, bool lower, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto number = [&] { return static_cast<real_t<T>>(static_cast<int>(random() % 7) - 3); };
  Triplets<T> kept{n, n, {}, {}, {}};
  const auto put = [&](index_t row, index_t column, T value) {
    kept.row.push_back(lower ? row : column);
    kept.column.push_back(lower ? column : row);
    kept.value.push_back(value);
  };
  const index_t level = std::max<index_t>(1, (n + 3) / 4);
  for (index_t row = 0; row < n; ++row) {
    put(row, row, T(static_cast<real_t<T>>(1 + random() % 2)));
    for (int k = 0; row >= level && k < 4; ++k) {
      T value(number());
      if constexpr (is_complex_v<T>) value = T(number(), number());
      const auto place = static_cast<index_t>(random() % static_cast<unsigned>(level));
      put(row, (row / level - 1) * level + place, value);
    }
  }
  return from_triplets(kept);
}

template <class T>
DenseMatrix<T> whole_numbers(index_t n, index_t num_rhs) {
  std::mt19937 random(5);
  DenseMatrix<T> b(n, num_rhs);
  for (T& value : b.values) value = T(static_cast<real_t<T>>(static_cast<int>(random() % 19) - 9));
  return b;
}

/// Two entries at most in a row, and in a column, beside the diagonal: x has the same bits in any order of
/// additions.
inline SparseMatrix<double> two_before_each(index_t n) {
  Triplets<double> kept{n, n, {}, {}, {}};
  const auto put = [&](index_t row, index_t column, double value) {
    kept.row.push_back(row), kept.column.push_back(column), kept.value.push_back(value);
  };
  for (index_t row = 0; row < n; ++row) {
    put(row, row, 3 + row % 5);
    if (row > 0) put(row, row - 1, 0.7);
    if (row > 3) put(row, row - 4, -0.3 * (1 + row % 3));
  }
  return from_triplets(kept);
}

/// Any pattern, not closed under elimination; a diagonal that dominates.
template <class T>
SparseMatrix<T> random_triangle(index_t n, bool lower, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto value = [&] { return static_cast<real_t<T>>(static_cast<int>(random() % 200) - 100) / 100; };
  Triplets<T> kept{n, n, {}, {}, {}};
  for (index_t row = 0; row < n; ++row) {
    kept.row.push_back(row), kept.column.push_back(row), kept.value.push_back(T(8) + T(value()));
    for (int k = 0; row > 0 && k < 4; ++k) {
      const index_t column = static_cast<index_t>(random() % static_cast<unsigned>(row));
      kept.row.push_back(lower ? row : column), kept.column.push_back(lower ? column : row);
      T entry = T(value());
      if constexpr (is_complex_v<T>) entry = T(value(), value());
      kept.value.push_back(entry);
    }
  }
  return from_triplets(kept);
}

}  // namespace palmette::reference
