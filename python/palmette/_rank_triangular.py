"""Triangles and factors computed elsewhere, over MPI ranks with one device each."""

from __future__ import annotations

from typing import Any, Dict, Optional, Union

import numpy as np
import scipy.sparse as sparse

from . import _input
from ._rank_rows import RankSolves, _mpi, communicator_of, core_rows, together
from ._triangular import GivenFactors, given_factors
from ._verified import OfMatrix, SolveOptions, count
from .errors import UsageError


class _WholeSolves(OfMatrix, RankSolves):
    """What has the whole matrix on every process, and a core that solves with it."""

    @property
    def report(self) -> Dict[str, Any]:
        """As of `palmette.TriangularSolver`; counts of devices are those of this process's."""
        return self._report

    def solve(
        self,
        b: Any,
        *,
        trans: str = "N",
        refine: Union[str, int] = "auto",
        condition: bool = False,
        repeat: int = 1,
    ) -> np.ndarray:
        """Solve op(A) x = b, refine x where A is known, and verify it.

        Parameters
        ----------
        b : array_like, shape (n,) or (n, k)
            The whole right-hand sides, the same on all processes.
        trans, refine, condition, repeat
            As `palmette.Solver.solve`, the same on all processes.

        Returns
        -------
        ndarray, of the shape of b
            The whole x, on all processes.

        Raises
        ------
        UsageError
            On all processes, if b or the options differ from those of another one.

        Warns
        -----
        UnverifiedWarning
            On all processes, if the backward error of x is above its bound.
        """
        return self._answer(b, SolveOptions(trans, refine, condition, repeat))

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it lies on devices of many processes")

    def __repr__(self) -> str:
        rows, columns = self._shape
        return (
            f"<palmette.mpi.{type(self).__name__} of a {rows} x {columns} matrix over {self._comm.size}"
            f" ranks, {self._dtype}>"
        )


class TriangularSolver(_WholeSolves):
    """A triangular matrix over MPI ranks with one device each.

    Every process passes the whole triangle and the whole right-hand sides, and gets the whole x; its device
    has its columns alone. One kernel runs on each device in a solve; kernels put sums of rows to each other:
    over NVSHMEM, or, with emulated devices, in one process.

    Parameters
    ----------
    T, lower, unit_diagonal
        As `palmette.TriangularSolver`, the same on all processes.
    comm : mpi4py.MPI.Comm, optional
        The processes, at most 32; default MPI.COMM_WORLD. It is duplicated.
    device : str
        As `RowSolver`; every process needs one.
    tasks_per_gpu : int
        As `palmette.TriangularSolver`.
    transport, watchdog
        As `RowSolver`.

    Raises
    ------
    DimensionError, UsageError, SingularError
        As `palmette.TriangularSolver`, on all processes.
    Error
        On all processes, if these devices have no network in this build.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import palmette.mpi
    >>> lower = palmette.mpi.TriangularSolver([[2.0, 0.0], [1.0, 4.0]], MPI.COMM_SELF, device="emulated")
    >>> lower.solve([2.0, 9.0])
    array([1., 2.])
    """

    def __init__(self, T: Any, comm: Any = None, lower: bool = True, unit_diagonal: bool = False, *,
                 device: str = "none", tasks_per_gpu: int = 8, transport: str = "mpi_two_sided",
                 watchdog: float = 600.0) -> None:
        self._comm = communicator_of(comm)
        options = _options(self._comm, device, tasks_per_gpu, transport, watchdog)
        options["lower"], options["unit_diagonal"] = bool(lower), bool(unit_diagonal)
        matrix = together(self._comm, lambda: _input.as_csc(T, "T"))
        self._shape = together(self._comm, lambda: _input.square_shape(matrix, "T"))
        self._dtype = _same_dtype(self._comm, matrix.dtype)
        rows = together(self._comm, lambda: core_rows(sparse.csr_array(matrix), 0, self._dtype, "T"))
        self._core = _class_for(self._dtype).create(rows, self._comm.py2f(), options)
        self._report = self._core.report()


class FactoredMatrix(_WholeSolves):
    """A matrix given by its factors, over MPI ranks with one device each. Created by `from_factors`."""

    def __init__(self, given: GivenFactors, comm: Any, options: Dict[str, Any]) -> None:
        self._comm, self._shape = comm, given.shape
        self._dtype = _same_dtype(comm, given.dtype)

        def rows_of(name: str) -> Any:
            matrix = given.matrices[name]
            return None if matrix is None else core_rows(sparse.csr_array(matrix), 0, self._dtype, name)

        factors = {**given.beside, **together(comm, lambda: {name: rows_of(name) for name in "LUA"})}
        options["lower"], options["unit_diagonal"] = True, False
        self._core = _class_for(self._dtype).from_factors(factors, comm.py2f(), options)
        self._report = self._core.report()


def from_factors(
    superlu: Any = None,
    comm: Any = None,
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
    device: str = "none",
    tasks_per_gpu: int = 8,
    transport: str = "mpi_two_sided",
    watchdog: float = 600.0,
) -> FactoredMatrix:
    """Solve with factors computed elsewhere, over MPI ranks with one device each.

    Every process passes the same. Both triangles are solved by columns, as by `TriangularSolver`, whatever
    their pattern; the rows of the first solution go to all processes.

    Parameters
    ----------
    superlu, L, U, row_perm, col_perm, row_scale, col_scale, unit_lower, hermitian, A
        As `palmette.from_factors`.
    comm, device, tasks_per_gpu, transport, watchdog
        As `TriangularSolver`.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import numpy as np, palmette.mpi, scipy.sparse.linalg
    >>> A = palmette.generate("convection_diffusion2d", 6)
    >>> lu = scipy.sparse.linalg.splu(A)
    >>> solver = palmette.mpi.from_factors(lu, MPI.COMM_SELF, A=A, device="emulated")
    >>> np.allclose(solver.solve(A @ np.ones(36)), 1)
    True
    """
    comm = communicator_of(comm)
    options = _options(comm, device, tasks_per_gpu, transport, watchdog)
    given = together(
        comm,
        lambda: given_factors(
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
        ),
    )
    return FactoredMatrix(given, comm, options)


def _class_for(dtype: np.dtype) -> Any:
    return getattr(_mpi, f"TriangularSolver_{dtype.name}")


def _options(comm: Any, device: str, tasks_per_gpu: int, transport: str, watchdog: float) -> Dict[str, Any]:
    return together(
        comm,
        lambda: {
            "device": str(device),
            "tasks_per_gpu": count("tasks_per_gpu", tasks_per_gpu, 1),
            "transport": str(transport),
            "watchdog": float(watchdog),
        },
    )


def _same_dtype(comm: Any, dtype: np.dtype) -> np.dtype:
    types = {np.dtype(char).name for char in comm.allgather(dtype.char)}
    if len(types) > 1:
        raise UsageError(
            f"processes pass different scalars, {', '.join(sorted(types))}: pass the same on all"
        )
    return dtype
