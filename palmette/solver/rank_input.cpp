// The matrix that every rank has.
#include "palmette/solver/rank_input.hpp"

namespace palmette {
namespace {

template <class T>
class WholeInput final : public RankInput<T> {
 public:
  WholeInput(std::shared_ptr<const SparseMatrix<T>> matrix, Transport& transport) : matrix_(std::move(matrix)), transport_(transport) {}

  const SparsityPattern& pattern() const override { return matrix_->pattern; }
  Symmetry symmetry() const override { return matrix_->symmetry; }
  void attach(AnswerSource<T>& source) const override { source.matrix = matrix_.get(); }

  FactorKind choose(std::optional<FactorKind> wanted) const override {
    FactorKind kind = FactorKind::lu;
    agree_after(transport_, [&] {
      // The matrix's symmetry has been looked for: general is certain here.
      if (wanted || matrix_->symmetry != Symmetry::general) kind = choose_kind(*matrix_, wanted);
    });
    return kind;
  }

  Outcome<Ordering> order(const OrderOptions& options) const override {
    std::optional<Outcome<Ordering>> found;
    agree_after(transport_, [&] { found.emplace(palmette::order(*matrix_, options)); });
    return *std::move(found);
  }

  OwnEntries<T> own_entries(const std::shared_ptr<const SymbolicFactor>&, const Placement&, FactorKind, const Ordering&) const override {
    return {matrix_, 0};
  }

 private:
  std::shared_ptr<const SparseMatrix<T>> matrix_;
  Transport& transport_;
};

}  // namespace

template <class T>
std::unique_ptr<RankInput<T>> make_whole_input(std::shared_ptr<const SparseMatrix<T>> matrix, Transport& transport) {
  return std::make_unique<WholeInput<T>>(std::move(matrix), transport);
}

#define PALMETTE_INSTANTIATE(T) \
  template std::unique_ptr<RankInput<T>> make_whole_input(std::shared_ptr<const SparseMatrix<T>>, Transport&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
