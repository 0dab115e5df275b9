// Scale and permute, solve over ranks, gather the pieces on all ranks, undo scaling and permutation.
#include "palmette/solver/rank_inverse.hpp"

#include <algorithm>

#include "palmette/solver/rank_checks.hpp"
#include "palmette/solver/rank_facts.hpp"

namespace palmette {

template <class T>
RankSolvePlan<T> RankInverse<T>::plan_for(const RankSolveParts<T>& parts, RankPlanOptions options,
                                          index_t rank) {
  if (parts.layers.several()) {
    options.layer = std::make_shared<const LayerSystem>(parts.layers.of(rank));
    if (options.device)
      options.systems = std::make_shared<const std::vector<LayerSystem>>(parts.layers.systems);
  }
  return RankSolvePlan<T>(parts.factor, options);
}

template <class T>
RankInverse<T>::RankInverse(const RankTeam& ranks, const RankSolveParts<T>& parts,
                            const RankPlanOptions& options, const PlannedTransports& planned)
    : ranks_(ranks),
      factor_(parts.factor),
      symbolic_(parts.symbolic),
      max_rhs_(options.max_rhs),
      plan_(plan_for(parts, options, ranks.transport.rank())),
      record_(ranks.team.size()) {
  prepare();
  rows_ = rows_by_rank(rows(), ranks_);
  run_.emplace(options.device ? PlannedTransports() : planned, ranks_.transport,
               [&] { return transport_plan_of_solves(options, parts.layers); });
}

template <class T>
void RankInverse<T>::prepare() {
  RankProgram* preparation = nullptr;
  agree_after(ranks_.transport, [&] { preparation = plan_.preparation(ranks_.transport); });
  if (preparation == nullptr) return;
  exchange(ranks_.transport, [&] { drive(*preparation, ranks_.transport, ranks_.team, ranks_.drive); });
  check_on_all(ranks_, [&] { plan_.load(); });
}

/// Devices have budgets of their own: what one of them cannot hold, no rank asks for.
template <class T>
void RankInverse<T>::reserve(index_t num_rhs) {
  if (memory_kind() == MemoryKind::automatic || reserved_ >= num_rhs) return;
  reserved_ = 0;
  check_on_all(ranks_, [&] { plan_.check(); });  // before any releases memory with the others
  check_on_all(ranks_, [&] { plan_.reserve(num_rhs); });
  exchange(ranks_.transport, [&] { plan_.allocate(); });
  reserved_ = num_rhs;
}

/// For the largest number of right-hand sides that are solved together; a run sends the messages of both
/// sweeps, or the pieces of x.
template <class T>
TransportPlan RankInverse<T>::transport_plan_of_solves(const RankPlanOptions& options,
                                                       const RankLayers& layers) const {
  const offset_t row_bytes =
      offset_t{padded_rhs(sizeof(T), max_rhs_)} * static_cast<offset_t>(sizeof(T));
  std::vector<std::int64_t> piece_bytes;
  for (const std::vector<index_t>& rows : rows_)
    piece_bytes.push_back(static_cast<std::int64_t>(rows.size()) * row_bytes);
  Traffic traffic =
      layers.several()
          ? predicted_layered_traffic(layers.systems, options.trees, row_bytes).all()
          : predicted_solve_traffic(*factor_->symbolic, *factor_->placement, options.trees, row_bytes);
  for (TrafficEntry& one : traffic.entries) one.messages *= options.rhs_groups;
  return with_gather(transport_plan(traffic), piece_bytes);
}

template <class T>
typename RankInverse<T>::Side RankInverse<T>::side(bool rows) const {
  const SymbolicFactor& symbolic = *symbolic_;
  const Permutation& order = rows ? symbolic.row : symbolic.column;
  return {order.new_to_old(), order.old_to_new(), rows ? factor_->row_scale : factor_->column_scale};
}

template <class T>
void RankInverse<T>::write_answer(const Side& out, const std::vector<SharedBytes>& pieces,
                                  DenseView<T> x) const {
  for (std::size_t rank = 0; rank < pieces.size(); ++rank) {
    const T* value = reinterpret_cast<const T*>(pieces[rank].data());
    for (index_t column = 0; column < x.cols; ++column)
      for (const index_t k : rows_[rank]) {
        const index_t row = out.place[k];
        x(row, column) = out.scaled(*value++, row);
      }
  }
}

template <class T>
void RankInverse<T>::apply(Operation operation, DenseView<const T> b, DenseView<T> x) {
  if (b.rows == 0) return;
  const bool plain = operation == Operation::plain;
  const Side in = side(plain), out = side(!plain);
  const std::span<const index_t> rows = this->rows();
  const auto num_rows = static_cast<index_t>(rows.size());
  for (index_t first = 0; first < b.cols; first += max_rhs_) {
    const index_t count = std::min(max_rhs_, b.cols - first);
    reserve(count);
    if (own_.cols < count) own_ = DenseMatrix<T>(num_rows, count);
    const DenseView<T> own = own_.view().columns(0, count);
    for (index_t column = 0; column < count; ++column)
      for (index_t k = 0; k < num_rows; ++k) {
        const index_t row = in.place[rows[k]];
        own(k, column) = in.scaled(b(row, first + column), row);
      }
    exchange(ranks_.transport, [&] {
      SendClock run(run_->begin(), record_);
      DriveOptions how = ranks_.drive;
      how.record = &record_;
      RankProgram& program =
          plan_.begin(operation, own, own, run);
      drive(program, run, ranks_.team, how);
    });
    exchange(ranks_.transport, [&] {
      const std::size_t bytes =
          static_cast<std::size_t>(num_rows) * count * sizeof(T);
      SharedBytes mine = pool_.copy({reinterpret_cast<const std::byte*>(own.data), bytes});
      write_answer(out, gather_from_all(run_->begin(), ranks_.team, std::move(mine), ranks_.drive),
                   x.columns(first, count));
    });
  }
}

#define PALMETTE_INSTANTIATE(T) template class RankInverse<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
