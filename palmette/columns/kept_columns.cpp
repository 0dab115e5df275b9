// Factors by columns as sections of a file. They are small, so they are copied into memory.
#include <algorithm>
#include <cstring>

#include "palmette/columns/columns.hpp"

namespace palmette {
namespace {

enum KeptNumber { kept_kind, kept_is_dense, kept_entries, kept_order_flops, kept_flops, num_kept_numbers };

bool are_places(std::span<const index_t> list, std::size_t n) {
  return std::all_of(list.begin(), list.end(),
                     [&](index_t place) { return place >= 0 && static_cast<std::size_t>(place) < n; });
}

/// Whether `list` with its `values` is cut at ptr, of length n + 1.
bool are_lists(const std::vector<offset_t>& ptr, std::span<const index_t> list, std::size_t num_values,
               std::size_t n) {
  return ptr.size() == n + 1 && ptr.front() == 0 && std::is_sorted(ptr.begin(), ptr.end()) &&
         ptr.back() == static_cast<offset_t>(list.size()) && list.size() == num_values && are_places(list, n);
}

bool is_order(const BlockOrdering& order, std::size_t n) {
  const std::vector<index_t>& begin = order.block_begin;
  return order.row.size() == n && order.column.size() == n && are_places(order.row, n) &&
         are_places(order.column, n) && !begin.empty() && begin.front() == 0 &&
         begin.back() == static_cast<index_t>(n) && std::is_sorted(begin.begin(), begin.end());
}

/// As Archive::values, into a vector of panels.
template <class V>
void copy_section(const Archive& file, std::string_view name, PanelVector<V>& to) {
  const std::span<const V> found = file.section<V>(name);
  to.assign(found.begin(), found.end());
}

std::shared_ptr<ColumnStructure> structure_in(const Archive& file, BlockOrdering order) {
  auto structure = std::make_shared<ColumnStructure>();
  structure->row = file.values<index_t>("columns.row");
  structure->place_of_row = file.values<index_t>("columns.place_of_row");
  structure->lower_ptr = file.values<offset_t>("columns.lower_ptr");
  copy_section(file, "columns.lower_row", structure->lower_row);
  structure->upper_ptr = file.values<offset_t>("columns.upper_ptr");
  copy_section(file, "columns.upper_row", structure->upper_row);
  structure->above_ptr = file.values<offset_t>("columns.above_ptr");
  copy_section(file, "columns.above_row", structure->above_row);
  structure->order = std::make_shared<const BlockOrdering>(std::move(order));
  return structure;
}

}  // namespace

template <class T>
void ColumnFactor<T>::save(ArchiveWriter& file) const {
  const ColumnStructure& structure = *structure_;
  const BlockOrdering& order = *structure.order;
  std::vector<double> numbers(num_kept_numbers);
  numbers[kept_kind] = static_cast<double>(kind_);
  numbers[kept_is_dense] = order.dense;
  numbers[kept_entries] = order.entries;
  numbers[kept_order_flops] = order.flops;
  numbers[kept_flops] = flops_;
  file.add("columns.numbers", numbers);
  file.add("columns.order_row", order.row);
  file.add("columns.order_column", order.column);
  file.add("columns.block_begin", order.block_begin);
  file.add("columns.row", structure.row);
  file.add("columns.place_of_row", structure.place_of_row);
  file.add("columns.lower_ptr", structure.lower_ptr);
  file.add("columns.lower_row", structure.lower_row);
  file.add("columns.upper_ptr", structure.upper_ptr);
  file.add("columns.upper_row", structure.upper_row);
  file.add("columns.above_ptr", structure.above_ptr);
  file.add("columns.above_row", structure.above_row);
  file.add("columns.lower", lower_);
  file.add("columns.upper", upper_);
  file.add("columns.above", above_);
  file.add("columns.dense", std::span<const T>(dense_.data(), static_cast<std::size_t>(dense_.size())));
  file.add("columns.inverse_pivot", inverse_pivot_);
  file.add("columns.row_scale", row_scale_);
}

template <class T>
std::shared_ptr<const ColumnFactor<T>> ColumnFactor<T>::load(const Archive& file, PivotReport pivots) {
  const std::vector<double> numbers = file.values<double>("columns.numbers");
  if (numbers.size() != num_kept_numbers) file.refuse("is damaged: numbers of a factor are missing");
  auto factor = std::make_shared<ColumnFactor>();
  factor->kind_ = static_cast<FactorKind>(static_cast<int>(numbers[kept_kind]));
  factor->flops_ = numbers[kept_flops];
  factor->pivots_ = std::move(pivots);
  BlockOrdering order{file.values<index_t>("columns.order_row"),
                      file.values<index_t>("columns.order_column"),
                      file.values<index_t>("columns.block_begin"),
                      numbers[kept_is_dense] != 0,
                      numbers[kept_entries],
                      numbers[kept_order_flops]};
  const auto structure = structure_in(file, std::move(order));
  factor->structure_ = structure;
  copy_section(file, "columns.lower", factor->lower_);
  copy_section(file, "columns.upper", factor->upper_);
  copy_section(file, "columns.above", factor->above_);
  factor->inverse_pivot_ = file.values<T>("columns.inverse_pivot");
  factor->row_scale_ = file.values<real_t<T>>("columns.row_scale");
  const std::span<const T> dense = file.section<T>("columns.dense");
  factor->dense_ = PanelArray<T>(static_cast<offset_t>(dense.size()), Uninitialised());
  std::copy(dense.begin(), dense.end(), factor->dense_.data());

  const std::size_t n = structure->row.size();
  const bool is_dense = !dense.empty();
  const bool fits =
      is_order(*structure->order, n) && are_places(structure->row, n) &&
      structure->place_of_row.size() == n && are_places(structure->place_of_row, n) &&
      factor->inverse_pivot_.size() == n &&
      (factor->kind_ != FactorKind::lu || factor->row_scale_.size() == n) &&
      (is_dense ? dense.size() == n * n
                : are_lists(structure->lower_ptr, structure->lower_row, factor->lower_.size(), n) &&
                      (factor->kind_ != FactorKind::lu ||
                       (are_lists(structure->upper_ptr, structure->upper_row, factor->upper_.size(), n) &&
                        are_lists(structure->above_ptr, structure->above_row, factor->above_.size(), n))));
  if (!fits) file.refuse("is damaged: the lists of a factor contradict each other");
  return factor;
}

#define PALMETTE_INSTANTIATE(T)                              \
  template void ColumnFactor<T>::save(ArchiveWriter&) const; \
  template std::shared_ptr<const ColumnFactor<T>> ColumnFactor<T>::load(const Archive&, PivotReport);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
