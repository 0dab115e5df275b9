// Panels are written as they lie in memory, and used as they lie in the file.
#include "palmette/solver/kept_factor.hpp"

#include <algorithm>

namespace palmette {
namespace {

enum FactorNumber { factor_kind, factor_hermitian, factor_seconds, factor_flops, num_factor_numbers };

/// The numbers of a PivotReport in the order of the file.
/// @param visit  called with each
template <class Pivots, class Visit>
void visit_pivots(Pivots& pivots, const Visit& visit) {
  visit(pivots.perturbed);
  visit(pivots.smallest_pivot);
  visit(pivots.largest_pivot);
  visit(pivots.inertia.positive);
  visit(pivots.inertia.negative);
  visit(pivots.inertia.zero);
  visit(pivots.log_abs_determinant);
}

template <class V>
PlanValues<V> plan_in(const std::shared_ptr<const Archive>& file, bool map) {
  struct Kept {
    PanelArray<V> lower, upper;
    std::vector<char> lower_forms, upper_forms;
  };
  const std::span<const index_t> layout = file->section<index_t>("plan.layout");
  if (layout.size() != 1 || layout[0] != plan_layout(ScalarTraits<V>::type)) return {};
  const auto kept = std::make_shared<const Kept>(
      Kept{load_panels<V>(file, "panels.plan_lower", map), load_panels<V>(file, "panels.plan_upper", map),
           file->values<char>("plan.lower_forms"), file->values<char>("plan.upper_forms")});
  return {{span_over(kept->lower), kept->lower_forms}, {span_over(kept->upper), kept->upper_forms}, kept};
}

/// Whether row exchanges stay inside their supernodes.
bool stay_inside(const std::vector<index_t>& place, const SymbolicFactor& symbolic) {
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    for (index_t column = symbolic.supernode_begin[s]; column < symbolic.supernode_begin[s + 1]; ++column)
      if (place[column] < 0 || place[column] >= symbolic.width(s)) return false;
  return true;
}

/// Whether the pivots of order 2 stay inside their supernodes and apart from each other.
template <class V>
bool pairs_stay_inside(const std::vector<V>& d_below, const SymbolicFactor& symbolic) {
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s) {
    const index_t last = symbolic.supernode_begin[s + 1] - 1;
    for (index_t column = symbolic.supernode_begin[s]; column <= last; ++column)
      if (d_below[column] != V(0) && (column == last || d_below[column + 1] != V(0))) return false;
  }
  return true;
}

template <class V, class AnyFactor>
bool pivoting_fits(const AnyFactor& factor, std::size_t rows_of_matrix) {
  const SymbolicFactor& symbolic = *factor.symbolic;
  const auto n = static_cast<std::size_t>(symbolic.n);
  const bool ldlt = factor.kind == FactorKind::ldlt, exchanges = factor.kind != FactorKind::llt;
  const auto scales_fit = [&](const std::vector<double>& scale) {
    return scale.empty() || scale.size() == rows_of_matrix;
  };
  return factor.d.size() == (ldlt ? n : 0) && factor.d_below.size() == (ldlt ? n : 0) &&
         factor.place.size() == (exchanges ? n : 0) &&
         (factor.place.empty() || stay_inside(factor.place, symbolic)) &&
         (factor.d_below.empty() || pairs_stay_inside<V>(factor.d_below, symbolic)) &&
         scales_fit(factor.row_scale) && scales_fit(factor.column_scale);
}

/// @param lower, upper  numbers of entries of the panels
template <class V>
bool panels_fit(const Factor<V>& factor, offset_t lower, offset_t upper) {
  const offset_t entries = factor.symbolic->panel_entries();
  return lower == entries && upper == (factor.kind == FactorKind::lu ? entries : 0);
}

}  // namespace

/// The changes that replaced pivots make to the matrix: solves undo them, and the inertia is decided by them.
void save_replaced(ArchiveWriter& file, const std::vector<ReplacedPivot>& replaced) {
  std::vector<index_t> row, column;
  std::vector<std::complex<double>> change;
  for (const ReplacedPivot& pivot : replaced) {
    row.push_back(pivot.row);
    column.push_back(pivot.column);
    change.push_back(pivot.change);
  }
  file.add("replaced.row", row);
  file.add("replaced.column", column);
  file.add("replaced.change", change);
}

std::vector<ReplacedPivot> load_replaced(const Archive& file, index_t n) {
  const std::span<const index_t> row = file.section<index_t>("replaced.row"),
                                 column = file.section<index_t>("replaced.column");
  const auto change = file.section<std::complex<double>>("replaced.change");
  if (column.size() != row.size() || change.size() != row.size())
    file.refuse("is damaged: its replaced pivots lack a row, a column or a change");
  std::vector<ReplacedPivot> replaced;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row[k] < 0 || row[k] >= n || column[k] < 0 || column[k] >= n)
      file.refuse("is damaged: a replaced pivot lies outside its matrix");
    replaced.push_back({row[k], column[k], change[k]});
  }
  return replaced;
}

template <class V>
PanelArray<V> load_panels(const std::shared_ptr<const Archive>& file, std::string_view name, bool map) {
  const std::span<const V> found = file->section<V>(name);
  if (map) return PanelArray<V>(found, file);
  PanelArray<V> copied(static_cast<offset_t>(found.size()), Uninitialised());
  std::copy(found.begin(), found.end(), copied.data());
  return copied;
}

