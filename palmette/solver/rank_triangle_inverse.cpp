// Every rank brings its rows of b to its device; the rows of x go to all.
#include "palmette/solver/rank_triangle_inverse.hpp"

#include <algorithm>

#include "palmette/solver/rank_checks.hpp"
#include "palmette/solver/rank_facts.hpp"
#include "palmette/solver/rank_network.hpp"

namespace palmette {

template <class T>
RankTriangleInverse<T>::RankTriangleInverse(Transport& transport, const TriangularSolverOptions& options)
    : transport_(transport),
      watchdog_seconds_(options.watchdog_seconds),
      device_(options.triangle.plan.device) {
  transport_.set_watchdog(watchdog_seconds_);
}

template <class T>
Outcome<std::shared_ptr<RankTriangleInverse<T>>> RankTriangleInverse<T>::create(
    Transport& transport, const SparseMatrix<T>& triangle, const TriangularSolverOptions& options) {
  std::shared_ptr<RankTriangleInverse> made(new RankTriangleInverse(transport, options));
  RankTriangleOptions planned;
  planned.lower = options.triangle.lower;
  planned.unit_diagonal = options.triangle.unit_diagonal;
  planned.rank = transport.rank();
  planned.num_ranks = transport.num_ranks();
  planned.device = made->device_;
  planned.tasks_per_rank = options.triangle.plan.of_world.tasks_per_element;
  planned.most_polls = options.triangle.plan.of_world.most_polls;
  check_on_all(made->ranks(), [&] {
    if (!made->device_) throw UsageError("a plain triangle over ranks needs a device on each: name one");
    check_solve_method(options.method, {SolveWhere::devices_by_columns});
    if (options.method != SolveMethod::automatic && options.method != SolveMethod::devices_pushed)
      throw UsageError("the solve method " + std::string(name_of(options.method)) +
                       " is for devices of one process; over ranks choose auto or devices_pushed");
  });
  planned.network = network_of_ranks(made->ranks(), made->device_);
  std::optional<Outcome<RankTrianglePlan<T>>> plan;
  check_on_all(made->ranks(), [&] { plan.emplace(plan_rank_triangle(triangle, planned)); });
  if (!*plan) return plan->failure();
  made->plan_.emplace(std::move(*plan).value());
  made->rows_ = rows_by_rank(made->plan_->rows(), made->ranks());
  return made;
}

template <class T>
SolveTrace RankTriangleInverse<T>::apply(Operation operation, DenseView<const T> b, DenseView<T> x) {
  SolveTrace trace{SolveMethod::devices_pushed, 1, {}, {}};
  const DeviceCounts before = device_->counts();
  for (index_t first = 0; first < b.cols; first += plan_->max_rhs()) {
    const index_t count = std::min(plan_->max_rhs(), b.cols - first);
    solve_block(operation, b.columns(first, count), x.columns(first, count));
  }
  trace.device = device_->counts() - before;
  return trace;
}

/// Vectors are those of both directions: an error leaves room for neither, success for what had room before.
template <class T>
void RankTriangleInverse<T>::reserve(Operation operation, index_t num_rhs) {
  const std::size_t direction = operation == Operation::plain ? 0 : 1;
  if (reserved_[direction] >= num_rhs) return;
  std::array<index_t, 2> reserved{};
  reserved.swap(reserved_);
  check_on_all(ranks(), [&] { plan_->check(); });  // before any releases memory with the others
  check_on_all(ranks(), [&] { plan_->reserve(operation, num_rhs); });
  exchange(transport_, [&] { plan_->allocate(); });
  reserved[direction] = num_rhs;
  reserved_ = reserved;
}

template <class T>
void RankTriangleInverse<T>::solve_block(Operation operation, DenseView<const T> b, DenseView<T> x) {
  reserve(operation, b.cols);
  const std::span<const index_t> rows = plan_->rows();
  DenseMatrix<T> own(static_cast<index_t>(rows.size()), b.cols);
  for (index_t j = 0; j < b.cols; ++j)
    for (std::size_t k = 0; k < rows.size(); ++k) own.view()(static_cast<index_t>(k), j) = b(rows[k], j);
  exchange(transport_, [&] {
    drive(plan_->begin(operation, std::as_const(own).view(), own.view(), transport_), transport_, team_,
          {watchdog_seconds_});
  });
  gather(own.view(), x);
}

template <class T>
void RankTriangleInverse<T>::gather(DenseView<const T> own, DenseView<T> x) {
  exchange(transport_, [&] {
    const std::size_t bytes = static_cast<std::size_t>(own.rows) * own.cols * sizeof(T);
    SharedBytes mine = pool_.copy({reinterpret_cast<const std::byte*>(own.data), bytes});
    const std::vector<SharedBytes> pieces =
        gather_from_all(transport_, team_, std::move(mine), ranks().drive);
    for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
      const T* value = reinterpret_cast<const T*>(pieces[rank].data());
      for (index_t j = 0; j < x.cols; ++j)
        for (const index_t row : rows_[rank]) x(row, j) = *value++;
    }
  });
}

#define PALMETTE_INSTANTIATE(T) template class RankTriangleInverse<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
