// What solve and trisolve share: read and check everything first, then solve, write and report.
#pragma once

#include <memory>

#include "cli/input.hpp"
#include "cli/report_json.hpp"
#include "cli/report_table.hpp"

namespace palmette::cli {

class SystemRun {
 public:
  /// Checks that results can be written, reads right-hand sides and matrix, and checks that they fit.
  SystemRun(std::string command, const MatrixOptions& matrix, const SolvingOptions& solving,
            const OutputOptions& output);

  /// The same for factors that are kept in a file, of n rows; see palmette factorize.
  SystemRun(const std::string& factors, index_t n, const SolvingOptions& solving,
            const OutputOptions& output);

  const ReadResult& input() const { return input_; }
  ProgressBar& progress() { return progress_; }
  /// The matrix in the requested precision. Call it only once.
  AnyMatrix take_matrix();

  /// Solve with a Solver or TriangularSolver of the matrix, write, report. @returns the exit
  /// code
  template <class T, class AnySolver>
  int solve_and_report(AnySolver& solver) {
    const index_t n = solver.size();
    DenseMatrix<T> solution = rhs_.make<T>(n);
    progress_.begin("solve");
    const Report report =
        solver.solve(std::as_const(solution).view(), solution.view(), solving_->request).value();
    return report_solution<T>(report, solution);
  }
  /// Write and report what a solver has found. @returns the exit code
  template <class T>
  int report_solution(const Report& report, const DenseMatrix<T>& solution) {
    progress_.end();
    return this->report(report, to_json(report), writer(solution));
  }

  /// Solve for some rows of x alone, by the branches of the tree that these and b's entries need.
  template <class T>
  int solve_rows_and_report(Solver<T>& solver, const std::vector<index_t>& rows) {
    const SparseMatrix<T> b = entries_of(rhs_.make<T>(solver.size()));
    EntryRequest request;
    request.operation = solving_->request.operation;
    request.threads = solving_->request.threads;
    progress_.begin("solve");
    const SolvedEntries<T> solved = solver.solve_entries(b, rows, request).value();
    progress_.end();
    return report_rows(solver.report(), solved.report, b.nnz(), writer(solved.x));
  }

  index_t num_rhs() const { return rhs_.num_rhs(); }
  bool has_complex_rhs() const { return rhs_.is_complex(); }
  /// n × k. @throws as RightHandSide::make
  template <class T>
  DenseMatrix<T> right_hand_sides(index_t n) const {
    return rhs_.make<T>(n);
  }
  /// Write and report the solution of ranks. @returns the exit code
  template <class T>
  int report_ranks(const RankReport& report, const DenseMatrix<T>& solution) {
    progress_.end();
    figures_.ranks = &report;
    return this->report(report.run, to_json(report), writer(solution));
  }

 private:
  using WriteSolution = std::function<void(const std::string& path)>;
  template <class T>
  WriteSolution writer(const DenseMatrix<T>& solution) const {
    return [this, &solution](const std::string& path) {
      write_dense<T>(path, solution.view(), "solution, made by palmette " + command_);
    };
  }
  /// The entries of right-hand sides that are not zero.
  template <class T>
  static SparseMatrix<T> entries_of(const DenseMatrix<T>& dense) {
    Triplets<T> entries{dense.rows, dense.cols, {}, {}, {}};
    for (index_t column = 0; column < dense.cols; ++column)
      for (index_t row = 0; row < dense.rows; ++row)
        if (const T value = dense.view()(row, column); value != T(0)) {
          entries.row.push_back(row);
          entries.column.push_back(column);
          entries.value.push_back(value);
        }
    return from_triplets(entries);
  }
  int report(const Report& report, Json document, const WriteSolution& write);
  /// @param entries  of the right-hand sides
  int report_rows(const Report& report, const EntryReport& rows, offset_t entries,
                  const WriteSolution& write);
  std::optional<Failure> write_solution(const WriteSolution& write);

  std::string command_;
  const SolvingOptions* solving_;
  const OutputOptions* output_;
  Stopwatch since_start_;
  ProgressBar progress_;
  RunFigures figures_;
  RightHandSide rhs_;
  ReadResult input_;
};

}  // namespace palmette::cli
