"""Systems over MPI ranks: each process passes some rows of the matrix and of the right-hand sides, and gets
those rows of x.

Run it under ``mpiexec -n P python program.py``; needs mpi4py, and a build of Palmette that found MPI. The
factor is distributed; no process holds all values. All processes of the communicator must call every function
here.

>>> from mpi4py import MPI
>>> import palmette.mpi, scipy.sparse
>>> A = scipy.sparse.eye_array(4, format="csr") * 2          # with a single process, it has all rows
>>> palmette.mpi.solve(A, [2.0, 4.0, 6.0, 8.0], MPI.COMM_SELF)
array([1., 2., 3., 4.])
"""

from __future__ import annotations

import os
import warnings
from typing import Any, Dict, Optional, Tuple, Union

import numpy as np

from . import _input
from ._rank_entries import RankEntries
from ._rank_rows import (
    OfRows,
    OwnRows,
    RankSolves,
    _mpi,
    as_csr,
    communicator_of,
    core_options,
    core_rows,
    own_right_hand_sides,
    together,
)
from ._rank_schur import BlockCyclic, RowSchurComplement
from ._rank_triangular import FactoredMatrix, TriangularSolver, from_factors
from ._solver import Inertia, SlogdetResult
from ._verified import SolveOptions, checked_trans, _frames_to_the_user
from .errors import DimensionError, UnverifiedWarning, UsageError

__all__ = [
    "BlockCyclic",
    "FactoredMatrix",
    "RowSchurComplement",
    "RowSolver",
    "TriangularSolver",
    "UpdatedRowSolver",
    "from_factors",
    "load",
    "solve",
]


