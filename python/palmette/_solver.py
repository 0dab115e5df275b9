"""Solver for whole matrices: factorize once, solve often."""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _input
from ._at_once import solve_at_once
from ._inverse import InverseEntries
from ._low_rank import LowRank
from ._parts import FactorParts
from ._saved import SavedSolver
from ._sparse_solves import SparseSolves
from ._threads import lock_for
from ._verified import USUAL_OPTIONS, SolveOptions, VerifiedSolves, count, machine_options
from .errors import DimensionError, SingularError, UsageError


class SlogdetResult(NamedTuple):
    """Sign (or phase) of a determinant, and the logarithm of its modulus."""

    sign: Union[float, complex]
    logabsdet: float


class Inertia(NamedTuple):
    """Numbers of positive and negative eigenvalues, and of those whose sign rounding leaves undecided."""

    positive: int
    negative: int
    zero: int


def _grid_of(gpus: Union[int, Tuple[int, ...]]) -> List[int]:
    """Rows, columns and layers of devices."""
    if isinstance(gpus, tuple):
        if len(gpus) not in (2, 3):
            raise UsageError(f"gpus is {gpus!r}; use a number, (rows, columns) or (rows, columns, layers)")
        return ([count("gpus", part, 1) for part in gpus] + [1])[:3]
    number = count("gpus", gpus, 1)
    return [number, 0, 0] if number > 1 else [1, 1, 1]  # no columns and layers: they are predicted


