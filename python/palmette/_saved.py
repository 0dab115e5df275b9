"""Solvers that stay: saved to a file, loaded again, and pickled."""

from __future__ import annotations

import os
import tempfile
from typing import Any, Optional, Tuple, Union

import numpy as np

from . import _core as _bindings
from ._threads import lock_for
from ._verified import count, machine_options

_Path = Union[str, "os.PathLike[str]"]


class SavedSolver:
    """Saving of a `Solver`."""

    _core: Any
    _pattern: Optional[Tuple[np.ndarray, np.ndarray]]
    _refactoring: Any

    def save(self, path: _Path) -> None:
        """Write the solver to a file: the matrix, its order and structure, and the factors.

        The file appears under its name when all of it is on the disk; a file that was there stays until then.
        `palmette.load` makes a solver of it that gives the same x, bit for bit.

        Parameters
        ----------
        path : str or path
            As large as the factors, with what solves have prepared of them.

        Raises
        ------
        IoError
            If the file cannot be written.

        Examples
        --------
        >>> import os, tempfile, palmette
        >>> solver = palmette.Solver([[2.0, 1.0], [0.0, 4.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     solver.save(os.path.join(folder, "A.factors"))
        ...     again = palmette.load(os.path.join(folder, "A.factors"))
        >>> again.solve([3.0, 4.0])
        array([1., 1.])
        """
        with self._refactoring:
            _bindings.save_solver(self._core, os.fspath(path))

    def __reduce_ex__(self, protocol: Any) -> Any:
        from ._solver import Solver

        if type(self) is not Solver:
            return super().__reduce_ex__(protocol)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "solver")
            self.save(path)
            with open(path, "rb") as file:
                return _from_bytes, (file.read(), self._pattern)


def load(path: _Path, *, method: str = "auto", threads: Optional[int] = None, map: bool = True,
         check: bool = True, measure: bool = True, memory_budget: Optional[int] = None,
         disk_gbs: float = 0.0) -> Any:
    """A solver that `Solver.save` has written to a file.

    With the same kernels (`palmette.kernels`), x has the bits that it had before. The file must not be cut or
    overwritten in place while the solver is used; to save another solver under its name is safe.

    Parameters
    ----------
    path : str or path
    method, threads, measure
        As for `Solver`.
    map : bool
        The values of the factors stay in the file and are read where they lie, when a solve needs them.
        False: they are copied into memory; then the file may change afterwards.
    check : bool
        Compare the checksums of these values too, which reads them all once. Matrix and structure are always
        compared. Checksums guard against accidents: load only files that you trust.

    memory_budget : int, optional
        Bytes of memory for the solver, solves with one right-hand side included. The panels of the factors
        then stay in the file: each solve reads them piece by piece, in the order of its sweeps, while a
        thread reads ahead. x has the same bits, and solves run one at a time. What needs the panels in memory
        (`refactor`, `update_factor`, `save`, the factors themselves) raises `UsageError`.
    disk_gbs : float
        Rate of the disk in 10⁹ bytes a second, which ``report["solve"]["file"]`` compares with; 0: measured
        with up to 128 MiB of this file, unless `measure` is false.

    Returns
    -------
    Solver
        Its `refactor` takes values in the order of the matrix in compressed columns, rows ascending.

    Raises
    ------
    IoError
        If the file cannot be read, was not saved by Palmette, is of another version or byte order, was cut
        short, or has changed. The message names the file, the reason and the remedy.
    UsageError
        If the memory budget is too small; the message names the least.
    """
    options = machine_options(method, threads, measure, "none")
    options["map"], options["check"] = bool(map), bool(check)
    options["memory_budget"] = 0 if memory_budget is None else count("memory_budget", memory_budget, 1)
    options["disk_gbs"] = float(disk_gbs)
    return _solver_of(_bindings.load_solver(os.fspath(path), options), threads is not None)


def _solver_of(loaded: tuple, told_threads: bool) -> Any:
    from ._solver import Solver

    core, rows, entries, name = loaded
    solver = Solver.__new__(Solver)
    solver._core, solver._shape, solver._dtype = core, (rows, rows), np.dtype(name)
    solver._refactoring, solver._told_threads = lock_for(solver), told_threads
    solver._nnz = solver._entries = entries
    solver._pattern = None
    solver._told = core.report()
    is_mixed = solver._report["factorize"]["scalar"] != name
    solver._precision = "mixed" if is_mixed else "working"
    return solver


def _from_bytes(saved: bytes, pattern: Optional[Tuple[np.ndarray, np.ndarray]]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "solver")
        with open(path, "wb") as file:
            file.write(saved)
        solver = load(path, map=False, measure=False)
    solver._pattern = pattern
    if pattern is not None:
        solver._entries = int(pattern[0][-1])
    return solver
