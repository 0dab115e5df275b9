// One exit code and one message for all ranks.
#include "cli/rank_world.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "cli/failure.hpp"
#include "cli/progress_bar.hpp"

namespace palmette::cli {

RankTransport transport_of_run(const RankOptions& ranks) {
  const RankWorld usual = launched_ranks() > 0 ? RankWorld::mpi : RankWorld::loopback;
  const RankTransport transport = ranks.transport.value_or(usual_transport(usual));
  if (transport.world != RankWorld::mpi && launched_ranks() > 1)
    throw UsageError(
        fmt::format("--transport {} is for one process, but a launcher has started {}; leave out either",
                    transport.name, launched_ranks()));
  return transport;
}

RankSolverOptions rank_solver_options(const KindAndOrder& kind_and_order, const RankOptions& ranks,
                                      int threads, index_t n) {
  OrderChoice choice = order_choice(kind_and_order.order, n);
  RankSolverOptions options;
  options.kind = kind_and_order.kind;
  options.ordering = choice.method;
  options.user_ordering = std::move(choice.user);
  const LayeredGrid grid = ranks.grid.value_or(LayeredGrid{{0, 0}, 1});
  options.grid = grid.grid;
  options.layers = grid.layers;
  options.map = ranks.map.value_or(PlacementMap::subtree_to_subcube);
  options.trees = ranks.trees.value_or(TreeShape::binary);
  options.delivery = ranks.delivery.value_or(BlockDelivery::push);
  options.threads = std::max(1, threads);
  options.watchdog_seconds = ranks.watchdog_seconds;
  options.memory = ranks.memory.value_or(MemoryKind::automatic);
  return options;
}

RankMatrix square_matrix_of_ranks(const MatrixOptions& matrix, int threads, const OutputOptions& output,
                                  const char* command, std::function<void()> refuse) {
  const auto read = [&matrix, threads, &output, command](bool speaks) {
    ProgressBar progress(speaks && !output.quiet);
    ReadResult input = read_input(matrix, threads, progress);
    check_square(input, matrix.path, command);
    progress.end();
    return std::move(input.matrix);
  };
  return {matrix.path, read, [](Transport&) {}, std::move(refuse)};
}

void refuse_options_of_solves(const RankOptions& ranks, const char* command) {
  if (ranks.chooses_grid)
    throw UsageError(
        fmt::format("--grid auto is for 'palmette solve A.mtx'; {} takes numbers, as 2x3", command));
  if (ranks.memory) throw UsageError("--memory is for ranks with devices, which solve: leave it out");
}

SolvingOptions without_output(SolvingOptions solving) {
  solving.out.clear();
  return solving;
}

#ifdef PALMETTE_COMMAND_HAS_MPI

namespace {

/// Several ranks may fail, each for its own reason: the first that knows a reason reports for all.
int finish_failed_together(const OutputOptions& output, Transport& transport) {
  const Failure failure = describe_current_exception();
  const bool knows_why = failure.kind != "ranks";
  const index_t num_ranks = transport.num_ranks(), place = num_ranks - transport.rank();
  const int loudest = transport.agree(knows_why ? num_ranks + place : place);
  const int code = transport.agree(failure.exit_code);
  if (loudest != (knows_why ? num_ranks + place : place)) return code;
  finish_failed(output.json, failure);
  return code;
}

}  // namespace

int run_under_mpi(const RankOptions& ranks, const RankTransport& wanted, const OutputOptions& output,
                  const std::function<int(const MpiExchange& mpi)>& work) {
  const MpiSession session;
  const MpiExchange mpi = make_mpi_exchange(session.world(), std::string(wanted.name));
  if (launched_ranks() > 0 && mpi.transport->num_ranks() != launched_ranks())
    throw UsageError(
        fmt::format("the launcher has started {} processes, but MPI knows of {}: use the mpiexec of the MPI "
                    "that palmette was built with",
                    launched_ranks(), mpi.transport->num_ranks()));
  mpi.transport->set_watchdog(ranks.watchdog_seconds);
  try {
    return work(mpi);
  } catch (...) {
    return finish_failed_together(output, *mpi.transport);
  }
}

#else

int run_under_mpi(const RankOptions&, const RankTransport&, const OutputOptions&,
                  const std::function<int(const MpiExchange& mpi)>&) {
  throw UsageError(
      "this palmette was built without MPI: --transport threads:N works, or build it with -DPALMETTE_MPI=ON");
}

#endif

int run_on_every_rank(const RankOptions& ranks, const OutputOptions& output,
                      const std::function<int(const RankSeat& seat)>& work) {
  const RankTransport wanted = transport_of_run(ranks);
  int code = exit_success;
  const auto sit = [&](Transport& plain, const MpiExchange* mpi) {
    Checked checked(plain);
    Transport& transport = ranks.checked ? static_cast<Transport&>(checked) : plain;
    const int of_rank = work({transport, mpi != nullptr ? std::string_view(mpi->name) : wanted.name, mpi});
    if (transport.rank() == 0) code = of_rank;
    return of_rank;
  };
  if (wanted.world == RankWorld::mpi)
    return run_under_mpi(ranks, wanted, output, [&](const MpiExchange& mpi) {
      const int of_rank = sit(*mpi.transport, &mpi);
      return mpi.transport->agree(of_rank);
    });
  if (wanted.world == RankWorld::threads) {
    ThreadWorld world(ranks.thread_ranks);
    world.run([&](Transport& thread) { sit(thread, nullptr); });
  } else {
    const std::unique_ptr<Transport> alone = make_loopback();
    sit(*alone, nullptr);
  }
  return code;
}

int run_with_matrix(const RankOptions& ranks, const OutputOptions& output, const RankMatrix& matrix,
                    const std::function<int(std::shared_ptr<AnyMatrix> mine, const RankSeat& seat)>& work) {
  std::shared_ptr<AnyMatrix> read;
  const bool is_mpi = transport_of_run(ranks).world == RankWorld::mpi;
  if (!is_mpi) {
    matrix.refuse();
    read = std::make_shared<AnyMatrix>(matrix.read(true));
  }
  return run_on_every_rank(ranks, output, [&](const RankSeat& seat) {
    if (is_mpi) matrix.refuse();
    matrix.check(seat.transport);
    std::shared_ptr<AnyMatrix> mine = read;
    if (!mine)
      agree_after(seat.transport, [&] {
        if (seat.transport.num_ranks() > 1 && matrix.path == "-")
          throw UsageError("several processes cannot read one standard input; give a file");
        mine = std::make_shared<AnyMatrix>(matrix.read(seat.speaks()));
      });
    return work(std::move(mine), seat);
  });
}

}  // namespace palmette::cli
