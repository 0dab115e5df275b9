// Calls order and analyze for the subcommands that stop before the factorization.
#include "cli/structure.hpp"

#include "cli/report_json.hpp"

namespace palmette::cli {
template <class T>
Structure find_structure(const SparseMatrix<T>& matrix, const StructureOptions& options,
                         ProgressBar& progress) {
  Structure structure;
  structure.kind = choose_kind(matrix, options.kind_and_order.kind);
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
  AnalyzeOptions analyze_options;
  analyze_options.symmetric_pattern = matrix.symmetry != Symmetry::general;
  analyze_options.max_width = options.max_width;
  structure.symbolic = analyze(matrix.pattern, structure.ordering, analyze_options);
  progress.end();

  Report& report = structure.report;
  report.matrix = {matrix.rows(), matrix.cols(), matrix.nnz(), ScalarTraits<T>::type, matrix.symmetry};
  report.order =
      OrderReport{structure.ordering.method, structure.ordering.matched, structure.ordering.seconds};
  report.analyze.emplace();
  report.analyze->seconds = watch.seconds();
  report.analyze->nnz_factor = factor_entries(structure.symbolic, structure.kind);
  report.analyze->flops = factorization_flops(structure.symbolic, structure.kind);
  report.analyze->supernodes = structure.symbolic.num_supernodes();
  report.version = version();
  return structure;
}

#define PALMETTE_INSTANTIATE(T) \
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
