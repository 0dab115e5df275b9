// Group after group of columns; where threads wait and much is left, a part is shared with them.
#include "palmette/blocks/panel_sweeps.hpp"

#include "palmette/blocks/shared_sweeps.hpp"

namespace palmette {

template <class T>
void panel_forward(const WholePanel<T>& panel, T* v, const OffersOfThread& offers) {
  using namespace panel_sweep;
  const index_t width = panel.entries.cols, few = width % group<T>;
  const PanelRows<T> at{panel, v, panel.entries.rows};
  if (few > 0) few_forward(at, few);
  for (index_t column = few; column < width;) {
    if (const int helpers = offers.waiting(); helpers > 0 && ForwardShare<T>::is_worth(panel, column)) {
      ForwardShare<T> share(panel, v, column, helpers);
      const WorkOffer offer(offers, share);
      column = share.run();
      continue;
    }
    for (const index_t end = std::min(width, column + block_columns); column < end; column += group<T>)
      group_forward(at, column);
  }
}

template <class T>
void panel_backward(bool adjoint, const WholePanel<T>& panel, T* v, const OffersOfThread& offers) {
  using namespace panel_sweep;
  const index_t width = panel.entries.cols, few = width % group<T>;
  const PanelRows<T> at{panel, v, panel.entries.rows, panel.order};
  for (index_t last = width; last > few;) {
    if (const int helpers = offers.waiting(); helpers > 0 && BackwardShare<T>::is_worth(panel, last)) {
      BackwardShare<T> share(adjoint, panel, v, last, helpers);
      const WorkOffer offer(offers, share);
      last = share.run();
      continue;
    }
    for (const index_t end = std::max(few, last - block_columns); last > end; last -= group<T>)
      group_backward(adjoint, at, last - group<T>);
  }
  if (few > 0) few_backward(adjoint, at, few);
}

template <class T>
void rows_below_backward(bool adjoint, const WholePanel<T>& panel, const ColumnRange& columns, T* v, T* own) {
  const panel_sweep::PanelRows<T> at{panel, v, panel.entries.rows, panel.order};
  panel_sweep::subtract_range_products(adjoint, at, columns, panel.entries.cols, own + columns.begin);
}

#define PALMETTE_INSTANTIATE(T)                                                           \
  template void panel_forward<T>(const WholePanel<T>&, T*, const OffersOfThread&);        \
  template void panel_backward<T>(bool, const WholePanel<T>&, T*, const OffersOfThread&); \
  template void rows_below_backward<T>(bool, const WholePanel<T>&, const ColumnRange&, T*, T*);
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
