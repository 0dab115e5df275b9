"""The direct solvers of `scipy.sparse.linalg`, by Palmette: change one import.

Same signatures, semantics, warnings and errors as SciPy 1.17; solutions are also refined and verified.
Differences:

- a matrix counts as exactly singular ("Factor is exactly singular", NaN with a MatrixRankWarning) if its
  pattern alone makes it so, or if SuperLU meets a pivot that is exactly zero: if Palmette's elimination finds
  a zero or, for up to 2,000 unknowns, if A proves singular to working precision, SuperLU decides. Larger
  matrices whose pivots are nonzero only by rounding are always accepted;
- every other matrix that is singular to working precision gets a factor, as SciPy's. Its solves never raise:
  x has a small backward error, solves the system as far as possible, and is huge along null vectors if b is
  not in the range of A. The first solve of a factor warns by a `palmette.SingularWarning`; `spsolve` does not
  warn, like SciPy's, since programs treat its warnings as failures;
- an infinite diagonal entry of A pins its unknown to zero, as SciPy does; A with NaN, or with infinity
  elsewhere, counts as exactly singular (SciPy's answer to the latter depends on the order of elimination). A
  column of b that is not finite gives a column of NaN;
- `spsolve_triangular` raises LinAlgError for a matrix that is not triangular, as SciPy documents (but does
  not do);
- a solution that cannot be verified gives a `palmette.UnverifiedWarning`;
- L and U of `splu` are computed at the first access; if a pivot was replaced, by another factorization;
- options of SuperLU (`relax`, `panel_size`, `diag_pivot_thresh`, `use_umfpack`) are checked and ignored;
  ``permc_spec="NATURAL"`` keeps the order of the columns, any other lets Palmette choose; if rows were
  exchanged, ``perm_c`` may then be a postorder of the elimination tree.
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, Optional
from warnings import warn

import numpy as np
import scipy.sparse
from numpy.linalg import LinAlgError
from scipy.sparse import SparseEfficiencyWarning, csc_array
from scipy.sparse.linalg import MatrixRankWarning
# Bound at import, because users may later replace SciPy's functions by those of this module.
from scipy.sparse.linalg import splu as _superlu

from ._at_once import solve_at_once
from ._input import is_sparse
from ._pinned import PinnedSolver, pinned_unknowns
from ._problems import orderings
from ._reached import solved_blocks
from ._solver import Solver
from ._triangular import TriangularSolver
from ._verified import USUAL_OPTIONS, SolveOptions, VerifiedSolves
from .errors import SingularError, UsageError

__all__ = ["MatrixRankWarning", "SuperLU", "factorized", "splu", "spsolve", "spsolve_triangular"]

_COLUMN_PERMUTATIONS = ("NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD", "MY_PERMC")
_OPTION_NAMES = frozenset(
    """Equil ColPerm Trans IterRefine DiagPivotThresh PivotGrowth ConditionNumber RowPerm SymmetricMode
    PrintStat ReplaceTinyPivot SolveInitialized RefactInitialized ILU_Norm ILU_MILU ILU_DropTol ILU_FillTol
    ILU_FillFactor ILU_DropRule PanelSize Relax""".split()
)
_SINGULAR = "Factor is exactly singular"
# Componentwise backward errors above which x is corrected once: 10,000 times the bound of the backward error.
_ROW_ERROR = {"d": 1e-10, "D": 1e-10, "f": 5e-2, "F": 5e-2}
# SuperLU factors this number of unknowns in negligible time.
_FEW_UNKNOWNS = 2000


class SuperLU:
    """LU factorization of a sparse matrix, as `splu` returns it: ``Pr @ A @ Pc == L @ U``.

    Attributes
    ----------
    shape : tuple of int
    nnz : int
        Stored entries of L and U.
    perm_r, perm_c : ndarray of int32, shape (n,)
        Row i of A is row ``perm_r[i]`` of L U, and column j of A its column ``perm_c[j]``.
    L : csc_array
        Lower triangular with unit diagonal.
    U : csc_array
        Upper triangular.
    """

    def __init__(self, solver: Solver, A: Any) -> None:
        self._solver = solver
        # A solver by columns factors by supernodes when the factors are requested, and may replace pivots
        # then.
        keep = (
            isinstance(solver, PinnedSolver)
            or _replaced_pivots(solver)
            or solver._of_report("analyze", "supernodes") == 0
        )
        self._kept = (A.data.copy(), A.indices.copy(), A.indptr.copy()) if keep else None
        self._factors: Optional[tuple] = None

    # SciPy's class cannot be derived from; ``isinstance(lu, scipy.sparse.linalg.SuperLU)``, which checks
    # ``__class__`` if the type differs, is nevertheless true. ``type(lu)`` is the real type.
    __class__ = property(lambda self: scipy.sparse.linalg.SuperLU)  # type: ignore[assignment]

    @property
    def _matrix(self) -> Optional[csc_array]:
        """A copy of A if it may be needed again."""
        return None if self._kept is None else csc_array(self._kept, shape=self.shape)

    @property
    def shape(self) -> tuple:
        return self._solver.shape

    @property
    def nnz(self) -> int:
        return int(self.L.nnz + self.U.nnz)

    @property
    def L(self) -> csc_array:
        return self._extracted()[0]

    @property
    def U(self) -> csc_array:
        return self._extracted()[1]

    @property
    def perm_r(self) -> np.ndarray:
        return _held_by(self, self._extracted()[2])

    @property
    def perm_c(self) -> np.ndarray:
        return _held_by(self, self._extracted()[3])

    def solve(self, rhs: np.ndarray, trans: str = "N") -> np.ndarray:
        """Solve A x = rhs, or the transposed system.

        Parameters
        ----------
        rhs : ndarray, shape (n,) or (n, k)
            Of a type that can be cast safely to that of the factorization.
        trans : {"N", "T", "H"}
            Solve with A, its transpose, or its conjugate transpose.

        Returns
        -------
        ndarray, of the shape of rhs
        """
        if not isinstance(rhs, np.ndarray):
            raise TypeError(f"argument 1 must be numpy.ndarray, not {type(rhs).__name__}")
        trans = trans.upper() if isinstance(trans, str) else trans
        if trans not in ("N", "T", "H"):
            raise ValueError("trans must be N, T, or H")
        if rhs.ndim not in (1, 2):
            raise ValueError("object too deep for desired array" if rhs.ndim else "b is of incompatible size")
        # SciPy checks the type before the size
        rhs = rhs.astype(self._solver.dtype, casting="safe", copy=False)
        if rhs.shape[0] != self.shape[0]:
            raise ValueError("b is of incompatible size")
        return _solve_columns(self._solver, rhs, trans)

    def _extracted(self) -> tuple:
        if self._factors is None:
            factors = self._exact_factors()
            self._factors = (
                _in_given_order(*factors) if self._solver.report["order"]["method"] == "natural" else factors
            )
        return self._factors

    def _exact_factors(self) -> tuple:
        """(L, U, perm_r, perm_c) of a factorization none of whose pivots was replaced, so that L U is A.

        If this factorization replaced pivots, other orderings are tried, and finally SuperLU, which pivots in
        whole columns. Solves do not need this: refinement corrects the effect of replaced pivots.
        """
        if isinstance(self._solver, PinnedSolver):
            return _factors_of_superlu(self._matrix)
        exact = _exact_factors_of(self._solver)
        if exact is not None or self._matrix is None:
            return exact
        for ordering in orderings():
            if ordering.available and ordering.name not in ("auto", "user"):
                other = Solver(self._matrix, kind="lu", ordering=ordering.name, measure=False)
                exact = _exact_factors_of(other)
                if exact is not None:
                    return exact
        try:
            return _factors_of_superlu(self._matrix)
        except RuntimeError:  # exactly singular: then no factors are exact
            L, U, row, column, _ = self._solver._extract_lu()
            return L, U, _inverse(row), _inverse(column)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("cannot pickle 'SuperLU' object")


def splu(
    A: Any,
    permc_spec: Optional[str] = None,
    diag_pivot_thresh: Optional[float] = None,
    relax: Optional[int] = None,
    panel_size: Optional[int] = None,
    options: Optional[Dict[str, Any]] = None,
) -> SuperLU:
    """Compute the LU factorization of a sparse, square matrix; see `scipy.sparse.linalg.splu`.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        Formats other than CSC are converted, with a SparseEfficiencyWarning.
    permc_spec : str, optional
        "NATURAL" keeps the order of the columns, except for a postorder if rows were exchanged; with any
        other name of SciPy's, Palmette chooses.
    diag_pivot_thresh, relax, panel_size, options
        Checked and ignored.

    Returns
    -------
    SuperLU

    Raises
    ------
    RuntimeError
        "Factor is exactly singular".
    ValueError
        If A is not square.

    Warns
    -----
    palmette.SingularWarning
        At the first solve, if A is singular to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from palmette.scipy import splu
    >>> A = csc_array([[1., 0., 0.], [5., 0., 2.], [0., -1., 0.]])
    >>> splu(A).solve(np.array([1., 2., 3.]))
    array([ 1. , -3. , -1.5])
    """
    if not (is_sparse(A) and A.format == "csc"):
        A = csc_array(A)
        warn("splu converted its input to CSC format", SparseEfficiencyWarning, stacklevel=2)
    A = _as_floating(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError("can only factor square matrices")
    settings = {
        "DiagPivotThresh": diag_pivot_thresh,
        "ColPerm": permc_spec,
        "PanelSize": panel_size,
        "Relax": relax,
    }
    settings.update(options or {})
    _ordering(settings)
    return SuperLU(_factor(A, "lu", settings.get("ColPerm")), A)


def factorized(A: Any) -> Callable[[np.ndarray], np.ndarray]:
    """A function that solves A x = b for a b, with A factorized once; see `scipy.sparse.linalg.factorized`.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from palmette.scipy import factorized
    >>> factorized(csc_array([[2., 1.], [0., 4.]]))(np.array([3., 4.]))
    array([1., 1.])
    """
    if not (is_sparse(A) and A.format == "csc"):
        A = csc_array(A)
        warn("splu converted its input to CSC format", SparseEfficiencyWarning, stacklevel=2)
    return splu(A).solve


def spsolve(A: Any, b: Any, permc_spec: Optional[str] = None, use_umfpack: bool = True) -> Any:
    """Solve the sparse linear system A x = b; see `scipy.sparse.linalg.spsolve`.

    Parameters
    ----------
    A : ndarray or sparse array or matrix, shape (n, n)
        Formats other than CSC and CSR are converted, with a SparseEfficiencyWarning.
    b : ndarray or sparse array or matrix, shape (n,), (n, 1) or (n, k)
    permc_spec : str, optional
        As for `splu`.
    use_umfpack : bool
        Ignored.

    Returns
    -------
    ndarray or sparse array or matrix
        Of shape (n,) if b is a vector, also for b of shape (n, 1); otherwise (n, k), sparse if b is. NaN
        throughout, with a MatrixRankWarning, if A is exactly singular and b is not sparse.

    Notes
    -----
    For a sparse b with several columns, the forward sweep visits only branches of the tree with entries of b,
    for 64 columns with common branches at a time.

    Raises
    ------
    ValueError
        If A is not square or b does not fit.
    RuntimeError
        "Factor is exactly singular", for a sparse b with several columns.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from palmette.scipy import spsolve
    >>> spsolve(csc_array([[3., 2., 0.], [1., -1., 0.], [0., 5., 1.]]), np.array([5., 0., 6.]))
    array([1., 1., 1.])
    """
    x = solve_at_once(A, b) if permc_spec is None else None
    if x is not None:
        return x
    if not (is_sparse(A) and A.format in ("csc", "csr")):
        A = csc_array(A)
        warn("spsolve requires A be CSC or CSR matrix format", SparseEfficiencyWarning, stacklevel=2)
    sparse_b = is_sparse(b)
    if not sparse_b:
        b = np.asarray(b)
    is_vector = b.ndim == 1 or (b.ndim == 2 and b.shape[1] == 1)
    A = _as_floating(A)
    result_dtype = np.promote_types(A.dtype, b.dtype)
    A, b = A.astype(result_dtype, copy=False), b.astype(result_dtype, copy=False)
    _check_system(A, b)
    _ordering({"ColPerm": permc_spec})
    if sparse_b and not is_vector:
        return _spsolve_sparse(A, b, permc_spec)
    if sparse_b:
        b = b.toarray()
    if b.ndim > 2:
        raise ValueError("object too deep for desired array")
    try:
        solver = _factor(A, "auto", permc_spec)
        solver.tell_singular = False
        x = _solve_columns(solver, b, "N")
    except (RuntimeError, SingularError):
        warn("Matrix is exactly singular", MatrixRankWarning, stacklevel=2)
        x = np.full(b.shape, np.nan, dtype=result_dtype, order="F")
    return x.ravel() if is_vector else x


def spsolve_triangular(
    A: Any,
    b: Any,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> np.ndarray:
    """Solve A x = b with a triangular matrix; see `scipy.sparse.linalg.spsolve_triangular`.

    Parameters
    ----------
    A : sparse array or matrix, shape (n, n)
        Formats other than CSC and CSR are converted, with a SparseEfficiencyWarning.
    b : array_like, shape (n,) or (n, k)
    lower : bool
        Whether A is lower or upper triangular.
    overwrite_A, overwrite_b : bool
        Accepted and ignored.
    unit_diagonal : bool
        Take the diagonal as one, whatever is stored.

    Returns
    -------
    ndarray, of the shape of b

    Raises
    ------
    LinAlgError
        If A is singular or not triangular.
    ValueError
        If the shape of A or b is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csc_array
    >>> from palmette.scipy import spsolve_triangular
    >>> A = csc_array([[3, 0, 0], [1, -1, 0], [2, 0, 1]], dtype=float)
    >>> spsolve_triangular(A, np.array([3., 0., 3.]))
    array([1., 1., 1.])
    """
    if not (is_sparse(A) and A.format in ("csc", "csr")):
        warn(
            "CSC or CSR matrix format is required. Converting to CSC matrix.",
            SparseEfficiencyWarning,
            stacklevel=2,
        )
        A = csc_array(A)
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"A must be a square matrix but its shape is {A.shape}.")
    if not unit_diagonal and np.any(A.diagonal() == 0):
        raise LinAlgError("A is singular: zero entry on diagonal.")
    b = np.asarray(b)
    if b.ndim not in (1, 2):
        raise ValueError(f"b must have 1 or 2 dims but its shape is {b.shape}.")
    if A.shape[0] != b.shape[0]:
        raise ValueError(
            "The size of the dimensions of A must be equal to the size of the first dimension of b but the"
            f" shape of A is {A.shape} and the shape of b is {b.shape}."
        )
    _check_triangular(A, lower)
    result_dtype = np.promote_types(np.promote_types(A.dtype, np.float32), b.dtype)
    solver = TriangularSolver(A.astype(result_dtype, copy=False), lower, unit_diagonal, measure=False)
    return _solve_columns(solver, b.astype(result_dtype, copy=False), "N")


def _as_floating(A: Any) -> Any:
    """A in the narrowest of SuperLU's four types that holds its values."""
    for char in "fdFD":
        if A.dtype.char == char:
            return A
    for char in "fdFD":
        if np.can_cast(A.dtype, char):
            return A.astype(char)
    raise TypeError(f"cannot upcast [{A.dtype.name}] to a floating point format")


