// Calls order and analyze for the subcommands that stop before the factorization.
#include "cli/structure.hpp"

#include "cli/report_json.hpp"

namespace palmette::cli {
namespace {

template <class T>
bool has_positive_diagonal(const SparseMatrix<T>& matrix) {
  for (index_t column = 0; column < matrix.cols(); ++column) {
    bool is_positive = false;
    for (offset_t entry = matrix.pattern.column_ptr[column]; entry < matrix.pattern.column_ptr[column + 1]; ++entry)
      if (matrix.pattern.row_index[entry] == column) is_positive = std::real(matrix.values[entry]) > 0;
    if (!is_positive) return false;
  }
  return true;
}

}  // namespace

template <class T>
FactorKind first_kind(const SparseMatrix<T>& matrix, std::optional<FactorKind> asked) {
  if (asked) return *asked;
  const Symmetry symmetry = matrix.symmetry == Symmetry::general ? detect_symmetry(matrix) : matrix.symmetry;
  const bool is_hermitian = symmetry == Symmetry::hermitian || (!is_complex_v<T> && symmetry == Symmetry::symmetric);
  if (is_hermitian && has_positive_diagonal(matrix)) return FactorKind::llt;
  return is_hermitian || symmetry == Symmetry::symmetric ? FactorKind::ldlt : FactorKind::lu;
}

PivotNeed pivot_need(FactorKind kind) {
  switch (kind) {
    case FactorKind::llt: return PivotNeed::none;
    case FactorKind::ldlt: return PivotNeed::indefinite;
    case FactorKind::lu: return PivotNeed::unsymmetric;
  }
  return PivotNeed::none;
}

template <class T>
Structure find_structure(const SparseMatrix<T>& matrix, const StructureOptions& options, ProgressBar& progress) {
  Structure structure;
  structure.kind = first_kind(matrix, options.kind_and_order.kind);
  OrderChoice choice = order_choice(options.kind_and_order.order, matrix.rows());
  OrderOptions order_options;
  order_options.method = choice.method;
  order_options.user = std::move(choice.user);
  order_options.pivot_need = pivot_need(structure.kind);
  order_options.threads = number_of_threads(options.threads);
  progress.begin("order");
  structure.ordering = order(matrix, order_options).value();
  progress.begin("analyze");
  const Stopwatch watch;
  structure.symbolic = analyze(matrix.pattern, structure.ordering);
  progress.end();

  Report& report = structure.report;
  report.matrix = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarTraits<T>::type, matrix.symmetry};
  report.order = OrderReport{structure.ordering.method, structure.ordering.matched, structure.ordering.seconds};
  report.analyze.emplace();
  report.analyze->seconds = watch.seconds();
  report.analyze->nnz_factor = factor_entries(structure.symbolic, structure.kind);
  report.analyze->flops = factorization_flops(structure.symbolic, structure.kind);
  report.analyze->supernodes = structure.symbolic.num_supernodes();
  report.version = version();
  return structure;
}

#define PALMETTE_INSTANTIATE(T)                                                             \
  template FactorKind first_kind(const SparseMatrix<T>&, std::optional<FactorKind>);        \
  template Structure find_structure(const SparseMatrix<T>&, const StructureOptions&, ProgressBar&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

Json structure_json(const Report& report) {
  const Json all = to_json(report);
  Json document;
  for (const char* section : {"matrix", "order", "analyze", "version"}) document[section] = all[section];
  return document;
}

}  // namespace palmette::cli
