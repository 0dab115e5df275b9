"""Schur complements over MPI ranks."""

from __future__ import annotations

import warnings
from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _input
from ._rank_rows import OfRows, OwnRows, _mpi, communicator_of, core_options, own_right_hand_sides, together
from ._schur import Complement
from ._verified import count
from .errors import UnverifiedWarning, UsageError


class BlockCyclic(NamedTuple):
    """ScaLAPACK's layout of S: row i belongs to grid row (i // block) % rows, column j to grid column
    (j // block) % columns; position (r, c) of the grid is process r · columns + c."""

    block: int = 64
    grid: Optional[Tuple[int, int]] = None  # None: all processes, nearly square


class RowSchurComplement(OfRows, Complement):
    """`palmette.SchurComplement` over MPI ranks, each of which provides some rows of A.

    The processes share the factorization, which stops before the boundary, and then send their entries of S
    to where it is wanted. To solve A x = b through S: ``g = schur.condense(b)``, solve ``S x_B = g`` in any
    way, and give x_B to all processes: ``x = schur.expand(b, x_B)``. All processes must call every function.

    Parameters
    ----------
    A, comm, first_row
        As for `RowSolver`.
    boundary : array_like of int, shape (m,)
        Unknowns that stay, each once, the same on all processes; rows and columns of S are in this order.
    S : int or BlockCyclic
        The process that gets all of S; or a layout over several: ``BlockCyclic(block, grid)``, as ScaLAPACK
        has it.
    **options
        Of `RowSolver`: ``kind``, ``ordering``, ``matching``, ``grid``, ``map``, ``trees``, ``transport``,
        ``threads``, ``watchdog``, ``device``, ``memory``.

    Raises
    ------
    DimensionError, UsageError, NumericalError
        As `RowSolver` and `palmette.SchurComplement`, on all processes.

    Warns
    -----
    UnverifiedWarning
        If S does not agree with A: the interior is then singular or nearly so.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import numpy as np, palmette.mpi
    >>> A = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    >>> schur = palmette.mpi.RowSchurComplement(A, [0, 2], MPI.COMM_SELF)
    >>> schur.S
    array([[ 1.5, -0.5],
           [-0.5,  1.5]])
    >>> b = np.array([1.0, 0.0, 1.0])
    >>> schur.expand(b, np.linalg.solve(schur.S, schur.condense(b))).round(12)
    array([1., 1., 1.])
    """

    def __init__(self, A: Any, boundary: Any, comm: Any = None, first_row: Optional[int] = None, *,
                 S: Any = 0, **options: Any) -> None:
        self._comm = communicator_of(comm)
        given = together(self._comm, lambda: {**core_options(**options), **_layout(S)})
        own = OwnRows(A, self._comm, first_row)
        self._dtype, self._first_row, self._shape = own.dtype, own.first, own.shape
        n = self._shape[1]
        self._boundary = together(self._comm, lambda: _input.as_places("boundary", boundary, n))
        core = getattr(_mpi, f"RowSchur_{self._dtype.name}")
        self._core = core.create(own.arrays, self._boundary, self._comm.py2f(), given)
        self._report = self._core.report()
        rows, columns, values = self._core.complement()
        self._complement = values.reshape((rows, columns), order="F")
        if not self._report["verified"]:
            warnings.warn(self._report["notes"][0], UnverifiedWarning, stacklevel=2)

    @property
    def S(self) -> np.ndarray:
        """This process's part of S, in Fortran order: all of it, nothing, or its blocks."""
        return self._complement

    @property
    def places(self) -> Tuple[np.ndarray, np.ndarray]:
        """The rows and the columns of S that the rows and columns of this process's part are."""
        rows, columns = self._core.places()
        return rows, columns

    @property
    def report(self) -> Dict[str, Any]:
        """As of `palmette.SchurComplement`, with memory summed over processes; ``ranks`` has grid, layout of
        S, and the memory of each process, predicted and kept."""
        return self._report

    @property
    def solve_report(self) -> Optional[Dict[str, Any]]:
        """As of `palmette.SchurComplement`."""
        return self._solve_report

    def solve_interior(self, b: Any) -> np.ndarray:
        """A_II⁻¹ b_I, refined and verified: zero on the boundary, where b does not matter.

        Parameters
        ----------
        b : array_like, shape (rows,) or (rows, k)
            This process's rows.

        Returns
        -------
        ndarray, of the shape of b
        """
        given = own_right_hand_sides(self._comm, b, self._shape[0], self._dtype)
        x = np.empty(given.columns.shape, dtype=self._dtype, order="F")
        self._tell(self._core.solve_interior(given.columns, x))
        return given.answer(x)

    def condense(self, b: Any) -> np.ndarray:
        """g = b_B − A_BI A_II⁻¹ b_I, the right-hand side of S x_B = g, on all processes: one solve.

        Parameters
        ----------
        b : array_like, shape (rows,) or (rows, k)
            This process's rows.

        Returns
        -------
        ndarray, shape (m,) or (m, k)
        """
        given = own_right_hand_sides(self._comm, b, self._shape[0], self._dtype)
        m = len(self._boundary)
        g = np.empty((m, given.columns.shape[1]), dtype=self._dtype, order="F")
        self._core.condense(given.columns, g)
        return given._replace(shape=(m,) + tuple(given.shape[1:])).answer(g)

    def expand(self, b: Any, x_boundary: Any) -> np.ndarray:
        """The solution of A x = b whose part on the boundary is given: x_I = A_II⁻¹ (b_I − A_IB x_B).

        Parameters
        ----------
        b : array_like, shape (rows,) or (rows, k)
            This process's rows.
        x_boundary : array_like, shape (m,) or (m, k)
            The solution of S x_B = `condense` (b), the same on all processes.

        Returns
        -------
        ndarray, of the shape of b
            This process's rows of x.

        Warns
        -----
        UnverifiedWarning
            On all processes, if x fails verification as a solution of the whole system.
        """
        b, part = together(self._comm, lambda: self._fitting(b, x_boundary))
        if any(self._comm.allgather(b.dtype.kind == "c")):
            b, part = (each.astype(np.result_type(each, np.complex64), copy=False) for each in (b, part))
        given = own_right_hand_sides(self._comm, b, self._shape[0], self._dtype)
        m = len(self._boundary)
        known = together(
            self._comm, lambda: _input.as_right_hand_sides(part, m, self._dtype, "x_boundary")
        )
        x = np.empty(given.columns.shape, dtype=self._dtype, order="F")
        self._tell(self._core.expand(given.columns, known.columns, x))
        return given.answer(x)

    def __repr__(self) -> str:
        n, m = self._shape[1], len(self._boundary)
        return (
            f"<palmette.mpi.RowSchurComplement on {m} unknowns of a {n} x {n} matrix over"
            f" {self._comm.size} ranks, {self._dtype}, {self._report['kind']}>"
        )


def _layout(S: Any) -> Dict[str, Any]:
    if isinstance(S, BlockCyclic):
        grid = (0, 0) if S.grid is None else tuple(S.grid)
        if len(grid) != 2:
            raise UsageError(f"the grid of S is {S.grid!r}; give rows and columns")
        return {
            "block_cyclic": True,
            "root": 0,
            "complement_rows": int(grid[0]),
            "complement_cols": int(grid[1]),
            "block": count("block", S.block, 1),
        }
    root = count("S", S, 0)
    return {"block_cyclic": False, "root": root, "complement_rows": 0, "complement_cols": 0, "block": 1}
