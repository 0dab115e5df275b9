// The memory that a Factor occupies.
#include "palmette/blocks/factor.hpp"

namespace palmette {
template <class T>
offset_t Factor<T>::memory_bytes() const {
  return lower.bytes() + upper.bytes() + bytes_of(d) + bytes_of(d_below) + bytes_of(place) +
         bytes_of(row_scale) + bytes_of(column_scale) + bytes_of(pivots.perturbed_columns) +
         bytes_of(replaced);
}

#define PALMETTE_INSTANTIATE(T) template offset_t Factor<T>::memory_bytes() const;
PALMETTE_FOR_EACH_SCALAR(PALMETTE_INSTANTIATE)
#undef PALMETTE_INSTANTIATE

}  // namespace palmette
