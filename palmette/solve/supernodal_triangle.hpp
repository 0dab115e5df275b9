// Inside `solve`: one triangular half of a supernodal factor, ready for solves: its diagonal blocks inverted
// (unless the inverse grows too much), its panels read in place.
#pragma once

#include <vector>

#include "palmette/solve/panel_layout.hpp"
#include "palmette/solve/panel_window.hpp"
#include "palmette/solve/plan_options.hpp"
#include "palmette/solve/plan_store.hpp"

namespace palmette::solve_detail {

/// How far ahead a packed panel is prefetched, by processors that want requests: some hundred nanoseconds at
/// the speed of memory.
inline constexpr offset_t packed_ahead_bytes = 6144;

/// Where a triangle's values lie, in the layout of SymbolicFactor. Seen as a lower triangle: its diagonal
/// block s is B_s·P_s, with B_s the lower triangle of the stored block, or the transpose of its upper
/// triangle.
template <class T>
struct TriangleSource {
  const T* diagonal = nullptr;     ///< panels whose diagonal blocks are used
  const T* below = nullptr;        ///< panels whose rows below are used
  bool diagonal_is_upper = false;  ///< U over ranks: the block's upper triangle, transposed
  bool unit_diagonal = false;
  /// length num_supernodes: leading dimension of each panel; null: the structure's
  const offset_t* leading = nullptr;
  /// length n: row k of P·t is row place[k] of t, within each supernode; null: identity
  const index_t* place = nullptr;
};

/// Of TriangleSource, what a diagonal block alone needs.
template <class T>
struct DiagonalSource {
  DenseView<const T> stored;
  bool is_upper = false;
  bool has_unit_diagonal = false;
};

/// m ← B⁻¹, or B where its inverse would grow beyond the options' limit; zeros above the diagonal. A triangle
/// that holds the block gets the same bits.
/// @returns whether B was inverted
template <class T>
bool expand_diagonal(const DiagonalSource<T>& source, const PlanOptions& options, DenseView<T> m);

/// The data of one solve for a supernode.
template <class T>
struct SupernodeVectors {
  RowPlaces rows;      ///< of the rows below, in `local`
  RhsRows<T> own;      ///< the supernode's w rows
  SplitRows<T> local;  ///< in one place for one right-hand side, and for panels that are not packed
  RhsRows<T> spare;    ///< w rows
  /// for one right-hand side: r scalars; the w before them and sweep_slack behind may be overwritten
  T* row_values;
  /// for several right-hand sides: from a row of `own` to one that is prefetched, in scalars
  offset_t rows_ahead = 0;
  OffersOfThread offers = {};  ///< for one right-hand side: threads that wait may help
};

/// Not copyable: holds packed panels and inverses. The structure and the panels must outlive it. Narrow
/// supernodes, whose entries are scattered over the lines of a factor, are packed; wide ones are read in
/// place: for several right-hand sides the rows below, in addition to the inverse of the block; for one the
/// whole panel at once, unless its block lies elsewhere (U over ranks).
template <class T>
class SupernodalTriangle {
 public:
  /// @param known  values() of such a triangle, used where they lie if they fit, or copied if some have
  ///   changed; else they are computed
  /// @param owner  keeps them alive
  SupernodalTriangle(const SweepGroups& structure, const TriangleSource<T>& source,
                     const PlanOptions& options, const TriangleValues<T>& known = {},
                     const std::shared_ptr<const void>& owner = nullptr);

  /// Computed in memory of the store, where it returns. @param store  of triangles of the same structure,
  /// permuted or not
  SupernodalTriangle(const SweepGroups& structure, const TriangleSource<T>& source,
                     const PlanOptions& options, std::shared_ptr<TriangleStore<T>> store);
  ~SupernodalTriangle();
  SupernodalTriangle(const SupernodalTriangle&) = delete;
  SupernodalTriangle& operator=(const SupernodalTriangle&) = delete;

  /// Panels stay in a file. @param source  without panels @throws UsageError if `known` does not fit
  SupernodalTriangle(const SweepGroups& structure, const TriangleSource<T>& source,
                     const TriangleValues<T>& known);
  /// What supernode s needs of the file.
  PanelReadsOf reads(index_t s, const PanelPositions& at) const;
  /// Where panels are looked for from now on. @param window  outlives the triangle
  void look_through(const PanelWindow* window) { window_ = window; }

