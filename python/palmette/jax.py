"""Differentiable sparse solves for JAX: ``palmette.jax.solve(A, b)`` inside ``jit``, ``grad``, ``jvp`` and
``vmap``.

The host factorizes and solves, by a callback; factorizations are kept, so the transposed solve of a gradient,
and other right-hand sides, find theirs. Needs JAX 0.4.34 or later.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, NamedTuple, Optional

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import sparse as jax_sparse
from scipy import sparse

from . import _input
from ._solver import Solver
from .errors import DimensionError, Error, UsageError

__all__ = ["clear_cache", "solve"]

MOST_KEPT = 4  # factorizations


def solve(A: Any, b: Any, **options: Any) -> jax.Array:
    """x with A x = b, refined and verified.

    Derivatives of any order with respect to the entries of A and to b are solves with the same factorization,
    or with its transpose; that of an entry of A exists only where A stores one. `vmap` over b solves for all
    right-hand sides together, `vmap` over the entries of A factorizes each matrix, with one analysis for all.

    Parameters
    ----------
    A : BCOO or BCSR array of `jax.experimental.sparse`, or any SciPy sparse array, shape (n, n)
        Duplicate entries are summed. JAX's arrays may be traced.
    b : array_like, shape (n,) or (n, k)
    **options
        Of `palmette.Solver`: kind, ordering, threads, ….

    Returns
    -------
    jax.Array of b's shape, in the common type of A and b

    Raises
    ------
    DimensionError, UsageError
        For shapes that do not fit, at once.
    JaxRuntimeError
        With the text of `palmette.SingularError` and others, when the result is computed.

    Notes
    -----
    The last 4 factorizations stay in memory: see `clear_cache`. The derivative with respect to an
    entry a_ij is −λ_i·x_j, where Aᵀ·λ is the derivative with respect to x.

    Examples
    --------
    >>> import jax, numpy as np, palmette, palmette.jax
    >>> A = palmette.generate("poisson2d5", 10)
    >>> energy = lambda b: b @ palmette.jax.solve(A, b) / 2
    >>> b = jax.numpy.ones(100)
    >>> bool(abs(jax.grad(energy)(b) - palmette.jax.solve(A, b)).max() < 1e-4)
    True
    """
    matrix = _as_bcoo(A)
    b = jnp.asarray(b)
    n = matrix.shape[0]
    if matrix.shape != (n, n):
        raise DimensionError(f"A has shape {matrix.shape}; a system needs a square matrix")
    if b.ndim not in (1, 2) or b.shape[0] != n:
        raise DimensionError(f"b has shape {b.shape}; use ({n},) or ({n}, k)")
    dtype = jnp.result_type(matrix.data, b, jnp.float32)
    if dtype not in ("float32", "float64", "complex64", "complex128"):
        raise UsageError(f"A and b have the common type {dtype}; use single or double precision")
    data, b = matrix.data.astype(dtype), b.astype(dtype)
    row, column = matrix.indices[:, 0], matrix.indices[:, 1]
    return _solve_entries(data, row, column, b, tuple(sorted(options.items())))


def clear_cache() -> None:
    """Forget all factorizations."""
    _kept.clear()


def _as_bcoo(A: Any) -> jax_sparse.BCOO:
    if sparse.issparse(A):
        return jax_sparse.BCOO.from_scipy_sparse(A.tocoo())
    if isinstance(A, jax_sparse.BCSR):
        A = A.to_bcoo()
    if not isinstance(A, jax_sparse.BCOO) or A.n_batch or A.n_dense:
        raise UsageError(
            f"A is {type(A).__name__}; use a BCOO or BCSR array of two sparse dimensions, or a SciPy matrix"
        )
    return A


def _solve_entries(data: Any, row: Any, column: Any, b: Any, options: tuple) -> jax.Array:
    def multiply(x: Any) -> Any:
        # Entries beyond the matrix are padding, which JAX's arrays may have.
        gathered = x.at[column].get(mode="fill", fill_value=0)
        products = data.reshape(data.shape + (1,) * (x.ndim - 1)) * gathered
        return jnp.zeros_like(x).at[row].add(products, mode="drop")

    def apply_inverse(trans: str) -> Any:
        def apply(_: Any, rhs: Any) -> Any:
            return jax.pure_callback(
                lambda *arrays: _on_the_host(*arrays, trans=trans, is_vector=rhs.ndim == 1, options=options),
                jax.ShapeDtypeStruct(rhs.shape, rhs.dtype),
                data,
                row,
                column,
                rhs,
                vmap_method="expand_dims",
            )

        return apply

    return jax.lax.custom_linear_solve(multiply, b, apply_inverse("N"), apply_inverse("T"))


def _on_the_host(data: Any, row: Any, column: Any, b: Any, *, trans: str, is_vector: bool,
                 options: tuple) -> np.ndarray:
    """Solutions for arrays with batch dimensions in front, of length 1 where an array is the same for all."""
    data, row, column, b = (np.asarray(array) for array in (data, row, column, b))
    if is_vector:
        b = b[..., None]
    batch = np.broadcast_shapes(data.shape[:-1], row.shape[:-1], column.shape[:-1], b.shape[:-2])
    matrices = np.broadcast_shapes(data.shape[:-1], row.shape[:-1], column.shape[:-1])
    n, k = b.shape[-2:]
    of_matrix = [np.broadcast_to(array, matrices + array.shape[-1:]) for array in (data, row, column)]
    b = np.broadcast_to(b, batch + (n, k))
    x = np.empty(batch + (n, k), b.dtype)
    for place in np.ndindex(matrices):
        # The part of the batch that this matrix solves for; where it has length 1, all of that dimension.
        part = tuple(slice(None) if size == 1 else slice(at, at + 1) for at, size in zip(place, matrices))
        rhs = b[part]
        columns = np.moveaxis(rhs, -2, 0).reshape(n, -1)
        entries = _Entries(*(array[place] for array in of_matrix), n, options)
        found = _kept.solve(entries, columns, trans)
        x[part] = np.moveaxis(found.reshape((n,) + rhs.shape[:-2] + (k,)), 0, -2)
    return x[..., 0] if is_vector else x


class _Entries(NamedTuple):
    """A matrix by coordinates, and the options of its solver."""

    data: np.ndarray
    row: np.ndarray
    column: np.ndarray
    n: int
    options: tuple

    @property
    def key(self) -> tuple:
        return self.n, self.data.dtype.str, self.row.tobytes(), self.column.tobytes(), self.options

    def matrix(self) -> Any:
        data, row, column, n, _ = self
        inside = (row >= 0) & (row < n) & (column >= 0) & (column < n)
        if not inside.all():
            data, row, column = data[inside], row[inside], column[inside]
        return sparse.coo_array((data, (row, column)), shape=(n, n)).tocsc()


class _Kept:
    """The factorizations that were used last, by pattern and options."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # JAX may call from several threads
        self._solvers: OrderedDict = OrderedDict()  # key → (values, Solver), the last used at the end

    def clear(self) -> None:
        with self._lock:
            self._solvers.clear()

    def solve(self, entries: _Entries, b: np.ndarray, trans: str) -> np.ndarray:
        """With a kept solver of this matrix, one of its pattern with new values, or a new one."""
        key = entries.key
        with self._lock:
            values, solver = self._solvers.pop(key, (None, None))
            if values is None or not np.array_equal(values, entries.data):
                solver = _factorized(entries, solver)
                values = entries.data.copy()
            self._solvers[key] = (values, solver)
            while len(self._solvers) > MOST_KEPT:
                self._solvers.popitem(last=False)
            return solver.solve(b, trans=trans)


def _factorized(entries: _Entries, before: Optional[Solver]) -> Solver:
    """@param before: a solver of the same pattern, which takes the new values if its kind fits them."""
    A = entries.matrix()
    if before is not None:
        try:
            before.refactor(A)
            return before
        except Error:  # another kind, or no such factorization: begin anew, which says so if it fails too
            pass
    return Solver(A, **{"measure": False, **dict(entries.options)})


_kept = _Kept()