class RowSolver(OfRows, RankSolves, RankEntries):
    """A matrix factored over MPI ranks, each of which provides some of its rows.

    Parameters
    ----------
    A : sparse array or array_like, shape (rows, n)
        This process's rows, all columns: both triangles of a symmetric matrix. A process may have none: shape
        (0, n).
    comm : mpi4py.MPI.Comm, optional
        The processes; default MPI.COMM_WORLD. It is duplicated.
    first_row : int, optional
        Index of the first of these rows, from 0. None on all processes: rows are numbered in the order of
        ranks.
    kind, ordering : str
        As `palmette.Solver`; orderings are methods, not permutations.
    matching : bool
        LDLᵀ and LU: send the size of every entry (no values) to every process during ordering, for the
        matching that makes pivots large. False: scale rows and columns by their largest entries, and keep the
        diagonal of the pattern.
    grid : (int, int) or (int, int, int), optional
        Grid of processes: rows, columns and number of layers of such grids (default 1). None: the most nearly
        square grid.
    map : {"subtree_to_subcube", "block_cyclic"}
    trees : {"binary", "flat"}
    transport : {"mpi_two_sided", "mpi_rma", "mpi_rma_counter"}
    threads : int
        Of each process.
    watchdog : float
        A process that waits this many seconds for a message ends the run; 0: it waits forever.
    device : str
        "none": processes solve. A kind, "cuda", "hip" or "emulated": each process has one device, which holds
        its part of the factor and solves; processes of one machine take its devices in turn. "cuda:0": this
        one. Several layers then meet once in a solve.
    memory : {"auto", "native", "reference", "symmetric"}
        With a device: how what it sends reaches that of another process: from address to address, by way
        of the hosts, or by puts of the kernels (in a build with NVSHMEM). "auto": the first, if MPI can,
        else the second.
    singular : {"raise", "warn", "least_norm"}
        As `palmette.Solver`.

    Raises
    ------
    DimensionError, UsageError, NumericalError
        As `palmette.Solver`, on all processes; and if the rows of all processes do not form a square matrix,
        each row once.
    Error
        If another process has died or stopped responding.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> import palmette.mpi
    >>> solver = palmette.mpi.RowSolver([[2.0, 1.0], [1.0, 3.0]], MPI.COMM_SELF)
    >>> solver.solve([3.0, 4.0])
    array([1., 1.])
    """

    def __init__(
        self,
        A: Any,
        comm: Any = None,
        first_row: Optional[int] = None,
        *,
        kind: str = "auto",
        ordering: str = "auto",
        matching: bool = True,
        grid: Optional[Tuple[int, ...]] = None,
        map: str = "subtree_to_subcube",
        trees: str = "binary",
        transport: str = "mpi_two_sided",
        threads: int = 1,
        watchdog: float = 600.0,
        device: str = "none",
        memory: str = "auto",
        singular: str = "raise",
    ) -> None:
        self._comm = communicator_of(comm)
        options = core_options(
            kind=kind,
            ordering=ordering,
            matching=matching,
            grid=grid,
            map=map,
            trees=trees,
            transport=transport,
            threads=threads,
            watchdog=watchdog,
            device=device,
            memory=memory,
            singular=singular,
        )
        own = OwnRows(A, self._comm, first_row)
        self._dtype, self._first_row, self._shape = own.dtype, own.first, own.shape
        core = getattr(_mpi, f"RowSolver_{self._dtype.name}")
        self._core = core.create(own.arrays, self._comm.py2f(), options)
        self._report = self._core.report()

    @property
    def kind(self) -> str:
        """Kind of the factorization: "llt", "ldlt" or "lu"."""
        return self._report["factorize"]["kind"]

    @property
    def report(self) -> Dict[str, Any]:
        """The report of all phases and of the last solve, with the names of the command's JSON; ``ranks`` is
        about all processes."""
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
        """Solve op(A) x = b, refine x and verify it.

        Parameters
        ----------
        b : array_like, shape (rows,) or (rows, k)
            This process's rows of the right-hand sides, with the same number of columns on all processes.
        trans, refine, condition, repeat
            As `palmette.Solver.solve`.

        Returns
        -------
        ndarray, of the shape of b
            This process's rows of x.

        Warns
        -----
        UnverifiedWarning
            On all processes, if the backward error of x is above its bound; `SingularWarning` if the matrix
            is singular.
        """
        return self._answer(b, SolveOptions(trans, refine, condition, repeat))

    def refactor(self, A: Any) -> None:
        """Factorize a matrix of the same rows and pattern again, with the same ordering, scaling and
        structure.

        If it fails, the solver keeps its previous factorization.
        """
        self._core.refactor(together(self._comm, lambda: self._rows_again(as_csr(A))))
        self._report = self._core.report()

    def update(self, U: Any, V: Any = None) -> UpdatedRowSolver:
        """A solver of A + U Vᵀ that uses the factor of A, as `palmette.Solver.update`.

        Costs about 2k solves, and then one solve and 4nk flops for each right-hand side. Each process holds
        n × k scalars. A later `refactor` does not change the result.

        Parameters
        ----------
        U : array_like or sparse, shape (rows, k) or (rows,)
            This process's rows, with the same k on all processes.
        V : array_like or sparse of the same shape, optional
            U by default. Vᵀ is not conjugated.

        Raises
        ------
        DimensionError, UsageError, SingularError
            As `palmette.Solver.update`, on all processes.

        Examples
        --------
        >>> from mpi4py import MPI
        >>> import palmette.mpi
        >>> solver = palmette.mpi.RowSolver([[1.0, 0.0], [0.0, 2.0]], MPI.COMM_SELF)
        >>> solver.update([1.0, 0.0]).solve([2.0, 2.0])
        array([1., 1.])
        """
        parts = (("U", U), ("V", U if V is None else V))
        u, v = together(self._comm, lambda: [self._rows_of_change(name, part) for name, part in parts])
        return UpdatedRowSolver(self._core.update(u, v), self)

    def _rows_of_change(self, name: str, part: Any) -> np.ndarray:
        part = _input.dense(part)
        if part.ndim == 1:
            part = part.reshape((-1, 1))
        if part.ndim != 2 or part.shape[0] != self._shape[0]:
            raise DimensionError(
                f"{name} has shape {part.shape}, but this process has {self._shape[0]} rows of A"
            )
        if part.dtype.kind == "c" and self._dtype.kind != "c":
            raise UsageError(f"{name} is complex, but A is real; make a solver of a complex A")
        return np.asfortranarray(part, dtype=self._dtype)

    def save(self, path: Union[str, os.PathLike]) -> None:
        """Write the solver to a set of files, ``path.rank0``, ``path.rank1``, …: each process what it holds
        of matrix, order, structure and factor.

        The files appear under their names when all processes have written theirs. `load` makes a solver of
        them, on as many processes, that gives the same x, bit for bit.

        Raises
        ------
        IoError
            On all processes, if a file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> from mpi4py import MPI
        >>> import palmette.mpi
        >>> solver = palmette.mpi.RowSolver([[2.0, 1.0], [1.0, 3.0]], MPI.COMM_SELF)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     solver.save(os.path.join(folder, "A.factors"))
        ...     again = palmette.mpi.load(os.path.join(folder, "A.factors"), MPI.COMM_SELF)
        >>> again.solve([3.0, 4.0])
        array([1., 1.])
        """
        self._core.save(together(self._comm, lambda: os.fspath(path)))

    def _rows_again(self, A: Any) -> Any:
        if A.shape != self._shape:
            raise DimensionError(f"A has shape {A.shape}, but the first one had {self._shape}")
        if A.dtype.kind == "c" and self._dtype.kind != "c":
            raise UsageError(
                "the values are complex, but those of the first matrix were real; make a new RowSolver"
            )
        return core_rows(A, self._first_row, self._dtype)

    def slogdet(self) -> SlogdetResult:
        """Sign (complex matrices: phase) of the determinant, and the logarithm of its modulus."""
        sign, logarithm = self._core.slogdet()
        return SlogdetResult(
            complex(sign) if self._dtype.kind == "c" else float(np.real(sign)), float(logarithm)
        )

    @property
    def inertia(self) -> Inertia:
        """Numbers of positive, negative and undecided eigenvalues, as `palmette.Solver.inertia`: signs that
        replaced pivots left open are decided by solves of all processes, which all must ask for it."""
        return Inertia(*self._core.inertia())

    def null_space(self) -> np.ndarray:
        """This process's rows of an orthonormal basis of the null space of A, as of
        `palmette.Solver.null_space`.

        Returns
        -------
        ndarray, shape (rows, k)

        Raises
        ------
        SingularError
            If the null space has more than 16 dimensions.

        Warns
        -----
        UnverifiedWarning
            On all processes, if A does not map the basis to rounding level.
        """
        values, dimension, report = self._core.null_space()
        if not report["verified"]:
            said = f"the basis of the null space is not verified: residual {report['residual']:.1e}"
            warnings.warn(said, UnverifiedWarning, stacklevel=2)
        basis = values.reshape((self._shape[1], dimension), order="F")
        return basis[self._first_row:self._first_row + self._shape[0]].copy(order="F")

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("a RowSolver cannot be pickled: its factor lies in the memory of many processes")

    def __repr__(self) -> str:
        n = self._shape[1]
        return (
            f"<palmette.mpi.RowSolver of a {n} x {n} matrix over {self._comm.size} ranks, {self._dtype},"
            f" {self.kind}>"
        )


