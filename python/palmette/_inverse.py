"""Entries of the inverse of a factored matrix."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Tuple

import numpy as np
from scipy import sparse

from . import _core as _bindings
from . import _input
from ._threads import allowed_threads
from ._verified import count
from .errors import DimensionError, UnverifiedWarning


class InverseEntries:
    """Entries of A⁻¹ of a `Solver`.

    They come from the factor by a recurrence over its supernodes [1]_, at about twice the flops of the
    factorization and as much memory as the factor; the whole inverse is never formed. Then a few columns
    of A⁻¹ are solved for and compared (`inverse_report`).

    References
    ----------
    .. [1] A. M. Erisman and W. F. Tinney, "On computing certain elements of the inverse of a sparse
       matrix", Communications of the ACM 18(3), 1975. :doi:`10.1145/360680.360704`
    """

    _core: Any
    _shape: Tuple[int, int]
    _refactoring: Any
    _inverse_report: Optional[Dict[str, Any]] = None

    @property
    def inverse_report(self) -> Optional[Dict[str, Any]]:
        """How the last entries of A⁻¹ were computed; None before the first.

        ``seconds`` and ``flops`` of the recurrence, ``memory_bytes``; ``solved_columns``: columns with
        entries off the factor's pattern; ``checked_columns``, and for these the largest ``difference`` of
        an entry from a verified solution, relative to its column's largest entry, and its ``bound``;
        ``verified``: whether it is within; ``notes``. ``messages`` and ``message_bytes`` are 0, except over
        processes (`palmette.mpi.RowSolver`).
        """
        return self._inverse_report

    def inverse_diagonal(self, *, check: int = 3) -> np.ndarray:
        """The diagonal of A⁻¹, as variances of Gaussian Markov fields need it.

        Parameters
        ----------
        check : int
            Number of columns of A⁻¹ to solve for and compare; 0: none, and the entries count as unverified.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        NumericalError
            If A proves to be singular.
        UsageError
            In "mixed" precision.

        Warns
        -----
        UnverifiedWarning
            If entries differ from solutions by more than the bound of their errors.

        Examples
        --------
        >>> import numpy as np, palmette
        >>> palmette.Solver(np.array([[2.0, 1.0], [1.0, 3.0]])).inverse_diagonal().round(12)
        array([0.6, 0.4])
        """
        every = np.arange(self._shape[0], dtype=np.int32)
        return self.inverse_entries(every, every, check=check)

    def inverse_entries(self, rows: Any, columns: Any, *, check: int = 3) -> np.ndarray:
        """Entries ``A⁻¹[rows[k], columns[k]]``.

        Entries on the pattern of the factor, which holds that of A, cost one recurrence together. Each
        column with other entries costs a solve.

        Parameters
        ----------
        rows, columns : array_like of int, shape (m,)
            Counted from 0; negative ones count from the end.
        check : int
            As in `inverse_diagonal`, also for what is raised and warned.

        Returns
        -------
        ndarray, shape (m,)

        Raises
        ------
        DimensionError
            If the lists differ in length.
        UsageError
            If an entry is outside the matrix.
        """
        places = [
            _input.as_places(name, list_, self._shape[0])
            for name, list_ in (("rows", rows), ("columns", columns))
        ]
        if len(places[0]) != len(places[1]):
            raise DimensionError(f"{len(places[0])} rows but {len(places[1])} columns")
        with self._refactoring:
            values, report = _bindings.inverse_entries(
                self._core, places[0], places[1], allowed_threads(), count("check", check, 0)
            )
        self._tell_inverse(report)
        return values

    def selected_inverse(self, *, check: int = 3) -> sparse.csc_array:
        """All entries of A⁻¹ on the pattern of L + U, permuted back.

        The pattern holds that of A (and of Aᵀ), so ``(solver.selected_inverse().multiply(A.T)).sum()`` is
        the trace of A⁻¹ A.

        Parameters
        ----------
        check : int
            As in `inverse_diagonal`, also for what is raised and warned.

        Returns
        -------
        csc_array, shape (n, n)
        """
        with self._refactoring:
            arrays, report = _bindings.selected_inverse(
                self._core, allowed_threads(), count("check", check, 0)
            )
        self._tell_inverse(report)
        return _input.from_core(arrays)

    def _tell_inverse(self, report: Dict[str, Any]) -> None:
        self._inverse_report = report
        if report["checked_columns"] and not report["verified"]:
            notes = "; ".join(report["notes"])
            said = f"entries of the inverse are not verified: {notes}"
            warnings.warn(said, UnverifiedWarning, stacklevel=3)