def _check_system(A: Any, b: Any) -> None:
    if A.shape[0] != A.shape[1]:
        raise ValueError(f"matrix must be square (has shape {A.shape})")
    if A.shape[0] != b.shape[0]:
        raise ValueError(f"matrix - rhs dimension mismatch ({A.shape} - {b.shape[0]})")


def _check_triangular(A: Any, lower: bool) -> None:
    entries = A.tocoo()
    outside = (entries.row < entries.col if lower else entries.row > entries.col) & (entries.data != 0)
    if outside.any():
        place = int(np.argmax(outside))
        raise LinAlgError(f"A is not triangular: A[{entries.row[place]}, {entries.col[place]}] is nonzero.")


def _ordering(settings: Dict[str, Any]) -> str:
    """Palmette's ordering for SuperLU's settings, which are checked as in SciPy."""
    for name in settings:
        if name not in _OPTION_NAMES:
            raise TypeError(f"'{name}' is an invalid keyword argument for this function")
    wanted = settings.get("ColPerm")
    if isinstance(wanted, str) and wanted.upper() not in _COLUMN_PERMUTATIONS:
        raise ValueError("invalid value for 'ColPerm' parameter")
    if settings.get("DiagPivotThresh") is not None and not isinstance(
        settings["DiagPivotThresh"], (int, float, np.number)
    ):
        raise TypeError(f"must be real number, not {type(settings['DiagPivotThresh']).__name__}")
    for name in ("PanelSize", "Relax"):
        if settings.get(name) is not None:
            operator.index(settings[name])
    return "natural" if isinstance(wanted, str) and wanted.upper() == "NATURAL" else "auto"


