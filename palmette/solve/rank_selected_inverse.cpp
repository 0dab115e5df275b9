// Takahashi's recurrence over ranks: rounds in which all send what the others need, and work between them.
#include "palmette/solve/rank_selected_inverse.hpp"

#include <algorithm>

#include "palmette/solve/inverse_panels.hpp"

namespace palmette {
namespace solve_detail {
namespace {

/// A supernode on several ranks, while it is computed.
template <class T>
struct SharedSupernode {
  SharedSupernode(const SymbolicFactor& symbolic, index_t number, const RowRange& rows, bool is_lu)
      : s(number), wanted(rows), strips(symbolic, number, rows, is_lu) {
    const index_t rows_below = symbolic.num_rows_below(s), width = symbolic.width(s);
    for (DenseMatrix<T>* matrix : {&g, &q})
      if (matrix == &g || is_lu) *matrix = DenseMatrix<T>(rows_below, width);
    for (DenseMatrix<T>* matrix : {&y, &w})
      if (matrix == &y || is_lu) *matrix = DenseMatrix<T>(wanted.count(), width);
  }

  index_t s;
  RowRange wanted;  // by this rank
  KnownStrips<T> strips;
  DenseMatrix<T> g, q;      // L_RJ·L_JJ⁻¹·P, and of LU (U_JJ⁻¹·U_JR)ᵀ
  DenseMatrix<T> y, w;      // wanted rows of Z_RJ, and of LU of Z_JRᵀ
  DenseMatrix<T> below;     // on the diagonal block's rank: L_RJ, or U_JRᵀ
  DenseMatrix<T> all_of_y;  // there
};

/// What all parts of the recurrence share: the factor, the result, who has what, and how it is sent.
template <class T>
struct InverseState {
  using Writer = PieceWriter;
  using Reader = PieceReader;

  const RankFactor<T>& factor;
  Transport& transport;
  ThreadTeam& team;
  const DriveOptions drive;
  const SymbolicFactor& symbolic;
  const Placement& placement;
  const index_t rank;
  const bool is_lu;
  const InverseKernels<T> kernels;
  BlockDiagonal<T> divisor;
  InverseSchedule schedule;
  RankSelectedInverse<T> result;

  InverseState(const RankFactor<T>& part, const RankInverseSizes& sizes, Transport& by, ThreadTeam& threads,
               const DriveOptions& how)
      : factor(part),
        transport(by),
        team(threads),
        drive(how),
        symbolic(*part.symbolic),
        placement(*part.placement),
        rank(by.rank()),
        is_lu(part.kind == FactorKind::lu),
        kernels(part.kind, part.hermitian) {
    if (placement.num_ranks() != by.num_ranks())
      throw UsageError("a factor on " + std::to_string(placement.num_ranks()) +
                       " ranks is to be inverted by the ranks of a transport, which are " +
                       std::to_string(by.num_ranks()));
    if (factor.kind == FactorKind::ldlt)
      divisor = BlockDiagonal<T>(factor.hermitian, factor.d, factor.d_below);
    schedule = inverse_schedule(symbolic, placement, sizes);
    RankFactor<T>& z = result.panels;
    z.kind = factor.kind;
    z.hermitian = factor.hermitian || factor.kind == FactorKind::llt;
    z.symbolic = factor.symbolic;
    z.placement = factor.placement;
    z.owned = factor.owned;
    z.row_scale = factor.row_scale;
    z.column_scale = factor.column_scale;
    z.lower = PanelArray<T>(factor.owned.entries());
    if (is_lu) z.upper = PanelArray<T>(factor.owned.entries());
    result.counts.memory_bytes = schedule.counts[rank].memory_bytes;
    result.counts.flops = schedule.counts[rank].flops;
  }

  /// fill(destination, writer) as in written(). @returns readers of what has come, by rank
  template <class Fill>
  std::vector<Reader> deal(const Fill& fill) {
    BytePool pool;
    std::vector<SharedBytes> pieces;
    agree_after(transport, [&] {
      for (index_t to = 0; to < transport.num_ranks(); ++to) {
        pieces.push_back(written(pool, [&](Writer& writer) { fill(to, writer); }));
        if (to != rank) result.counts.message_bytes += static_cast<double>(pieces.back().size());
      }
    });
    result.counts.messages += transport.num_ranks() - 1;
    std::vector<Reader> readers;
    exchange(transport, [&] {
      for (const SharedBytes& bytes : deal_to_all(transport, team, pieces, drive))
        readers.emplace_back(bytes);
    });
    return readers;
  }

