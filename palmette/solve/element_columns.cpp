// The columns of each element, on the host and on its device.
#include "palmette/solve/element_columns.hpp"

namespace palmette::solve_detail {
namespace {

template <class T>
void append(HostColumns<T>& to, const SparseMatrix<T>& columns, const std::vector<T>& diagonal, index_t j) {
  to.column.push_back(j);
  if (!diagonal.empty()) to.diagonal.push_back(diagonal[j]);
  for (offset_t e = columns.pattern.column_ptr[j]; e < columns.pattern.column_ptr[j + 1]; ++e) {
    to.row.push_back(columns.pattern.row_index[e]);
    to.value.push_back(columns.values[e]);
    ++to.remaining[columns.pattern.row_index[e]];
  }
  to.ptr.push_back(static_cast<long long>(to.row.size()));
}

}  // namespace

template <class T>
HostDeal<T> deal_columns(const LowerTriangle<T>& triangle, bool transposed, const ColumnDeal& deal) {
  const index_t n = triangle.size();
  const SparseMatrix<T> turned = transposed ? transpose(triangle.strict) : SparseMatrix<T>();
  HostDeal<T> dealt;
  dealt.ascending = !transposed;
  dealt.element.resize(deal.elements);
  dealt.sources = column_sources(triangle.strict.pattern, transposed, deal);
  dealt.slots = column_slots(dealt.sources, deal);
  for (HostColumns<T>& one : dealt.element) one.remaining.resize(n);
  for (index_t k = 0; k < n; ++k) {
    const index_t j = dealt.ascending ? k : n - 1 - k;
    append(dealt.element[deal.element_of(j)], transposed ? turned : triangle.strict, triangle.diagonal, j);
  }
  return dealt;
}

template <class T>
ColumnsThere<T>::ColumnsThere(const std::shared_ptr<Device>& there, const HostDeal<T>& dealt, int element)
    : column(there, dealt.element[element].column),
      row(there, dealt.element[element].row),
      ptr(there, dealt.element[element].ptr),
      value(there, dealt.element[element].value),
      diagonal(there, dealt.element[element].diagonal),
      sources(there, dealt.sources),
      remaining(there, dealt.element[element].remaining),
      own(dealt.element[element].column) {}

template <class T>
device::ElementColumns<T> ColumnsThere<T>::view(index_t n, const ColumnDeal& deal) const {
  return {n,          deal.columns_of_task, static_cast<int>(own.size()), column.data(),  ptr.data(),
          row.data(), value.data(),         diagonal.data(),              sources.data(), first_slot.data()};
}

template <class T>
void ColumnsThere<T>::add_slots(const std::shared_ptr<Device>& there, const ColumnSlots& slots) {
  if (first_slot.size() == 0) first_slot = {there, slots.first};
}

template <class T>
offset_t ColumnsThere<T>::bytes() const {
  return static_cast<offset_t>(column.bytes() + row.bytes() + ptr.bytes() + value.bytes() +
                               diagonal.bytes() + sources.bytes() + first_slot.bytes() + remaining.bytes());
}

std::string numbers_of_bits(unsigned bits, const std::string& conjunction) {
  std::string numbers;
  for (int bit = 0; bit < 32; ++bit)
    if ((bits >> bit & 1) != 0) numbers += (numbers.empty() ? "" : conjunction) + std::to_string(bit);
  return numbers;
}

#define PALMETTE_INSTANTIATE(T)                                                                \
  template HostDeal<T> deal_columns<T>(const LowerTriangle<T>&, bool, const ColumnDeal&);      \
  template struct ColumnsThere<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
