"""What every solver does with a right-hand side: checks it, solves, and warns if the solution is not
verified."""

from __future__ import annotations

import operator
import os
import sys
import threading
import warnings
from typing import Any, Dict, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _device_arrays, _input
from ._cache import cache_folder
from ._threads import allowed_threads
from .errors import SingularWarning, UnverifiedWarning, UsageError

# Warnings of this kind are shown each time, unless the user's own filters (which come first) say otherwise.
warnings.filterwarnings("always", category=UnverifiedWarning, append=True)


def count(name: str, value: Any, least: int) -> int:
    """A whole number that a C int holds."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{name} is {value!r}; it is a whole number") from None
    if not least <= number <= 2**31 - 1:
        raise UsageError(f"{name} is {number}; use {least} or more, within 32 bits")
    return number


def machine_options(method: str, threads: Optional[int], measure: bool, device: str) -> Dict[str, Any]:
    """Options that all solvers share, as the bindings take them."""
    return {
        "method": method,
        "device": device,
        "gpus": [1, 1, 1],
        "threads": allowed_threads() if threads is None else count("threads", threads, 1),
        "measure": bool(measure),
        "cache_folder": cache_folder() if measure else "",
    }


def _refine_steps(refine: Union[str, int]) -> int:
    if isinstance(refine, str):
        if refine not in ("auto", "off"):
            raise UsageError(f"refine is {refine!r}; use 'auto', 'off' or a number of steps")
        return -1 if refine == "auto" else 0
    return count("refine", refine, 0)


def _frames_to_the_user() -> int:
    """The stack level, seen from the caller, of the first frame outside this package, for the line of a
    warning."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == os.path.dirname(__file__):
        level, frame = level + 1, frame.f_back
    return level


def checked_trans(trans: str) -> str:
    if trans not in ("N", "T", "H"):
        raise UsageError(f"trans is {trans!r}; use 'N', 'T' or 'H'")
    return trans


class SolveOptions(NamedTuple):
    """Options of a solve."""

    trans: str = "N"
    refine: Union[str, int] = "auto"
    condition: bool = False
    repeat: int = 1

    def for_core(self) -> Dict[str, Any]:
        return {"trans": checked_trans(self.trans), "refine": _refine_steps(self.refine),
                "condition": bool(self.condition), "repeat": count("repeat", self.repeat, 1), "threads": 0}


USUAL_OPTIONS = SolveOptions()


def warn_unverified(report: Dict[str, Any]) -> None:
    """Warn that the solution of this report is not verified."""
    verify = report["verify"]
    notes = [note for note in report["notes"] if note.startswith("NOT VERIFIED")]
    text = (
        notes[0]
        if notes
        else (
            f"NOT VERIFIED: the backward error {verify['backward_error']:.1e} exceeds its bound "
            f"{verify['bound']:.1e}"
        )
    )
    category = UnverifiedWarning if verify["singular_distance"] is None else SingularWarning
    warnings.warn(text, category, stacklevel=_frames_to_the_user())


class OfMatrix:
    """What belongs to one matrix, which this process has whole."""

    _dtype: np.dtype
    _shape: Tuple[int, int]

    @property
    def shape(self) -> Tuple[int, int]:
        """Shape of the matrix."""
        return self._shape

    @property
    def dtype(self) -> np.dtype:
        """Scalar type: float32, float64, complex64 or complex128."""
        return self._dtype


