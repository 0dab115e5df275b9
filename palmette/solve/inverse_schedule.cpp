// A pass over the structure that counts what the recurrence over ranks will send, and cuts it into rounds.
#include "palmette/solve/inverse_schedule.hpp"

#include <numeric>
#include <set>

namespace palmette::solve_detail {

void InverseLoad::add(const InverseLoad& other) {
  for (std::size_t rank = 0; rank < sent_.size(); ++rank) {
    sent_[rank] += other.sent_[rank];
    received_[rank] += other.received_[rank];
    travelled_[rank] += other.travelled_[rank];
  }
}

double InverseLoad::most() const {
  double most = 0;
  for (std::size_t rank = 0; rank < sent_.size(); ++rank)
    most = std::max({most, sent_[rank], received_[rank]});
  return most;
}

namespace {

/// −1: the supernode's blocks, or those of its descendants, lie on several ranks; else all are on that one.
std::vector<index_t> lonely_ranks(const SymbolicFactor& symbolic, const Placement& placement) {
  std::vector<index_t> rank(symbolic.num_supernodes());
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const RankGrid grid = placement.grid_of_column(s);
    rank[s] = grid.grid.num_ranks() == 1 ? grid.first : -1;
  }
  // Descendants come before their ancestors.
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    if (const index_t up = symbolic.parent[s]; up >= 0 && rank[s] != rank[up]) rank[up] = -1;
  return rank;
}

std::vector<index_t> depths(const SymbolicFactor& symbolic) {
  std::vector<index_t> depth(symbolic.num_supernodes(), 0);
  for (index_t s = symbolic.num_supernodes() - 1; s >= 0; --s)
    if (const index_t up = symbolic.parent[s]; up >= 0) depth[s] = depth[up] + 1;
  return depth;
}

/// Puts items into rounds: a further one while no rank's bytes exceed the limit, and the key is the same.
class Rounds {
 public:
  Rounds(index_t num_ranks, double limit) : limit_(limit), of_round_(num_ranks), peak_(num_ranks, 0) {}
  void add(index_t item, index_t key, const InverseLoad& load) {
    InverseLoad together = of_round_;
    together.add(load);
    if (rounds_.empty() || key != key_ || together.most() > limit_) {
      rounds_.emplace_back();
      of_round_ = load;
    } else {
      of_round_ = std::move(together);
    }
    rounds_.back().push_back(item);
    key_ = key;
    for (std::size_t rank = 0; rank < peak_.size(); ++rank)
      peak_[rank] = std::max(peak_[rank], of_round_.held(static_cast<index_t>(rank)));
  }
  const std::vector<std::vector<index_t>>& rounds() const { return rounds_; }
  double peak(index_t rank) const { return peak_[rank]; }

 private:
  double limit_;
  index_t key_ = 0;
  InverseLoad of_round_;
  std::vector<double> peak_;
  std::vector<std::vector<index_t>> rounds_;
};

class ScheduleMaker {
 public:
  ScheduleMaker(const SymbolicFactor& symbolic, const Placement& placement, const RankInverseSizes& sizes)
      : symbolic_(symbolic),
        placement_(placement),
        sizes_(sizes),
        arrays_(sizes.kind == FactorKind::lu ? 2 : 1),
        all_(placement.num_ranks()) {
    schedule_.counts.resize(placement.num_ranks());
  }

  InverseSchedule run() {
    const std::vector<index_t> lonely = lonely_ranks(symbolic_, placement_), depth = depths(symbolic_);
    std::vector<index_t> shared;
    for (index_t s = symbolic_.num_supernodes() - 1; s >= 0; --s)
      if (lonely[s] < 0) shared.push_back(s);
    std::stable_sort(shared.begin(), shared.end(), [&](index_t a, index_t b) { return depth[a] < depth[b]; });
    Rounds handing = new_rounds(), steps = new_rounds(), alone = new_rounds();
    for (const index_t s : shared) {
      handing.add(s, 0, kept(load_of_handing(s)));
      InverseLoad load = load_of_known(s);
      load.add(load_of_results(s));
      steps.add(s, depth[s], kept(load));
      count_shared(s);
    }
    for (const index_t root : roots_in_turn(lonely)) {
      InverseLoad load(placement_.num_ranks());
      add_known(root, lonely[root], load);
      alone.add(root, 0, kept(load));
      for (index_t s = symbolic_.first_descendant[root]; s <= root; ++s)
        schedule_.counts[lonely[root]].flops +=
            task_flops(symbolic_, sizes_.kind, {s, 0, symbolic_.width(s)});
    }
    finish(handing, steps, alone);
    return std::move(schedule_);
  }

 private:
  Rounds new_rounds() const { return Rounds(placement_.num_ranks(), sizes_.round_bytes); }
  const InverseLoad& kept(const InverseLoad& load) {
    all_.add(load);
    return load;
  }
  double bytes(double scalars) const { return scalars * sizes_.scalar_bytes; }
  template <class Visit>
  void for_ranks_of(index_t s, const Visit& visit) const {
    const RankGrid ranks = placement_.grid_of_column(s);
    for (index_t rank = ranks.first; rank < ranks.first + ranks.grid.num_ranks(); ++rank) visit(rank);
  }