  /// own ← B⁻¹·P·own, then rows below ← rows below − C·own. @cost 2·w·(w/2 + r) flops for each right-hand
  /// side
  void eliminate(index_t s, const SupernodeVectors<T>& at) const;
  /// own ← Pᵀ·B⁻ᵀ·(own − Cᵀ·rows below), or with adjoints.
  void substitute(bool adjoint, index_t s, const SupernodeVectors<T>& at) const;
  /// Of most supernodes in no bundle, which are so small that preparing more than this would count: the same
  /// for one right-hand side. @param own  w scalars @param local  as in packed_forward
  bool is_packed(index_t s) const { return form_[s] == Form::packed; }
  PALMETTE_INLINE void eliminate_packed(const SingleSupernode& one, T* own, T* local) const {
    packed_forward<T>(packed(one.supernode, one.width, one.rows_below, false), structure_.local_rows(one),
                      own, local);
  }
  PALMETTE_INLINE void substitute_packed(bool adjoint, const SingleSupernode& one, T* own,
                                         const T* local) const {
    packed_backward<T>(adjoint, packed(one.supernode, one.width, one.rows_below, true),
                       structure_.local_rows(one), own, local);
  }
  /// The same for all supernodes of a bundle, if they are packed and in memory. @param local  of their group
  bool has_bundle(index_t bundle) const { return window_ == nullptr && is_whole_[bundle] != 0; }
  PALMETTE_INLINE void eliminate_bundle(index_t bundle, T* local) const {
    bundle_forward<T>(bundle_at(bundle, false), local);
  }
  PALMETTE_INLINE void substitute_bundle(bool adjoint, index_t bundle, T* local) const {
    bundle_backward<T>(adjoint, bundle_at(bundle, true), local);
  }

  /// The panel of a supernode as one matrix: m ← [B⁻¹; C·B⁻¹], with zeros above the diagonal, or [B; C] if B
  /// is not inverted.
  /// @param m  (w + r) × w. @returns whether B was inverted
  bool expand(index_t s, DenseView<T> m) const;
  bool may_be_permuted() const { return source_.place != nullptr; }
  /// The first w rows of it, and whether B was inverted.
  bool expand_diagonal(index_t s, DenseView<T> m) const;
  /// C, r × w.
  DenseView<const T> below(index_t s) const;
  /// Row k of P·t is row permutation(s)[k] of t; null: the same row.
  const index_t* permutation(index_t s) const { return places(s); }

  const SweepGroups& structure() const { return structure_; }
  index_t guarded_blocks() const { return guarded_count_; }
  /// The panels as they are stored.
  TriangleValues<T> values() const;
  /// Prefetch what follows supernode s (backward: what precedes it), which is read soon.
  void prefetch_after(index_t s, bool backward) const {
    const index_t next = backward ? s - 1 : s + 1;
    if (next >= 0 && next < static_cast<index_t>(form_.size()) && form_[next] != Form::packed)
      prefetch_wide(next, backward);
  }
  offset_t memory_bytes() const;
  static offset_t predicted_bytes(const SweepGroups& structure, offset_t scalar_bytes, bool permuted);

 private:
  using Form = PanelForm;
  static constexpr offset_t most_ahead = packed_ahead_bytes / static_cast<offset_t>(sizeof(T));