class VerifiedSolves(OfMatrix):
    """What all solvers have in common: solves that are verified, and the report of the last one."""

    _core: Any
    _nnz: int
    _told: Any  # the report of the library; a dict after the first access
    _refactoring: threading.Lock
    _told_threads: bool  # set by an argument, which takes precedence over all settings
    # once for each factorization is enough: solves of singular systems would warn each time
    tell_singular = True

    def _most_threads(self) -> int:
        """The most threads that may solve now; 0: as many as the solver has."""
        return 0 if self._told_threads else allowed_threads()

    @property
    def nnz(self) -> int:
        """Stored entries of the matrix, both triangles, duplicates summed."""
        return self._nnz

    @property
    def report(self) -> Dict[str, Any]:
        """The report of all phases and of the last solve, as a dict of dicts with the names of the command's
        JSON.

        Sections of phases that did not run are None. If several threads solve at once, it is the report of
        the solve that finished last.
        """
        return self._report

    @property
    def _report(self) -> Dict[str, Any]:
        told = self._told
        if not isinstance(told, dict):
            told = self._told = told.as_dict()
        return told

    def _of_report(self, section: str, name: str) -> Any:
        """One number of the report, without building the whole dict."""
        told = self._told
        return told[section][name] if isinstance(told, dict) else getattr(told, name)

    def solve(self, b: Any, *, trans: str = "N", refine: Union[str, int] = "auto", condition: bool = False,
              repeat: int = 1, out: Any = None) -> Any:
        """Solve op(A) x = b, refine x and verify it.

        Thread-safe; releases the global interpreter lock.

        Parameters
        ----------
        b : array_like, sparse, or array on a device, shape (n,) or (n, k)
            Right-hand side, or k of them. Converted to the precision of the solver. For a real matrix and a
            complex b, the real and imaginary parts are solved as two right-hand sides. An array on the device
            of the solver (of CuPy, PyTorch or JAX, or a `DeviceArray`) must have the dtype of the solver; it
            is not copied (in C order, on the device).
        trans : {"N", "T", "H"}
            op(A) is A, its transpose, or its conjugate transpose.
        refine : "auto", "off" or int
            "auto" corrects x until it is verified; a number is the most corrections, as long as they help.
        condition : bool
            Estimate the 1-norm condition and a bound of the forward error too (in ``report["verify"]``).
        repeat : int
            Time this number of solves and report their median, to measure speed.
        out : array of the shape of b, optional
            Where x is written, and what is returned; on a device if b is.

        Returns
        -------
        ndarray, of the shape of b; a `DeviceArray` if b lies on a device

        Raises
        ------
        DimensionError
            If b does not have n rows.
        UsageError
            If a value of b is not finite (the message names its place), or if an option is invalid.
        SingularError
            If pivots were replaced and the matrix proves to be singular to working precision.

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
        if out is not None or _device_arrays.is_on_device(b):
            return self._answer_into(out, b, SolveOptions(trans, refine, condition, repeat))
        if trans == "N" and refine == "auto" and not condition and type(repeat) is int and repeat == 1:
            return self._answer(b, USUAL_OPTIONS)
        return self._answer(b, SolveOptions(trans, refine, condition, repeat))

    def solve_transpose(self, b: Any, conjugate: bool = False, **options: Any) -> np.ndarray:
        """Solve Aᵀ x = b, or Aᴴ x = b with ``conjugate=True``; otherwise as `solve`."""
        return self._answer(b, SolveOptions("H" if conjugate else "T", **options))

    def aslinearoperator(self) -> Any:
        """The inverse as a `scipy.sparse.linalg.LinearOperator`: ``solver.aslinearoperator() @ b`` is
        ``solver.solve(b)``.

        Iterative solvers take it as preconditioner ``M``, eigensolvers as ``OPinv``.
        `scipy.sparse.linalg.aslinearoperator` of the solver is the same, but solves for several right-hand
        sides one at a time. Verifies solutions and warns as `solve`.

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
        return LinearOperator(
            self._shape,
            self.matvec,
            rmatvec=self.rmatvec,
            matmat=self.matmat,
            rmatmat=self.rmatmat,
            dtype=self._dtype,
        )

    def matvec(self, b: Any) -> np.ndarray:
        """Apply the inverse of A: x of A x = b."""
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
        self._warn_if_unverified(told)
        return x

    def _answer_into(self, out: Any, b: Any, options: SolveOptions) -> Any:
        if not _device_arrays.is_on_device(b):
            if _device_arrays.is_on_device(out):
                raise UsageError("out lies on a device, but b does not")
            x = self._answer(b, options)
            if not isinstance(out, np.ndarray) or out.shape != x.shape or out.dtype != x.dtype:
                raise UsageError(f"out must be an array of shape {x.shape} and dtype {x.dtype}, as x")
            np.copyto(out, x)
            return out
        request = options.for_core()
        given = _device_arrays.view_of(b, self._shape[0], self._dtype)
        request["stream"] = given.stream
        out, x = _device_arrays.room_for(given, self._core.device(), out)
        with self._refactoring:
            pass
        told = self._told = self._core.solve_there(given.for_core(), x.for_core(), request)
        self._warn_if_unverified(told)
        return out

    def _warn_if_unverified(self, told: Any) -> None:
        if not told.verified and (self.tell_singular or not told.singular):
            self.tell_singular = not told.singular
            warn_unverified(told.as_dict())

    def _solve_quietly(self, b: Any, options: SolveOptions) -> Tuple[np.ndarray, Any]:
        """x and its report, without a warning if x is not verified."""
        if (
            options is USUAL_OPTIONS
            and type(b) is np.ndarray
            and b.dtype is self._dtype
            and b.shape == self._shape[:1]
        ):
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
            pass  # a waiting refactor runs before solves that have not started
        told = self._told = self._core.solve(rhs.columns, x, request)
        return rhs.answer(x), told

    def _solve_vector(self, b: np.ndarray) -> Optional[Tuple[np.ndarray, Any]]:
        """The fast path for a vector that the library can use without conversion; None if it cannot: then the
        slow path raises the error."""
        x = np.empty(b.shape, dtype=self._dtype)
        with self._refactoring:
            pass
        try:
            told = self._core.solve_one(b if b.flags.c_contiguous else b.copy(), x, self._most_threads())
        except UsageError:
            return None
        self._told = told
        return x, told

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled: it holds a factorization in the memory of this"
            " process; send the matrix instead and make a new one there"
        )

    def __repr__(self) -> str:
        rows, columns = self._shape
        return f"<palmette.{type(self).__name__} of a {rows} x {columns} matrix, {self._dtype}{self._what()}>"

    def _what(self) -> str:
        return ""
