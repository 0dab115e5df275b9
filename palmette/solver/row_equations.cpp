// Equations and sparse right-hand sides of a matrix whose rows lie on several ranks.
#include <algorithm>

#include "palmette/solver/rank_facts.hpp"
#include "palmette/solver/rank_input.hpp"

namespace palmette {
namespace {

/// Each rank checks those of its rows.
template <class T>
class RowEquations final : public Equations<T> {
 public:
  using Gather = std::function<std::vector<SharedBytes>(std::span<const std::byte>)>;

  /// Column k of either part of the share belongs to row first + k of op(A).
  RowEquations(const MatrixShare<T>& share, Operation operation, Gather gather)
      : own_{operation == Operation::plain ? share.rows : share.columns, operation == Operation::adjoint,
             share.first},
        gather_(std::move(gather)) {}

  std::vector<index_t> unknowns(std::span<const index_t> rows) const override {
    const std::vector<index_t> mine = unknowns_of(own_.columns.pattern, own_rows(rows), own_.first);
    return rows_of_all(gather_(std::as_bytes(std::span(mine))));
  }

  double error(std::span<const index_t> rows, std::span<const KnownEntries<T>> columns) const override {
    const std::span<const index_t> mine = own_rows(rows);
    std::vector<EquationSizes> sizes;
    for (const KnownEntries<T>& one : columns) sizes.push_back(sizes_of_equations(own_, mine, one));
    const std::vector<SharedBytes> pieces = gather_(std::as_bytes(std::span(sizes)));
    double worst = 0;
    for (std::size_t column = 0; column < columns.size(); ++column) {
      EquationSizes all;
      for (const SharedBytes& piece : pieces) all = all.with(items_of<EquationSizes>(piece)[column]);
      worst = std::max(worst, all.error());
    }
    return worst;
  }

 private:
  std::span<const index_t> own_rows(std::span<const index_t> rows) const {
    const auto begin = std::lower_bound(rows.begin(), rows.end(), own_.first);
    return {begin, std::lower_bound(begin, rows.end(), own_.first + own_.columns.cols())};
  }

  EquationRows<T> own_;
  Gather gather_;
};

}  // namespace

template <class T>
std::unique_ptr<const Equations<T>> RowInput<T>::equations(Operation operation) const {
  return std::make_unique<RowEquations<T>>(share_, operation,
                                           [this](std::span<const std::byte> mine) { return gather(mine); });
}

template <class T>
SparseMatrix<T> RowInput<T>::whole_columns(const SparseMatrix<T>& own) const {
  std::vector<RankEntry<T>> mine;
  for (index_t column = 0; column < own.cols(); ++column)
    for (offset_t e = own.pattern.column_ptr[column]; e < own.pattern.column_ptr[column + 1]; ++e)
      mine.push_back({share_.first + own.pattern.row_index[e], column, own.values[e]});
  Triplets<T> all{share_.size(), own.cols(), {}, {}, {}};
  for (const SharedBytes& piece : gather(std::as_bytes(std::span<const RankEntry<T>>(mine))))
    for (const RankEntry<T>& one : items_of<RankEntry<T>>(piece)) {
      all.row.push_back(one.row);
      all.column.push_back(one.column);
      all.value.push_back(one.value);
    }
  return from_triplets(all);
}

#define PALMETTE_INSTANTIATE(T)                                                         \
  template std::unique_ptr<const Equations<T>> RowInput<T>::equations(Operation) const; \
  template SparseMatrix<T> RowInput<T>::whole_columns(const SparseMatrix<T>&) const;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