  const T* in_window(const std::vector<std::uint64_t>& place, index_t s) const {
    return reinterpret_cast<const T*>(window_->base + place[s]);
  }
  const T* values_of(index_t s) const {
    return window_ != nullptr ? in_window(window_->values, s) : values_.data() + layout_.offset[s];
  }
  void prefetch_wide(index_t s, bool backward) const;
  void take_forms(const TriangleValues<T>& known);
  DenseView<const T> stored_block(index_t s) const;
  DenseView<const T> inverse(index_t s) const;
  offset_t leading_dimension(index_t s) const {
    return source_.leading != nullptr ? source_.leading[s] : structure_.symbolic().leading_dimension(s);
  }
  PALMETTE_INLINE PackedPanel<T> packed(index_t s, index_t width, index_t rows_below, bool backward) const {
    return {values_of(s), width, rows_below, is_square(), backward ? -ahead_ : ahead_};
  }
  PackedPanel<T> packed(index_t s, bool backward) const {
    const SymbolicFactor& symbolic = structure_.symbolic();
    return packed(s, symbolic.width(s), symbolic.num_rows_below(s), backward);
  }
  /// The same for several right-hand sides, where arithmetic takes longer than reading and requests pay.
  PackedPanel<T> packed_for_several(index_t s, bool backward) const {
    PackedPanel<T> panel = packed(s, backward);
    panel.ahead = backward ? -most_ahead : most_ahead;
    return panel;
  }
  PALMETTE_INLINE PanelBundle<T> bundle_at(index_t number, bool backward) const {
    const SupernodeBundles& bundles = structure_.bundles();
    const SupernodeBundle& bundle = bundles[number];
    return {values_.data() + layout_.bundles + bundle.before(is_square()),
            bundle.width,
            bundle.rows_below,
            is_square(),
            bundles.places(number),
            backward ? -most_ahead : most_ahead};
  }
  bool is_square() const { return source_.place != nullptr; }
  offset_t held(index_t s) const {
    return entries_held(structure_, s, static_cast<int>(sizeof(T)), is_square());
  }
  struct Workroom;  // of one thread that builds the triangle
  void find_places();
  void compute(const PlanOptions& options);
  bool fits(const TriangleValues<T>& known) const;
  void fill(double growth_limit, ThreadTeam* team);
  template <class Each>
  static void share_out(std::size_t count, ThreadTeam* team, const Each& each);
  void take(const TriangleValues<T>& known, const std::shared_ptr<const void>& owner,
            const PlanOptions& options);
  void fill_one(index_t s, double growth_limit, Workroom& room);
  void fill_bundle(index_t number);
  bool is_whole(index_t bundle) const;
  DiagonalSource<T> diagonal_source(index_t s) const;
  bool invert(index_t s, double growth_limit, DenseView<T> block) const;
  void solve_guarded(index_t s, RhsRows<T> x) const;
  void solve_guarded_transposed(bool adjoint, index_t s, RhsRows<T> x) const;
  /// Whether blocks lie above their rows below, so that substitution reads a panel as a whole.
  bool has_whole_panels() const {
    return source_.diagonal == source_.below && !source_.diagonal_is_upper;
  }
  WholePanel<T> whole_panel(index_t s) const;
  void eliminate_whole(index_t s, const SupernodeVectors<T>& at) const;
  void substitute_whole(bool adjoint, index_t s, const SupernodeVectors<T>& at) const;
  void eliminate_one(index_t s, const SupernodeVectors<T>& at) const;
  void substitute_one(bool adjoint, index_t s, const SupernodeVectors<T>& at) const;
  void multiply_inverse(index_t s, const SupernodeVectors<T>& at) const;
  void multiply_inverse_transposed(bool adjoint, index_t s, const SupernodeVectors<T>& at) const;
  const index_t* places(index_t s) const {
    return has_places_[s] ? source_.place + structure_.symbolic().supernode_begin[s] : nullptr;
  }

  const SweepGroups& structure_;
  TriangleSource<T> source_;
  PanelArray<T> values_;
  PanelLayout layout_;            // of values_
  std::vector<Form> form_;        // length num_supernodes
  std::vector<char> has_places_;  // length num_supernodes
  std::vector<char> is_whole_;    // length of the bundles: all panels are packed
  index_t guarded_count_ = 0;
  const ReadingOrder order_ = reading_order_of_processor();
  // of packed panels, for one right-hand side
  const offset_t ahead_ = order_ == ReadingOrder::one_stream ? 0 : most_ahead;
  const PanelWindow* window_ = nullptr;  // null: panels are in memory
  std::shared_ptr<TriangleStore<T>> store_;  // takes the memory in the end; null: it is freed
};

/// D of LDLᵀ, inverted: blocks of one and two rows.
template <class T>
class BlockDiagonal {
 public:
  BlockDiagonal() = default;
  /// @param d, d_below  as in Factor
  BlockDiagonal(bool hermitian, std::span<const T> d, std::span<const T> d_below);
  /// values ← D⁻¹·values for `count` rows from row `first` of D on; no 2 × 2 block may straddle the ends.
  void solve(index_t first, index_t count, RhsRows<T> values) const;
  offset_t memory_bytes() const;

  bool is_hermitian() const { return hermitian_; }
  const std::vector<T>& diagonal() const { return diagonal_; }
  const std::vector<T>& below() const { return below_; }

 private:
  bool hermitian_ = false;
  std::vector<T> diagonal_;  // length n
  std::vector<T> below_;     // length n; nonzero where a 2 × 2 block begins
};

}  // namespace palmette::solve_detail
