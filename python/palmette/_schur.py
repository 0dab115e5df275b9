"""Schur complements on unknowns that are not eliminated."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Tuple

import numpy as np

from . import _input
from ._threads import allowed_threads
from ._verified import OfMatrix, count
from .errors import DimensionError, UnverifiedWarning


class Complement:
    """What Schur complements of one process and over ranks share."""

    _boundary: np.ndarray
    _solve_report: Optional[Dict[str, Any]] = None

    @property
    def boundary(self) -> np.ndarray:
        """The unknowns of S, counted from 0."""
        return self._boundary

    def _tell(self, report: Dict[str, Any]) -> None:
        self._solve_report = report
        if not report["verified"]:
            said = f"the solution is not verified: its backward error is {report['backward_error']:.1e}"
            warnings.warn(said, UnverifiedWarning, stacklevel=3)

    def _fitting(self, b: Any, x_boundary: Any) -> Tuple[np.ndarray, np.ndarray]:
        """b and the boundary's part of x with a common scalar type, if their shapes fit."""
        b, part = _input.dense(b), _input.dense(x_boundary)
        wanted = (len(self._boundary),) + b.shape[1:]
        if part.shape != wanted:
            raise DimensionError(f"x_boundary has shape {part.shape}; it needs {wanted}")
        common = np.result_type(b, part)
        return b.astype(common, copy=False), part.astype(common, copy=False)


class SchurComplement(Complement, OfMatrix):
    """A with its interior eliminated: S = A_BB − A_BI A_II⁻¹ A_IB on the boundary B, dense.

    The boundary comes last in the order of elimination, and the factorization stops before it. To solve
    A x = b through S: ``g = schur.condense(b)``, solve ``S x_B = g`` in any way, then
    ``x = schur.expand(b, x_B)``.

    Parameters
    ----------
    A : array_like or any SciPy sparse array or matrix, shape (n, n)
        As for `Solver`.
    boundary : array_like of int, shape (m,)
        Unknowns that stay, each once; rows and columns of S are in this order. Negative ones count from the
        end.
    kind, ordering : str
        As for `Solver`; the ordering, a name, is that of the interior.
    threads : int, optional
        None: `get_num_threads()`.

    Raises
    ------
    DimensionError, UsageError
        As `Solver`; `UsageError` also for an unknown that is given twice.
    SingularError, NotPositiveDefiniteError
        If the interior is structurally singular, or not positive definite with ``kind="llt"``.

    Warns
    -----
    UnverifiedWarning
        If S does not agree with A: the interior is then singular or nearly so.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> A = np.array([[2.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 2.0]])
    >>> schur = palmette.SchurComplement(A, [0, 2])
    >>> schur.S
    array([[ 1.5, -0.5],
           [-0.5,  1.5]])
    >>> b = np.array([1.0, 0.0, 1.0])
    >>> schur.expand(b, np.linalg.solve(schur.S, schur.condense(b))).round(12)
    array([1., 1., 1.])
    """

    def __init__(self, A: Any, boundary: Any, *, kind: str = "auto", ordering: str = "auto",
                 threads: Optional[int] = None) -> None:
        A = _input.as_csc(A)
        self._shape = _input.square_shape(A)
        self._dtype = A.dtype
        self._boundary = _input.as_places("boundary", boundary, A.shape[0])
        options = {
            "kind": kind,
            "ordering": ordering,
            "threads": allowed_threads() if threads is None else count("threads", threads, 1),
        }
        core = _input.core_class("SchurSolver", A.dtype)
        self._core = core.create(_input.to_core(A), self._boundary, options)
        self._report = self._core.report()
        m = len(self._boundary)
        self._complement = self._core.complement().reshape((m, m), order="F")
        if not self._report["verified"]:
            warnings.warn(self._report["notes"][0], UnverifiedWarning, stacklevel=2)

    @property
    def S(self) -> np.ndarray:
        """The Schur complement, shape (m, m)."""
        return self._complement

    @property
    def report(self) -> Dict[str, Any]:
        """``kind``, ``ordering``, ``threads``, ``size``, ``boundary``; ``nnz_factor``, ``flops`` and
        ``memory_bytes_predicted``, known before the factorization; ``memory_bytes``, the seconds of each
        phase, ``perturbed_pivots``; and the ``backward_error`` of S against A with its ``bound``,
        ``verified``, ``notes``."""
        return self._report

    @property
    def solve_report(self) -> Optional[Dict[str, Any]]:
        """``backward_error``, ``componentwise_backward_error``, ``refine_steps``, ``bound`` and ``verified``
        of the last `solve_interior` or `expand`; None before the first."""
        return self._solve_report

    def solve_interior(self, b: Any) -> np.ndarray:
        """A_II⁻¹ b_I, refined and verified: zero on the boundary, where b does not matter.

        Parameters
        ----------
        b : array_like or sparse, shape (n,) or (n, k)

        Returns
        -------
        ndarray, of the shape of b

        Warns
        -----
        UnverifiedWarning
            If a solution fails verification.
        """
        given = _input.as_right_hand_sides(b, self._shape[0], self._dtype)
        x = np.empty_like(given.columns, order="F")
        self._tell(self._core.solve_interior(given.columns, x))
        return given.answer(x)

    def condense(self, b: Any) -> np.ndarray:
        """g = b_B − A_BI A_II⁻¹ b_I, the right-hand side of S x_B = g; half a solve.

        Parameters
        ----------
        b : array_like or sparse, shape (n,) or (n, k)

        Returns
        -------
        ndarray, shape (m,) or (m, k)
        """
        given = _input.as_right_hand_sides(b, self._shape[0], self._dtype)
        m = len(self._boundary)
        g = np.empty((m, given.columns.shape[1]), dtype=self._dtype, order="F")
        self._core.condense(given.columns, g)
        return given._replace(shape=(m,) + tuple(given.shape[1:])).answer(g)

    def expand(self, b: Any, x_boundary: Any) -> np.ndarray:
        """The solution of A x = b whose part on the boundary is given: x_I = A_II⁻¹ (b_I − A_IB x_B).

        Parameters
        ----------
        b : array_like or sparse, shape (n,) or (n, k)
        x_boundary : array_like, shape (m,) or (m, k)
            The solution of S x_B = `condense` (b).

        Returns
        -------
        ndarray, of the shape of b

        Raises
        ------
        DimensionError
            If the shapes do not fit.

        Warns
        -----
        UnverifiedWarning
            If x fails verification as a solution of the whole system.
        """
        b, part = self._fitting(b, x_boundary)
        given = _input.as_right_hand_sides(b, self._shape[0], self._dtype)
        known = _input.as_right_hand_sides(part, len(self._boundary), self._dtype)
        x = np.empty_like(given.columns, order="F")
        self._tell(self._core.expand(given.columns, known.columns, x))
        return given.answer(x)

    def __repr__(self) -> str:
        rows, columns = self._shape
        m, kind = len(self._boundary), self._report["kind"]
        matrix = f"a {rows} x {columns} matrix, {self._dtype}, {kind}"
        return f"<palmette.SchurComplement on {m} unknowns of {matrix}>"