def _factor(A: Any, kind: str, permc_spec: Any) -> Any:
    """A solver; RuntimeError for a matrix that is exactly singular, as SuperLU does for zero pivots."""
    options = {
        "kind": kind,
        "ordering": _ordering({"ColPerm": permc_spec}),
        "singular": "warn",
        "measure": False,
    }
    try:
        solver = Solver(A, **options)
    except SingularError as failure:
        raise RuntimeError(_SINGULAR) from failure
    except UsageError:
        if np.isfinite(A.data).all():
            raise
        return _factor_pinned(A, options)
    if _replaced_pivots(solver) or solver._of_report("factorize", "structural_deficiency"):
        _check_pivots(solver, A, permc_spec)
    return solver


def _factor_pinned(A: Any, options: Dict[str, Any]) -> PinnedSolver:
    A = A.copy()
    A.sum_duplicates()
    try:
        return PinnedSolver(A, pinned_unknowns(A), **options)
    except (ValueError, SingularError) as failure:
        raise RuntimeError(_SINGULAR) from failure


def _factors_of_superlu(A: Any) -> tuple:
    theirs = _superlu(csc_array(A))
    return theirs.L, theirs.U, theirs.perm_r, theirs.perm_c


def _exact_factors_of(solver: Solver) -> Optional[tuple]:
    """None if pivots were replaced, so that L U is not A."""
    try:
        L, U, row, column, replaced = solver._extract_lu()
    except SingularError:
        return None
    return None if replaced else (L, U, _inverse(row), _inverse(column))


