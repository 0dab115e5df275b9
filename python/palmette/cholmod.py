"""The interface of scikit-sparse's ``sksparse.cholmod`` (0.4), on Palmette's factors.

>>> import numpy as np
>>> from scipy.sparse import csc_matrix
>>> from palmette.cholmod import cholesky
>>> factor = cholesky(csc_matrix([[4.0, 2.0], [2.0, 5.0]]))
>>> factor(np.array([6.0, 7.0])).round(12)
array([1., 1.])

Change the import, and programs run unchanged, except that

- ``solve_A`` and calls of the factor refine and verify the solution (`Factor.solver` has the report);
- ``analyze`` knows no values, and factorizes a matrix of the same pattern to find the order;
- `Factor.update_inplace` makes a new factor in the same order if C·Cᴴ has entries for which the present one
  has no place;
- the permutation is that of Palmette's ordering, so P, L and D differ from CHOLMOD's, while their product
  does not. "natural" is followed by a postorder of the elimination tree too;
- a matrix that is not positive definite is refused at once, and not when L is asked for.

As in scikit-sparse only the lower triangle of A is read, and solves with one factor belong to L·D·Lᴴ unless
``use_LDLt_decomposition=False`` asks for L·Lᴴ.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any, Optional, Tuple

import numpy as np
from scipy import sparse

from . import _input
from ._solver import Solver
from .errors import DimensionError, NotPositiveDefiniteError, NumericalError, UsageError

__all__ = [
    "CholmodError",
    "CholmodNotPositiveDefiniteError",
    "CholmodTypeConversionWarning",
    "CholmodWarning",
    "Factor",
    "analyze",
    "analyze_AAt",
    "cholesky",
    "cholesky_AAt",
]

_MODES = ("auto", "simplicial", "supernodal")
_ORDERINGS = {"default": "auto", "best": "auto", "natural": "natural", "amd": "amd", "colamd": "amd",
              "metis": "metis", "nesdis": "nd"}


class CholmodError(Exception):
    """What `palmette.cholmod` raises."""


class CholmodNotPositiveDefiniteError(CholmodError):
    """The matrix is not positive definite."""


class CholmodWarning(UserWarning):
    """What `palmette.cholmod` warns of."""


class CholmodTypeConversionWarning(CholmodWarning, sparse.SparseEfficiencyWarning):
    """A matrix had to be converted to compressed columns, or to double precision."""


def cholesky(A: Any, beta: float = 0, mode: str = "auto", ordering_method: str = "default",
             use_long: Optional[bool] = None) -> Factor:
    """Factorize A + beta·I.

    Parameters
    ----------
    A : sparse matrix, shape (n, n)
        Symmetric or Hermitian, positive definite. Only the lower triangle is read.
    beta : float
    mode : {"auto", "simplicial", "supernodal"}
        Checked and ignored: Palmette chooses.
    ordering_method : {"default", "best", "natural", "amd", "metis", "nesdis", "colamd"}
        "colamd" is taken as "amd".
    use_long : bool, optional
        Ignored: positions of entries always have 64 bits.

    Returns
    -------
    Factor

    Raises
    ------
    CholmodNotPositiveDefiniteError
    """
    return _new_factor(_symmetric(A, beta), mode, ordering_method)


def cholesky_AAt(A: Any, beta: float = 0, mode: str = "auto", ordering_method: str = "default",
                 use_long: Optional[bool] = None) -> Factor:
    """Factorize A·Aᴴ + beta·I, of order m for A of shape (m, k); as `cholesky`."""
    return _new_factor(_product(A, beta), mode, ordering_method)


def analyze(A: Any, mode: str = "auto", ordering_method: str = "default",
            use_long: Optional[bool] = None) -> Factor:
    """The order in which to factorize matrices of A's pattern; values are given to `Factor.cholesky`."""
    return _analyzed(_symmetric(A, 0), mode, ordering_method)


def analyze_AAt(A: Any, mode: str = "auto", ordering_method: str = "default",
                use_long: Optional[bool] = None) -> Factor:
    """The same for A·Aᴴ, whose values are given to `Factor.cholesky_AAt`."""
    pattern = _in_double(A)
    pattern.data = np.ones_like(pattern.data)
    return _analyzed(_product(pattern, 0), mode, ordering_method)