void save_pivots(ArchiveWriter& file, const PivotReport& pivots) {
  std::vector<double> numbers;
  visit_pivots(pivots, [&](const auto& number) { numbers.push_back(static_cast<double>(number)); });
  file.add("pivots.numbers", numbers);
  file.add("pivots.sign", std::span<const std::complex<double>>(&pivots.determinant_sign, 1));
  file.add("pivots.perturbed_columns", pivots.perturbed_columns);
}

PivotReport load_pivots(const Archive& file) {
  PivotReport pivots;
  const std::span<const double> numbers = file.section<double>("pivots.numbers");
  std::size_t count = 0;
  visit_pivots(pivots, [&](const auto&) { ++count; });
  const auto sign = file.section<std::complex<double>>("pivots.sign");
  if (numbers.size() != count || sign.size() != 1)
    file.refuse("is damaged: figures of its pivots are missing");
  const double* next = numbers.data();
  visit_pivots(pivots, [&](auto& number) { number = static_cast<std::decay_t<decltype(number)>>(*next++); });
  pivots.determinant_sign = sign[0];
  pivots.perturbed_columns = file.values<index_t>("pivots.perturbed_columns");
  if (pivots.perturbed > 0 && pivots.perturbed_columns.empty())
    file.refuse("is damaged: the columns of its perturbed pivots are missing");
  return pivots;
}

template <class V, class AnyFactor>
void load_pivoting(const Archive& file, index_t n, AnyFactor& factor) {
  factor.d = file.values<V>("factor.d");
  factor.d_below = file.values<V>("factor.d_below");
  factor.place = file.values<index_t>("factor.place");
  factor.row_scale = file.values<double>("factor.row_scale");
  factor.column_scale = file.values<double>("factor.column_scale");
  if (!pivoting_fits<V>(factor, static_cast<std::size_t>(n)))
    file.refuse("is damaged: its factor does not fit its structure");
}

template <class V>
void save_factor(ArchiveWriter& file, const Factor<V>& factor, const PlanValues<V>& plan) {
  std::vector<double> numbers(num_factor_numbers);
  numbers[factor_kind] = static_cast<double>(factor.kind);
  numbers[factor_hermitian] = factor.hermitian;
  numbers[factor_seconds] = factor.seconds;
  numbers[factor_flops] = factor.flops;
  file.add("factor.numbers", numbers);
  save_pivots(file, factor.pivots);
  save_replaced(file, factor.replaced);
  save_pivoting(file, factor);
  const index_t layout = plan.lower.panels.empty() ? 0 : plan_layout(ScalarTraits<V>::type);
  file.add("plan.layout", std::span<const index_t>(&layout, 1));
  file.add("plan.lower_forms", plan.lower.forms);
  file.add("plan.upper_forms", plan.upper.forms);
  file.add("panels.plan_lower", plan.lower.panels);
  file.add("panels.plan_upper", plan.upper.panels);
  file.add("panels.lower", span_over(factor.lower));
  file.add("panels.upper", span_over(factor.upper));
}

template <class V>
KeptFactor<V> load_factor(const std::shared_ptr<const Archive>& file,
                          std::shared_ptr<const SymbolicFactor> symbolic, PanelsAre panels) {
  const std::span<const double> numbers = file->section<double>("factor.numbers");
  if (numbers.size() != num_factor_numbers) file->refuse("is damaged: figures of its factor are missing");
  const auto factor = std::make_shared<Factor<V>>();
  factor->symbolic = std::move(symbolic);
  factor->kind = static_cast<FactorKind>(static_cast<int>(numbers[factor_kind]));
  factor->hermitian = numbers[factor_hermitian] != 0;
  factor->seconds = numbers[factor_seconds];
  factor->flops = numbers[factor_flops];
  factor->pivots = load_pivots(*file);
  factor->replaced = load_replaced(*file, factor->symbolic->n);
  load_pivoting<V>(*file, factor->symbolic->n, *factor);
  const auto entries = [&](std::string_view name) {
    return static_cast<offset_t>(file->section<V>(name).size());
  };
  if (!panels_fit(*factor, entries("panels.lower"), entries("panels.upper")))
    file->refuse("is damaged: its factor does not fit its structure");
  if (panels != PanelsAre::in_file) {
    factor->lower = load_panels<V>(file, "panels.lower", panels == PanelsAre::mapped);
    factor->upper = load_panels<V>(file, "panels.upper", panels == PanelsAre::mapped);
  }
  return {factor, plan_in<V>(file, panels != PanelsAre::copied)};
}

#define PALMETTE_INSTANTIATE(V)                                                         \
  template PanelArray<V> load_panels<V>(const std::shared_ptr<const Archive>&,          \
                                        std::string_view, bool);                        \
  template void load_pivoting<V>(const Archive&, index_t, Factor<V>&);                  \
  template void load_pivoting<V>(const Archive&, index_t, RankFactor<V>&);              \
  template void save_factor<V>(ArchiveWriter&, const Factor<V>&, const PlanValues<V>&); \
  template KeptFactor<V> load_factor<V>(const std::shared_ptr<const Archive>&,          \
                                        std::shared_ptr<const SymbolicFactor>, PanelsAre);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
