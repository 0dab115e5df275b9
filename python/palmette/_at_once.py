"""A x = b in one call of the library: for small systems, of which Python's own steps would take the greater
part of the time."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from scipy.sparse import csc_array, csc_matrix, csr_array, csr_matrix

from . import _core

_BY_ROWS = {csc_array: False, csc_matrix: False, csr_array: True, csr_matrix: True}
_SOLVE = {
    np.dtype(name): getattr(_core, f"solve_at_once_{name}")
    for name in ("float32", "float64", "complex64", "complex128")
}
# What cannot be answered at once is factored again in the long way: up to so many entries that takes no time.
_FEW_ENTRIES = 4096


def solve_at_once(A: Any, b: Any) -> Optional[np.ndarray]:
    """x of a system that is small or diagonal, and has nothing unusual about it; None for the long way to see
    to.

    A is stored by columns or rows, in one of four scalar types, and b is a vector of the same type. x is
    verified; it has the same bits as in the long way. Whatever cannot be answered like that (singular, not
    finite, not of matching sizes) is not told of here.
    """
    by_rows = _BY_ROWS.get(type(A))
    if by_rows is None or type(b) is not np.ndarray or A.shape != b.shape + b.shape:
        return None
    solve, entries = _SOLVE.get(b.dtype), len(A.data)
    if solve is None or entries > _FEW_ENTRIES and entries > len(b) or not entries:
        return None
    x = np.empty_like(b)
    return x if solve(A, by_rows, b, x) else None