  index_t owner(index_t s, const Block& block) const { return placement.owner(block.row_supernode, s); }
  index_t owner(index_t s) const { return placement.owner(s, s); }
  bool takes_part(index_t s, index_t one) const { return placement.grid_of_column(s).contains(one); }
  RowRange wanted_of(index_t s, index_t one) const {
    return wanted_rows(symbolic, placement.grid_of_column(s), s, one);
  }
  template <class Use>
  void for_own_blocks(index_t s, const Use& use) const {
    for (const Block& block : symbolic.blocks_of(s))
      if (owner(s, block) == rank) use(block);
  }
  DenseView<const T> part(const RankFactor<T>& blocks, const PanelArray<T>& array, index_t s,
                          index_t above) const {
    return panel_part(blocks, array, s, above).entries;
  }
  /// A block of the result, for writing.
  DenseView<T> own_part(PanelArray<T>& array, index_t s, index_t above) const {
    const DenseView<const T> found = part(result.panels, array, s, above);
    return {const_cast<T*>(found.data), found.rows, found.cols, found.ld};
  }
  const index_t* place(index_t s) const {
    return factor.place.empty() ? nullptr : factor.place.data() + symbolic.supernode_begin[s];
  }
  template <class Use>
  void for_tasks(index_t s, const Use& use) const {
    std::vector<InverseTask> tasks;
    add_tasks(symbolic, s, usual_sharing, tasks);
    for (const InverseTask& task : tasks) use(task);
  }

  /// This rank's entries of Z that another one needs for its wanted rows below s.
  void put_known(index_t s, const RowRange& wanted, Writer& writer) const {
    const std::span<const index_t> rows = symbolic.rows_below(s);
    const auto some = [&](const RowRange& range) { return rows.subspan(range.first, range.count()); };
    visit_known(symbolic, placement, s, wanted, [&](const KnownPiece& piece) {
      if (piece.source != rank) return;
      const bool is_diagonal = &piece.rows == &piece.columns;
      for (const bool upper : {false, true}) {
        if (upper && (!is_lu || is_diagonal)) continue;
        const auto put = [&](const RowRange& of_rows, const RowRange& of_columns) {
          const DenseView<T> to = writer.template next<T>(of_rows.count(), of_columns.count());
          if (to.data == nullptr || to.rows == 0 || to.cols == 0) return;
          copy_known(
              result.panels, upper ? result.panels.upper : result.panels.lower,
              {piece.columns.row_supernode, piece.rows.row_supernode, some(of_rows), some(of_columns)}, to);
        };
        put(piece.across, rows_of(piece.columns));
        if (piece.down.count() > 0) put(rows_of(piece.rows), piece.down);
      }
    });
  }
};

/// Inverses of diagonal blocks, handed to the ranks of their columns, whose blocks are multiplied by them.
template <class T>
class HandedInverses {
 public:
  explicit HandedInverses(InverseState<T>& all) : all_(all) {}

  /// The result's blocks become those of G, and of LU (U_JJ⁻¹·U_JR)ᵀ.
  void hand(const std::vector<index_t>& round) {
    std::vector<DenseMatrix<T>> lower(round.size()), upper(round.size());
    agree_after(all_.transport, [&] {
      for (std::size_t k = 0; k < round.size(); ++k)
        if (all_.owner(round[k]) == all_.rank) {
          lower[k] = inverse(round[k], false);
          if (all_.is_lu) upper[k] = inverse(round[k], true);
        }
    });
    std::vector<Reader> from = all_.deal([&](index_t to, Writer& writer) {
      for (std::size_t k = 0; k < round.size(); ++k) {
        if (all_.owner(round[k]) != all_.rank || !owns_blocks(round[k], to)) continue;
        writer.put(std::as_const(lower[k]).view());
        if (all_.is_lu) writer.put(std::as_const(upper[k]).view());
      }
    });
    agree_after(all_.transport, [&] {
      for (const index_t s : round) {
        if (!owns_blocks(s, all_.rank)) continue;
        DenseMatrix<T> m(all_.symbolic.width(s), all_.symbolic.width(s));
        from[all_.owner(s)].get(m.view());
        multiply_blocks(s, all_.factor.lower, m, all_.result.panels.lower);
        if (!all_.is_lu) continue;
        from[all_.owner(s)].get(m.view());
        multiply_blocks(s, all_.factor.upper, m, all_.result.panels.upper);
      }
    });
  }