class UpdatedRowSolver(OfRows):
    """The solver of A + U Vᵀ over MPI ranks, made by `RowSolver.update`. Solves are refined, and verified
    against A, U and V."""

    def __init__(self, core: Any, solver: RowSolver) -> None:
        self._core, self._comm = core, solver._comm
        self._shape, self._dtype, self._first_row = solver._shape, solver._dtype, solver._first_row
        self._report = core.report()

    @property
    def report(self) -> Dict[str, Any]:
        """As of `palmette.UpdatedSolver`."""
        return self._report

    def solve(self, b: Any, *, trans: str = "N") -> np.ndarray:
        """Solve op(A + U Vᵀ) x = b.

        Parameters
        ----------
        b : array_like, shape (rows,) or (rows, k)
            This process's rows of the right-hand sides.
        trans : {"N", "T", "H"}

        Returns
        -------
        ndarray, of the shape of b
            This process's rows of x.

        Warns
        -----
        UnverifiedWarning
            On all processes, if the backward error of x is above its bound.

        Raises
        ------
        DimensionError, UsageError
            On all processes, if b does not fit or `trans` is no such letter.
        """
        together(self._comm, lambda: checked_trans(trans))
        rhs = own_right_hand_sides(self._comm, b, self._shape[0], self._dtype)
        x = np.empty(rhs.columns.shape, dtype=self._dtype, order="F")
        self._report = self._core.solve(rhs.columns, x, "T" if rhs.is_split and trans == "H" else trans)
        if not self._report["verified"]:
            warnings.warn(
                "; ".join(self._report["notes"]), UnverifiedWarning, stacklevel=_frames_to_the_user()
            )
        return rhs.answer(x)

    def __repr__(self) -> str:
        n = self._shape[1]
        return (
            f"<palmette.mpi.UpdatedRowSolver of a {n} x {n} matrix over {self._comm.size} ranks,"
            f" {self._dtype}, changed by rank {self._report['rank']}>"
        )


