"""Solver for whole matrices: factorize once, solve often."""

from __future__ import annotations

import operator
import os
import sys
import threading
import warnings
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _input
from ._at_once import solve_at_once
from ._cache import cache_folder
from ._parts import FactorParts
from ._threads import allowed_threads, lock_for
from .errors import DimensionError, SingularError, SingularWarning, UnverifiedWarning, UsageError

# Warnings of this kind are shown each time, unless the user's own filters (which come first) say otherwise.
warnings.filterwarnings("always", category=UnverifiedWarning, append=True)


class SlogdetResult(NamedTuple):
    """Sign (or phase) of a determinant, and the logarithm of its modulus."""

    sign: Union[float, complex]
    logabsdet: float


class Inertia(NamedTuple):
    """Numbers of positive, negative and zero eigenvalues."""

    positive: int
    negative: int
    zero: int


def _count(name: str, value: Any, least: int) -> int:
    """A whole number that a C int holds."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r}; it is a whole number") from None
    if not least <= number <= 2**31 - 1:
        raise UsageError(f"{name} is {number}; use {least} or more, within 32 bits")
    return number


def machine_options(method: str, threads: Optional[int], measure: bool) -> Dict[str, Any]:
    """Options that all solvers share, as the bindings take them."""
    return {"method": method, "threads": allowed_threads() if threads is None else _count("threads", threads, 1), "measure": bool(measure),
            "cache_folder": cache_folder() if measure else ""}


def _refine_steps(refine: Union[str, int]) -> int:
    if isinstance(refine, str):
        if refine not in ("auto", "off"):
            raise UsageError(f"refine is {refine!r}; use 'auto', 'off' or a number of steps")
        return -1 if refine == "auto" else 0
    return _count("refine", refine, 0)


def _frames_to_the_user() -> int:
    """The stack level, seen from the caller, of the first frame outside this package: whose line a warning should name."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        level, frame = level + 1, frame.f_back
    return level


class SolveOptions(NamedTuple):
    """How one right-hand side, or several, are solved for."""

    trans: str = "N"
    refine: Union[str, int] = "auto"
    condition: bool = False
    repeat: int = 1

    def for_core(self) -> Dict[str, Any]:
        if self.trans not in ("N", "T", "H"):
            raise UsageError(f"trans is {self.trans!r}; use 'N', 'T' or 'H'")
        return {"trans": self.trans, "refine": _refine_steps(self.refine), "condition": bool(self.condition),
                "repeat": _count("repeat", self.repeat, 1), "threads": 0}


USUAL_OPTIONS = SolveOptions()