def _in_given_order(L: csc_array, U: csc_array, perm_r: np.ndarray, perm_c: np.ndarray) -> tuple:
    """The factors with the columns of A in their original order if L and U are then triangular; otherwise
    unchanged.

    A postorder of the elimination tree puts no row before one that it depends on, so undoing it keeps L and U
    triangular, unless rows were exchanged between branches within one supernode.
    """
    order = _inverse(perm_c)
    restored = [
        csc_array((f.data, (order[f.row], order[f.col])), shape=f.shape) for f in (L.tocoo(), U.tocoo())
    ]
    if scipy.sparse.triu(restored[0], 1).nnz or scipy.sparse.tril(restored[1], -1).nnz:
        return L, U, perm_r, perm_c
    return restored[0], restored[1], order[perm_r], np.arange(len(order), dtype=np.int32)


class _Holder:
    """The memory of an array, for NumPy to make another array of that keeps `owner` alive."""

    def __init__(self, owner: Any, array: np.ndarray) -> None:
        self.__array_interface__ = array.__array_interface__
        self.owner = owner


def _held_by(owner: Any, array: np.ndarray) -> np.ndarray:
    """An array in the memory of `array` that refers to `owner`, as those of SciPy's SuperLU refer to it."""
    return np.asarray(_Holder(owner, array))


