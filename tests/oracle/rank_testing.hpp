// What tests of solves over ranks share: right-hand sides, transports with adverse delivery, backward errors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "../factorize/factor_testing.hpp"
#include "palmette/solve/solve.hpp"

namespace palmette::testing {

/// Whether a sanitizer looks on: what it looks for does not depend on sizes, and it takes its time.
#if defined(PALMETTE_ADDRESS_SANITIZER) || defined(PALMETTE_THREAD_SANITIZER)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

inline SimulationOptions adverse(std::uint64_t seed) {
  SimulationOptions simulation;
  simulation.seed = seed;
  simulation.jitter = static_cast<double>(seed % 3) * 30;
  simulation.slow_ranks = 0.3;
  simulation.slowness = 100;
  simulation.idle_wakeups = 0.2;
  return simulation;
}

/// b of the permuted matrix: whole numbers that differ from row to row.
template <class T>
std::vector<T> right_sides(index_t n, index_t num_rhs) {
  std::vector<T> b;
  for (index_t rhs = 0; rhs < num_rhs; ++rhs)
    for (index_t row = 0; row < n; ++row)
      b.push_back(scalar<T>((row * 7 + rhs * 3) % 11 - 5, (row * 5 + rhs) % 7 - 3));
  return b;
}

/// Largest of |b − op(S)·x| / (|S|·|x| + |b|) by row, S permuted and scaled.
template <class T>
double backward_error(const Problem<T>& problem, Operation operation, const std::vector<T>& x,
                      const std::vector<T>& b, index_t num_rhs) {
  const SparseMatrix<T>& a = problem.matrix;
  const index_t n = a.rows();
  const std::vector<index_t>& new_row = problem.symbolic->row.old_to_new();
  const std::vector<index_t>& new_column = problem.symbolic->column.old_to_new();
  double worst = 0;
  for (index_t rhs = 0; rhs < num_rhs; ++rhs) {
    std::vector<std::complex<double>> residual(n);
    std::vector<double> size(n);
    for (index_t row = 0; row < n; ++row) {
      residual[row] = std::complex<double>(b[row + rhs * n]);
      size[row] = std::abs(residual[row]);
    }
    for (index_t column = 0; column < n; ++column)
      for (offset_t entry = a.pattern.column_ptr[column]; entry < a.pattern.column_ptr[column + 1]; ++entry) {
        const index_t row = a.pattern.row_index[entry];
        const double scale =
            (problem.ordering.row_scale.empty() ? 1 : problem.ordering.row_scale[row]) *
            (problem.ordering.column_scale.empty() ? 1 : problem.ordering.column_scale[column]);
        std::complex<double> value = std::complex<double>(a.values[entry]) * scale;
        index_t to = new_row[row], from = new_column[column];
        if (operation != Operation::plain) std::swap(to, from);
        if (operation == Operation::adjoint) value = std::conj(value);
        const std::complex<double> factor(x[from + rhs * n]);
        residual[to] -= value * factor;
        size[to] += std::abs(value) * std::abs(factor);
      }
    for (index_t row = 0; row < n; ++row)
      if (size[row] > 0) worst = std::max(worst, std::abs(residual[row]) / size[row]);
  }
  return worst;
}

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

/// A program that outlives the run that borrows it. A driver leaves a program that is done, so no message may
/// come behind that.
struct Borrowed final : RankProgram {
  explicit Borrowed(RankProgram& one) : program(one) {}
  void start() override { program.start(); }
  void on_message(const Message& message) override {
    EXPECT_FALSE(program.done()) << "a message comes to a rank that is done";
    program.on_message(message);
  }
  bool run_one_task(int thread) override { return program.run_one_task(thread); }
  int take_task() override { return program.take_task(); }
  void finish_task(int ticket) override { program.finish_task(ticket); }
  bool has_tickets() const override { return program.has_tickets(); }
  bool done() const override { return program.done(); }
  double last_cost() const override { return program.last_cost(); }
  TaskNote last_task(int thread) const override { return program.last_task(thread); }
  std::string waiting_for() const override { return program.waiting_for(); }
  RankProgram& program;
};

}  // namespace palmette::testing
