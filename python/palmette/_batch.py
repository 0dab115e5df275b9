"""Many small systems whose matrices share one pattern."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional

import numpy as np

from . import _core as _bindings
from . import _input
from ._threads import allowed_threads
from ._verified import count
from .errors import DimensionError, UnverifiedWarning, UsageError


class BatchSolver:
    """Solves many small systems with matrices of one pattern, side by side in the lanes of vector registers.

    Order and structure are found once. Rows are not exchanged, so a system whose matrix needs that is solved
    alone, by a `Solver`. Every solution is verified.

    Parameters
    ----------
    A : array_like or any SciPy sparse array or matrix, shape (n, n)
        The pattern; its values decide the kind, and for LU which rows are matched with which columns, so they
        should be like those of the systems. Symmetric matrices have both triangles.
    kind : {"auto", "llt", "ldlt", "lu"}
        "auto": "ldlt" if A is symmetric (Hermitian), else "lu". With "llt", systems that are not positive
        definite are refused, each by itself.
    ordering : str
        One of `orderings()`, or "auto".
    threads : int, optional
        None: `get_num_threads()`.
    solve_alone : bool
        False: systems that would need row exchanges count as not solved.

    Raises
    ------
    DimensionError
        If A is not square.
    UsageError
        If a value of A is not finite, an option is invalid, or A is not symmetric and the kind needs that.
    StructurallySingularError
        If no matrix of this pattern is regular.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> batch = palmette.BatchSolver(np.array([[2.0, 1.0], [1.0, 3.0]]))
    >>> values = np.array([[2.0, 1.0, 1.0, 3.0], [4.0, 1.0, 1.0, 2.0]])  # by columns
    >>> batch.solve(values, [[3.0, 4.0], [5.0, 3.0]])
    array([[1., 1.],
           [1., 1.]])
    """

    def __init__(self, A: Any, *, kind: str = "auto", ordering: str = "auto", threads: Optional[int] = None,
                 solve_alone: bool = True) -> None:
        A = _input.as_csc(A)
        self._shape, self._dtype = _input.square_shape(A), A.dtype
        if not isinstance(ordering, str):
            raise UsageError(f"ordering is {ordering!r}; a batch takes the name of one of orderings()")
        options = {
            "kind": kind,
            "ordering": ordering,
            "threads": allowed_threads() if threads is None else count("threads", threads, 1),
            "solve_alone": bool(solve_alone),
        }
        matrix = _input.to_core(A)
        self._nnz, self._entries = matrix.nnz, int(A.indptr[-1])
        self._place = None if matrix.in_order else _places_in_order(A)
        self._core = _input.core_class("BatchSolver", A.dtype).create(matrix, options)
        self._report: Optional[Dict[str, Any]] = None

    @property
    def shape(self) -> tuple:
        """Shape of each matrix."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """Scalar type: float32, float64, complex64 or complex128."""
        return self._dtype

    @property
    def kind(self) -> str:
        """Kind of the factorizations: "llt", "ldlt" or "lu"."""
        return self._core.kind()

    @property
    def report(self) -> Optional[Dict[str, Any]]:
        """What the last solve did; None before the first.

        For each system, arrays: ``state`` (one of `BatchSolver.states`), ``backward_error`` and
        ``bad_column``, where elimination without row exchanges failed (−1: nowhere). For all: ``kind``,
        ``nnz_factor`` and ``flops`` of one system, ``lanes``, ``threads``, ``seconds``, ``bound`` of the
        backward errors, ``refined``, ``solved_alone`` and ``failed`` systems, ``verified``, ``notes``.
        """
        return self._report

    #: The states of systems. "solved" and "solved_alone": verified. "not_verified": x is the best found.
    #: "singular", "not_definite" and "not_finite": x is NaN.
    states = tuple(_bindings.batch_states)

    def solve(self, values: Any, b: Any) -> np.ndarray:
        """Solve every system.

        Parameters
        ----------
        values : array_like, shape (m, nnz)
            Row i: the values of matrix i, in the order of the ``data`` of A in compressed columns.
        b : array_like, shape (m, n) or (m, n, k)
            Right-hand sides of each system.

        Returns
        -------
        ndarray, of the shape of b
            NaN for systems that could not be solved.

        Raises
        ------
        DimensionError
            If shapes do not fit.

        Warns
        -----
        UnverifiedWarning
            If a system was not solved; `report` says which.
        """
        values, b = np.asarray(values), np.asarray(b)
        if values.ndim != 2 or values.shape[1] != self._entries:
            raise DimensionError(
                f"values has shape {values.shape}; it needs a row of {self._entries} values for each system"
            )
        n = self._shape[0]
        if b.ndim not in (2, 3) or b.shape[:2] != (len(values), n):
            raise DimensionError(
                f"b has shape {b.shape}; it must begin with {(len(values), n)}, since values has"
                f" {len(values)} rows"
            )
        for name, array in (("values", values), ("b", b)):
            if _input.working_dtype(array.dtype, name).kind == "c" and self._dtype.kind != "c":
                raise UsageError(f"{name} are complex, but those of the first matrix were real")
        if self._place is not None:
            values = _summed(values.astype(self._dtype), self._place, self._nnz)
        x = np.empty(b.shape, dtype=self._dtype)
        cube = (*b.shape[:2], b.shape[2] if b.ndim == 3 else 1)
        told = self._core.solve(
            np.ascontiguousarray(values, dtype=self._dtype),
            np.ascontiguousarray(b, dtype=self._dtype).reshape(cube),
            x.reshape(cube),
        )
        told["state"] = np.asarray(self.states)[told["state"]]
        self._report = told
        if not told["verified"]:
            warnings.warn(told["notes"][-1], UnverifiedWarning, stacklevel=2)
        return x

    def __repr__(self) -> str:
        rows, columns = self._shape
        return f"<palmette.BatchSolver of {rows} x {columns} matrices, {self._dtype}, {self.kind}>"


def _places_in_order(A: Any) -> np.ndarray:
    """For each stored entry of A, its number among the sorted entries without duplicates."""
    columns = np.repeat(np.arange(A.shape[1], dtype=np.int64), np.diff(A.indptr))
    keys = columns * A.shape[0] + A.indices[: int(A.indptr[-1])]
    return np.unique(keys, return_inverse=True)[1]


def _summed(values: np.ndarray, place: np.ndarray, nnz: int) -> np.ndarray:
    result = np.zeros((len(values), nnz), dtype=values.dtype)
    np.add.at(result, (slice(None), place), values)
    return result
