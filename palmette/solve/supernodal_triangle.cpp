// Inverts diagonal blocks, and solves with them. A product with an inverse has no chain of dependent
// divisions, which makes narrow supernodes fast. If the inverse would grow too much, substitution is used
// instead. Source of the bound: [Higham 2002], §14.2.
#include "palmette/solve/supernodal_triangle.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>

#include "palmette/solve/strip_products.hpp"

namespace palmette::solve_detail {
namespace {

static_assert(packed_width <= widest_packed);

template <class T>
double norm_one_of_lower(DenseView<const T> block) {
  double norm = 0;
  for (index_t column = 0; column < block.cols; ++column) {
    double sum = std::abs(block(column, column));
    for (index_t row = column + 1; row < block.rows; ++row) sum += std::abs(block(row, column));
    if (std::isnan(sum)) return sum;
    norm = std::max(norm, sum);
  }
  return norm;
}

constexpr offset_t most_prefetched = 4096;  // bytes

/// Prefetch the first lines of something that is needed soon: panels are short, so the processor's own
/// prefetching has hardly begun when the next one starts, and it does not follow a sweep that runs backwards.
PALMETTE_INLINE inline void prefetch(const void* from, offset_t bytes) {
  constexpr offset_t line = 64;
  const char* const begin = static_cast<const char*>(from);
  for (offset_t at = 0; at < bytes && at < most_prefetched; at += line)
    __builtin_prefetch(begin + at, 0, 2);
}

/// Number of entries that a thread computes at a time. Two threads that touch the same large page for the
/// first time both clear one, so in large plans shares are as large as such pages.
constexpr offset_t fewest_shared = 1 << 14, most_shared = 1 << 18, shares_of_a_thread = 8;

/// The begins of shares of groups, each of about this many entries of the factor, and the last one's end.
std::vector<index_t> equal_shares(const SweepGroups& groups, offset_t entries) {
  const std::vector<offset_t>& before = groups.symbolic().panel_offset;
  std::vector<index_t> begin = {0};
  for (index_t end = 1; end <= groups.num_groups(); ++end)
    if (end == groups.num_groups() ||
        before[groups.supernode_begin(end)] - before[groups.supernode_begin(begin.back())] >= entries)
      begin.push_back(end);
  return begin;
}

double growth_limit_of(const PlanOptions& options, double roundoff) {
  // An inverse has at most as many correct digits as the precision.
  return std::min(options.inverse_growth_limit, 0.1 / roundoff);
}

ReadingOrder order_of(const PlanOptions& options) {
  return options.reading_order.value_or(reading_order_of_processor());
}

/// block ← B, with zeros above the diagonal.
template <class T>
void copy_lower(const DiagonalSource<T>& source, DenseView<T> block) {
  for (index_t column = 0; column < block.cols; ++column) {
    std::fill_n(block.column(column), column, T(0));
    if (source.is_upper)
      for (index_t row = column; row < block.rows; ++row) block(row, column) = source.stored(column, row);
    else
      for (index_t row = column; row < block.rows; ++row) block(row, column) = source.stored(row, column);
    if (source.has_unit_diagonal) block(column, column) = T(1);
  }
}

/// @returns whether the inverse is good enough; else the block holds anything
template <class T>
bool invert_within(double growth_limit, DenseView<T> block) {
  const double norm = norm_one_of_lower<T>(block);
  if (invert_triangle<T>(true, false, block) >= 0) return false;
  return norm_one_of_lower<T>(block) * norm <= growth_limit;
}

}  // namespace

template <class T>
bool expand_diagonal(const DiagonalSource<T>& source, const PlanOptions& options, DenseView<T> m) {
  copy_lower(source, m);
  if (options.invert_diagonal_blocks && invert_within(growth_limit_of(options, unit_roundoff<T>), m))
    return true;
  copy_lower(source, m);
  return false;
}

template <class T>
struct SupernodalTriangle<T>::Workroom {
  PanelArray<T> block = PanelArray<T>(offset_t{packed_width} * packed_width);
};

template <class T>
SupernodalTriangle<T>::SupernodalTriangle(const SweepGroups& structure, const TriangleSource<T>& source,
                                          const PlanOptions& options, const TriangleValues<T>& known,
                                          const std::shared_ptr<const void>& owner)
    : structure_(structure), source_(source), order_(order_of(options)) {
  find_places();
  if (!options.invert_diagonal_blocks) return;
  if (owner && fits(known)) {
    take(known, owner, options);
    guarded_count_ = static_cast<index_t>(std::count(form_.begin(), form_.end(), Form::guarded));
  } else {
    compute(options);
  }
}

template <class T>
SupernodalTriangle<T>::SupernodalTriangle(const SweepGroups& structure, const TriangleSource<T>& source,
                                          const PlanOptions& options,
                                          std::shared_ptr<TriangleStore<T>> store)
    : structure_(structure), source_(source), order_(order_of(options)), store_(std::move(store)) {
  TriangleMemory<T> left = store_->take();
  values_ = std::move(left.values);
  layout_ = std::move(left.layout);
  form_ = std::move(left.form);
  has_places_ = std::move(left.has_places);
  find_places();
  if (options.invert_diagonal_blocks) compute(options);
}

template <class T>
SupernodalTriangle<T>::~SupernodalTriangle() {
  if (store_)
    store_->give_back(
        {std::move(values_), std::move(layout_), std::move(form_), std::move(has_places_)});
}

template <class T>
void SupernodalTriangle<T>::compute(const PlanOptions& options) {
  if (values_.size() != layout_.end) values_ = PanelArray<T>(layout_.end, Uninitialised());
  const offset_t bundles_end = layout_.bundles + structure_.bundles().entries(is_square());
  std::fill(values_.data() + layout_.panels_end, values_.data() + layout_.bundles, T(0));
  std::fill(values_.data() + bundles_end, values_.data() + layout_.end, T(0));
  fill(growth_limit_of(options, unit_roundoff<T>), options.team);
  guarded_count_ = static_cast<index_t>(std::count(form_.begin(), form_.end(), Form::guarded));
}

template <class T>
SupernodalTriangle<T>::SupernodalTriangle(const SweepGroups& structure, const TriangleSource<T>& source,
                                          const TriangleValues<T>& known)
    : structure_(structure), source_(source) {
  find_places();
  if (!fits(known)) throw UsageError("the panels of the plan do not fit the structure");
  take_forms(known);
  guarded_count_ = static_cast<index_t>(std::count(form_.begin(), form_.end(), Form::guarded));
}

template <class T>
PanelReadsOf SupernodalTriangle<T>::reads(index_t s, const PanelPositions& at) const {
  const SymbolicFactor& symbolic = structure_.symbolic();
  const auto part = [](std::uint64_t array, offset_t begin, offset_t end) {
    return PanelRead{array + static_cast<std::uint64_t>(begin) * sizeof(T),
                     static_cast<std::uint64_t>(end - begin) * sizeof(T), 0};
  };
  PanelReadsOf reads;
  const offset_t begin = layout_.offset[s];
  if (form_[s] != Form::guarded) reads.values = part(at.values, begin, begin + held(s));
  reads.values_apart = structure_.bundles().holds(s);
  if (form_[s] != Form::packed)
    reads.panel = part(at.panels, symbolic.panel_offset[s], symbolic.panel_offset[s + 1]);
  return reads;
}

template <class T>
void SupernodalTriangle<T>::take_forms(const TriangleValues<T>& known) {
  std::transform(known.forms.begin(), known.forms.end(), form_.begin(),
                 [](char form) { return static_cast<Form>(form); });
}

/// each(number, room) for all numbers, by the threads of a team in turn. @param team  null: by the caller's
template <class T>
template <class Each>
void SupernodalTriangle<T>::share_out(std::size_t count, ThreadTeam* team, const Each& each) {
  std::atomic<std::size_t> next{0};
  const auto take_numbers = [&](int) {
    Workroom room;
    for (std::size_t nth = next.fetch_add(1); nth < count; nth = next.fetch_add(1)) each(nth, room);
  };
  if (team == nullptr) return take_numbers(0);
  team->share(std::ref(take_numbers));
}

template <class T>
void SupernodalTriangle<T>::take(const TriangleValues<T>& known, const std::shared_ptr<const void>& owner,
                                 const PlanOptions& options) {
  take_forms(known);
  for (index_t bundle = 0; bundle < structure_.bundles().count(); ++bundle)
    is_whole_[bundle] = is_whole(bundle);
  if (known.changed.empty()) {
    values_ = PanelArray<T>(known.panels, owner);
    return;
  }
  values_ = PanelArray<T>(static_cast<offset_t>(known.panels.size()), Uninitialised());
  copy_panels(known.panels, options.team, values_);
  const double growth_limit = growth_limit_of(options, unit_roundoff<T>);
  share_out(known.changed.size(), options.team, [&](std::size_t nth, Workroom& room) {
    form_[known.changed[nth]] = Form::guarded;
    fill_one(known.changed[nth], growth_limit, room);
  });
  std::vector<char> changed(form_.size(), 0);
  for (const index_t s : known.changed) changed[s] = 1;
  for (index_t bundle = 0; bundle < structure_.bundles().count(); ++bundle) {
    const auto members = structure_.bundles().members(bundle);
    if (std::any_of(members.begin(), members.end(), [&](index_t s) { return changed[s] != 0; }))
      fill_bundle(bundle);
  }
}

template <class T>
bool SupernodalTriangle<T>::fits(const TriangleValues<T>& known) const {
  if (static_cast<offset_t>(known.panels.size()) != layout_.end || known.forms.size() != form_.size())
    return false;
  for (index_t s = 0; s < structure_.symbolic().num_supernodes(); ++s) {
    const Form form = static_cast<Form>(known.forms[s]);
    const Form inverted = structure_.symbolic().width(s) <= packed_width ? Form::packed : Form::inverted;
    if (form != Form::guarded && form != inverted) return false;
  }
  return true;
}

template <class T>
TriangleValues<T> SupernodalTriangle<T>::values() const {
  if (window_ != nullptr) return {};
  return {{values_.data(), static_cast<std::size_t>(values_.size())},
          {reinterpret_cast<const char*>(form_.data()), form_.size()}};
}

template <class T>
void SupernodalTriangle<T>::find_places() {
  const SymbolicFactor& symbolic = structure_.symbolic();
  const index_t count = symbolic.num_supernodes();
  form_.assign(count, Form::guarded);
  has_places_.assign(count, 0);
  is_whole_.assign(structure_.bundles().count(), 0);
  if (source_.place != nullptr)
    for (index_t s = 0; s < count; ++s)
      for (index_t k = 0; k < symbolic.width(s); ++k)
        if (source_.place[symbolic.supernode_begin[s] + k] != k) has_places_[s] = 1;
  if (layout_.offset.empty()) layout_ = panel_layout(structure_, sizeof(T), is_square());
}

/// Each supernode's values depend on its panel alone, so threads take shares in any order, and touch their
/// pages first. Bundles are filled while their panels are in cache.
template <class T>
void SupernodalTriangle<T>::fill(double growth_limit, ThreadTeam* team) {
  const offset_t threads = team != nullptr ? team->size() : 1;
  const std::vector<index_t> begin = equal_shares(
      structure_, std::clamp(layout_.end / (shares_of_a_thread * threads), fewest_shared, most_shared));
  share_out(begin.size() - 1, begin.size() < 4 ? nullptr : team, [&](std::size_t share, Workroom& room) {
    for (index_t group = begin[share]; group < begin[share + 1]; ++group) {
      for (index_t s = structure_.supernode_begin(group); s < structure_.supernode_end(group); ++s)
        fill_one(s, growth_limit, room);
      for (index_t k = structure_.bundles().begin(group); k < structure_.bundles().end(group); ++k)
        fill_bundle(k);
    }
  });
}

template <class T>
bool SupernodalTriangle<T>::is_whole(index_t bundle) const {
  const auto members = structure_.bundles().members(bundle);
  return std::all_of(members.begin(), members.end(), [&](index_t s) { return is_packed(s); });
}

template <class T>
void SupernodalTriangle<T>::fill_bundle(index_t number) {
  const SupernodeBundle& bundle = structure_.bundles()[number];
  T* const values = values_.data() + layout_.bundles + bundle.before(is_square());
  std::fill_n(values, bundle.entries(is_square()), T(0));
  is_whole_[number] = is_whole(number);
  if (!is_whole_[number]) return;
  const auto members = structure_.bundles().members(number);
  for (std::size_t lane = 0; lane < members.size(); ++lane)
    put_in_lane<T>(packed(members[lane], false), values + lane);
}

template <class T>
void SupernodalTriangle<T>::fill_one(index_t s, double growth_limit, Workroom& room) {
  const index_t width = structure_.symbolic().width(s);
  const bool packs = width <= packed_width;
  T* const to = values_.data() + layout_.offset[s];
  // The gap behind a panel, too, which is kept in files.
  const offset_t all = held(s), last = std::min<offset_t>(all, packed_rows(sizeof(T)));
  std::fill_n(to + all - last, last, T(0));
  const DenseView<T> inverted{packs ? room.block.data() : to, width, width, width};
  if (!invert(s, growth_limit, inverted)) {
    std::fill_n(to, all, T(0));
    return;
  }
  form_[s] = packs ? Form::packed : Form::inverted;
  if (packs) pack_panel<T>({is_square(), inverted, below(s), places(s)}, to);
}

template <class T>
DenseView<const T> SupernodalTriangle<T>::below(index_t s) const {
  const SymbolicFactor& symbolic = structure_.symbolic();
  const T* const panel =
      window_ != nullptr ? in_window(window_->panel, s) : source_.below + symbolic.panel_offset[s];
  return {panel + symbolic.width(s), symbolic.num_rows_below(s), symbolic.width(s), leading_dimension(s)};
}

template <class T>
DenseView<const T> SupernodalTriangle<T>::stored_block(index_t s) const {
  const SymbolicFactor& symbolic = structure_.symbolic();
  const index_t width = symbolic.width(s);
  const T* const panel =
      window_ != nullptr ? in_window(window_->panel, s) : source_.diagonal + symbolic.panel_offset[s];
  return {panel, width, width, leading_dimension(s)};
}

template <class T>
DenseView<const T> SupernodalTriangle<T>::inverse(index_t s) const {
  const index_t width = structure_.symbolic().width(s);
  return {values_of(s), width, width, width};
}

template <class T>
DiagonalSource<T> SupernodalTriangle<T>::diagonal_source(index_t s) const {
  return {stored_block(s), source_.diagonal_is_upper, source_.unit_diagonal};
}

template <class T>
bool SupernodalTriangle<T>::expand_diagonal(index_t s, DenseView<T> m) const {
  copy_lower(diagonal_source(s), m);
  if (form_[s] == Form::guarded) return false;
  invert_triangle<T>(true, false, m);  // the same bits as when the triangle was built
  return true;
}

template <class T>
bool SupernodalTriangle<T>::expand(index_t s, DenseView<T> m) const {
  const DenseView<const T> rows = below(s);
  const DenseView<T> top{m.data, m.cols, m.cols, m.ld}, bottom{m.data + m.cols, rows.rows, m.cols, m.ld};
  if (expand_diagonal(s, top)) {
    multiply_plain<T>(rows, top, bottom);
    return true;
  }
  for (index_t column = 0; column < m.cols; ++column)
    std::copy_n(rows.column(column), rows.rows, bottom.column(column));
  return false;
}

template <class T>
bool SupernodalTriangle<T>::invert(index_t s, double growth_limit, DenseView<T> block) const {
  copy_lower(diagonal_source(s), block);
  return invert_within(growth_limit, block);
}

/// The plain way, one column at a time; for few blocks, or as the reference for the others.
template <class T>
void SupernodalTriangle<T>::solve_guarded(index_t s, RhsRows<T> x) const {
  const DenseView<const T> block = stored_block(s);
  for (index_t column = 0; column < block.cols; ++column) {
    if (!source_.unit_diagonal)
      for (index_t rhs = 0; rhs < x.stride; ++rhs) x.row(column)[rhs] /= block(column, column);
    for (index_t row = column + 1; row < block.rows; ++row)
      subtract_row(source_.diagonal_is_upper ? block(column, row) : block(row, column), x.row(column),
                   x.stride, x.row(row));
  }
}

template <class T>
void SupernodalTriangle<T>::solve_guarded_transposed(bool adjoint, index_t s, RhsRows<T> x) const {
  const DenseView<const T> block = stored_block(s);
  const auto op = [adjoint](const T& value) { return adjoint ? conjugate(value) : value; };
  for (index_t column = block.cols - 1; column >= 0; --column) {
    for (index_t row = column + 1; row < block.rows; ++row)
      subtract_row(op(source_.diagonal_is_upper ? block(column, row) : block(row, column)), x.row(row),
                   x.stride, x.row(column));
    if (!source_.unit_diagonal)
      for (index_t rhs = 0; rhs < x.stride; ++rhs) x.row(column)[rhs] /= op(block(column, column));
  }
}

template <class T>
void SupernodalTriangle<T>::multiply_inverse(index_t s, const SupernodeVectors<T>& at) const {
  const DenseView<const T> m = inverse(s);
  for (index_t row = 0; row < m.rows; row += strip_rows) {
    const index_t rows = std::min(strip_rows, m.rows - row);
    multiply_rhs<T>({m.data + row, rows, row + rows, m.ld, false, 0, at.rows_ahead}, at.spare,
                    IntoRows::overwrite, {row, nullptr, rows}, at.own);
  }
}

template <class T>
void SupernodalTriangle<T>::multiply_inverse_transposed(bool adjoint, index_t s,
                                                        const SupernodeVectors<T>& at) const {
  const DenseView<const T> m = inverse(s);
  for (index_t column = 0; column < m.cols; column += strip_rows) {
    const index_t columns = std::min(strip_rows, m.cols - column), rows = m.rows - column;
    multiply_rhs_transposed<T>(
        {m.data + column + column * m.ld, rows, columns, m.ld, adjoint, 0, at.rows_ahead},
        {column, nullptr, rows}, at.spare, IntoRows::overwrite, at.own.from(column));
  }
}

template <class T>
void SupernodalTriangle<T>::eliminate(index_t s, const SupernodeVectors<T>& at) const {
  const index_t width = structure_.symbolic().width(s);
  if (at.own.stride == 1) return eliminate_one(s, at);
  if (form_[s] == Form::packed)
    return packed_forward_rhs<T>(packed_for_several(s, false), at.rows,
                                 {at.own, at.local, at.spare, at.rows_ahead});
  gather_rows<T>(places(s), width, at.own, at.spare);
  if (form_[s] == Form::inverted) {
    multiply_inverse(s, at);
  } else {
    solve_guarded(s, at.spare);
    copy_rows<T>(at.spare, width, at.own);
  }
  const DenseView<const T> rows = below(s);
  multiply_rhs<T>({rows.data, rows.rows, rows.cols, rows.ld, false}, at.own, IntoRows::subtract, at.rows,
                    at.local);
}

template <class T>
void SupernodalTriangle<T>::substitute(bool adjoint, index_t s, const SupernodeVectors<T>& at) const {
  const index_t width = structure_.symbolic().width(s);
  if (at.own.stride == 1) return substitute_one(adjoint, s, at);
  if (form_[s] == Form::packed)
    return packed_backward_rhs<T>(adjoint, packed_for_several(s, true), at.rows,
                                  {at.own, at.local, at.spare, at.rows_ahead});
  const DenseView<const T> rows = below(s);
  multiply_rhs_transposed<T>({rows.data, rows.rows, rows.cols, rows.ld, adjoint}, at.rows,
                             RhsRows<const T>{at.local.first, at.local.stride}, IntoRows::subtract, at.own);
  if (form_[s] == Form::inverted) {
    copy_rows<T>(at.own, width, at.spare);
    multiply_inverse_transposed(adjoint, s, at);
  } else {
    solve_guarded_transposed(adjoint, s, at.own);
  }
  if (places(s) == nullptr) return;
  copy_rows<T>(at.own, width, at.spare);
  scatter_rows<T>(places(s), width, at.spare, at.own);
}

template <class T>
WholePanel<T> SupernodalTriangle<T>::whole_panel(index_t s) const {
  const DenseView<const T> rows = below(s);
  return {{rows.data - rows.cols, rows.cols + rows.rows, rows.cols, rows.ld}, source_.unit_diagonal, order_};
}

template <class T>
void SupernodalTriangle<T>::eliminate_whole(index_t s, const SupernodeVectors<T>& at) const {
  const WholePanel<T> panel = whole_panel(s);
  const index_t width = panel.entries.cols, rows = panel.entries.rows - width;
  T* const own = at.row_values - width;
  gather_rows<T>(places(s), width, at.own, {own, 1});
  std::fill_n(at.row_values, rows, T(0));
  panel_forward(panel, own, at.offers);
  std::copy_n(own, width, at.own.data);
  for (index_t k = 0; k < rows; ++k) at.local.first[at.rows[k]] += at.row_values[k];
}

template <class T>
void SupernodalTriangle<T>::substitute_whole(bool adjoint, index_t s, const SupernodeVectors<T>& at) const {
  const WholePanel<T> panel = whole_panel(s);
  const index_t width = panel.entries.cols, rows = panel.entries.rows - width;
  T* const own = at.row_values - width;
  std::copy_n(at.own.data, width, own);
  for (index_t k = 0; k < rows; ++k) at.row_values[k] = at.local.first[at.rows[k]];
  panel_backward(adjoint, panel, own, at.offers);
  scatter_rows<T>(places(s), width, {own, 1}, at.own);
}

template <class T>
void SupernodalTriangle<T>::eliminate_one(index_t s, const SupernodeVectors<T>& at) const {
  if (is_packed(s))
    return (structure_.bundles().holds(s) ? bundled_forward_alone<T> : packed_forward<T>)(
        packed(s, false), at.rows, at.own.data, at.local.first);
  if (has_whole_panels()) return eliminate_whole(s, at);
  const index_t width = structure_.symbolic().width(s);
  gather_rows<T>(places(s), width, at.own, at.spare);
  if (form_[s] == Form::inverted) {
    multiply_lower<T>(inverse(s), one_column(at.spare.data, width), one_column(at.own.data, width));
  } else {
    solve_guarded(s, at.spare);
    copy_rows<T>(at.spare, width, at.own);
  }
  const DenseView<const T> rows = below(s);
  if (rows.rows == 0) return;
  panel_multiply<T>(rows, one_column(at.own.data, width), one_column(at.row_values, rows.rows));
  for (index_t k = 0; k < rows.rows; ++k) at.local.first[at.rows[k]] -= at.row_values[k];
}

template <class T>
void SupernodalTriangle<T>::substitute_one(bool adjoint, index_t s, const SupernodeVectors<T>& at) const {
  if (is_packed(s))
    return (structure_.bundles().holds(s) ? bundled_backward_alone<T> : packed_backward<T>)(
        adjoint, packed(s, true), at.rows, at.own.data, at.local.first);
  if (has_whole_panels()) return substitute_whole(adjoint, s, at);
  const DenseView<const T> rows = below(s);
  const DenseView<T> own = one_column(at.own.data, rows.cols);
  const bool is_large = offset_t{rows.cols} * rows.rows >= least_shared_entries;
  const OffersOfThread offers = is_large ? at.offers : OffersOfThread();
  if (rows.rows > 0) {
    if (at.rows.list != nullptr)
      for (index_t k = 0; k < rows.rows; ++k) at.row_values[k] = at.local.first[at.rows.list[k]];
    T* const known = at.rows.list != nullptr ? at.row_values : at.local.first + at.rows.start;
    over_strips(offers, rows.cols, [&](index_t column, index_t end) {  // the last columns first
      rows_below_backward(adjoint, whole_panel(s), {rows.cols - end, rows.cols - column}, known - rows.cols,
                          own.data);
    });
  }
  if (form_[s] == Form::inverted) {
    multiply_lower_transposed<T>(offers, adjoint, inverse(s), own, one_column(at.spare.data, rows.cols));
  } else {
    solve_guarded_transposed(adjoint, s, at.own);
    copy_rows<T>(at.own, rows.cols, at.spare);
  }
  scatter_rows<T>(places(s), rows.cols, at.spare, at.own);
}

template <class T>
void SupernodalTriangle<T>::prefetch_wide(index_t s, bool backward) const {
  if (window_ != nullptr) return;  // the next panel may not be in memory
  constexpr auto scalar = static_cast<offset_t>(sizeof(T));
  if (!has_whole_panels()) {
    const DenseView<const T> panel = below(s);
    return prefetch(panel.data, panel.ld * panel.cols * scalar);
  }
  const DenseView<const T> panel = whole_panel(s).entries;
  const offset_t entries = panel.ld * panel.cols, asked = std::min(entries, most_prefetched / scalar);
  prefetch(panel.data + (backward ? entries - asked : 0), asked * scalar);
}

template <class T>
offset_t SupernodalTriangle<T>::memory_bytes() const {
  return values_.bytes() +
         static_cast<offset_t>(form_.size() + has_places_.size() + is_whole_.size() +
                               layout_.offset.size() * sizeof(offset_t));
}

template <class T>
offset_t SupernodalTriangle<T>::predicted_bytes(const SweepGroups& structure, offset_t scalar_bytes,
                                                bool permuted) {
  const offset_t entries = panel_layout(structure, static_cast<int>(scalar_bytes), permuted).end;
  return entries * scalar_bytes + structure.bundles().count() +
         offset_t{structure.symbolic().num_supernodes()} * static_cast<offset_t>(2 + sizeof(offset_t));
}

#define PALMETTE_INSTANTIATE(T)                                                                       \
  template bool expand_diagonal<T>(const DiagonalSource<T>&, const PlanOptions&, DenseView<T>);       \
  template class SupernodalTriangle<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
