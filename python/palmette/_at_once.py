"""Solve A x = b in one call of the library, for small systems, for which the Python code would take most of
the time."""

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
# Systems that this path cannot solve are factored again by the general path; up to this number of entries
# that time is negligible.
_FEW_ENTRIES = 4096


def solve_at_once(A: Any, b: Any) -> Optional[np.ndarray]:
    """x of an ordinary system that is small or diagonal; None if the general path must handle it.

    A is stored by columns or rows, in one of four scalar types, and b is a vector of the same type. x is
    verified; it has the same bits as in the general path. Errors (singular, not finite, sizes that do not
    match) are not reported here.
    """
    by_rows = _BY_ROWS.get(type(A))
    if by_rows is None or type(b) is not np.ndarray or A.shape != b.shape + b.shape:
        return None
    solve, entries = _SOLVE.get(b.dtype), len(A.data)
    if solve is None or entries > _FEW_ENTRIES and entries > len(b) or not entries:
        return None
    x = np.empty_like(b)
    return x if solve(A, by_rows, b, x) else None
