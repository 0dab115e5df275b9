// Columns are dealt in tasks of neighbours, to one element after the other [Xie et al. 2021].
#include "palmette/solve/element_columns.hpp"

#include <algorithm>

namespace palmette::solve_detail {
namespace {

constexpr int most_elements = 32;  // a lane of a warp for each

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

ColumnDeal ColumnDeal::of(index_t n, int elements, index_t tasks_per_element) {
  if (elements > most_elements)
    throw UsageError("a plain triangle on " + std::to_string(elements) + " devices; the most are " +
                     std::to_string(most_elements));
  if (tasks_per_element < 1)
    throw UsageError(std::to_string(tasks_per_element) + " tasks for each device; there must be at least 1");
  const offset_t tasks = offset_t{tasks_per_element} * elements;
  return {elements, static_cast<index_t>(std::max<offset_t>(1, (n + tasks - 1) / tasks))};
}

template <class T>
HostDeal<T> deal_columns(const LowerTriangle<T>& triangle, bool transposed, const ColumnDeal& deal) {
  const index_t n = triangle.size();
  const SparseMatrix<T> turned = transposed ? transpose(triangle.strict) : SparseMatrix<T>();
  HostDeal<T> dealt;
  dealt.ascending = !transposed;
  dealt.element.resize(deal.elements);
  dealt.sources.resize(n);
  for (HostColumns<T>& one : dealt.element) one.remaining.resize(n);
  for (index_t k = 0; k < n; ++k) {
    const index_t j = dealt.ascending ? k : n - 1 - k;
    append(dealt.element[deal.element_of(j)], transposed ? turned : triangle.strict, triangle.diagonal, j);
  }
  for (std::size_t e = 0; e < dealt.element.size(); ++e)
    for (index_t row = 0; row < n; ++row)
      dealt.sources[row] |= (dealt.element[e].remaining[row] > 0 ? 1u : 0u) << e;
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
  return {n,          deal.columns_of_task, static_cast<int>(own.size()), column.data(), ptr.data(),
          row.data(), value.data(),         diagonal.data(),              sources.data()};
}

template <class T>
offset_t ColumnsThere<T>::bytes() const {
  return static_cast<offset_t>(column.bytes() + row.bytes() + ptr.bytes() + value.bytes() +
                               diagonal.bytes() + sources.bytes() + remaining.bytes());
}

std::string numbers_of_bits(unsigned bits, const std::string& conjunction) {
  std::string numbers;
  for (int bit = 0; bit < most_elements; ++bit)
    if ((bits >> bit & 1) != 0) numbers += (numbers.empty() ? "" : conjunction) + std::to_string(bit);
  return numbers;
}

#define PALMETTE_INSTANTIATE(T)                                                                \
  template HostDeal<T> deal_columns<T>(const LowerTriangle<T>&, bool, const ColumnDeal&);      \
  template struct ColumnsThere<T>;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette::solve_detail
