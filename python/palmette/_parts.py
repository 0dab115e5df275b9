"""The factors L, D, U and permutations of a factorization, and solves with a single factor."""

from __future__ import annotations

import warnings
from typing import Any, Tuple

import numpy as np

from . import _input
from .errors import DimensionError, UnverifiedWarning, UsageError


class FactorParts:
    """The factors of a `Solver`, under the names of scikit-sparse's factors.

    Scalings are undone and pivoting is part of the permutations, so that with ``p = solver.P()``

    ======  ==========================================================================================
    kind    what was factored
    ======  ==========================================================================================
    "llt"   ``A[p][:, p] == L @ L.conj().T``
    "ldlt"  ``A[p][:, p] == L @ D @ L.conj().T``; complex symmetric matrices: ``L @ D @ L.T``
    "lu"    ``A[row_perm][:, col_perm] == L @ U``
    ======  ==========================================================================================

    up to the rounding of the factorization. D of "llt" is the identity; that of "ldlt" is diagonal except for
    pivots of two rows. If pivots were replaced (``report["factorize"]["perturbed_pivots"]``), the product is
    a matrix near A, with an `UnverifiedWarning`. Solves with one factor are neither refined nor verified. A
    matrix that was factored without supernodes (see `structure`) is factored again, by supernodes, at the
    first access. In "mixed" precision, access raises UsageError.
    """

    _core: Any
    _dtype: np.dtype
    _shape: Tuple[int, int]
    _refactoring: Any
    kind: str

    @property
    def row_perm(self) -> np.ndarray:
        """Row i of the factors is row ``row_perm[i]`` of A: ordering, postorder and pivoting. int32, shape
        (n,)."""
        return self._orders()[0]

    @property
    def col_perm(self) -> np.ndarray:
        """Column j of the factors is column ``col_perm[j]`` of A; equal to `row_perm` except for LU. int32,
        shape (n,)."""
        return self._orders()[1]

    def P(self) -> np.ndarray:
        """The permutation of a symmetric factorization: `row_perm` and `col_perm` in one.

        Raises
        ------
        UsageError
            For LU, whose rows and columns have different permutations.
        """
        self._needs_symmetric_kind("P()", "row_perm and col_perm")
        return self.row_perm

    def L(self) -> Any:
        """The lower factor as a csc_array, with unit diagonal except for "llt"."""
        return _input.from_core(self._extracted()[0])

    def D(self) -> Any:
        """The block-diagonal factor as a csc_array, for "llt" (the identity) and "ldlt".

        Examples
        --------
        >>> import numpy as np, palmette
        >>> palmette.Solver(np.diag([2.0, -3.0]), kind="ldlt").D().diagonal().tolist()
        [2.0, -3.0]
        """
        self._needs_symmetric_kind("D()", "U()")
        return _input.from_core(self._extracted()[1])

    def L_D(self) -> Tuple[Any, Any]:
        """L and D together, with one extraction."""
        self._needs_symmetric_kind("L_D()", "L() and U()")
        lower, diagonal = self._extracted()
        return _input.from_core(lower), _input.from_core(diagonal)

    def U(self) -> Any:
        """The upper factor of LU as a csc_array."""
        if self.kind != "lu":
            raise UsageError(f"a factorization of kind {self.kind} has no factor U; use L()")
        return _input.from_core(self._extracted()[1])

    def apply_P(self, b: Any) -> np.ndarray:
        """Rows of b in the order of the factors' rows: ``b[row_perm]``."""
        return self._rows_of(b)[self.row_perm]

    def apply_Pt(self, y: Any) -> np.ndarray:
        """Undo `apply_P`: ``x[row_perm] = y``."""
        return self._placed(y, self.row_perm)

    def apply_Q(self, b: Any) -> np.ndarray:
        """Rows of b in the order of the factors' columns: ``b[col_perm]``."""
        return self._rows_of(b)[self.col_perm]

    def apply_Qt(self, y: Any) -> np.ndarray:
        """Undo `apply_Q`: the result of solves with U in the order of A's columns."""
        return self._placed(y, self.col_perm)

    def solve_L(self, b: Any) -> np.ndarray:
        """Solve L x = b.

        Examples
        --------
        Whitening: if b has covariance A, then y has the identity as covariance.

        >>> import numpy as np, palmette
        >>> solver = palmette.Solver(np.array([[4.0, 2.0], [2.0, 5.0]]))
        >>> y = solver.solve_L(solver.apply_P([2.0, 5.0]))
        >>> np.allclose(solver.L() @ y, np.array([2.0, 5.0])[solver.P()])
        True
        """
        return self._solve_part("L", b)

    def solve_Lt(self, b: Any) -> np.ndarray:
        """Solve Lᴴ x = b; Lᵀ x = b for complex symmetric matrices and for LU."""
        return self._solve_part("L", b, "H" if self._is_adjoint() else "T")

    def solve_D(self, b: Any) -> np.ndarray:
        """Solve D x = b, for "llt" (x = b) and "ldlt"."""
        self._needs_symmetric_kind("solve_D", "solve_U")
        return self._solve_part("D", b)

    def solve_LD(self, b: Any) -> np.ndarray:
        """Solve L D x = b."""
        return self.solve_D(self.solve_L(b))

    def solve_DLt(self, b: Any) -> np.ndarray:
        """Solve D Lᴴ x = b, with the same transpose as `solve_Lt`."""
        return self.solve_Lt(self.solve_D(b))

    def solve_LDLt(self, b: Any) -> np.ndarray:
        """Solve L D Lᴴ x = b: A x = b in permuted order, not refined."""
        return self.solve_DLt(self.solve_L(b))

    def solve_U(self, b: Any) -> np.ndarray:
        """Solve U x = b, for LU."""
        return self._solve_part("U", b)

    def solve_Ut(self, b: Any) -> np.ndarray:
        """Solve Uᵀ x = b, for LU."""
        return self._solve_part("U", b, "T")

    def solve_A(self, b: Any) -> np.ndarray:
        """Solve A x = b, refined and verified: `solve`, under its name in scikit-sparse."""
        return self.solve(b)  # type: ignore[attr-defined, no-any-return]

    def _solve_part(self, part: str, b: Any, trans: str = "N") -> np.ndarray:
        rhs = _input.as_right_hand_sides(b, self._shape[0], self._dtype)
        x = np.empty(rhs.columns.shape, dtype=self._dtype, order="F")
        with self._refactoring:
            pass
        self._core.solve_part(part, trans, rhs.columns, x)
        return rhs.answer(x)

    def _extracted(self) -> tuple:
        """(L, U) of LU, (L, D) of the other kinds, as the bindings give them."""
        with self._refactoring:
            *factors, replaced = self._core.extract_parts()
        if replaced:
            warnings.warn(
                f"{replaced} pivots were replaced: the product of the factors is a matrix near A",
                UnverifiedWarning,
                stacklevel=3,
            )
        return tuple(factors)

    def _orders(self) -> tuple:
        with self._refactoring:
            return self._core.orders()

    def _is_adjoint(self) -> bool:
        with self._refactoring:
            return self._core.is_adjoint()

    def _needs_symmetric_kind(self, asked: str, instead: str) -> None:
        if self.kind == "lu":
            raise UsageError(f"{asked} is for symmetric factorizations, this one is LU; use {instead}")

    def _rows_of(self, b: Any) -> np.ndarray:
        b = np.asarray(b)
        if b.ndim == 0 or b.shape[0] != self._shape[0]:
            raise DimensionError(f"b has shape {b.shape}, but the factors have {self._shape[0]} rows")
        return b

    def _placed(self, y: Any, order: np.ndarray) -> np.ndarray:
        y = self._rows_of(y)
        x = np.empty_like(y)
        x[order] = y
        return x
