// Facts as bytes: a head of fixed size, the replaced pivots and their columns, the sentence of the failure.
#include "palmette/solver/rank_facts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "palmette/solver/entry_check.hpp"

namespace palmette {
namespace {

struct Head {
  std::int64_t columns = 0;
  std::int64_t replaced = 0;
  std::int64_t letters = 0;
  std::int64_t perturbed = 0;
  std::int64_t failed = 0;
  FailureKind kind = FailureKind::numerically_singular;
  index_t row = -1, column = -1, supernode = -1;
  Inertia inertia;
  double smallest = 0, largest = 0, log_modulus = 0;
  std::complex<double> sign = 1;
};

SharedBytes packed(const PivotFacts& facts, BytePool& pool) {
  const PivotReport& pivots = facts.pivots;
  Head head;
  head.columns = static_cast<std::int64_t>(pivots.perturbed_columns.size());
  head.replaced = static_cast<std::int64_t>(facts.replaced.size());
  head.perturbed = pivots.perturbed;
  head.inertia = pivots.inertia;
  head.smallest = pivots.smallest_pivot;
  head.largest = pivots.largest_pivot;
  head.log_modulus = pivots.log_abs_determinant;
  head.sign = pivots.determinant_sign;
  if (facts.failure) {
    head.failed = 1;
    head.kind = facts.failure->kind;
    head.row = facts.failure->row;
    head.column = facts.failure->column;
    head.supernode = facts.failure->supernode;
    head.letters = static_cast<std::int64_t>(facts.failure->message.size());
  }
  const std::size_t column_bytes = pivots.perturbed_columns.size() * sizeof(index_t),
                    replaced_bytes = facts.replaced.size() * sizeof(ReplacedPivot);
  SharedBytes bytes =
      pool.take(sizeof(Head) + replaced_bytes + column_bytes + static_cast<std::size_t>(head.letters));
  std::byte* to = bytes.writable().data();
  const auto append = [&](const void* from, std::size_t count) {
    if (count > 0) std::memcpy(to, from, count);
    to += count;
  };
  append(&head, sizeof(Head));
  append(facts.replaced.data(), replaced_bytes);
  append(pivots.perturbed_columns.data(), column_bytes);
  if (head.letters > 0) append(facts.failure->message.data(), head.letters);
  return bytes;
}

void join(const SharedBytes& bytes, PivotFacts& all) {
  Head head;
  std::memcpy(&head, bytes.data(), sizeof(Head));
  PivotReport& pivots = all.pivots;
  pivots.perturbed += static_cast<index_t>(head.perturbed);
  pivots.inertia.positive += head.inertia.positive;
  pivots.inertia.negative += head.inertia.negative;
  pivots.inertia.zero += head.inertia.zero;
  pivots.smallest_pivot = std::min(pivots.smallest_pivot, head.smallest);
  pivots.largest_pivot = std::max(pivots.largest_pivot, head.largest);
  pivots.log_abs_determinant += head.log_modulus;
  pivots.determinant_sign *= head.sign;
  const std::size_t known = all.replaced.size();
  all.replaced.resize(known + head.replaced);
  if (head.replaced > 0)
    std::memcpy(all.replaced.data() + known, bytes.data() + sizeof(Head),
                head.replaced * sizeof(ReplacedPivot));
  const auto* const columns = reinterpret_cast<const index_t*>(bytes.data() + sizeof(Head) +
                                                               head.replaced * sizeof(ReplacedPivot));
  pivots.perturbed_columns.insert(pivots.perturbed_columns.end(), columns, columns + head.columns);
  if (head.failed == 0 || (all.failure && all.failure->supernode <= head.supernode)) return;
  NumericalFailure& failure = all.failure.emplace();
  failure.kind = head.kind;
  failure.row = head.row;
  failure.column = head.column;
  failure.supernode = head.supernode;
  failure.message.assign(reinterpret_cast<const char*>(columns + head.columns),
                         head.letters);
}

}  // namespace

PivotFacts joined_over_ranks(const PivotFacts& mine, Transport& transport, ThreadTeam& team,
                             const DriveOptions& options) {
  constexpr std::size_t listed_columns = 1000;  // as PivotReport says
  BytePool pool;
  PivotFacts all;
  all.pivots.smallest_pivot = infinity;
  for (const SharedBytes& piece : gather_from_all(transport, team, packed(mine, pool), options))
    join(piece, all);
  PivotReport& pivots = all.pivots;
  std::sort(pivots.perturbed_columns.begin(), pivots.perturbed_columns.end());
  pivots.perturbed_columns.resize(std::min(pivots.perturbed_columns.size(), listed_columns));
  if (pivots.largest_pivot == 0) pivots.smallest_pivot = 0;
  return all;
}

std::vector<index_t> rows_of_all(const std::vector<SharedBytes>& pieces) {
  std::vector<index_t> all;
  for (const SharedBytes& piece : pieces) {
    const auto rows = items_of<index_t>(piece);
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return sorted_once(std::move(all));
}

std::vector<std::vector<index_t>> rows_by_rank(std::span<const index_t> mine, const RankTeam& ranks) {
  std::vector<std::vector<index_t>> all;
  BytePool pool;
  exchange(ranks.transport, [&] {
    for (const SharedBytes& piece :
         gather_from_all(ranks.transport, ranks.team, pool.copy(std::as_bytes(mine)), ranks.drive)) {
      const auto rows = items_of<index_t>(piece);
      all.emplace_back(rows.begin(), rows.end());
    }
  });
  return all;
}

CarriedCounts carried_by_ranks(const CarriedCounts& mine, Transport& transport) {
  return mine.with({}, [&](offset_t count, offset_t) {
    return static_cast<offset_t>(std::llround(transport.sum(static_cast<double>(count))));
  });
}

RankFigure figure_of_ranks(double mine, Transport& transport, ThreadTeam& team, const DriveOptions& options) {
  return figure_of(values_of_ranks(mine, transport, team, options));
}

}  // namespace palmette
