// Where the ranks of a command live: alone, as threads of this process, or as processes of an MPI launcher.
#pragma once

#include <functional>
#include <memory>

#include "cli/input.hpp"
#include "cli/rank_options.hpp"

namespace palmette::cli {

/// The transport that was asked for, or the usual one here.
/// @throws UsageError if the launcher does not fit it
RankTransport transport_of_run(const RankOptions& ranks);

/// What the options say of a factorization over ranks.
RankSolverOptions rank_solver_options(const KindAndOrder& kind_and_order, const RankOptions& ranks,
                                      int threads, index_t n);

/// Of a launched process: begin MPI, and call `work`. If it fails, the ranks report together: one of them
/// prints. @returns the exit code of all
int run_under_mpi(const RankOptions& ranks, const RankTransport& wanted, const OutputOptions& output,
                  const std::function<int(const MpiExchange& mpi)>& work);

/// The options of ranks that only solve, while another writes.
SolvingOptions without_output(SolvingOptions solving);
inline OutputOptions no_output() { return {"", true}; }

/// One rank of the command.
struct RankSeat {
  Transport& transport;
  std::string_view name;              ///< of the transport
  const MpiExchange* mpi = nullptr;   ///< of a process
  bool speaks() const { return transport.rank() == 0; }
};
/// Call `work` on every rank. Threads that fail must do so together. @returns the exit code of rank 0
int run_on_every_rank(const RankOptions& ranks, const OutputOptions& output,
                      const std::function<int(const RankSeat& seat)>& work);

/// A matrix that every rank needs whole.
struct RankMatrix {
  const std::string& path;
  std::function<AnyMatrix(bool speaks)> read;             ///< @param speaks  shows progress
  std::function<void(Transport&)> check = [](Transport&) {};  ///< before it is read, by all ranks
  /// what the options alone tell: before anything else, where one of all processes reports
  std::function<void()> refuse = [] {};
};
/// As run_on_every_rank, with the matrix: threads of this process share one, processes read it each.
int run_with_matrix(const RankOptions& ranks, const OutputOptions& output, const RankMatrix& matrix,
                    const std::function<int(std::shared_ptr<AnyMatrix> mine, const RankSeat& seat)>& work);

/// A square matrix for the named subcommand. All must outlive it.
RankMatrix square_matrix_of_ranks(const MatrixOptions& matrix, int threads, const OutputOptions& output,
                                  const char* command, std::function<void()> refuse);
/// What ranks that compute, and do not solve, have no use for. @throws UsageError
void refuse_options_of_solves(const RankOptions& ranks, const char* command);
/// As run_with_matrix, with work(std::shared_ptr<const SparseMatrix<T>>, seat).
template <class Work>
int run_with_typed_matrix(const RankOptions& ranks, const OutputOptions& output, const RankMatrix& matrix,
                          const Work& work) {
  return run_with_matrix(ranks, output, matrix,
                         [&](const std::shared_ptr<AnyMatrix>& mine, const RankSeat& seat) {
                           return std::visit(
                               [&]<class T>(const SparseMatrix<T>& given) {
                                 // Refers to the matrix that `mine` keeps.
                                 return work(std::shared_ptr<const SparseMatrix<T>>(mine, &given), seat);
                               },
                               *mine);
                         });
}

/// Tell the options of a solver over ranks what carries its messages.
template <class Options>
void set_transport(const RankSeat& seat, Options& options) {
  options.transport_name = seat.name;
  if (seat.mpi == nullptr) return;
  options.transport_note = seat.mpi->note;
  options.planned = seat.mpi->planned;
}

}  // namespace palmette::cli