def _replaced_pivots(solver: Solver) -> int:
    return solver._of_report("factorize", "perturbed_pivots")


def _check_pivots(solver: Solver, A: Any, permc_spec: Any) -> None:
    """Raise RuntimeError if A is singular and SuperLU would report it: a pivot was replaced, or had no place
    in the pattern."""
    if solver.report["factorize"]["structural_deficiency"]:
        raise RuntimeError(_SINGULAR)
    has_zero_pivot = solver.slogdet().sign == 0
    if not has_zero_pivot:
        probe = np.ones(solver.shape[0], dtype=solver.dtype)
        _, told = solver._solve_quietly(probe, SolveOptions())
        if not told.singular or solver.shape[0] > _FEW_UNKNOWNS:
            return
    # spsolve passes the rows of A to SuperLU as columns if A is stored by rows.
    columns = csc_array(A if A.format == "csc" else A.T)
    try:
        _superlu(columns, permc_spec=permc_spec)
    except MemoryError as failure:
        if has_zero_pivot:
            raise RuntimeError(_SINGULAR) from failure


def _solve_columns(solver: VerifiedSolves, b: np.ndarray, trans: str) -> np.ndarray:
    """x in the shape of b. Columns of b with NaN or infinity give NaN; the others are solved."""
    options = USUAL_OPTIONS if trans == "N" else SolveOptions(trans)
    answer = _answer_with_small_rows if isinstance(solver, Solver) else type(solver)._answer
    if b.ndim == 1:
        try:
            return answer(solver, b, options)
        # raised for values that are not finite; checking for them first takes as long as a solve
        except UsageError:
            if np.isfinite(b).all():
                raise
    finite = np.isfinite(b).all(axis=0) if b.size else np.ones(b.shape[1:], dtype=bool)
    if finite.all():
        return answer(solver, b, options)
    x = np.full(b.shape, np.nan, dtype=solver.dtype, order="F")
    if b.ndim == 2 and finite.any():
        x[:, finite] = answer(solver, b[:, finite], options)
    return x


