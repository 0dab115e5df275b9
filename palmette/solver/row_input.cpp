// Rows of a matrix on each rank. Entries are sent column by column, with rows ascending within a column: the
// order of the pattern, which all ranks know, so that no index is sent twice.
#include <algorithm>
#include <cstring>

#include "palmette/solver/rank_facts.hpp"
#include "palmette/solver/rank_input.hpp"
#include "palmette/solver/schur_factor.hpp"

namespace palmette {
namespace {

template <class V>
std::span<const std::byte> raw_bytes(const std::vector<V>& values) {
  return std::as_bytes(std::span<const V>(values));
}

/// Reads the data from each rank, one item after the other.
template <class V>
class Pieces {
 public:
  explicit Pieces(const std::vector<SharedBytes>& pieces) {
    for (const SharedBytes& piece : pieces) next_.push_back(reinterpret_cast<const V*>(piece.data()));
  }
  const V& next(index_t rank) { return *next_[rank]++; }

 private:
  std::vector<const V*> next_;  // by rank
};

bool has_full_diagonal(const SparsityPattern& pattern) {
  for (index_t column = 0; column < pattern.cols; ++column)
    if (!std::binary_search(pattern.column(column).begin(), pattern.column(column).end(), column))
      return false;
  return true;
}

/// Sizes that prefer the diagonal to all other entries.
std::vector<entry_size_t> diagonal_first(const SparsityPattern& pattern) {
  constexpr entry_size_t half = -(1 << 20);
  std::vector<entry_size_t> sizes(pattern.nnz(), half);
  for (index_t column = 0; column < pattern.cols; ++column)
    for (offset_t entry = pattern.column_ptr[column]; entry < pattern.column_ptr[column + 1]; ++entry)
      if (pattern.row_index[entry] == column) sizes[entry] = 0;
  return sizes;
}

/// The rank whose blocks contain an entry of the user's matrix.
class EntryOwner {
 public:
  EntryOwner(const SymbolicFactor& symbolic, const Placement& placement, FactorKind kind)
      : symbolic_(symbolic), placement_(placement), lower_only_(kind != FactorKind::lu) {}
  /// −1 if no rank needs it, because its mirror image across the diagonal is used instead.
  index_t operator()(index_t row, index_t column) const {
    const index_t new_row = symbolic_.row.old_to_new()[row],
                  new_column = symbolic_.column.old_to_new()[column];
    if (lower_only_ && new_row < new_column) return -1;
    const index_t s = symbolic_.supernode_of[new_row], t = symbolic_.supernode_of[new_column];
    return placement_.owner(std::max(s, t), std::min(s, t));
  }