class Solver(SavedSolver, VerifiedSolves, FactorParts, InverseEntries, SparseSolves, LowRank):
    """A factored matrix, ready to solve.

    Orders, analyzes and factorizes A on creation. Solves are thread-safe. A is copied: later changes of A
    have no effect. |A − Aᴴ| or |A − Aᵀ| ≤ 8 u |A| in every entry counts as symmetric: then (A + Aᴴ) / 2 is
    factored, a note of the report says so, and solutions are verified against A. `L`, `D`, `U`, `P` and
    solves with one factor are those of scikit-sparse's factors.

    Parameters
    ----------
    A : array_like or any SciPy sparse array or matrix, shape (n, n)
        float32, float64, complex64 and complex128 are used unchanged; integers and booleans become float64.
        Duplicate entries are summed.
    kind : {"auto", "llt", "ldlt", "lu"}
        "auto": LLᵀ for a symmetric (Hermitian) matrix with positive diagonal, and LDLᵀ if that meets a pivot
        that is not positive; LDLᵀ for other symmetric matrices; LU for all others, or if the LDLᵀ solution
        fails verification.
    ordering : str or array_like of n integers
        One of `orderings()`, "auto", or a permutation: element k is the column that is eliminated k-th.
    method : str
        Solve method: one of `methods()`, or "auto".
    threads : int, optional
        None: `get_num_threads()`, which is all processors that this process may use unless set otherwise.
    precision : {"working", "mixed"}
        "mixed": factorize in single precision and refine to double.
    singular : {"raise", "warn", "least_norm"}
        What to do with a matrix that is singular to working precision. "raise": `SingularError`. "warn": the
        best x, huge along null vectors if b is not in the range of A, as inverse iteration requires.
        "least_norm": the least-squares solution of least norm, A⁺b, for up to 16 dependent columns. Both warn
        with `SingularWarning`, and ``report["verify"]`` has ``verified: False`` and the distance to a
        singular matrix.
    measure : bool
        Compare the speed of solves with the bandwidth of this machine, which is measured once (up to a
        second) and stored in the user's cache folder.
    device : str
        What holds the factor and solves with it: "none": the host; or one of `devices()`, "emulated", "cuda"
        or "hip", with a number if there are several ("cuda:1"). A method for devices is then used. "auto":
        the first GPU, if it has room for the factor and a solve there is predicted to be faster than on the
        host; a note of the report says what was chosen, and why. "cuda@16e9": at most that many bytes of its
        memory.
    gpus : int, (int, int) or (int, int, int)
        So many devices of the kind `device` hold the factor and solve together: in the grid and layers that
        are predicted to be the fastest (a note of the report says why), as rows × columns of a grid, or as
        rows × columns × layers: each layer is a grid that sweeps its part of the factor, and the layers add
        up what they share once in a solve. The last bits of x depend on the number of layers. The host
        factorizes and verifies; b and x are NumPy arrays.

    Raises
    ------
    DimensionError
        If A is not square.
    UsageError
        If a value of A is not finite (the message names its place), or an option is invalid.
    SingularError
        If A is singular; its attributes name row and column. `StructurallySingularError` lists all of them.
    NotPositiveDefiniteError
        If ``kind="llt"`` was requested and a pivot is not positive.

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

    def __init__(
        self,
        A: Any,
        *,
        kind: str = "auto",
        ordering: Any = "auto",
        method: str = "auto",
        threads: Optional[int] = None,
        precision: str = "working",
        singular: str = "raise",
        measure: bool = True,
        device: str = "none",
        gpus: Union[int, Tuple[int, ...]] = 1,
    ) -> None:
        if precision not in ("working", "mixed"):
            raise UsageError(f"precision is {precision!r}; use 'working' or 'mixed'")
        A = _input.as_csc(A)
        self._shape = _input.square_shape(A)
        options = machine_options(method, threads, measure, device)
        options["gpus"] = _grid_of(gpus)
        options["kind"] = kind
        options["ordering"] = ordering if isinstance(ordering, str) else "auto"
        options["permutation"] = (
            None if isinstance(ordering, str) else _input.as_order(ordering, A.shape[0], "ordering")
        )
        options["mixed"] = precision == "mixed"
        if singular not in ("raise", "warn", "least_norm"):
            raise UsageError(f"singular is {singular!r}; use 'raise', 'warn' or 'least_norm'")
        options["singular"] = singular
        matrix = _input.to_core(A)
        self._dtype = A.dtype
        self._precision = precision
        self._refactoring, self._told_threads = lock_for(self), threads is not None
        self._nnz, self._entries = matrix.nnz, int(A.indptr[-1])
        # Copies, so that later changes of A by the user (such as sorting its indices) have no effect here.
        self._pattern = None if matrix.in_order else (A.indptr.copy(), A.indices[:self._entries].copy())
        self._core = _input.core_class("Solver", A.dtype).create(matrix, options)
        self._told = self._core.report()

    @property
    def kind(self) -> str:
        """Kind of the factorization: "llt", "ldlt" or "lu"."""
        return self._report["factorize"]["kind"]

    def refactor(self, A: Any) -> None:
        """Factorize a matrix of the same pattern again, with the same ordering, scaling and structure.

        Waits for solves in other threads to finish. If it fails, the solver keeps its previous factorization.

        Parameters
        ----------
        A : sparse matrix of the pattern of the first one, or array of its values
            An array of shape (nnz,) holds the values in the order of the ``data`` of the first matrix when
            the solver was created, in compressed columns.

        Raises
        ------
        UsageError
            If the pattern differs or a value is not finite.
        NumericalError
            As on creation.
        """
        values = None if hasattr(A, "tocsc") else np.asarray(A)
        if values is None or values.ndim != 1:
            return self._refactor_with(
                self._core.refactor, _input.to_core(self._same_shape(A), dtype=self._dtype)
            )
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
            raise DimensionError(
                f"there are {len(values)} values, but the first matrix has {self._entries} entries"
            )
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
            raise UsageError(
                "the values are complex, but those of the first matrix were real; make a new Solver"
            )

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
            ``sign * exp(logabsdet)`` is the determinant, unless that overflows.
        """
        with self._refactoring:
            sign, logarithm = self._core.slogdet()
        return SlogdetResult(
            complex(sign) if self._dtype.kind == "c" else float(np.real(sign)), float(logarithm)
        )

    @property
    def inertia(self) -> Inertia:
        """Numbers of positive, negative and zero eigenvalues of a symmetric or Hermitian matrix.

        Signs that replaced pivots left open are decided by solves with the factor, if at most 1,000 were
        replaced; ``zero`` counts those that rounding leaves undecided: A then has between ``positive`` and
        ``positive + zero`` positive eigenvalues.

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
            ``column_parent``: elimination tree, shape (n,), −1 at roots. ``supernode_begin``: first columns
            of the supernodes and n, shape (s + 1,). ``parent``: tree of the supernodes, shape (s,).
            ``row_index[row_ptr[i]:row_ptr[i + 1]]``: rows below the diagonal block of supernode i.
        """
        with self._refactoring:
            return self._core.structure()

    def _extract_lu(self) -> tuple:
        """(L, U, row, column, replaced) of an LU factorization: (L U)[i, j] = A[row[i], column[j]] except for
        this number of replaced pivots."""
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
    if options == USUAL_OPTIONS and (kind, ordering, method, threads, precision) == (
        "auto",
        "auto",
        "auto",
        None,
        "working",
    ):
        x = solve_at_once(A, b)
        if x is not None:
            return x
    A, b = _input.as_csc(A), _input.dense(b)
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        _input.square_shape(A)
        raise DimensionError(f"b has shape {b.shape}, but A has shape {A.shape}: b needs {A.shape[0]} rows")
    A = A.astype(_input.common_dtype(A, b), copy=False)
    solver = Solver(
        A,
        kind=kind,
        ordering=ordering,
        method=method,
        threads=threads,
        precision=precision,
        singular=singular,
        measure=False,
    )
    return solver._answer(b, options)


def slogdet(A: Any) -> SlogdetResult:
    """Sign (or phase) of det A, and the logarithm of its modulus; (0, −inf) if A is singular, as
    `numpy.linalg.slogdet`.

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
