"""Null spaces, and changes of low rank on a kept factor."""

from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Tuple

import numpy as np
from scipy import sparse

from . import _core as _bindings
from . import _input
from ._verified import OfMatrix, checked_trans
from .errors import DimensionError, UnverifiedWarning, UsageError


class LowRank:
    """What the factor of a `Solver` says about matrices near its own."""

    _core: Any
    _shape: Tuple[int, int]
    _dtype: np.dtype
    _refactoring: Any
    _nnz: int
    _entries: int
    _pattern: Any
    _told: Any
    _null_space_report: Optional[Dict[str, Any]] = None

    @property
    def null_space_report(self) -> Optional[Dict[str, Any]]:
        """How well the last `null_space` is one; None before the first.

        ``residual``: the largest ‖A z‖∞ / (‖A‖∞ ‖z‖∞) of a column z, its ``bound``, ``verified``; and
        ``singular_distance``, the relative distance of A (equilibrated) to a singular matrix.
        """
        return self._null_space_report

    def null_space(self) -> np.ndarray:
        """An orthonormal basis of the null space of A to working precision, with no column if A is regular.

        Computed once for each factorization, by about 10 solves for each column and at least 20. Systems with
        such a matrix are solved with ``singular="least_norm"`` or ``"warn"``.

        Returns
        -------
        ndarray, shape (n, k)

        Raises
        ------
        SingularError
            If the null space has more than 16 dimensions.

        Warns
        -----
        UnverifiedWarning
            If A does not map the basis to rounding level.

        Examples
        --------
        >>> import numpy as np, palmette
        >>> palmette.Solver(np.array([[1.0, -1.0], [-1.0, 1.0]])).null_space().shape
        (2, 1)
        """
        with self._refactoring:
            values, dimension, report = _bindings.null_space(self._core)
        self._null_space_report = report
        if not report["verified"]:
            said = f"the basis of the null space is not verified: residual {report['residual']:.1e}"
            warnings.warn(said, UnverifiedWarning, stacklevel=2)
        return values.reshape((self._shape[0], dimension), order="F")

    def update(self, U: Any, V: Any = None) -> UpdatedSolver:
        """A solver of A + U Vᵀ that uses the factor of A.

        Costs about 2k solves, and then one solve and 4nk flops for each right-hand side, by Woodbury's
        formula; factorize anew if k is above about a hundred. The result keeps the factor that this solver
        has now: a later `refactor` does not change it.

        Parameters
        ----------
        U : array_like or sparse, shape (n, k) or (n,)
        V : array_like or sparse of the same shape, optional
            U by default: then A + U Uᵀ. Vᵀ is not conjugated: for A + U Uᴴ give ``V=U.conj()``.

        Returns
        -------
        UpdatedSolver

        Raises
        ------
        DimensionError
            If the shapes do not fit.
        UsageError
            If a value is not finite or U is complex and A real; in "mixed" precision; if a device holds the
            factor.
        SingularError
            If the capacitance matrix I + Vᵀ A⁻¹ U is singular to working precision.

        Examples
        --------
        >>> import numpy as np, palmette
        >>> solver = palmette.Solver(np.diag([1.0, 2.0]))
        >>> solver.update([1.0, 0.0]).solve([2.0, 2.0])
        array([1., 1.])
        """
        u = self._change("U", U)
        v = u if V is None else self._change("V", V)
        parts = [_input.to_core(part, name, self._dtype) for name, part in (("U", u), ("V", v))]
        with self._refactoring:
            core = _bindings.update(self._core, *parts)
        return UpdatedSolver(core, self._shape, self._dtype)

    def update_factor(self, W: Any, *, subtract: bool = False) -> Dict[str, Any]:
        """Make this the solver of A + W Wᴴ, or of A − W Wᴴ, by changes of its factor L Lᴴ.

        Only the panels on those paths of the elimination tree change on which the columns of W lie. Answers
        are verified against the changed matrix. `update` takes changes that have no place in the factor.

        Parameters
        ----------
        W : array_like or sparse, shape (n, k) or (n,)
            Entries that are zero count as absent. The rows of a column must be rows of one column of L, which
            holds for every column if A stores W Wᴴ (zeros too).
        subtract : bool
            A − W Wᴴ.

        Returns
        -------
        dict
            ``rank``: columns of W that are not zero; ``supernodes`` of ``num_supernodes`` that have changed;
            ``flops``; ``seconds``.

        Raises
        ------
        DimensionError
            If the shapes do not fit.
        NotPositiveDefiniteError
            If A − W Wᴴ is not positive definite to working precision: the solver is as it was.
        UsageError
            If the factor is not of kind "llt", a value is not finite, or an entry of W has no place in the
            factor (the message names the first); in "mixed" precision; if a device holds the factor; if W is
            complex and A real.

        Notes
        -----
        The factor and what solves prepared of it are copied, so solves in other threads continue with the
        factor before. If W Wᴴ has entries that A has not, `refactor` takes matrices of the changed pattern
        from then on, and values in the order of compressed columns, rows ascending.

        Examples
        --------
        >>> import numpy as np, palmette
        >>> solver = palmette.Solver(np.array([[4.0, 1.0], [1.0, 4.0]]), kind="llt")
        >>> solver.update_factor([1.0, 1.0])["rank"]
        1
        >>> solver.solve([7.0, 7.0])
        array([1., 1.])
        """
        w = _input.to_core(self._change("W", W), "W", self._dtype)
        with self._refactoring:
            done, entries = _bindings.update_factor(self._core, w, bool(subtract))
            if entries != self._nnz:
                self._nnz = self._entries = entries
                self._pattern = None
            self._told = self._core.report()
            self.tell_singular = True  # of another matrix
        return done

    def _change(self, name: str, part: Any) -> Any:
        """A sparse n × k matrix."""
        if not _input.is_sparse(part):
            part = np.asarray(part)
        if part.ndim == 1:
            part = part.reshape((-1, 1))
        if part.ndim != 2 or part.shape[0] != self._shape[0]:
            raise DimensionError(f"{name} has shape {part.shape}, but A has shape {self._shape}")
        part = _input.as_csc(part, name)
        if part.dtype.kind == "c" and self._dtype.kind != "c":
            raise UsageError(f"{name} is complex, but A is real; make a solver of a complex A")
        return sparse.csc_array(part)