 private:
  const SymbolicFactor& symbolic_;
  const Placement& placement_;
  bool lower_only_;
};

}  // namespace

template <class T>
RowInput<T>::RowInput(const RowBlock<T>& rows, const RankTeam& ranks, const RowInput* former)
    : ranks_(ranks) {
  check_on_all(ranks_, [&] {
    share_.rows = checked_rows(rows);
    share_.first = share_.count() > 0 ? rows.first_row : 0;
    const auto same_rows = [&](const RowInput& other) {
      return share_.first == other.share_.first &&
             share_.rows.pattern.rows == other.share_.rows.pattern.rows &&
             share_.rows.pattern.column_ptr == other.share_.rows.pattern.column_ptr &&
             share_.rows.pattern.row_index == other.share_.rows.pattern.row_index;
    };
    if (former != nullptr && !same_rows(*former))
      throw UsageError(
          "refactor needs the rows and the pattern that were analyzed, these are others; make a new solver "
          "for them");
  });
  ranges_ = former != nullptr ? former->ranges_
                              : agreed_rows(ranks_, share_.size(), {share_.first, share_.count()});
  share_rows();
  pattern_ = former != nullptr ? former->pattern_ : gather_pattern();
  deal_columns();
  find_symmetry();
}

template <class T>
RowInput<T>::RowInput(const RowInput& whole, const std::vector<char>& on_boundary)
    : ranks_(whole.ranks_),
      ranges_(whole.ranges_),
      pattern_(std::make_shared<const SparsityPattern>(interior_of(*whole.pattern_, on_boundary))),
      symmetry_(whole.symmetry_) {
  share_.first = whole.share_.first;
  share_.rows = interior_of(whole.share_.rows, on_boundary, share_.first);
  share_.columns = interior_of(whole.share_.columns, on_boundary, share_.first);
  share_rows();
}

template <class T>
std::shared_ptr<const RankInput<T>> RowInput<T>::interior(const std::vector<char>& on_boundary) const {
  return std::shared_ptr<const RowInput>(new RowInput(*this, on_boundary));
}

template <class T>
void RowInput<T>::share_rows() {
  share_.share = [this](std::span<std::byte> items, std::size_t item_bytes) {
    share_items(items, item_bytes);
  };
}

template <class T>
std::vector<SharedBytes> RowInput<T>::gather(std::span<const std::byte> mine) const {
  std::vector<SharedBytes> pieces;
  exchange(ranks_.transport,
           [&] { pieces = gather_from_all(ranks_.transport, ranks_.team, pool_.copy(mine), ranks_.drive); });
  return pieces;
}

template <class T>
std::vector<SharedBytes> RowInput<T>::deal(const std::vector<SharedBytes>& pieces) const {
  std::vector<SharedBytes> got;
  exchange(ranks_.transport, [&] { got = deal_to_all(ranks_.transport, ranks_.team, pieces, ranks_.drive); });
  return got;
}

template <class T>
void RowInput<T>::share_items(std::span<std::byte> items, std::size_t item_bytes) const {
  const auto of_rank = [&](const RowsOfRank& rows) {
    return items.subspan(static_cast<std::size_t>(rows.first) * item_bytes,
                         static_cast<std::size_t>(rows.count) * item_bytes);
  };
  const std::vector<SharedBytes> pieces = gather(of_rank({share_.first, share_.count()}));
  for (std::size_t rank = 0; rank < pieces.size(); ++rank)
    if (pieces[rank].size() > 0)
      std::memcpy(of_rank(ranges_[rank]).data(), pieces[rank].data(), pieces[rank].size());
}

template <class T>
std::shared_ptr<const SparsityPattern> RowInput<T>::gather_pattern() const {
  const SparsityPattern& own = share_.rows.pattern;
  const std::vector<SharedBytes> pointers = gather(raw_bytes(own.column_ptr)),
                                 columns = gather(raw_bytes(own.row_index));
  std::vector<std::size_t> in_row_order(ranges_.size());
  for (std::size_t rank = 0; rank < ranges_.size(); ++rank) in_row_order[rank] = rank;
  std::sort(in_row_order.begin(), in_row_order.end(),
            [&](std::size_t a, std::size_t b) { return ranges_[a].first < ranges_[b].first; });
  auto pattern = std::make_shared<SparsityPattern>();
  pattern->rows = pattern->cols = share_.size();
  pattern->column_ptr.assign(pattern->cols + 1, 0);
  for (const SharedBytes& piece : columns) {
    const auto* const column = reinterpret_cast<const index_t*>(piece.data());
    for (std::size_t entry = 0; entry < piece.size() / sizeof(index_t); ++entry)
      ++pattern->column_ptr[column[entry] + 1];
  }
  for (index_t column = 0; column < pattern->cols; ++column)
    pattern->column_ptr[column + 1] += pattern->column_ptr[column];
  pattern->row_index.resize(pattern->nnz());
  std::vector<offset_t> next(pattern->column_ptr.begin(), pattern->column_ptr.end() - 1);
  for (const std::size_t rank : in_row_order) {
    const auto* const pointer = reinterpret_cast<const offset_t*>(pointers[rank].data());
    const auto* const column = reinterpret_cast<const index_t*>(columns[rank].data());
    for (index_t row = 0; row < ranges_[rank].count; ++row)
      for (offset_t entry = pointer[row]; entry < pointer[row + 1]; ++entry)
        pattern->row_index[next[column[entry]]++] = ranges_[rank].first + row;
  }
  return pattern;
}

template <class T>
std::vector<index_t> RowInput<T>::rank_of_rows() const {
  std::vector<index_t> rank_of(share_.size());
  for (std::size_t rank = 0; rank < ranges_.size(); ++rank)
    std::fill_n(rank_of.begin() + ranges_[rank].first, ranges_[rank].count, static_cast<index_t>(rank));
  return rank_of;
}

template <class T>
void RowInput<T>::deal_columns() {
  const SparseMatrix<T> by_columns = transpose(share_.rows);
  std::vector<SharedBytes> pieces;
  for (const RowsOfRank& rows : ranges_) {
    const offset_t begin = by_columns.pattern.column_ptr[rows.first],
                   end = by_columns.pattern.column_ptr[rows.first + rows.count];
    pieces.push_back(pool_.copy(
        std::as_bytes(std::span(by_columns.values.data() + begin, end - begin))));
  }
  const std::vector<SharedBytes> got = deal(pieces);
  const index_t begin = share_.first, end = share_.first + share_.count();
  SparsityPattern& own = share_.columns.pattern;
  own.rows = share_.size();
  own.cols = share_.count();
  own.column_ptr.assign(pattern_->column_ptr.begin() + begin, pattern_->column_ptr.begin() + end + 1);
  const offset_t before = own.column_ptr.front();
  own.row_index.assign(pattern_->row_index.begin() + before,
                       pattern_->row_index.begin() + own.column_ptr.back());
  for (offset_t& pointer : own.column_ptr) pointer -= before;
  share_.columns.values.reserve(own.row_index.size());
  const std::vector<index_t> rank_of = rank_of_rows();
  Pieces<T> values(got);
  for (const index_t row : own.row_index)
    share_.columns.values.push_back(values.next(rank_of[row]));
}

/// As detect_symmetry: a rank compares its rows with its columns.
template <class T>
void RowInput<T>::find_symmetry() {
  const SparseMatrix<T>&rows = share_.rows, &columns = share_.columns;
  const bool paired = rows.pattern.column_ptr == columns.pattern.column_ptr &&
                      rows.pattern.row_index == columns.pattern.row_index;
  bool symmetric = paired, hermitian = paired && is_complex_v<T>, skew = paired;
  for (std::size_t entry = 0; paired && entry < rows.values.size(); ++entry) {
    const T &value = rows.values[entry], &other = columns.values[entry];
    symmetric = symmetric && value == other;
    hermitian = hermitian && value == conjugate(other);
    skew = skew && value == -other;
  }
  const auto everywhere = [&](bool here) { return ranks_.transport.agree(here ? 0 : 1) == 0; };
  const bool all_symmetric = everywhere(symmetric), all_hermitian = everywhere(hermitian),
             all_skew = everywhere(skew);
  symmetry_ = all_hermitian   ? Symmetry::hermitian
              : all_symmetric ? Symmetry::symmetric
              : all_skew      ? Symmetry::skew
                              : Symmetry::general;
}

template <class T>
bool RowInput<T>::has_positive_diagonal() const {
  for (index_t row = 0; row < share_.count(); ++row) {
    const std::span<const index_t> columns = share_.rows.pattern.column(row);
    const auto place = std::lower_bound(columns.begin(), columns.end(), share_.first + row);
    if (place == columns.end() || *place != share_.first + row) return false;
    const T value = share_.rows.values[share_.rows.pattern.column_ptr[row] +
                                                                (place - columns.begin())];
    if (!(std::real(value) > 0) || std::imag(value) != 0) return false;
  }
  return true;
}

template <class T>
void RowInput<T>::save(ArchiveWriter& file) const {
  const index_t place[] = {share_.size(), share_.first};
  file.add("rows.place", std::span<const index_t>(place));
  file.add("rows.row_ptr", share_.rows.pattern.column_ptr);
  file.add("rows.column", share_.rows.pattern.row_index);
  file.add("rows.values", share_.rows.values);
}

template <class T>
FactorKind RowInput<T>::choose(std::optional<FactorKind> wanted) const {
  const bool positive = ranks_.transport.agree(has_positive_diagonal() ? 0 : 1) == 0;
  return choose_kind<T>(symmetry_, positive, wanted);
}

template <class T>
std::vector<entry_size_t> RowInput<T>::sizes_of_all() const {
  std::vector<entry_size_t> own;
  {
    const SparseMatrix<T> by_columns = transpose(share_.rows);
    own.reserve(by_columns.values.size());
    for (const T& value : by_columns.values) own.push_back(entry_size(value));
  }
  const std::vector<SharedBytes> got = gather(raw_bytes(own));
  const std::vector<index_t> rank_of = rank_of_rows();
  Pieces<entry_size_t> sizes(got);
  std::vector<entry_size_t> all;
  all.reserve(pattern_->row_index.size());
  for (const index_t row : pattern_->row_index)
    all.push_back(sizes.next(rank_of[row]));
  return all;
}

template <class T>
Outcome<Ordering> RowInput<T>::order(const OrderOptions& options) const {
  if (options.pivot_need != PivotNeed::none && !options.matching) return order_by_structure(options);
  std::vector<entry_size_t> sizes;
  if (options.pivot_need != PivotNeed::none) sizes = sizes_of_all();
  std::optional<Outcome<Ordering>> found;
  agree_after(ranks_.transport,
              [&] { found.emplace(order_by_sizes<T>(*pattern_, symmetry_, sizes, options)); });
  return *std::move(found);
}

/// The values are not known here: the diagonal of the pattern is kept, and scaling uses the largest entries
/// of rows and columns, which their ranks determine.
template <class T>
Outcome<Ordering> RowInput<T>::order_by_structure(const OrderOptions& options) const {
  std::optional<Outcome<Ordering>> found;
  agree_after(ranks_.transport, [&] {
    OrderOptions structural = options;
    structural.scaling = false;
    structural.matching = options.pivot_need == PivotNeed::unsymmetric && !has_full_diagonal(*pattern_);
    std::vector<entry_size_t> sizes;
    if (structural.matching) sizes = diagonal_first(*pattern_);
    found.emplace(order_by_sizes<T>(*pattern_, symmetry_, sizes, structural));
  });
  if (found->ok() && options.scaling) {
    Ordering& made = found->value();
    equilibrate(share_, made.row_scale, made.column_scale);
    if (options.pivot_need == PivotNeed::indefinite) made.column_scale = made.row_scale;
  }
  return *std::move(found);
}

template <class T>
double RowInput<T>::largest_scaled_entry(const PlacedStructure& what) const {
  const Ordering& ordering = *what.ordering;
  const auto stays_last = [&](const Permutation& order, index_t unknown) {
    return order.old_to_new()[unknown] >= share_.size() - what.columns_last;
  };
  const auto scale_of = [](const std::vector<double>& scales, index_t place) {
    return scales.empty() ? 1.0 : scales[place];
  };
  double largest = 0;
  const SparsityPattern& pattern = share_.rows.pattern;
  for (index_t row = 0; row < share_.count(); ++row)
    for (offset_t entry = pattern.column_ptr[row]; entry < pattern.column_ptr[row + 1]; ++entry) {
      if (stays_last(what.symbolic->row, share_.first + row) &&
          stays_last(what.symbolic->column, pattern.row_index[entry]))
        continue;
      const double size =
          static_cast<double>(cheap_modulus(share_.rows.values[entry]));
      largest = std::max(largest, size * scale_of(ordering.row_scale, share_.first + row) *
                                      scale_of(ordering.column_scale, pattern.row_index[entry]));
    }
  exchange(ranks_.transport,
           [&] { largest = figure_of_ranks(largest, ranks_.transport, ranks_.team, ranks_.drive).most; });
  return largest;
}

template <class T>
OwnEntries<T> RowInput<T>::own_entries(const PlacedStructure& what) const {
  const EntryOwner owner(*what.symbolic, *what.placement, what.kind);
  std::vector<SharedBytes> got;
  {
    const SparseMatrix<T> by_columns = transpose(share_.rows);
    std::vector<std::vector<T>> values(ranges_.size());
    for (index_t column = 0; column < by_columns.cols(); ++column)
      for (offset_t entry = by_columns.pattern.column_ptr[column];
           entry < by_columns.pattern.column_ptr[column + 1]; ++entry) {
        const index_t rank = owner(share_.first + by_columns.pattern.row_index[entry], column);
        if (rank >= 0)
          values[rank].push_back(
              by_columns.values[entry]);
      }
    std::vector<SharedBytes> pieces;
    for (const std::vector<T>& of_rank : values) pieces.push_back(pool_.copy(raw_bytes(of_rank)));
    got = deal(pieces);
  }
  const std::vector<index_t> rank_of = rank_of_rows();
  Pieces<T> values(got);
  auto own = std::make_shared<SparseMatrix<T>>();
  own->symmetry = symmetry_;
  own->pattern.rows = own->pattern.cols = share_.size();
  own->pattern.column_ptr.reserve(share_.size() + 1);
  for (index_t column = 0; column < share_.size(); ++column) {
    for (const index_t row : pattern_->column(column)) {
      if (owner(row, column) != ranks_.transport.rank()) continue;
      own->pattern.row_index.push_back(row);
      own->values.push_back(values.next(rank_of[row]));
    }
    own->pattern.column_ptr.push_back(static_cast<offset_t>(own->pattern.row_index.size()));
  }
  return {std::move(own), largest_scaled_entry(what)};
}

template <class T>
DenseMatrix<T> RowInput<T>::whole_columns(DenseView<const T> own) const {
  std::vector<T> mine;
  mine.reserve(static_cast<std::size_t>(own.rows) * own.cols);
  for (index_t column = 0; column < own.cols; ++column)
    mine.insert(mine.end(), own.column(column), own.column(column) + own.rows);
  const std::vector<SharedBytes> pieces = gather(raw_bytes(mine));
  DenseMatrix<T> all(share_.size(), own.cols);
  Pieces<T> values(pieces);
  for (std::size_t rank = 0; rank < ranges_.size(); ++rank)
    for (index_t column = 0; column < own.cols; ++column)
      for (index_t row = 0; row < ranges_[rank].count; ++row)
        all.view()(ranges_[rank].first + row, column) = values.next(static_cast<index_t>(rank));
  return all;
}

#define PALMETTE_INSTANTIATE(T) template class RowInput<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
