// The selected inverse over ranks: the recurrence where the factor lies, and its check against solutions.
#include <algorithm>

#include "palmette/solver/inverse_columns.hpp"
#include "palmette/solver/rank_checks.hpp"
#include "palmette/solver/rank_solver.hpp"
#include "palmette/solver/rank_state.hpp"

namespace palmette {
namespace {

/// An entry of a checked column.
template <class T>
struct KnownPlace {
  std::size_t number;  // of the column, among those checked
  index_t row;
  T value;
};

}  // namespace

template <class T>
RankSelectedInverse<T> RankSolver<T>::State::select_inverse(InverseReport& report) {
  const Stopwatch watch;
  const RankFactor<T>* factor = &made.inverse->factor();
  RankInverseSizes sizes;
  sizes.kind = factor->kind;
  sizes.scalar_bytes = sizeof(T);
  std::optional<RankFactor<T>> returned;
  ReturnedFactorBytes returning;
  if (made.layers.several()) {
    const FactorOfLayers layers{made.layers.systems, made.symbolic, made.placement};
    check_on_all(ranks(), [&] { returning = returned_factor_bytes(layers, sizes, transport.rank()); });
    returned = factor_from_layers(*factor, layers, sizes, transport, team);
    factor = &*returned;
  }
  std::optional<RankInverseRun<T>> work;
  check_on_all(ranks(), [&] { work.emplace(*factor, sizes, transport, team, ranks().drive); });
  RankSelectedInverse<T> inverse = work->run();
  inverse.counts.memory_bytes = returning.copy + std::max(returning.messages, inverse.counts.memory_bytes);
  report.seconds += watch.seconds();
  report.flops = transport.sum(inverse.counts.flops);
  report.memory_bytes = std::llround(transport.sum(static_cast<double>(inverse.memory_bytes())));
  report.messages = std::llround(transport.sum(inverse.counts.messages));
  report.message_bytes = transport.sum(inverse.counts.message_bytes);
  if (const index_t replaced = made.report.run.factorize->pivots.perturbed; replaced > 0)
    report.notes.push_back(note_on_replaced_pivots(replaced));
  return inverse;
}

template <class T>
Outcome<void> RankSolver<T>::State::check_selected(const RankSelectedInverse<T>& inverse,
                                                   const InverseRequest& request, InverseReport& report) {
  const std::vector<index_t> columns = columns_to_check(size(), request);
  std::vector<KnownPlace<T>> mine;
  for (std::size_t k = 0; k < columns.size(); ++k)
    for (index_t row = 0; row < size(); ++row)
      if (const std::optional<T> value = inverse.entry(row, columns[k])) mine.push_back({k, row, *value});
  std::vector<std::vector<KnownOfColumn<T>>> known(columns.size());
  BytePool pool;
  exchange(transport, [&] {
    for (const SharedBytes& piece : gather_from_all(
             transport, team, pool.copy(std::as_bytes(std::span<const KnownPlace<T>>(mine))), ranks().drive))
      for (const KnownPlace<T>& one : items_of<KnownPlace<T>>(piece))
        known[one.number].push_back({one.row, one.value});
  });
  const Outcome<void> compared = compare_columns<T>(
      {solve_whole(), size()}, columns, [&](std::size_t k) { return known[k]; }, report);
  if (!compared) return compared.failure();
  report.verified = report.checked_columns > 0 && report.notes.empty();
  return {};
}

template <class T>
Outcome<CheckedRankInverse<T>> RankSolver<T>::selected_inverse(const InverseRequest& request) {
  return with_memory_errors(
      "out of memory while the selected inverse was computed over ranks",
      [&]() -> Outcome<CheckedRankInverse<T>> {
        State& state = *state_;
        check_on_all(state.ranks(), [&] { state.made.input->check_unchanged(); });
        const std::uint64_t numbers[] = {request.seed, static_cast<std::uint64_t>(request.check_columns)};
        check_same_on_all(state.ranks(), checksum(std::as_bytes(std::span(numbers))), "the request",
                          "pass the same on all ranks");
        return result_of_exchange(state.transport, [&]() -> Outcome<CheckedRankInverse<T>> {
          CheckedRankInverse<T> made;
          made.inverse = state.select_inverse(made.report);
          const Outcome<void> checked = state.check_selected(made.inverse, request, made.report);
          if (!checked) return checked.failure();
          return made;
        });
      });
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template RankSelectedInverse<T> RankSolver<T>::State::select_inverse(InverseReport&);               \
  template Outcome<void> RankSolver<T>::State::check_selected(const RankSelectedInverse<T>&,          \
                                                              const InverseRequest&, InverseReport&); \
  template Outcome<CheckedRankInverse<T>> RankSolver<T>::selected_inverse(const InverseRequest&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