 private:
  using Writer = PieceWriter;
  using Reader = PieceReader;
  DenseMatrix<T> inverse(index_t s, bool upper) const {
    DenseMatrix<T> m(all_.symbolic.width(s), all_.symbolic.width(s));
    const DenseView<const T> diagonal = all_.part(all_.factor, all_.factor.lower, s, s);
    all_.for_tasks(s, [&](const InverseTask& task) {
      const DenseView<T> columns = m.view().columns(task.first, task.count);
      if (upper)
        all_.kernels.invert_upper(diagonal, task.first, columns);
      else
        all_.kernels.invert_lower(diagonal, all_.place(s), task.first, columns);
    });
    return m;
  }

  bool owns_blocks(index_t s, index_t one) const {
    for (const Block& block : all_.symbolic.blocks_of(s))
      if (all_.owner(s, block) == one) return true;
    return false;
  }
  void multiply_blocks(index_t s, const PanelArray<T>& blocks, const DenseMatrix<T>& by, PanelArray<T>& to) {
    std::vector<Block> own;
    all_.for_own_blocks(s, [&](const Block& block) { own.push_back(block); });
    all_.team.share_parts(static_cast<int>(own.size()), [&](int k) {
      const index_t above = own[k].row_supernode;
      all_.for_tasks(s, [&](const InverseTask& task) {
        all_.kernels.multiply(all_.part(all_.factor, blocks, s, above),
                              by.view().columns(task.first, task.count),
                              all_.own_part(to, s, above).columns(task.first, task.count));
      });
    });
  }

  InverseState<T>& all_;
};

/// Supernodes on several ranks: each computes the rows of Z that it wants.
template <class T>
class SharedSupernodes {
 public:
  explicit SharedSupernodes(InverseState<T>& all) : all_(all) {}

  void go(const std::vector<index_t>& step) {
    std::vector<Shared> shared = get_known(step);
    std::vector<std::pair<Shared*, InverseTask>> tasks;
    for (Shared& one : shared)
      all_.for_tasks(one.s, [&](const InverseTask& task) { tasks.emplace_back(&one, task); });
    all_.team.share_parts(static_cast<int>(tasks.size()),
                     [&](int k) { multiply_known(*tasks[k].first, tasks[k].second); });
    std::vector<Reader> from = all_.deal([&](index_t to, Writer& writer) {
      for (Shared& one : shared) put_results(one, to, writer);
    });
    agree_after(all_.transport, [&] {
      for (const index_t s : step) get_results(s, shared, from);
      finish(shared);
    });
  }

 private:
  using Writer = PieceWriter;
  using Reader = PieceReader;
  using Shared = SharedSupernode<T>;

  static DenseView<T> rows_of(DenseMatrix<T>& m, index_t first, index_t count) {
    return some_rows(m.view(), first, count);
  }

  std::vector<Shared> get_known(const std::vector<index_t>& step) {
    const RankFactor<T>& known = all_.result.panels;
    const PanelArray<T>& last = all_.is_lu ? all_.factor.upper : all_.factor.lower;
    std::vector<Reader> from = all_.deal([&](index_t to, Writer& writer) {
      for (const index_t s : step) {
        if (!all_.takes_part(s, to)) continue;
        all_.for_own_blocks(s, [&](const Block& block) {
          writer.put(all_.part(known, known.lower, s, block.row_supernode));
          if (all_.is_lu) writer.put(all_.part(known, known.upper, s, block.row_supernode));
        });
        all_.put_known(s, all_.wanted_of(s, to), writer);
        if (to != all_.owner(s)) continue;
        all_.for_own_blocks(s, [&](const Block& block) {
          writer.put(all_.part(all_.factor, last, s, block.row_supernode));
        });
      }
    });
    std::vector<Shared> shared;
    agree_after(all_.transport, [&] {
      for (const index_t s : step)
        if (all_.takes_part(s, all_.rank)) {
          shared.emplace_back(all_.symbolic, s, all_.wanted_of(s, all_.rank), all_.is_lu);
          get_known(shared.back(), from);
        }
    });
    return shared;
  }
  void get_known(Shared& one, std::vector<Reader>& from) const {
    const index_t s = one.s, rows = all_.symbolic.num_rows_below(s), width = all_.symbolic.width(s);
    for (const Block& block : all_.symbolic.blocks_of(s)) {
      from[all_.owner(s, block)].get(rows_of(one.g, block.first, block.count));
      if (all_.is_lu) from[all_.owner(s, block)].get(rows_of(one.q, block.first, block.count));
    }
    visit_known(all_.symbolic, all_.placement, s, one.wanted, [&](const KnownPiece& piece) {
      one.strips.get(piece, from[piece.source]);
    });
    if (all_.owner(s) != all_.rank) return;
    one.below = DenseMatrix<T>(rows, width);
    one.all_of_y = DenseMatrix<T>(rows, width);
    for (const Block& block : all_.symbolic.blocks_of(s))
      from[all_.owner(s, block)].get(rows_of(one.below, block.first, block.count));
  }

