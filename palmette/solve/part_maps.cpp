// Permutations and scalings of single factors, computed from the factor.
#include "palmette/solve/part_maps.hpp"

namespace palmette {

template <class T>
std::vector<index_t> pivoted_places(const Factor<T>& factor) {
  const SymbolicFactor& symbolic = *factor.symbolic;
  std::vector<index_t> places(symbolic.n);
  for (index_t s = 0; s < symbolic.num_supernodes(); ++s)
    for (index_t k = symbolic.supernode_begin[s]; k < symbolic.supernode_begin[s + 1]; ++k)
      places[k] = factor.place.empty() ? k : symbolic.supernode_begin[s] + factor.place[k];
  return places;
}

namespace solve_detail {

template <class T>
void PartMaps<T>::make() const {
  const SymbolicFactor& symbolic = *factor_.symbolic;
  const std::vector<index_t> pivoted = pivoted_places(factor_);
  if (!factor_.place.empty()) {
    place_.resize(pivoted.size());
    for (std::size_t row = 0; row < pivoted.size(); ++row) place_[pivoted[row]] = static_cast<index_t>(row);
  }
  if (factor_.row_scale.empty()) return;
  for (const index_t row : pivoted) {
    row_.push_back(factor_.row_scale[symbolic.row.new_to_old()[row]]);
    row_inverse_.push_back(1 / row_.back());
  }
  for (const index_t column : symbolic.column.new_to_old()) column_.push_back(factor_.column_scale[column]);
}

template <class T>
PartSides PartMaps<T>::sides(FactorPart part, Operation operation) const {
  std::call_once(made_, [this] { make(); });
  const auto array = [](const auto& list) { return list.empty() ? nullptr : list.data(); };
  const double *row = array(row_), *row_inverse = array(row_inverse_), *column = array(column_);
  const bool plain = operation == Operation::plain, unit_lower = factor_.kind != FactorKind::llt;
  switch (part) {
    case FactorPart::diagonal:
      return {{nullptr, unit_lower ? row : nullptr}, {nullptr, unit_lower ? row : nullptr}};
    case FactorPart::upper: return {{nullptr, plain ? row : column}, {nullptr, plain ? column : row}};
    case FactorPart::lower: break;
  }
  // Pivoting is part of the sweeps: rows of the structure on one side, pivoted rows on the other.
  const IndexMap structural{array(place_), row}, pivoted{nullptr, unit_lower ? row_inverse : nullptr};
  return plain ? PartSides{structural, pivoted} : PartSides{pivoted, structural};
}

#define PALMETTE_INSTANTIATE(T) template class PartMaps<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace solve_detail

#define PALMETTE_INSTANTIATE(T) template std::vector<index_t> pivoted_places(const Factor<T>&);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