class Factor:
    """A Cholesky factorization ``A[p][:, p] = L @ L.conj().T = L1 @ D @ L1.conj().T`` with ``p = P()``.

    Made by `cholesky` and `analyze`.

    Attributes
    ----------
    solver : palmette.Solver
        The factorization, with its report.
    """

    def __init__(self, A: Any, ordering: Any, has_values: bool = True) -> None:
        with _as_cholmod_errors():
            self.solver = Solver(A, kind="llt", ordering=ordering, measure=False)
        self._matrix = A
        self._has_values = has_values

    # ---- other values ----

    def cholesky(self, A: Any, beta: float = 0) -> Factor:
        """A new factor, of A + beta·I, in the same order."""
        return self._with_values(_symmetric(A, beta))

    def cholesky_AAt(self, A: Any, beta: float = 0) -> Factor:
        """A new factor, of A·Aᴴ + beta·I, in the same order."""
        return self._with_values(_product(A, beta))

    def cholesky_inplace(self, A: Any, beta: float = 0) -> None:
        """Factorize A + beta·I in place of what was factored; its pattern must be that of the first A."""
        self._refactor(_symmetric(A, beta))

    def cholesky_AAt_inplace(self, A: Any, beta: float = 0) -> None:
        """Factorize A·Aᴴ + beta·I in place of what was factored."""
        self._refactor(_product(A, beta))

    def update_inplace(self, C: Any, subtract: bool = False) -> None:
        """Make this the factor of A + C·Cᴴ, or of A − C·Cᴴ.

        Changes the factor along the paths of its tree on which the columns of C lie. Where the factor has no
        place for C·Cᴴ, factorizes the new matrix in the same order.

        Parameters
        ----------
        C : sparse matrix, shape (n, k)
        subtract : bool

        Raises
        ------
        CholmodNotPositiveDefiniteError
            If A − C·Cᴴ is not positive definite; the factor is as it was.
        """
        C = _in_double(C)
        if C.shape[0] != self.solver.shape[0]:
            raise CholmodError(f"C has shape {C.shape}, but A has shape {self.solver.shape}")
        self._values()
        change = C @ C.conj().T
        changed = _sorted(self._matrix - change if subtract else self._matrix + change)
        if C.dtype.kind == "c" and self._matrix.dtype.kind != "c":
            self.solver = self._with_values(changed).solver
        else:
            self._update(C, subtract, changed)
        self._matrix = changed

    def copy(self) -> Factor:
        """A factor of its own, which changes of this one do not change."""
        return Factor(self._matrix, self.P(), self._has_values)

    # ---- solves ----

    def __call__(self, b: Any) -> Any:
        """`solve_A`."""
        return self.solve_A(b)

    def solve_A(self, b: Any) -> Any:
        """Solve A x = b, refined and verified. A sparse b gives a sparse x."""
        return self._solved(self._values().solve, b)

    def solve_LDLt(self, b: Any) -> Any:
        """Solve L·D·Lᴴ x = b: A x = b in the order of the factor."""
        return self._solved(self._values().solve_LDLt, b)

    def solve_L(self, b: Any, use_LDLt_decomposition: bool = True) -> Any:
        """Solve L x = b."""
        return self._solved(lambda rhs: self._scaled(self._values().solve_L(rhs), use_LDLt_decomposition), b)

    def solve_Lt(self, b: Any, use_LDLt_decomposition: bool = True) -> Any:
        """Solve Lᴴ x = b."""
        return self._solved(lambda rhs: self._values().solve_Lt(self._scaled(rhs, use_LDLt_decomposition)), b)

    def solve_D(self, b: Any) -> Any:
        """Solve D x = b."""
        return self._solved(lambda rhs: self._scaled(rhs, True, -2), b)

    def solve_LD(self, b: Any) -> Any:
        """Solve L·D x = b."""
        return self._solved(lambda rhs: self._scaled(self._values().solve_L(rhs), True, -1), b)

    def solve_DLt(self, b: Any) -> Any:
        """Solve D·Lᴴ x = b."""
        return self._solved(lambda rhs: self._values().solve_Lt(self._scaled(rhs, True, -1)), b)

    def apply_P(self, b: Any) -> Any:
        """``b[P()]``."""
        return self._solved(self._values().apply_P, b)

    def apply_Pt(self, b: Any) -> Any:
        """Undo `apply_P`."""
        return self._solved(self._values().apply_Pt, b)

    # ---- factors ----

    def P(self) -> np.ndarray:
        """The permutation: row i of the factors is row ``P()[i]`` of A."""
        return self.solver.P()

    def L(self) -> sparse.csc_matrix:
        """L of L·Lᴴ."""
        return sparse.csc_matrix(self._values().L())

    def L_D(self) -> Tuple[sparse.csc_matrix, sparse.csc_matrix]:
        """L with unit diagonal, and D, of L·D·Lᴴ."""
        lower, root = self.L(), self._roots()
        return sparse.csc_matrix(lower @ sparse.diags(1 / root)), sparse.csc_matrix(sparse.diags(root**2))

    def LD(self) -> sparse.csc_matrix:
        """L and D of L·D·Lᴴ in one matrix: D in place of the unit diagonal."""
        lower, diagonal = self.L_D()
        return sparse.csc_matrix(lower + diagonal - sparse.identity(lower.shape[0]))

    def D(self) -> np.ndarray:
        """The diagonal of D."""
        return self._roots() ** 2

    def logdet(self) -> float:
        """Logarithm of the determinant of A."""
        return self._values().slogdet().logabsdet

    def slogdet(self) -> Tuple[float, float]:
        """Sign (1) and logarithm of the determinant, as `numpy.linalg.slogdet`."""
        return 1.0, self.logdet()

    def det(self) -> float:
        """Determinant of A; it overflows easily, see `logdet`."""
        return float(np.exp(self.logdet()))

    def inv(self) -> sparse.csc_matrix:
        """The inverse of A as a sparse matrix, though it usually is full; see `Solver.inverse_entries`."""
        n = self.solver.shape[0]
        return self.solve_A(sparse.identity(n, format="csc"))

    # ---- inside ----

    def _values(self) -> Solver:
        if not self._has_values:
            raise CholmodError("this factor has no values yet; call cholesky or cholesky_inplace first")
        return self.solver

    def _roots(self) -> np.ndarray:
        """The diagonal of L of L·Lᴴ, which is the root of D."""
        return np.real(self.L().diagonal())

    def _scaled(self, b: np.ndarray, scales: bool, power: int = 1) -> np.ndarray:
        if not scales:
            return b
        factor = self._roots() ** power
        return (factor if np.ndim(b) == 1 else factor[:, None]) * b

    def _solved(self, solve: Any, b: Any) -> Any:
        try:
            if not _input.is_sparse(b):
                return solve(np.asarray(b))
            return sparse.csc_matrix(solve(b.toarray()))
        except DimensionError as error:
            raise CholmodError(str(error)) from None

    def _with_values(self, A: Any) -> Factor:
        if A.shape != self.solver.shape:
            raise CholmodError(f"A has shape {A.shape}, but the first one had {self.solver.shape}")
        return Factor(A, self.P())

    def _refactored(self, A: Any) -> bool:
        """False if the solver's pattern has zeros that an update left there."""
        with _as_cholmod_errors():
            try:
                self.solver.refactor(A)
                return True
            except UsageError:
                return False

    def _update(self, C: Any, subtract: bool, changed: Any) -> None:
        try:
            with _as_cholmod_errors():
                self.solver.update_factor(C, subtract=subtract)
        except CholmodNotPositiveDefiniteError:
            raise
        except CholmodError:  # the factor has no place for an entry of C
            self.solver = self._with_values(changed).solver

    def _refactor(self, A: Any) -> None:
        if not (A.dtype == self._matrix.dtype and _same_pattern(A, self._matrix) and self._refactored(A)):
            self.solver = self._with_values(A).solver
        self._matrix = A
        self._has_values = True


