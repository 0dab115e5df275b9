"""Solvers for triangular matrices and for factors computed elsewhere."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _input
from ._verified import VerifiedSolves, count, machine_options
from ._threads import lock_for
from .errors import DimensionError, UsageError


class TriangularSolver(VerifiedSolves):
    """A triangular matrix, ready to solve.

    Parameters
    ----------
    T : array_like or any SciPy sparse array or matrix, shape (n, n)
        Entries in the other triangle are ignored, as SciPy and LAPACK do.
    lower : bool
        Whether T is lower or upper triangular.
    unit_diagonal : bool
        Take the diagonal as one, whatever is stored.
    method, threads, measure, device
        See `Solver`.
    gpus : int
        Number of devices of the kind `device` that solve together: each has some of the columns, or of the
        supernodes where they pay (never with ``methods("columns of several devices")``). b and x are NumPy
        arrays.
    tasks_per_gpu : int
        Number of tasks into which each device's columns are cut. Tasks are dealt to the devices in turn.

    Raises
    ------
    SingularError
        If a diagonal entry is zero or missing; ``row`` names the first one.
    DimensionError, UsageError
        As `Solver`.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> palmette.TriangularSolver(np.array([[2.0, 0.0], [1.0, 4.0]])).solve([2.0, 9.0])
    array([1., 2.])
    """

    def __init__(self, T: Any, lower: bool = True, unit_diagonal: bool = False, *, method: str = "auto",
                 threads: Optional[int] = None, measure: bool = True, device: str = "none", gpus: int = 1,
                 tasks_per_gpu: int = 8) -> None:
        T = _input.as_csc(T, "T")
        self._shape = _input.square_shape(T, "T")
        options = {**machine_options(method, threads, measure, device), **_several(gpus, tasks_per_gpu)}
        options["lower"], options["unit_diagonal"] = bool(lower), bool(unit_diagonal)
        matrix = _input.to_core(T, "T")
        self._dtype, self._nnz = T.dtype, matrix.nnz
        self._refactoring, self._told_threads = lock_for(self), threads is not None
        self._core = _input.core_class("TriangularSolver", T.dtype).create(matrix, options)
        self._told = self._core.report()


class FactoredMatrix(VerifiedSolves):
    """A matrix given by its factors, ready to solve. Created by `from_factors`."""

    def __init__(self, factors: Dict[str, Any], shape: Tuple[int, int], dtype: Any, options: Dict[str, Any],
                 told_threads: bool) -> None:
        self._shape, self._dtype = shape, np.dtype(dtype)
        self._refactoring, self._told_threads = lock_for(self), told_threads
        self._nnz = (factors["A"] or factors["L"]).nnz
        self._core = _input.core_class("TriangularSolver", dtype).from_factors(factors, options)
        self._told = self._core.report()


def from_factors(
    superlu: Any = None,
    *,
    L: Any = None,
    U: Any = None,
    row_perm: Any = None,
    col_perm: Any = None,
    row_scale: Any = None,
    col_scale: Any = None,
    unit_lower: Optional[bool] = None,
    hermitian: bool = False,
    A: Any = None,
    method: str = "auto",
    threads: Optional[int] = None,
    measure: bool = True,
    device: str = "none",
    gpus: int = 1,
    tasks_per_gpu: int = 8,
) -> FactoredMatrix:
    """Solve with factors computed elsewhere.

    The factors are those of A with rows and columns scaled and permuted, in the convention of NumPy's
    indexing::

        (row_scale[:, None] * A * col_scale)[row_perm][:, col_perm] == L @ U

    Parameters
    ----------
    superlu : SuperLU object, optional
        From `scipy.sparse.linalg.splu`, `spilu` or `palmette.scipy.splu`; L, U and the permutations are taken
        from it.
    L : sparse or array_like, shape (n, n)
        Lower triangular.
    U : sparse or array_like, shape (n, n), optional
        Upper triangular. Without it the matrix is L Lᵀ, or L Lᴴ with ``hermitian=True``.
    row_perm, col_perm : array_like of n integers, optional
        Element i is the row (column) of A that became row (column) i. CHOLMOD's ``P`` is both of them.
    row_scale, col_scale : array_like of n floats, optional
    unit_lower : bool, optional
        Take the diagonal of L as one, whatever is stored. None: if L stores no diagonal entry.
    hermitian : bool
        See U.
    A : sparse or array_like, shape (n, n), optional
        The matrix itself. With it, solutions are refined and verified against it; otherwise they are verified
        against the product of the factors.
    method, threads, measure, device
        See `Solver`.
    gpus, tasks_per_gpu
        See `TriangularSolver`.

    Returns
    -------
    FactoredMatrix
        With `solve`, `solve_transpose`, `report`, `shape`, `dtype` and `nnz`.

    Raises
    ------
    SingularError
        If a diagonal entry of a factor is zero or missing; ``row`` names the first one.
    DimensionError, UsageError
        If sizes do not agree, or entries are on the wrong side of the diagonal.

    Examples
    --------
    >>> import numpy as np, palmette, scipy.sparse.linalg
    >>> A = palmette.generate("convection_diffusion2d", 20)
    >>> solver = palmette.from_factors(scipy.sparse.linalg.splu(A), A=A)
    >>> np.allclose(solver.solve(A @ np.ones(400)), 1)
    True
    """
    given = given_factors(
        superlu,
        L=L,
        U=U,
        row_perm=row_perm,
        col_perm=col_perm,
        row_scale=row_scale,
        col_scale=col_scale,
        unit_lower=unit_lower,
        hermitian=hermitian,
        A=A,
    )
    factors = {
        **given.beside,
        **{
            name: None if matrix is None else _input.to_core(matrix, name, given.dtype)
            for name, matrix in given.matrices.items()
        },
    }
    options = {**machine_options(method, threads, measure, device), **_several(gpus, tasks_per_gpu)}
    return FactoredMatrix(factors, given.shape, given.dtype, options, threads is not None)


def _several(gpus: int, tasks_per_gpu: int) -> Dict[str, Any]:
    """Options of triangles on several devices."""
    return {"gpus": [count("gpus", gpus, 1), 1, 1], "tasks_per_gpu": count("tasks_per_gpu", tasks_per_gpu, 1)}


class GivenFactors(NamedTuple):
    """Factors, checked: compressed columns or None by the name L, U or A, and all that is no matrix."""

    matrices: Dict[str, Any]
    beside: Dict[str, Any]
    shape: Tuple[int, int]
    dtype: np.dtype


def given_factors(
    superlu: Any,
    *,
    L: Any,
    U: Any,
    row_perm: Any,
    col_perm: Any,
    row_scale: Any,
    col_scale: Any,
    unit_lower: Optional[bool],
    hermitian: bool,
    A: Any,
) -> GivenFactors:
    """The arguments of `from_factors`."""
    if superlu is not None:
        L, U, row_perm, col_perm = _factors_of_superlu(superlu, (L, U, row_perm, col_perm))
    if L is None:
        raise UsageError("no factor was given: give L (and U), or an object of splu")
    matrices = {
        name: None if matrix is None else _input.as_csc(matrix, name)
        for name, matrix in (("L", L), ("U", U), ("A", A))
    }
    there = {name: matrix for name, matrix in matrices.items() if matrix is not None}
    shape = _input.square_shape(there["L"], "L")
    for name, matrix in there.items():
        if _input.square_shape(matrix, name) != shape:
            raise DimensionError(f"{name} has shape {matrix.shape}, but L has shape {shape}")
    stores_diagonal = bool(np.any(_has_diagonal_entry(there["L"])))
    beside: Dict[str, Any] = {
        "unit_lower": not stores_diagonal and shape[0] > 0 if unit_lower is None else bool(unit_lower),
        "unit_upper": False,
        "hermitian": bool(hermitian),
    }
    for name, order in (("row_perm", row_perm), ("col_perm", col_perm)):
        beside[name] = None if order is None else _input.as_order(order, shape[0], name)
    for name, scale in (("row_scale", row_scale), ("col_scale", col_scale)):
        beside[name] = None if scale is None else _input.as_scale(scale, shape[0], name)
    return GivenFactors(matrices, beside, shape, np.result_type(*(one.dtype for one in there.values())))


def _factors_of_superlu(superlu: Any, given: tuple) -> tuple:
    """SuperLU's permutations map old to new: row i of A became row perm_r[i] of L U."""
    if any(part is not None for part in given):
        raise UsageError("give either an object of splu or L, U and permutations, not both")
    if not all(hasattr(superlu, name) for name in ("L", "U", "perm_r", "perm_c")):
        raise UsageError(
            f"a {type(superlu).__name__} has no L, U, perm_r and perm_c; for a matrix write"
            " from_factors(L=...)"
        )
    return superlu.L, superlu.U, np.argsort(superlu.perm_r), np.argsort(superlu.perm_c)


def _has_diagonal_entry(matrix: Any) -> np.ndarray:
    columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
    return columns == matrix.indices[:len(columns)]