class VerifiedSolves:
    """What all solvers have in common: solves that are verified, and the report of the last one."""

    _core: Any
    _dtype: np.dtype
    _shape: Tuple[int, int]
    _nnz: int
    _told: Any  # the report as the library gave it; a dict once somebody has asked for it
    _refactoring: threading.Lock
    _told_threads: bool  # by an argument, which comes before all settings
    tell_singular = True  # once for each factorization is enough: who asks for answers of singular systems gets many

    def _most_threads(self) -> int:
        """At most so many threads may solve now; 0: as many as the solver has."""
        return 0 if self._told_threads else allowed_threads()

    @property
    def shape(self) -> Tuple[int, int]:
        """Shape of the matrix."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """Scalar type that is worked in: float32, float64, complex64 or complex128."""
        return self._dtype

    @property
    def nnz(self) -> int:
        """Stored entries of the matrix, both triangles, duplicates summed."""
        return self._nnz

    @property
    def report(self) -> Dict[str, Any]:
        """What the phases and the last solve tell of themselves, as a dict of dicts with the names of the command's JSON.

        Sections of phases that did not take place are None. With several threads that solve at once, it is the report
        of the solve that ended last.
        """
        return self._report

    @property
    def _report(self) -> Dict[str, Any]:
        told = self._told
        if not isinstance(told, dict):
            told = self._told = told.as_dict()
        return told

    def _of_report(self, section: str, name: str) -> Any:
        """One number of the report, without making a dict of all."""
        told = self._told
        return told[section][name] if isinstance(told, dict) else getattr(told, name)

    def solve(self, b: Any, *, trans: str = "N", refine: Union[str, int] = "auto", condition: bool = False,
              repeat: int = 1) -> np.ndarray:
        """Solve op(A) x = b, refine x and verify it.

        May be called from several threads at once; the interpreter lock is released meanwhile.

        Parameters
        ----------
        b : array_like or sparse, shape (n,) or (n, k)
            Right-hand side, or k of them. Brought to the precision of the solver; a complex b of a real matrix is solved
            for by its real and imaginary parts.
        trans : {"N", "T", "H"}
            op(A) is A, its transpose, or its conjugate transpose.
        refine : "auto", "off" or int
            "auto" corrects x only as long as it is not verified; a number asks for up to so many corrections, as long as
            they help.
        condition : bool
            Estimate the 1-norm condition and a bound of the forward error too (in ``report["verify"]``).
        repeat : int
            Time so many solves and report their median, to measure speed.

        Returns
        -------
        ndarray, of the shape of b

        Raises
        ------
        DimensionError
            If b does not have n rows.
        UsageError
            If a value of b is not finite (the message names its place), or for an option that cannot be.
        SingularError
            If pivots had to be replaced and the condition says that the matrix is singular to working precision.

        Warns
        -----
        UnverifiedWarning
            If the backward error of x is above its bound.

        Examples
        --------
        >>> import palmette
        >>> solver = palmette.Solver([[2.0, 1.0], [0.0, 4.0]])
        >>> solver.solve([3.0, 4.0])
        array([1., 1.])
        >>> solver.solve([2.0, 5.0], trans="T")
        array([1., 1.])
        """
        if trans == "N" and refine == "auto" and not condition and type(repeat) is int and repeat == 1:
            return self._answer(b, USUAL_OPTIONS)
        return self._answer(b, SolveOptions(trans, refine, condition, repeat))

    def solve_transpose(self, b: Any, conjugate: bool = False, **options: Any) -> np.ndarray:
        """Solve Aᵀ x = b, or Aᴴ x = b with ``conjugate=True``; otherwise as `solve`."""
        return self._answer(b, SolveOptions("H" if conjugate else "T", **options))

    def aslinearoperator(self) -> Any:
        """The inverse as a `scipy.sparse.linalg.LinearOperator`: ``solver.aslinearoperator() @ b`` is ``solver.solve(b)``.

        What iterative solvers take as preconditioner ``M`` and eigensolvers as ``OPinv``. `scipy.sparse.linalg.aslinearoperator`
        of the solver is the same, but solves for several right-hand sides one at a time. Answers are verified, and warnings come, as
        in `solve`.

        Examples
        --------
        >>> import numpy as np, palmette, scipy.sparse.linalg
        >>> A = palmette.generate("poisson2d5", 20)
        >>> inverse = palmette.Solver(A).aslinearoperator()
        >>> values = scipy.sparse.linalg.eigsh(A, 2, sigma=0, OPinv=inverse, return_eigenvectors=False)
        >>> x, info = scipy.sparse.linalg.cg(A, np.ones(400), M=inverse, maxiter=2)
        >>> info
        0
        """
        from scipy.sparse.linalg import LinearOperator
        return LinearOperator(self._shape, self.matvec, rmatvec=self.rmatvec, matmat=self.matmat, rmatmat=self.rmatmat, dtype=self._dtype)

    def matvec(self, b: Any) -> np.ndarray:
        """The inverse of A as a linear operator: x of A x = b."""
        return self._answer(b, USUAL_OPTIONS)

    def rmatvec(self, b: Any) -> np.ndarray:
        """The adjoint of `matvec`: x of Aᴴ x = b."""
        return self._answer(b, SolveOptions("H"))

    def matmat(self, b: Any) -> np.ndarray:
        """As `matvec`, for several right-hand sides at once."""
        return self._answer(b, USUAL_OPTIONS)

    def rmatmat(self, b: Any) -> np.ndarray:
        """As `rmatvec`, for several right-hand sides at once."""
        return self._answer(b, SolveOptions("H"))

    def _answer(self, b: Any, options: SolveOptions) -> np.ndarray:
        x, told = self._solve_quietly(b, options)
        if not told.verified and (self.tell_singular or not told.singular):
            self.tell_singular = not told.singular
            self._warn(told.as_dict())
        return x

    def _solve_quietly(self, b: Any, options: SolveOptions) -> Tuple[np.ndarray, Any]:
        """x and its report, without a warning where it is not verified."""
        if options is USUAL_OPTIONS and type(b) is np.ndarray and b.dtype is self._dtype and b.shape == self._shape[:1]:
            quickly = self._solve_vector(b)
            if quickly is not None:
                return quickly
        request = options.for_core()
        request["threads"] = self._most_threads()
        rhs = _input.as_right_hand_sides(b, self._shape[0], self._dtype)
        if rhs.is_split and options.trans == "H":
            request["trans"] = "T"
        x = np.empty(rhs.columns.shape, dtype=self._dtype, order="F")
        with self._refactoring:
            pass  # a refactor that waits for solves to end goes before those that have not begun
        told = self._told = self._core.solve(rhs.columns, x, request)
        return rhs.answer(x), told

    def _solve_vector(self, b: np.ndarray) -> Optional[Tuple[np.ndarray, Any]]:
        """The short way for a vector that the library can take as it is; None where it cannot: the long way then says why."""
        x = np.empty(b.shape, dtype=self._dtype)
        with self._refactoring:
            pass
        try:
            told = self._core.solve_one(b if b.flags.c_contiguous else b.copy(), x, self._most_threads())
        except UsageError:
            return None
        self._told = told
        return x, told

    @staticmethod
    def _warn(report: Dict[str, Any]) -> None:
        verify = report["verify"]
        notes = [note for note in report["notes"] if note.startswith("NOT VERIFIED")]
        text = notes[0] if notes else (f"NOT VERIFIED: the backward error {verify['backward_error']:.1e} exceeds its bound "
                                       f"{verify['bound']:.1e}")
        category = UnverifiedWarning if verify["singular_distance"] is None else SingularWarning
        warnings.warn(text, category, stacklevel=_frames_to_the_user())

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(f"a {type(self).__name__} cannot be pickled: it holds a factorization in the memory of this process; "
                        "send the matrix instead and make a new one there")

    def __repr__(self) -> str:
        rows, columns = self._shape
        return f"<palmette.{type(self).__name__} of a {rows} x {columns} matrix, {self._dtype}{self._what()}>"

    def _what(self) -> str:
        return ""


class Solver(VerifiedSolves, FactorParts):
    """A factored matrix, ready to solve.

    Orders, analyzes and factorizes A on creation. Solves may be called from several threads at once. A is copied: what is done to it
    afterwards changes nothing here. |A − Aᴴ| or |A − Aᵀ| ≤ 8 u |A| in every entry counts as symmetric: then (A + Aᴴ) / 2 is factored, a
    note of the report says so, and answers are verified against A. `L`, `D`, `U`, `P` and solves with one factor are those of
    scikit-sparse's factors.

    Parameters
    ----------
    A : array_like or any SciPy sparse array or matrix, shape (n, n)
        float32, float64, complex64 and complex128 are worked with as they are; integers and booleans become float64.
        Duplicate entries are summed.
    kind : {"auto", "llt", "ldlt", "lu"}
        "auto": LLᵀ for a symmetric (Hermitian) matrix with positive diagonal, then LDLᵀ when a pivot says no; LDLᵀ for other
        symmetric ones; LU for all others, and where LDLᵀ cannot be verified.
    ordering : str or array_like of n integers
        One of `orderings()`, "auto", or a permutation: element k is the column that is eliminated k-th.
    method : str
        Solve method: one of `methods()`, or "auto".
    threads : int, optional
        None: as `get_num_threads` says, all processors that this process may use unless something else was set.
    precision : {"working", "mixed"}
        "mixed": factorize in single precision, refine to double.
    singular : {"raise", "warn", "least_norm"}
        What becomes of systems with a matrix that is singular to working precision. "raise": `SingularError`. "warn": the best x,
        huge along null vectors where b is not within reach, as inverse iteration wants it. "least_norm": the shortest of the
        least-squares solutions, A⁺b, for up to 16 dependent columns. Both warn with `SingularWarning`, and ``report["verify"]``
        says ``verified: False`` and tells how near to singular the matrix is.
    measure : bool
        Compare the speed of solves with the bandwidth of this machine, which is measured once (a quarter of a second) and
        remembered in the user's cache folder.

    Raises
    ------
    DimensionError
        If A is not square.
    UsageError
        If a value of A is not finite (the message names its place), or for an option that cannot be.
    SingularError
        If A is singular; its attributes name row and column. `StructurallySingularError` lists all of them.
    NotPositiveDefiniteError
        If ``kind="llt"`` was asked for, and a pivot is not positive.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> solver = palmette.Solver(palmette.generate("poisson2d5", 30))
    >>> solver
    <palmette.Solver of a 900 x 900 matrix, float64, llt>
    >>> x = solver.solve(np.ones(900))
    >>> solver.report["verify"]["verified"]
    True
    """

    def __init__(self, A: Any, *, kind: str = "auto", ordering: Any = "auto", method: str = "auto",
                 threads: Optional[int] = None, precision: str = "working", singular: str = "raise", measure: bool = True) -> None:
        if precision not in ("working", "mixed"):
            raise UsageError(f"precision is {precision!r}; use 'working' or 'mixed'")
        A = _input.as_csc(A)
        self._shape = _input.square_shape(A)
        options = machine_options(method, threads, measure)
        options["kind"] = kind
        options["ordering"] = ordering if isinstance(ordering, str) else "auto"
        options["permutation"] = None if isinstance(ordering, str) else _input.as_order(ordering, A.shape[0], "ordering")
        options["mixed"] = precision == "mixed"
        if singular not in ("raise", "warn", "least_norm"):
            raise UsageError(f"singular is {singular!r}; use 'raise', 'warn' or 'least_norm'")
        options["singular"] = singular
        matrix = _input.to_core(A)
        self._dtype = A.dtype
        self._precision = precision
        self._refactoring, self._told_threads = lock_for(self), threads is not None
        self._nnz, self._entries = matrix.nnz, int(A.indptr[-1])
        # Copies: what a user does to A afterwards (sorting its indices, say) must not change what values mean here.
        self._pattern = None if matrix.in_order else (A.indptr.copy(), A.indices[:self._entries].copy())
        self._core = _input.core_class("Solver", A.dtype).create(matrix, options)
        self._told = self._core.report()

    @property
    def kind(self) -> str:
        """Kind of the factorization: "llt", "ldlt" or "lu"."""
        return self._report["factorize"]["kind"]

    def refactor(self, A: Any) -> None:
        """Factorize a matrix of the same pattern again, with the same ordering, scaling and structure.

        Solves of other threads that are under way end first. If it fails, the former factorization stays.

        Parameters
        ----------
        A : sparse matrix of the pattern of the first one, or array of its values
            An array of shape (nnz,) holds the values in the order that the ``data`` of the first matrix had when the solver was
            made, in compressed columns.

        Raises
        ------
        UsageError
            If the pattern is another, or a value is not finite.
        NumericalError
            As on creation.
        """
        values = None if hasattr(A, "tocsc") else np.asarray(A)
        if values is None or values.ndim != 1:
            return self._refactor_with(self._core.refactor, _input.to_core(self._same_shape(A), dtype=self._dtype))
        values = self._checked_values(values)
        if self._pattern is None:
            return self._refactor_with(self._core.refactor_values, values)
        pointers, rows = self._pattern
        A = _input.sparse.csc_array((values, rows, pointers), shape=self._shape)
        return self._refactor_with(self._core.refactor, _input.to_core(A))

    def _refactor_with(self, refactor: Any, given: Any) -> None:
        with self._refactoring:
            refactor(given, self._most_threads())
            self._told = self._core.report()
            self.tell_singular = True

    def _checked_values(self, values: np.ndarray) -> np.ndarray:
        if len(values) != self._entries:
            raise DimensionError(f"there are {len(values)} values, but the first matrix has {self._entries} entries")
        self._check_real(_input.working_dtype(values.dtype, "A"))
        values = np.ascontiguousarray(values, dtype=self._dtype)
        finite = np.isfinite(values)
        if self._pattern is None and not finite.all():
            entry = int(np.argmin(finite))
            row, column = self._core.place_of(entry)
            raise UsageError(f"A[{row}, {column}] is {values[entry]}; all values must be finite")
        return values

    def _check_real(self, dtype: np.dtype) -> None:
        if dtype.kind == "c" and self._dtype.kind != "c":
            raise UsageError("the values are complex, but those of the first matrix were real; make a new Solver")

    def _same_shape(self, A: Any) -> Any:
        A = _input.as_csc(A)
        if A.shape != self._shape:
            raise DimensionError(f"A has shape {A.shape}, but the first one had {self._shape}")
        self._check_real(A.dtype)
        return A

    def slogdet(self) -> SlogdetResult:
        """Sign (complex matrices: phase) of the determinant, and the logarithm of its modulus.

        Returns
        -------
        sign : float or complex
        logabsdet : float
            ``sign * exp(logabsdet)`` is the determinant, where that does not overflow.
        """
        with self._refactoring:
            sign, logarithm = self._core.slogdet()
        return SlogdetResult(complex(sign) if self._dtype.kind == "c" else float(np.real(sign)), float(logarithm))

    @property
    def inertia(self) -> Inertia:
        """Numbers of positive, negative and zero eigenvalues of a symmetric or Hermitian matrix.

        Pivots that had to be replaced count as zero.

        Raises
        ------
        UsageError
            For LU, and for complex symmetric matrices.
        """
        with self._refactoring:
            return Inertia(*self._core.inertia())

    def structure(self) -> Dict[str, np.ndarray]:
        """Structure of the factor: permutations, elimination tree and supernodes, as arrays.

        Returns
        -------
        dict
            ``row``, ``column``: permutations, shape (n,); ``A[row][:, column]`` is what was factorized.
            ``column_parent``: elimination tree, shape (n,), −1 at roots. ``supernode_begin``: first columns of the supernodes
            and n, shape (s + 1,). ``parent``: tree of the supernodes, shape (s,). ``row_index[row_ptr[i]:row_ptr[i + 1]]``:
            rows below the diagonal block of supernode i.
        """
        with self._refactoring:
            return self._core.structure()

    def _extract_lu(self) -> tuple:
        """(L, U, row, column, replaced) of an LU factorization: (L U)[i, j] = A[row[i], column[j]] but for so many replaced pivots."""
        with self._refactoring:
            lower, upper, row, column, replaced = self._core.extract_lu()
        return _input.from_core(lower), _input.from_core(upper), row, column, replaced

    def _what(self) -> str:
        return f", {self.kind}"


def solve(A: Any, b: Any, *, kind: str = "auto", ordering: Any = "auto", method: str = "auto",
          threads: Optional[int] = None, precision: str = "working", trans: str = "N",
          refine: Union[str, int] = "auto", singular: str = "raise") -> np.ndarray:
    """Solve op(A) x = b once; x is refined and verified.

    Parameters
    ----------
    A : array_like or any SciPy sparse array or matrix, shape (n, n)
        See `Solver` for it and for `kind`, `ordering`, `method`, `threads`, `precision` and `singular`.
    b : array_like or sparse, shape (n,) or (n, k)
        See `Solver.solve` for it and for `trans` and `refine`. x has the precision of A and b together.

    Returns
    -------
    ndarray, of the shape of b

    Raises
    ------
    DimensionError, UsageError, NumericalError
        As `Solver` and `Solver.solve`.

    Warns
    -----
    UnverifiedWarning
        If the backward error of x is above its bound.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> palmette.solve(np.array([[2.0, 1.0], [1.0, 3.0]]), [3.0, 4.0])
    array([1., 1.])
    """
    options = SolveOptions(trans, refine)
    if options == USUAL_OPTIONS and (kind, ordering, method, threads, precision) == ("auto", "auto", "auto", None, "working"):
        x = solve_at_once(A, b)
        if x is not None:
            return x
    A, b = _input.as_csc(A), _input.dense(b)
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        _input.square_shape(A)
        raise DimensionError(f"b has shape {b.shape}, but A has shape {A.shape}: b needs {A.shape[0]} rows")
    A = A.astype(_input.common_dtype(A, b), copy=False)
    solver = Solver(A, kind=kind, ordering=ordering, method=method, threads=threads, precision=precision, singular=singular,
                    measure=False)
    return solver._answer(b, options)


def slogdet(A: Any) -> SlogdetResult:
    """Sign (or phase) of det A, and the logarithm of its modulus; (0, −inf) if A is singular, as `numpy.linalg.slogdet`.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> palmette.slogdet(np.diag([2.0, -3.0]))
    SlogdetResult(sign=-1.0, logabsdet=1.791759469228055)
    """
    A = _input.as_csc(A)
    try:
        return Solver(A, measure=False).slogdet()
    except SingularError:
        return SlogdetResult(0j if A.dtype.kind == "c" else 0.0, -np.inf)


def inertia(A: Any) -> Inertia:
    """Numbers of positive, negative and zero eigenvalues of a symmetric or Hermitian matrix.

    Raises
    ------
    UsageError
        If A is neither symmetric nor Hermitian, or complex symmetric.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> palmette.inertia(np.diag([2.0, -3.0]))
    Inertia(positive=1, negative=1, zero=0)
    """
    return Solver(A, measure=False).inertia