class _as_cholmod_errors:
    """Turns failures of a factorization into those of scikit-sparse."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, (NotPositiveDefiniteError, NumericalError)):
            raise CholmodNotPositiveDefiniteError(str(error)) from None
        if isinstance(error, (DimensionError, UsageError)):
            raise CholmodError(str(error)) from None


def _new_factor(A: Any, mode: str, ordering_method: str) -> Factor:
    if mode not in _MODES:
        raise ValueError(f"mode is {mode!r}; use one of {', '.join(_MODES)}")
    if ordering_method not in _ORDERINGS:
        raise ValueError(f"ordering_method is {ordering_method!r}; use one of {', '.join(_ORDERINGS)}")
    return Factor(A, _ORDERINGS[ordering_method])


def _analyzed(A: Any, mode: str, ordering_method: str) -> Factor:
    """The factor of a diagonally dominant matrix of A's pattern, whose values are not shown."""
    stand_in = copy.copy(A)
    stand_in.data = np.full(A.nnz, -1.0)
    stand_in = sparse.csc_matrix(stand_in + sparse.diags(2.0 + np.diff(A.indptr)))
    factor = _new_factor(stand_in, mode, ordering_method)
    factor._has_values = False
    return factor


def _same_pattern(A: Any, B: Any) -> bool:
    return np.array_equal(A.indptr, B.indptr) and np.array_equal(A.indices, B.indices)


def _in_double(A: Any) -> Any:
    """A in compressed columns and double precision, a copy."""
    if not (_input.is_sparse(A) and A.format == "csc"):
        warnings.warn(f"converting a {type(A).__name__} to compressed columns", CholmodTypeConversionWarning,
                      stacklevel=4)
    A = sparse.csc_matrix(A)
    dtype = np.dtype(complex if A.dtype.kind == "c" else float)
    if A.dtype != dtype:
        warnings.warn(f"converting {A.dtype} to {dtype}", CholmodTypeConversionWarning, stacklevel=4)
    return A.astype(dtype, copy=True)


def _symmetric(A: Any, beta: float) -> Any:
    """A + beta·I from the lower triangle of A, with the whole pattern stored."""
    A = _in_double(A)
    if A.shape[0] != A.shape[1]:
        raise CholmodError(f"A has shape {A.shape}; a Cholesky factorization needs a square matrix")
    below = sparse.tril(A, -1, format="csc")
    diagonal = sparse.diags(np.real(A.diagonal()) + beta).astype(A.dtype)
    return _sorted(below + below.conj().T + diagonal)


def _product(A: Any, beta: float) -> Any:
    """A·Aᴴ + beta·I."""
    A = _in_double(A)
    return _sorted(A @ A.conj().T + beta * sparse.identity(A.shape[0]))


def _sorted(A: Any) -> Any:
    A = sparse.csc_matrix(A)
    A.sort_indices()
    return A