  InverseLoad load_of_handing(index_t s) const {
    InverseLoad load(placement_.num_ranks());
    std::set<index_t> owners;
    for (const Block& block : symbolic_.blocks_of(s)) owners.insert(placement_.owner(block.row_supernode, s));
    const double width = symbolic_.width(s);
    for (const index_t rank : owners) load.add(placement_.owner(s, s), rank, bytes(arrays_ * width * width));
    return load;
  }
  void add_known(index_t s, index_t rank, InverseLoad& load) const {
    visit_known(symbolic_, placement_, s, wanted_rows(symbolic_, placement_.grid_of_column(s), s, rank),
                [&](const KnownPiece& piece) {
                  const bool is_diagonal = &piece.rows == &piece.columns;
                  load.add(piece.source, rank,
                           bytes(static_cast<double>(piece.scalars()) * (is_diagonal ? 1 : arrays_)));
                });
  }
  InverseLoad load_of_known(index_t s) const {
    InverseLoad load(placement_.num_ranks());
    const double width = symbolic_.width(s);
    for (const Block& block : symbolic_.blocks_of(s)) {
      const index_t owner = placement_.owner(block.row_supernode, s);
      for_ranks_of(s, [&](index_t rank) { load.add(owner, rank, bytes(arrays_ * width * block.count)); });
      load.add(owner, placement_.owner(s, s), bytes(width * block.count));
    }
    for_ranks_of(s, [&](index_t rank) { add_known(s, rank, load); });
    return load;
  }
  InverseLoad load_of_results(index_t s) const {
    InverseLoad load(placement_.num_ranks());
    const double width = symbolic_.width(s);
    const index_t of_diagonal = placement_.owner(s, s);
    for_ranks_of(s, [&](index_t rank) {
      const RowRange wanted = wanted_rows(symbolic_, placement_.grid_of_column(s), s, rank);
      load.add(rank, of_diagonal, bytes(width * wanted.count()));
      for (const Block& block : symbolic_.blocks_of(s)) {
        const index_t owner = placement_.owner(block.row_supernode, s);
        const int arrays = arrays_ - (owner == of_diagonal ? 1 : 0);
        load.add(rank, owner, bytes(arrays * width * common(rows_of(block), wanted).count()));
      }
    });
    return load;
  }

  void count_shared(index_t s) {
    const double width = symbolic_.width(s), rows = symbolic_.num_rows_below(s);
    for (const Block& block : symbolic_.blocks_of(s))
      schedule_.counts[placement_.owner(block.row_supernode, s)].flops +=
          2 * arrays_ * block.count * width * width;
    for_ranks_of(s, [&](index_t rank) {
      const RowRange wanted = wanted_rows(symbolic_, placement_.grid_of_column(s), s, rank);
      schedule_.counts[rank].flops += 2 * arrays_ * width * wanted.count() * rows;
    });
    schedule_.counts[placement_.owner(s, s)].flops += 2 * (rows + width) * width * width;
  }

  /// The first of each rank, then the second of each, and so on.
  std::vector<index_t> roots_in_turn(const std::vector<index_t>& lonely) const {
    std::vector<std::vector<index_t>> of_rank(placement_.num_ranks());
    for (index_t s = symbolic_.num_supernodes() - 1; s >= 0; --s)
      if (const index_t up = symbolic_.parent[s]; lonely[s] >= 0 && (up < 0 || lonely[up] < 0))
        of_rank[lonely[s]].push_back(s);
    std::vector<index_t> roots;
    for (std::size_t turn = 0, before = 0; turn == 0 || roots.size() > before; ++turn) {
      before = roots.size();
      for (const std::vector<index_t>& own : of_rank)
        if (turn < own.size()) roots.push_back(own[turn]);
    }
    return roots;
  }

  void finish(const Rounds& handing, const Rounds& steps, const Rounds& alone) {
    schedule_.handing = handing.rounds();
    schedule_.steps = steps.rounds();
    schedule_.alone = alone.rounds();
    const std::size_t rounds = schedule_.handing.size() + 2 * schedule_.steps.size() + schedule_.alone.size();
    for (index_t rank = 0; rank < placement_.num_ranks(); ++rank) {
      RankInverseCounts& counts = schedule_.counts[rank];
      counts.messages = static_cast<double>(rounds) * (placement_.num_ranks() - 1);
      counts.message_bytes = all_.travelled(rank);
      const OwnedBlocks owned = owned_blocks(symbolic_, placement_, rank);
      counts.memory_bytes = bytes(arrays_ * static_cast<double>(owned.entries())) +
                            std::max({handing.peak(rank), steps.peak(rank), alone.peak(rank)});
    }
  }

  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  const RankInverseSizes sizes_;
  const int arrays_;
  InverseLoad all_;
  InverseSchedule schedule_;
};

}  // namespace

InverseSchedule inverse_schedule(const SymbolicFactor& symbolic, const Placement& placement,
                                 const RankInverseSizes& sizes) {
  return ScheduleMaker(symbolic, placement, sizes).run();
}

}  // namespace palmette::solve_detail

namespace palmette {

std::vector<RankInverseCounts> predicted_inverse_counts(const SymbolicFactor& symbolic,
                                                        const Placement& placement,
                                                        const RankInverseSizes& sizes) {
  return solve_detail::inverse_schedule(symbolic, placement, sizes).counts;
}

}  // namespace palmette