  void multiply_known(Shared& one, const InverseTask& task) const {
    const auto columns = [&](DenseMatrix<T>& m) { return m.view().columns(task.first, task.count); };
    const DenseView<T> none;
    const InverseProducts<T> products{one.wanted, columns(one.g), columns(one.y),
                                      all_.is_lu ? columns(one.q) : none, all_.is_lu ? columns(one.w) : none};
    for (index_t block = 0; block < one.strips.num_blocks(); ++block)
      all_.kernels.subtract_known(one.strips.known(block), products);
  }

  /// Rows of Z_RJ to the owners of blocks, and all that this rank has to that of the diagonal block.
  void put_results(Shared& one, index_t to, Writer& writer) const {
    const index_t s = one.s;
    if (to == all_.owner(s)) writer.put(std::as_const(one.y).view());
    for (const Block& block : all_.symbolic.blocks_of(s)) {
      if (all_.owner(s, block) != to) continue;
      const RowRange rows = common(solve_detail::rows_of(block), one.wanted);
      const index_t first = rows.first - one.wanted.first;
      if (rows.count() == 0) continue;
      if (to != all_.owner(s)) writer.put(DenseView<const T>(rows_of(one.y, first, rows.count())));
      if (all_.is_lu) writer.put(DenseView<const T>(rows_of(one.w, first, rows.count())));
    }
  }
  void get_results(index_t s, std::vector<Shared>& shared, std::vector<Reader>& from) {
    const RankGrid ranks = all_.placement.grid_of_column(s);
    if (!ranks.contains(all_.rank)) return;
    Shared& one =
        *std::find_if(shared.begin(), shared.end(), [&](const Shared& each) { return each.s == s; });
    const bool has_diagonal = all_.owner(s) == all_.rank;
    for (index_t source = ranks.first; source < ranks.first + ranks.grid.num_ranks(); ++source) {
      const RowRange theirs = all_.wanted_of(s, source);
      if (has_diagonal) from[source].get(rows_of(one.all_of_y, theirs.first, theirs.count()));
      all_.for_own_blocks(s, [&](const Block& block) {
        const RowRange rows = common(solve_detail::rows_of(block), theirs);
        if (rows.count() == 0) return;
        const auto get = [&](PanelArray<T>& array) {
          from[source].get(some_rows(all_.own_part(array, s, block.row_supernode), rows.first - block.first,
                                     rows.count()));
        };
        if (!has_diagonal) get(all_.result.panels.lower);
        if (all_.is_lu) get(all_.result.panels.upper);
      });
    }
    if (!has_diagonal) return;
    all_.for_own_blocks(s, [&](const Block& block) {
      const DenseView<const T> y = rows_of(one.all_of_y, block.first, block.count);
      const DenseView<T> to = all_.own_part(all_.result.panels.lower, s, block.row_supernode);
      for (index_t j = 0; j < y.cols; ++j) std::copy_n(y.column(j), y.rows, to.column(j));
    });
  }