class UpdatedSolver(OfMatrix):
    """The solver of A + U Vᵀ, made by `Solver.update`. Solves are thread-safe, refined, and verified against
    A, U and V."""

    def __init__(self, core: Any, shape: Tuple[int, int], dtype: np.dtype) -> None:
        self._core, self._shape, self._dtype = core, shape, dtype
        self._report = core.report()

    @property
    def report(self) -> Dict[str, Any]:
        """Of the update: ``rank``, ``reciprocal_condition`` of the capacitance matrix, ``flops`` and
        ``memory_bytes`` (predicted), ``update_seconds``; of the last solve: ``solve_seconds``,
        ``refine_steps``, ``backward_error``, ``bound``, ``verified``, ``notes``."""
        return self._report

    def solve(self, b: Any, *, trans: str = "N") -> np.ndarray:
        """Solve op(A + U Vᵀ) x = b.

        Parameters
        ----------
        b : array_like or sparse, shape (n,) or (n, k)
        trans : {"N", "T", "H"}

        Returns
        -------
        ndarray, of the shape of b

        Warns
        -----
        UnverifiedWarning
            If the backward error of x is above its bound.
        """
        checked_trans(trans)
        given = _input.as_right_hand_sides(b, self._shape[0], self._dtype)
        x = np.empty_like(given.columns, order="F")
        self._report = self._core.solve(given.columns, x, trans)
        if not self._report["verified"]:
            warnings.warn("; ".join(self._report["notes"]), UnverifiedWarning, stacklevel=2)
        return given.answer(x)

    def __repr__(self) -> str:
        rows, columns = self._shape
        changed = f"changed by rank {self._report['rank']}"
        return f"<palmette.UpdatedSolver of a {rows} x {columns} matrix, {self._dtype}, {changed}>"