def _answer_with_small_rows(solver: Solver, b: np.ndarray, options: SolveOptions) -> np.ndarray:
    """x, corrected once if the error of some row is much larger than the norm of A suggests. SuperLU, which
    pivots in whole columns, seldom leaves such rows, and programs compare ‖b − A x‖ with ‖b‖."""
    x = solver._answer(b, options)
    told = solver._told
    if told.verified and told.componentwise_backward_error > _ROW_ERROR[solver.dtype.char]:
        x = solver._answer(b, options._replace(refine=1))
    return x


def _spsolve_sparse(A: Any, b: Any, permc_spec: Any) -> Any:
    """x of A's class for a sparse b of several columns."""
    if A.format != "csc":
        warn("splu converted its input to CSC format", SparseEfficiencyWarning, stacklevel=3)
    if b.format != "csc":
        warn("spsolve is more efficient when sparse b is in the CSC matrix format", SparseEfficiencyWarning,
             stacklevel=3)
        b = csc_array(b)
    solver = _factor(A, "auto", permc_spec)
    solver.tell_singular = False
    rows, columns, values = [], [], []
    for numbers, reached, x in solved_blocks(solver, b, lambda block: _solve_columns(solver, block, "N")):
        column, row = np.nonzero(x.T)
        rows.append(row if reached is None else reached[row])
        columns.append(numbers[column])
        values.append(x[row, column])
    entries = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))) if values else None
    return type(A)(entries if entries is not None else b.shape, shape=b.shape, dtype=A.dtype)


def _inverse(order: np.ndarray) -> np.ndarray:
    inverse = np.empty(len(order), dtype=np.int32)
    inverse[order] = np.arange(len(order), dtype=np.int32)
    return inverse