  /// Z_JJ, on the ranks of the diagonal blocks.
  void finish(std::vector<Shared>& shared) {
    std::vector<std::pair<Shared*, InverseTask>> tasks;
    for (Shared& one : shared)
      if (all_.owner(one.s) == all_.rank)
        all_.for_tasks(one.s, [&](const InverseTask& task) { tasks.emplace_back(&one, task); });
    all_.team.share_parts(static_cast<int>(tasks.size()), [&](int k) {
      const auto& [one, task] = tasks[k];
      const index_t s = task.supernode, width = all_.symbolic.width(s);
      const DenseView<const T> diagonal = all_.part(all_.factor, all_.factor.lower, s, s);
      DenseMatrix<T> m(width, task.count);
      all_.kernels.invert_lower(diagonal, all_.place(s), task.first, m.view());
      if (all_.factor.kind == FactorKind::ldlt)
        for (index_t j = 0; j < task.count; ++j)
          all_.divisor.solve(all_.symbolic.supernode_begin[s], width, {m.view().column(j), 1});
      all_.kernels.finish(diagonal, std::as_const(one->below).view(),
                     std::as_const(one->all_of_y).view().columns(task.first, task.count), m.view());
      all_.kernels.put_in_order(
          m.view(), all_.place(s),
          all_.own_part(all_.result.panels.lower, s, s).columns(task.first, task.count));
    });
  }

  InverseState<T>& all_;
};

/// Subtrees on one rank, computed when it has what lies above their roots.
template <class T>
class LonelySubtrees {
 public:
  explicit LonelySubtrees(InverseState<T>& all) : all_(all) {}

  void go(const std::vector<index_t>& round) {
    const auto rank_of = [&](index_t root) { return all_.placement.grid_of_column(root).first; };
    const auto all_rows = [&](index_t root) { return RowRange{0, all_.symbolic.num_rows_below(root)}; };
    std::vector<Reader> from = all_.deal([&](index_t to, Writer& writer) {
      for (const index_t root : round)
        if (rank_of(root) == to) all_.put_known(root, all_rows(root), writer);
    });
    std::vector<std::pair<index_t, KnownStrips<T>>> above;
    agree_after(all_.transport, [&] {
      for (const index_t root : round) {
        if (rank_of(root) != all_.rank) continue;
        above.emplace_back(root, KnownStrips<T>(all_.symbolic, root, all_rows(root), all_.is_lu));
        visit_known(all_.symbolic, all_.placement, root, all_rows(root), [&](const KnownPiece& piece) {
          above.back().second.get(piece, from[piece.source]);
        });
      }
      from.clear();
      for (const auto& [root, strips] : above) {
        const LonelyPanels<T> panels(all_.factor, all_.divisor, all_.result.panels, root, strips);
        run_inverse_tasks(all_.kernels, all_.symbolic, panels,
                          {all_.symbolic.first_descendant[root], root + 1}, &all_.team);
      }
    });
  }

 private:
  using Writer = PieceWriter;
  using Reader = PieceReader;
  InverseState<T>& all_;
};

}  // namespace
}  // namespace solve_detail

template <class T>
struct RankInverseRun<T>::State : solve_detail::InverseState<T> {
  using solve_detail::InverseState<T>::InverseState;

  RankSelectedInverse<T> run() {
    const Stopwatch watch;
    blas::use_one_thread();
    solve_detail::HandedInverses<T> inverses(*this);
    solve_detail::SharedSupernodes<T> supernodes(*this);
    solve_detail::LonelySubtrees<T> subtrees(*this);
    for (const std::vector<index_t>& round : this->schedule.handing) inverses.hand(round);
    for (const std::vector<index_t>& step : this->schedule.steps) supernodes.go(step);
    for (const std::vector<index_t>& round : this->schedule.alone) subtrees.go(round);
    this->result.seconds = watch.seconds();
    return std::move(this->result);
  }
};

template <class T>
RankInverseRun<T>::RankInverseRun(const RankFactor<T>& factor, const RankInverseSizes& sizes,
                                  Transport& transport, ThreadTeam& team, const DriveOptions& drive)
    : state_(std::make_unique<State>(factor, sizes, transport, team, drive)) {}
template <class T>
RankInverseRun<T>::~RankInverseRun() = default;
template <class T>
RankInverseRun<T>::RankInverseRun(RankInverseRun&&) noexcept = default;

template <class T>
RankSelectedInverse<T> RankInverseRun<T>::run() {
  const SubnormalsAsZero scope;
  return state_->run();
}

#define PALMETTE_INSTANTIATE(T) template class RankInverseRun<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
