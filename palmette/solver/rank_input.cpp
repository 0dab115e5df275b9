// The matrix that every rank has.
#include "palmette/solver/rank_input.hpp"

#include "palmette/solver/kept_structure.hpp"
#include "palmette/solver/schur_factor.hpp"

namespace palmette {
namespace {

template <class T>
class WholeInput final : public RankInput<T> {
 public:
  WholeInput(std::shared_ptr<const SparseMatrix<T>> matrix, Transport& transport)
      : matrix_(std::move(matrix)), is_shared_(matrix_.use_count() > 1), transport_(transport) {
    if (!is_shared_) return;
    pattern_came_as_ = fingerprint_of_pattern();
    values_came_as_ = fingerprint_of_values();
  }

  const SparsityPattern& pattern() const override { return matrix_->pattern; }
  Symmetry symmetry() const override { return matrix_->symmetry; }
  void check_unchanged() const override {
    check_pattern_unchanged();
    if (is_shared_ && fingerprint_of_values() != values_came_as_)
      throw UsageError(
          "the values of the matrix were changed after a solver over ranks was created that shares it; "
          "call refactor first");
  }
  void check_pattern_unchanged() const override {
    if (is_shared_ && fingerprint_of_pattern() != pattern_came_as_)
      throw UsageError(
          "the pattern of the matrix was changed after a solver over ranks was created that shares it; "
          "make a new solver");
  }
  void attach(AnswerSource<T>& source) const override { source.matrix = matrix_.get(); }
  std::unique_ptr<const Equations<T>> equations(Operation operation) const override {
    return std::make_unique<WholeEquations<T>>(
        EquationRows<T>::of(*matrix_, matrix_->symmetry, operation, transposed_));
  }
  void save(ArchiveWriter& file) const override { save_matrix(file, *matrix_); }

  FactorKind choose(std::optional<FactorKind> wanted) const override {
    FactorKind kind = FactorKind::lu;
    agree_after(transport_, [&] {
      // The matrix's symmetry has already been determined: here `general` is certain.
      if (wanted || matrix_->symmetry != Symmetry::general) kind = choose_kind(*matrix_, wanted);
    });
    return kind;
  }

  Outcome<Ordering> order(const OrderOptions& options) const override {
    std::optional<Outcome<Ordering>> found;
    agree_after(transport_, [&] { found.emplace(palmette::order(*matrix_, options)); });
    return *std::move(found);
  }

  OwnEntries<T> own_entries(const PlacedStructure&) const override { return {matrix_, 0}; }

  std::shared_ptr<const RankInput<T>> interior(const std::vector<char>& on_boundary) const override {
    return std::make_shared<WholeInput>(
        std::make_shared<const SparseMatrix<T>>(interior_of(*matrix_, on_boundary)), transport_);
  }

 private:
  std::uint64_t fingerprint_of_pattern() const {
    const SparsityPattern& pattern = matrix_->pattern;
    return checksum(std::as_bytes(std::span(pattern.row_index)),
                    checksum(std::as_bytes(std::span(pattern.column_ptr))));
  }
  std::uint64_t fingerprint_of_values() const { return checksum(std::as_bytes(std::span(matrix_->values))); }

  const std::shared_ptr<const SparseMatrix<T>> matrix_;
  mutable TransposeOnDemand<T> transposed_;
  const bool is_shared_;  // with the caller, or with other ranks of this process
  std::uint64_t pattern_came_as_ = 0, values_came_as_ = 0;  // fingerprints, if it is shared
  Transport& transport_;
};

}  // namespace

template <class T>
std::unique_ptr<RankInput<T>> make_whole_input(std::shared_ptr<const SparseMatrix<T>> matrix,
                                               Transport& transport) {
  return std::make_unique<WholeInput<T>>(std::move(matrix), transport);
}

template <class T>
AnyRankInput<T> load_rank_input(const Archive& file, const RankTeam& ranks) {
  if (file.has("rows.place")) {
    RowBlock<T> block;
    check_on_all(ranks, [&] {
      const std::span<const index_t> place = file.section<index_t>("rows.place");
      if (place.size() != 2) file.refuse("is damaged: its rows have no place");
      block = {place[0], place[1], file.section<offset_t>("rows.row_ptr"),
               file.section<index_t>("rows.column"), file.section<T>("rows.values")};
    });
    auto rows = std::make_shared<const RowInput<T>>(block, ranks, nullptr);
    const RowInput<T>* const own = rows.get();
    return {std::move(rows), own};
  }
  std::shared_ptr<const SparseMatrix<T>> matrix;
  check_on_all(ranks, [&] { matrix = load_matrix<T>(file); });
  return {make_whole_input(std::move(matrix), ranks.transport), nullptr};
}

#define PALMETTE_INSTANTIATE(T)                                                                 \
  template std::unique_ptr<RankInput<T>> make_whole_input(std::shared_ptr<const SparseMatrix<T>>, \
                                                          Transport&);                            \
  template AnyRankInput<T> load_rank_input(const Archive&, const RankTeam&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
