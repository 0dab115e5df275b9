"""Matrices with infinite diagonal entries, a way to pin an unknown: x is zero there, and the other unknowns
are solved."""

from __future__ import annotations

from typing import Any, Dict

import numpy as np

from ._solver import Solver
from ._verified import SolveOptions


def pinned_unknowns(A: Any) -> np.ndarray:
    """Which diagonal entries of a sparse A with summed duplicates are infinite, shape (n,).

    Raises
    ------
    ValueError
        If another entry is not finite, or a diagonal one is not a number: such a matrix has no limit.
    """
    entries = A.tocoo()
    bad = ~np.isfinite(entries.data)
    row, column, values = entries.row[bad], entries.col[bad], entries.data[bad]
    if np.any(row != column) or np.any(np.isnan(values)):
        raise ValueError("A has entries that are not finite, and not on the diagonal")
    pinned = np.zeros(A.shape[0], dtype=bool)
    pinned[row] = True
    return pinned


class PinnedSolver:
    """Solves with A in the limit of infinite diagonal entries: without their rows and columns."""

    def __init__(self, A: Any, pinned: np.ndarray, **options: Any) -> None:
        self._kept = np.flatnonzero(~pinned)
        self.shape, self.dtype = A.shape, A.dtype
        self._solver = Solver(A.tocsc()[:, self._kept].tocsr()[self._kept].tocsc(), **options)

    @property
    def report(self) -> Dict[str, Any]:
        return self._solver.report

    @property
    def tell_singular(self) -> bool:
        return self._solver.tell_singular

    @tell_singular.setter
    def tell_singular(self, value: bool) -> None:
        self._solver.tell_singular = value

    def slogdet(self) -> Any:
        return self._solver.slogdet()

    def _answer(self, b: np.ndarray, options: SolveOptions) -> np.ndarray:
        x = np.zeros(b.shape, dtype=self.dtype, order="F")
        x[self._kept] = self._solver._answer(b[self._kept], options)
        return x

    def _solve_quietly(self, b: np.ndarray, options: SolveOptions) -> Any:
        _, told = self._solver._solve_quietly(b[self._kept], options)
        return None, told
