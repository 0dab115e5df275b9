// What the command reads: the matrix in the requested precision, right-hand sides, and permutations.
#pragma once

#include "cli/options.hpp"
#include "cli/progress_bar.hpp"

namespace palmette::cli {

/// Read a matrix from a file or from standard input, with all processors. @throws IoError
ReadResult read_input(const MatrixOptions& options, int threads, ProgressBar& progress);

/// The right-hand sides of --rhs and --num-rhs: checked before anything is computed.
class RightHandSide {
 public:
  /// Reads the file, if --rhs names one. @throws UsageError, IoError
  explicit RightHandSide(const SolvingOptions& options);
  bool is_complex() const;
  index_t num_rhs() const { return num_rhs_; }
  /// n × k. @throws DimensionError if the file has another number of rows, or fewer columns than requested
  template <class T>
  DenseMatrix<T> make(index_t n) const;
  /// The checks of make() alone.
  void check(index_t n) const;

 private:
  std::string text_;
  index_t num_rhs_ = 1;
  std::optional<std::uint64_t> seed_;  // random
  std::optional<AnyDense> file_;       // neither: ones
};

/// The matrix in another precision, or complex; moved if nothing changes.
AnyMatrix with_scalar(AnyMatrix matrix, bool is_complex, bool is_single);

/// @throws DimensionError, naming the file and its size, unless the matrix is square
void check_square(const ReadResult& input, const std::string& path, const std::string& command);

/// Method and permutation for --order; reads the file if it is one. @throws DimensionError if its size is not
/// n
struct OrderChoice {
  OrderingMethod method = OrderingMethod::automatic;
  Permutation user;
};
OrderChoice order_choice(const std::string& text, index_t n);

/// Options of a solver whose report shows no fraction of the machine's bandwidth, which is not measured then.
SolverOptions unmeasured_options(const KindAndOrder& how, index_t n, int threads, ProgressBar& progress);

}  // namespace palmette::cli