def load(
    path: Union[str, os.PathLike],
    comm: Any = None,
    *,
    transport: str = "mpi_two_sided",
    threads: int = 1,
    watchdog: float = 600.0,
    map: bool = True,
    check: bool = True,
    device: str = "none",
    memory: str = "auto",
    singular: str = "raise",
) -> RowSolver:
    """A solver that `RowSolver.save` has written, on as many processes as wrote it.

    With the same kernels (`palmette.kernels`), x has the bits that it had before. Each process has the rows
    that it had: all of them if the whole matrix was factorized on each, as the command does; such a solver
    takes all rows of b on each process, and cannot be refactored from here. The files must not be cut or
    overwritten in place while the solver is used.

    Parameters
    ----------
    path : str or path
        As given to `RowSolver.save`; each process reads its own file.
    comm, transport, threads, watchdog, device, memory, singular
        As for `RowSolver`.
    map : bool
        The values of the factor stay in the files and are read where they lie. False: they are copied into
        memory; then the files may change afterwards.
    check : bool
        Compare the checksums of these values too, which reads them all once. Everything else is always
        compared. Checksums guard against accidents: load only files that you trust.

    Raises
    ------
    IoError
        On all processes, if another number of processes wrote the set, if the files do not belong together,
        or if one cannot be read, is of another version or byte order, was cut short, or has changed. The
        message names the file, the reason and the remedy.
    """
    comm = communicator_of(comm)
    options = together(
        comm,
        lambda: {
            "transport": transport,
            "threads": int(threads),
            "watchdog": float(watchdog),
            "map": bool(map),
            "check": bool(check),
            "device": str(device),
            "memory": str(memory),
            "singular": str(singular),
        },
    )
    path = together(comm, lambda: os.fspath(path))
    core, size, first_row, rows, name = _mpi.load(path, comm.py2f(), options)
    solver = RowSolver.__new__(RowSolver)
    solver._core, solver._comm, solver._dtype = core, comm, np.dtype(name)
    solver._first_row, solver._shape = first_row, (rows, size)
    solver._report = core.report()
    return solver


def solve(
    A: Any,
    b: Any,
    comm: Any = None,
    first_row: Optional[int] = None,
    *,
    trans: str = "N",
    refine: Union[str, int] = "auto",
    **options: Any,
) -> np.ndarray:
    """Solve op(A) x = b once, from this process's rows of A and b; see `RowSolver` for the options."""
    return RowSolver(A, comm, first_row, **options).solve(b, trans=trans, refine=refine)
