// Sections of a file, each written and read beside the other.
#include "palmette/solver/kept_structure.hpp"

namespace palmette {

void visit_kind(const FigureVisit& visit, std::optional<FactorKind>& kind) {
  bool has_kind = kind.has_value();
  FactorKind known = kind.value_or(FactorKind::lu);
  pass(visit, has_kind);
  pass(visit, known);
  kind = has_kind ? std::optional(known) : std::nullopt;
}

void visit_analysis(const FigureVisit& visit, AnalyzeOptions& options) {
  pass(visit, options.max_width);
  pass(visit, options.relax);
  pass(visit, options.relax_zero_fraction);
  pass(visit, options.relax_narrow_width);
}

void visit_phases(const FigureVisit& visit, Report& report) {
  OrderReport& order = *report.order;
  pass(visit, order.method);
  pass(visit, order.matched);
  pass(visit, order.seconds);
  AnalyzeReport& analyzed = *report.analyze;
  pass(visit, analyzed.seconds);
  pass(visit, analyzed.nnz_factor);
  pass(visit, analyzed.flops);
  pass(visit, analyzed.supernodes);
  pass(visit, analyzed.diagonal_blocks);
  pass(visit, analyzed.memory_bytes_predicted);
  FactorizeReport& factorized = *report.factorize;
  pass(visit, factorized.threads);
  pass(visit, factorized.seconds);
}

void save_figures(ArchiveWriter& file, const FigureWalk& walk) {
  std::vector<double> figures;
  walk([&](double& figure) { figures.push_back(figure); });
  file.add("solver.figures", figures);
}

void load_figures(const Archive& file, const FigureWalk& walk) {
  const std::span<const double> figures = file.section<double>("solver.figures");
  std::size_t next = 0;
  walk([&](double& figure) {
    if (next == figures.size()) file.refuse("is damaged: figures of its solver are missing");
    figure = figures[next++];
  });
}

template <class T>
void save_matrix(ArchiveWriter& file, const SparseMatrix<T>& matrix) {
  const std::vector<index_t> shape = {matrix.rows(), static_cast<index_t>(matrix.symmetry)};
  file.add("matrix.shape", shape);
  file.add("matrix.column_ptr", matrix.pattern.column_ptr);
  file.add("matrix.row_index", matrix.pattern.row_index);
  file.add("matrix.values", matrix.values);
}

template <class T>
std::shared_ptr<const SparseMatrix<T>> load_matrix(const Archive& file) {
  const std::span<const index_t> shape = file.section<index_t>("matrix.shape");
  if (shape.size() != 2 || shape[1] < 0 || shape[1] > static_cast<index_t>(Symmetry::skew))
    file.refuse("is damaged: its matrix has no shape");
  auto matrix = std::make_shared<SparseMatrix<T>>();
  matrix->pattern = {shape[0], shape[0], file.values<offset_t>("matrix.column_ptr"),
                     file.values<index_t>("matrix.row_index")};
  matrix->values = file.values<T>("matrix.values");
  matrix->symmetry = static_cast<Symmetry>(shape[1]);
  check_matrix(*matrix);
  return matrix;
}

void save_structure(ArchiveWriter& file, const Ordering& ordering, const SymbolicFactor& symbolic) {
  file.add("order.row", ordering.row.new_to_old());
  file.add("order.column", ordering.column.new_to_old());
  file.add("order.row_scale", ordering.row_scale);
  file.add("order.column_scale", ordering.column_scale);
  file.add("order.paired", ordering.paired_with_next);
  file.add("structure.row", symbolic.row.new_to_old());
  file.add("structure.column", symbolic.column.new_to_old());
  file.add("structure.column_parent", symbolic.column_parent);
  file.add("structure.column_count", symbolic.column_count);
  file.add("structure.supernode_begin", symbolic.supernode_begin);
  file.add("structure.row_ptr", symbolic.row_ptr);
  file.add("structure.row_index", symbolic.row_index);
}

Ordering load_ordering(const Archive& file, const OrderReport& report, index_t n) {
  Ordering ordering;
  ordering.method = report.method;
  ordering.matched = report.matched;
  ordering.seconds = report.seconds;
  ordering.row = Permutation(file.values<index_t>("order.row"));
  ordering.column = Permutation(file.values<index_t>("order.column"));
  ordering.row_scale = file.values<double>("order.row_scale");
  ordering.column_scale = file.values<double>("order.column_scale");
  ordering.paired_with_next = file.values<char>("order.paired");
  const auto fits = [&](const auto& list) {
    return list.empty() || list.size() == static_cast<std::size_t>(n);
  };
  if (ordering.row.size() != n || ordering.column.size() != n || !fits(ordering.row_scale) ||
      !fits(ordering.column_scale) || !fits(ordering.paired_with_next))
    file.refuse("is damaged: its order has another size than its matrix");
  return ordering;
}

SymbolicFactor load_structure(const Archive& file, index_t n) {
  SymbolicFactor symbolic;
  symbolic.n = n;
  symbolic.row = Permutation(file.values<index_t>("structure.row"));
  symbolic.column = Permutation(file.values<index_t>("structure.column"));
  symbolic.column_parent = file.values<index_t>("structure.column_parent");
  symbolic.column_count = file.values<index_t>("structure.column_count");
  symbolic.supernode_begin = file.values<index_t>("structure.supernode_begin");
  symbolic.row_ptr = file.values<offset_t>("structure.row_ptr");
  symbolic.row_index = file.values<index_t>("structure.row_index");
  return completed_structure(std::move(symbolic));
}

#define PALMETTE_INSTANTIATE(T)                                          \
  template void save_matrix<T>(ArchiveWriter&, const SparseMatrix<T>&); \
  template std::shared_ptr<const SparseMatrix<T>> load_matrix<T>(const Archive&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
