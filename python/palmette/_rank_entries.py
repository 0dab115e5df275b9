"""Solves with sparse right-hand sides over MPI ranks, and for some entries of x."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Tuple

import numpy as np
from scipy import sparse

from . import _input
from ._rank_rows import core_rows, together
from ._sparse_solves import as_columns
from ._verified import _frames_to_the_user, checked_trans, count
from .errors import DimensionError, UnverifiedWarning


class RankEntries:
    """Solves that visit only a part of the factor of a `RowSolver`."""

    _core: Any
    _comm: Any
    _shape: Tuple[int, int]
    _dtype: np.dtype
    _first_row: int
    _sparse_report: Optional[Dict[str, Any]] = None
    _inverse_report: Optional[Dict[str, Any]] = None

    @property
    def sparse_report(self) -> Optional[Dict[str, Any]]:
        """What the last `solve_sparse` did; None before the first.

        As `palmette.Solver.sparse_report`, with sums over all processes, except for the ``seconds`` of this
        one. Also ``messages`` between processes and ``message_bytes``, without those that bring x to them,
        and ``whole_messages`` and ``whole_message_bytes`` of solves with the whole factor; these four are 0
        if ``solved_whole``.
        """
        return self._sparse_report

    def solve_sparse(self, b: Any, rows: Any = None, *, trans: str = "N", check: bool = True) -> np.ndarray:
        """Solve op(A) x = b for a sparse b, and return some rows of x.

        As `palmette.Solver.solve_sparse`: only those branches of the elimination tree are visited that hold
        entries of b (forward) or rows that a process asks for (backward). A process without blocks in these
        branches runs no task and sends no message of the sweeps. The rows that any process asks for go to
        all; with `check`, so do all other unknowns of the equations that are checked.

        Parameters
        ----------
        b : sparse array or matrix, shape (rows, k) or (rows,)
            This process's rows, with the same k on all processes. Dense arrays are converted.
        rows : array_like of int, shape (m,), optional
            Rows of the whole x that this process wants, also those of others; negative ones count from the
            end. Its own by default.
        trans : {"N", "T", "H"}
            Solve with A, Aᵀ or Aᴴ.
        check : bool
            False: equations are not checked, and the answer counts as unverified.

        Returns
        -------
        ndarray, shape (m, k), or (m,) for a b with one dimension

        Raises
        ------
        DimensionError, UsageError, SingularError
            As `palmette.Solver.solve_sparse`, on all processes.

        Warns
        -----
        UnverifiedWarning
            On all processes, if the systems had to be solved whole and a solution fails verification.

        Examples
        --------
        >>> from mpi4py import MPI
        >>> import palmette.mpi
        >>> from scipy import sparse
        >>> solver = palmette.mpi.RowSolver([[2.0, 1.0], [1.0, 3.0]], MPI.COMM_SELF)
        >>> solver.solve_sparse(sparse.csc_array([[5.0], [0.0]]), rows=[1]).round(12)
        array([[-1.]])
        """
        columns, is_vector, wanted = together(self._comm, lambda: self._checked_entries(b, rows, trans))
        is_split = self._dtype.kind != "c" and any(self._comm.allgather(columns.dtype.kind == "c"))
        if is_split:
            columns = sparse.hstack([columns.real, columns.imag])
        rows_of_b = sparse.csr_array(columns)
        given = together(self._comm, lambda: core_rows(rows_of_b, self._first_row, self._dtype, "b"))
        request = {"trans": trans, "check": bool(check)}
        values, report = self._core.solve_entries(given, wanted, request)
        self._sparse_report = report
        if check and not report["verified"]:
            said = f"the solution is not verified: {'; '.join(report['notes'])}"
            warnings.warn(said, UnverifiedWarning, stacklevel=_frames_to_the_user())
        x = values.reshape((len(wanted), columns.shape[1]), order="F")
        if is_split:
            half = x.shape[1] // 2
            x = x[:, :half] + 1j * x[:, half:]
        return x[:, 0] if is_vector else x

    @property
    def inverse_report(self) -> Optional[Dict[str, Any]]:
        """How the last entries of A⁻¹ were computed; None before the first.

        As `palmette.Solver.inverse_report`: ``seconds`` on this process; of the recurrence, of all processes
        together, ``flops`` (0: no recurrence), ``memory_bytes``, ``messages`` and ``message_bytes``;
        ``solved_columns``, ``checked_columns`` with ``difference`` and ``bound``, ``verified``, and
        ``notes``.
        """
        return self._inverse_report

    def inverse_diagonal(self, *, check: int = 3) -> np.ndarray:
        """This process's rows of the diagonal of A⁻¹.

        As `inverse_entries`: by the recurrence of `selected_inverse`, except for small matrices.

        Parameters
        ----------
        check : int
            As in `inverse_entries`, also for what is raised and warned.

        Returns
        -------
        ndarray, shape (rows,)

        Examples
        --------
        >>> from mpi4py import MPI
        >>> import palmette.mpi
        >>> palmette.mpi.RowSolver([[2.0, 1.0], [1.0, 3.0]], MPI.COMM_SELF).inverse_diagonal().round(12)
        array([0.6, 0.4])
        """
        mine = np.arange(self._first_row, self._first_row + self._shape[0], dtype=np.int32)
        return self.inverse_entries(mine, mine, check=check)

    def inverse_entries(self, rows: Any, columns: Any, *, check: int = 3) -> np.ndarray:
        """Entries ``A⁻¹[rows[k], columns[k]]`` that this process wants.

        What all processes ask for is found together. Entries on the pattern of the factor come from the
        recurrence of `selected_inverse`, if this, with solves for the other columns, needs fewer flops than
        solves for all columns. Of those, 64 with common branches of the elimination tree are solved for at a
        time; only these branches are visited, and the equations of these rows are checked. Some columns are
        then solved for whole and compared (`inverse_report`).

        Parameters
        ----------
        rows, columns : array_like of int, shape (m,)
            Of the whole matrix, counted from 0; negative ones count from the end. Other processes may want
            others.
        check : int
            Number of columns to compare, the same on all processes; 0: none, and the entries count as
            unverified.

        Returns
        -------
        ndarray, shape (m,)

        Raises
        ------
        DimensionError, UsageError, NumericalError
            As `palmette.Solver.inverse_entries`, on all processes.

        Warns
        -----
        UnverifiedWarning
            On all processes, as `palmette.Solver.inverse_entries`.
        """
        places, check = together(
            self._comm, lambda: (self._checked_places(rows, columns), count("check", check, 0))
        )
        of_ranks = self._comm.allgather(places)
        every = np.ascontiguousarray(np.concatenate(of_ranks, axis=1))
        values, report = self._core.inverse_entries(every[0], every[1], check)
        self._tell_inverse(report, checked=bool(check and every.size))
        before = sum(one.shape[1] for one in of_ranks[: self._comm.rank])
        return values[before : before + places.shape[1]]

    def selected_inverse(self, *, check: int = 3) -> sparse.csc_array:
        """This process's entries of A⁻¹ on the pattern of L + U, permuted back.

        Each entry is on the process that factored its block, so that the sum over processes is what
        `palmette.Solver.selected_inverse` returns. The recurrence runs where the factor lies: subtrees of one
        process without messages, the others from the root down. All processes together need about twice the
        flops of the factorization, and memory for another factor.

        Parameters
        ----------
        check : int
            Number of columns of A⁻¹ to solve for and compare, the same on all processes; 0: none, and the
            entries count as unverified.

        Returns
        -------
        csc_array, shape (n, n)

        Raises
        ------
        NumericalError
            On all processes, if A proves to be singular.

        Warns
        -----
        UnverifiedWarning
            On all processes, as `palmette.Solver.inverse_entries`.

        Examples
        --------
        >>> from mpi4py import MPI
        >>> import palmette.mpi
        >>> solver = palmette.mpi.RowSolver([[2.0, 1.0], [1.0, 3.0]], MPI.COMM_SELF)
        >>> solver.selected_inverse().toarray().round(12)
        array([[ 0.6, -0.2],
               [-0.2,  0.4]])
        """
        columns = together(self._comm, lambda: count("check", check, 0))
        arrays, report = self._core.selected_inverse(columns)
        self._tell_inverse(report, checked=report["checked_columns"] > 0)
        return _input.from_core(arrays)

    def _tell_inverse(self, report: Dict[str, Any], *, checked: bool) -> None:
        self._inverse_report = report
        if checked and not report["verified"]:
            said = f"entries of the inverse are not verified: {'; '.join(report['notes'])}"
            warnings.warn(said, UnverifiedWarning, stacklevel=_frames_to_the_user())

    def _checked_places(self, rows: Any, columns: Any) -> np.ndarray:
        row, column = (
            _input.as_places(name, list_, self._shape[1])
            for name, list_ in (("rows", rows), ("columns", columns))
        )
        if len(row) != len(column):
            raise DimensionError(f"{len(row)} rows but {len(column)} columns")
        return np.stack([row, column])

    def _checked_entries(self, b: Any, rows: Any, trans: str) -> Tuple[Any, bool, np.ndarray]:
        checked_trans(trans)
        own, n = self._shape
        columns, is_vector = as_columns(b, own, f"this process has {own} rows of A")
        if rows is None:
            return columns, is_vector, np.arange(self._first_row, self._first_row + own, dtype=np.int32)
        return columns, is_vector, _input.as_places("rows", rows, n)
