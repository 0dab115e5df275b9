"""Solves with sparse right-hand sides, and for some entries of x."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Tuple

import numpy as np
from scipy import sparse

from . import _core as _bindings
from . import _input
from ._verified import checked_trans
from .errors import DimensionError, UnverifiedWarning


class SparseSolves:
    """Solves that visit only a part of the factor of a `Solver`."""

    _core: Any
    _shape: Tuple[int, int]
    _dtype: np.dtype
    _refactoring: Any
    _most_threads: Any
    _sparse_report: Optional[Dict[str, Any]] = None

    @property
    def sparse_report(self) -> Optional[Dict[str, Any]]:
        """What the last `solve_sparse` did; None before the first.

        ``method``, ``threads``, ``seconds``; ``bytes`` of the factor that were read, and ``whole_bytes``
        that solves with the whole factor would have read; ``solved_whole``: whether these were made after
        all; ``checked_rows``, the ``backward_error`` of these equations, its ``bound``, ``verified``, and
        ``notes``.
        """
        return self._sparse_report

    def solve_sparse(self, b: Any, rows: Any = None, *, trans: str = "N", check: bool = True) -> np.ndarray:
        """Solve op(A) x = b for a sparse b, and return x or some of its rows.

        Only those branches of the elimination tree are visited that hold entries of b (forward) or rows that
        are asked for (backward), so the time depends on these and not on the whole factor. Columns of b with
        common branches are solved together, 64 at a time. The equations of the rows asked for, and of those
        where b has entries, are checked; if they do not hold to rounding level, the systems are solved
        whole, refined and verified, as by `solve`.

        Parameters
        ----------
        b : sparse array or matrix, shape (n, k) or (n,)
            Dense arrays are converted.
        rows : array_like of int, shape (m,), optional
            Rows of x; negative ones count from the end. All by default.
        trans : {"N", "T", "H"}
            Solve with A, Aᵀ or Aᴴ.
        check : bool
            False: equations are not checked, and the answer counts as unverified.

        Returns
        -------
        ndarray, shape (m, k), or (m,) for a b with one dimension

        Raises
        ------
        DimensionError
            If b does not have n rows.
        UsageError
            If a value of b is not finite, or a row is outside the matrix.
        SingularError
            If A proves to be singular.

        Warns
        -----
        UnverifiedWarning
            If the systems had to be solved whole and a solution fails verification.

        Examples
        --------
        >>> import numpy as np, palmette
        >>> from scipy import sparse
        >>> solver = palmette.Solver(np.array([[2.0, 1.0], [1.0, 3.0]]))
        >>> solver.solve_sparse(sparse.csc_array([[5.0], [0.0]]), rows=[1]).round(12)
        array([[-1.]])
        """
        checked_trans(trans)
        n = self._shape[0]
        wanted = np.arange(n, dtype=np.int32) if rows is None else _input.as_places("rows", rows, n)
        columns, is_vector = as_columns(b, n, f"the matrix is of order {n}")
        if columns.dtype.kind == "c" and self._dtype.kind != "c":
            parts = [self._solve_sparse(part, wanted, trans, check) for part in (columns.real, columns.imag)]
            x = parts[0] + 1j * parts[1]
        else:
            x = self._solve_sparse(columns, wanted, trans, check)
        return x[:, 0] if is_vector else x

    def _solve_sparse(self, columns: Any, wanted: np.ndarray, trans: str, check: bool) -> np.ndarray:
        given = _input.to_core(columns.tocsc(), "b", self._dtype)
        request = {"trans": trans, "threads": self._most_threads(), "check": bool(check)}
        with self._refactoring:
            values, report = _bindings.solve_entries(self._core, given, wanted, request)
        self._sparse_report = report
        if check and not report["verified"]:
            said = f"the solution is not verified: {'; '.join(report['notes'])}"
            warnings.warn(said, UnverifiedWarning, stacklevel=3)
        return values.reshape((len(wanted), columns.shape[1]), order="F")


def as_columns(b: Any, rows: int, why: str) -> Tuple[Any, bool]:
    """b as a sparse rows × k matrix, and whether it has one dimension."""
    is_vector = np.ndim(b) == 1 if not _input.is_sparse(b) else b.ndim == 1
    if is_vector:
        b = b.reshape((-1, 1)) if _input.is_sparse(b) else np.asarray(b).reshape(-1, 1)
    columns = _input.as_csc(b, "b")
    if columns.shape[0] != rows:
        raise DimensionError(f"b has shape {b.shape}, but {why}")
    return sparse.csc_array(columns), is_vector
