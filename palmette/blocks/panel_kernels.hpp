// The inner loops of a solve with one right-hand side and a column-major panel. For many right-hand sides see
// packed_panel.hpp.
#pragma once

#include "palmette/base/base.hpp"

namespace palmette {

/// out ← A·x, overwriting: A is m × w, x is w × k, out is m × k. The bits depend on the shapes alone.
template <class T>
void panel_multiply(DenseView<const T> a, DenseView<const T> x, DenseView<T> out);

/// out ← out − op(A)·x, where op is the transpose or the adjoint: A is m × w, x is m × k, out is w × k.
template <class T>
void panel_multiply_transposed_subtract(bool adjoint, DenseView<const T> a, DenseView<const T> x,
                                        DenseView<T> out);

/// out ← op(A)·x, overwriting, where op is the transpose or the adjoint: A is m × w, x is m × k, out is w ×
/// k.
template <class T>
void panel_multiply_transposed(bool adjoint, DenseView<const T> a, DenseView<const T> x, DenseView<T> out);

}  // namespace palmette
