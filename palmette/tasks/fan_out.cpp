// Which rank owns, uses and receives which block.
#include "palmette/tasks/fan_out.hpp"

#include <algorithm>

namespace palmette {
namespace {

/// The first of a supernode's blocks whose rows are outside of the whole subtrees that the supernode is in;
/// what is in them lies, like the supernode, on one rank.
std::size_t first_outside(const Placement& placement, index_t supernode, std::span<const Block> blocks) {
  if (!placement.lies_whole(supernode)) return 0;
  const index_t end = placement.units.group_begin[placement.units.group_of(supernode) + 1];
  const auto outside = std::partition_point(blocks.begin(), blocks.end(), [&](const Block& block) {
    return block.row_supernode < end;
  });
  return static_cast<std::size_t>(outside - blocks.begin());
}

/// Ranks that read block number `at` of a supernode's blocks: as left factor of targets (its rows, columns of
/// a block before it or of itself), as right factor of targets (rows of a block behind it or of itself, its
/// columns). The supernode's owner is left out if only blocks before `outside` make it one of them.
void readers_of(const Placement& placement, std::span<const Block> blocks, std::size_t outside,
                std::size_t at, std::vector<index_t>& ranks) {
  ranks.clear();
  if (at < outside) return;
  const index_t own = blocks[at].row_supernode;
  for (std::size_t other = outside; other < blocks.size(); ++other)
    ranks.push_back(other <= at ? placement.owner(own, blocks[other].row_supernode)
                                : placement.owner(blocks[other].row_supernode, own));
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

/// Ranks that own rows below the diagonal block of a supernode.
void ranks_below(const Placement& placement, index_t supernode, std::span<const Block> blocks,
                 std::vector<index_t>& ranks) {
  ranks.clear();
  for (const Block& block : blocks) ranks.push_back(placement.owner(block.row_supernode, supernode));
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

class FanOutBuilder {
 public:
  FanOutBuilder(const SymbolicFactor& symbolic, const Placement& placement, index_t rank,
                index_t columns_last)
      : symbolic_(symbolic), placement_(placement) {
    result_.owned = owned_blocks(symbolic, placement, rank);
    result_.num_ranks = placement.num_ranks();
    result_.num_eliminated = supernodes_before(symbolic, columns_last);
    find_own_panels();
  }

  FanOut build() {
    for (index_t p = 0; p < result_.owned.num_panels(); ++p) {
      add_destinations(p);
      add_steps(p);
    }
    invert_needs();
    add_priorities();
    return std::move(result_);
  }

 private:
  /// Panels of which the rank has the diagonal block and all blocks below.
  void find_own_panels() {
    own_panel_.assign(symbolic_.num_supernodes(), -1);
    result_.panel_of = own_panel_;
    for (index_t p = 0; p < result_.owned.num_panels(); ++p) {
      const index_t s = result_.owned.panel[p];
      result_.panel_of[s] = p;
      if (result_.owned.owns_diagonal[p] != 0 &&
          result_.owned.blocks_of_panel(p).size() == symbolic_.blocks_of(s).size())
        own_panel_[s] = p;
    }
  }

  void append_others(std::vector<index_t>& to) const {
    for (const index_t rank : ranks_)
      if (rank != result_.owned.rank) to.push_back(rank);
  }

  void add_destinations(index_t p) {
    const index_t s = result_.owned.panel[p];
    const std::span<const Block> blocks = symbolic_.blocks_of(s);
    const bool is_sent = s < result_.num_eliminated;
    const std::size_t outside = first_outside(placement_, s, blocks);
    for (const OwnBlock& own : result_.owned.blocks_of_panel(p)) {
      const auto at = static_cast<std::size_t>(own.block - symbolic_.block_ptr[s]);
      readers_of(placement_, blocks, outside, at, ranks_);
      if (is_sent) append_others(result_.goes_to);
      result_.goes_ptr.push_back(static_cast<offset_t>(result_.goes_to.size()));
    }
    if (is_sent && result_.owned.owns_diagonal[p] != 0) {
      ranks_below(placement_, s, blocks, ranks_);
      append_others(result_.diagonal_goes_to);
    }
    result_.diagonal_goes_ptr.push_back(static_cast<offset_t>(result_.diagonal_goes_to.size()));
  }

  /// Updates of panel p that affect rows of this rank.
  void add_steps(index_t p) {
    const index_t target = result_.owned.panel[p];
    for (const Updater& updater : symbolic_.updaters_of(target)) {
      if (updater.source >= result_.num_eliminated) break;  // sources ascend
      const index_t own_panel = own_panel_[updater.source];
      if (own_panel != -1 ? !add_right(target, updater) : !add_needs(target, updater)) continue;
      result_.steps.push_back({updater.source, own_panel, updater.block});
      result_.need_ptr.push_back(static_cast<offset_t>(result_.needs.size()));
    }
    result_.step_ptr.push_back(static_cast<offset_t>(result_.steps.size()));
  }

  /// @returns whether the update affects rows of this rank
  bool add_needs(index_t target, const Updater& updater) {
    const std::size_t before = result_.needs.size();
    for (offset_t block = updater.block; block < symbolic_.block_ptr[updater.source + 1]; ++block)
      if (is_ours(block, target)) result_.needs.push_back(block);
    if (result_.needs.size() == before) return false;
    if (result_.needs[before] != updater.block) result_.needs.push_back(updater.block);
    return true;
  }
  bool add_right(index_t target, const Updater& updater) {
    const offset_t end = symbolic_.block_ptr[updater.source + 1];
    offset_t block = updater.block;
    while (block < end && !is_ours(block, target)) ++block;
    if (block == end) return false;
    result_.needs.push_back(updater.block);
    return true;
  }
  /// Whether the rank has the rows of this block in the target's panel.
  bool is_ours(offset_t block, index_t target) const {
    return placement_.owner(symbolic_.blocks[block].row_supernode, target) == result_.owned.rank;
  }

  void invert_needs() {
    number_used_blocks();
    std::vector<offset_t> count(result_.used_block.size() + 1);
    for (const offset_t place : result_.need_place) ++count[place + 1];
    for (std::size_t at = 1; at < count.size(); ++at) count[at] += count[at - 1];
    result_.use_ptr = count;
    result_.use.resize(result_.needs.size());
    for (std::size_t step = 0; step < result_.steps.size(); ++step)
      for (offset_t need = result_.need_ptr[step]; need < result_.need_ptr[step + 1]; ++need) {
        const auto place = static_cast<std::size_t>(result_.need_place[need]);
        result_.use[count[place]++] = static_cast<offset_t>(step);
      }
  }

  /// Places of used blocks, by a table of all blocks that lives as long as this.
  void number_used_blocks() {
    std::vector<offset_t> place_of(symbolic_.blocks.size(), -1);
    for (const offset_t block : result_.needs) place_of[block] = 0;
    for (std::size_t block = 0; block < place_of.size(); ++block) {
      if (place_of[block] == -1) continue;
      place_of[block] = static_cast<offset_t>(result_.used_block.size());
      result_.used_block.push_back(static_cast<offset_t>(block));
    }
    for (const offset_t block : result_.needs)
      result_.need_place.push_back(place_of[block]);
    result_.used_own.assign(result_.used_block.size(), -1);
    for (std::size_t own = 0; own < result_.owned.own.size(); ++own) {
      const offset_t place = place_of[result_.owned.own[own].block];
      result_.own_used.push_back(place);
      if (place != -1) result_.used_own[place] = static_cast<offset_t>(own);
    }
  }

  /// The cost of a path is the sum of its supernodes' own costs. Panels of one whole subtree all have that of
  /// its longest path: they run one after the other in ascending order, so that a panel's updates come from
  /// panels that are still in cache.
  void add_priorities() {
    std::vector<double> path(symbolic_.num_supernodes());
    for (index_t s = symbolic_.num_supernodes() - 1; s >= 0; --s) {
      const double width = symbolic_.width(s), rows = width + symbolic_.num_rows_below(s);
      const index_t parent = symbolic_.parent[s];
      path[s] =
          width * width * rows + (parent == -1 ? 0 : path[parent]);
    }
    const std::vector<index_t>& begin = placement_.units.group_begin;
    for (std::size_t unit = 0; unit + 1 < begin.size(); ++unit)
      if (placement_.is_whole[unit] != 0) {
        const auto first = path.begin() + begin[unit], end = path.begin() + begin[unit + 1];
        std::fill(first, end, *std::max_element(first, end));
      }
    for (const index_t s : result_.owned.panel) result_.priority.push_back(path[s]);
  }

  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  std::vector<index_t> ranks_;
  std::vector<index_t> own_panel_;  // by supernode; −1: other ranks have some of it
  FanOut result_;
};

}  // namespace

offset_t FanOut::used_place(offset_t block) const {
  const auto found = std::lower_bound(used_block.begin(), used_block.end(), block);
  return found == used_block.end() || *found != block ? -1
                                                      : static_cast<offset_t>(found - used_block.begin());
}

offset_t FanOut::memory_bytes() const {
  return owned.memory_bytes() + bytes_of(panel_of) + bytes_of(step_ptr) + bytes_of(steps) +
         bytes_of(need_ptr) + bytes_of(needs) + bytes_of(need_place) + bytes_of(used_block) +
         bytes_of(use_ptr) + bytes_of(use) + bytes_of(used_own) + bytes_of(own_used) + bytes_of(goes_ptr) +
         bytes_of(goes_to) + bytes_of(diagonal_goes_ptr) + bytes_of(diagonal_goes_to) + bytes_of(priority);
}

index_t supernodes_before(const SymbolicFactor& symbolic, index_t columns_last) {
  const std::vector<index_t>& begin = symbolic.supernode_begin;
  const auto first_last = std::lower_bound(begin.begin(), begin.end(), symbolic.n - columns_last);
  return static_cast<index_t>(first_last - begin.begin());
}

FanOut fan_out(const SymbolicFactor& symbolic, const Placement& placement, index_t rank,
               index_t columns_last) {
  return FanOutBuilder(symbolic, placement, rank, columns_last).build();
}

offset_t message_scalars(const SymbolicFactor& symbolic, FactorKind kind, offset_t block) {
  const BlockNumbers numbers(symbolic);
  if (numbers.is_diagonal(block)) {
    const offset_t width = symbolic.width(static_cast<index_t>(block - numbers.num_blocks));
    return width * width + (kind == FactorKind::ldlt ? 2 * width : 0);
  }
  const auto after = std::upper_bound(symbolic.block_ptr.begin(), symbolic.block_ptr.end(), block);
  const offset_t width = symbolic.width(static_cast<index_t>(after - symbolic.block_ptr.begin()) - 1);
  const offset_t entries = width * symbolic.blocks[block].count;
  return kind == FactorKind::lu ? 2 * entries : entries + (kind == FactorKind::ldlt ? 2 * width : 0);
}

offset_t message_bytes(const SymbolicFactor& symbolic, FactorKind kind, offset_t block,
                       offset_t scalar_bytes) {
  const BlockNumbers numbers(symbolic);
  const offset_t scalars = message_scalars(symbolic, kind, block) * scalar_bytes;
  if (!numbers.is_diagonal(block) || kind == FactorKind::llt) return scalars;
  return scalars + symbolic.width(static_cast<index_t>(block - numbers.num_blocks)) *
                       static_cast<offset_t>(sizeof(index_t));
}

namespace {

/// Calls say(owner, ranks that use the block, its number) for each finished block.
template <class Say>
void for_each_finished_block(const SymbolicFactor& symbolic, const Placement& placement, index_t columns_last,
                             const Say& say) {
  std::vector<index_t> ranks;
  const BlockNumbers numbers(symbolic);
  const index_t num_finished = supernodes_before(symbolic, columns_last);
  for (index_t s = 0; s < num_finished; ++s) {
    const std::span<const Block> blocks = symbolic.blocks_of(s);
    ranks_below(placement, s, blocks, ranks);
    say(placement.owner(s, s), ranks, numbers.diagonal(s));
    const std::size_t outside = first_outside(placement, s, blocks);
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      readers_of(placement, blocks, outside, at, ranks);
      say(placement.owner(blocks[at].row_supernode, s), ranks,
          symbolic.block_ptr[s] + static_cast<offset_t>(at));
    }
  }
}

}  // namespace

Traffic predicted_fan_out_traffic(const SymbolicFactor& symbolic, const Placement& placement, FactorKind kind,
                                  offset_t scalar_bytes, index_t columns_last) {
  std::vector<TrafficEntry> entries;
  for_each_finished_block(symbolic, placement, columns_last,
                          [&](index_t owner, const std::vector<index_t>& ranks, offset_t block) {
                            const offset_t bytes = message_bytes(symbolic, kind, block, scalar_bytes);
                            for (const index_t rank : ranks)
                              if (rank != owner) entries.push_back({owner, rank, 1, bytes});
                          });
  return make_traffic(placement.num_ranks(), std::move(entries));
}

std::vector<std::int64_t> predicted_offered_bytes(const SymbolicFactor& symbolic, const Placement& placement,
                                                  const OfferedBlocks& offered) {
  std::vector<std::int64_t> bytes(placement.num_ranks(), 0);
  for_each_finished_block(
      symbolic, placement, offered.columns_last,
      [&](index_t owner, const std::vector<index_t>& ranks, offset_t block) {
        const bool used_elsewhere =
            std::any_of(ranks.begin(), ranks.end(), [&](index_t rank) { return rank != owner; });
        if (used_elsewhere)
          bytes[owner] += (message_bytes(symbolic, offered.kind, block, offered.scalar_bytes) +
                           offered.line - 1) /
                          offered.line * offered.line;
      });
  return bytes;
}

}  // namespace palmette
