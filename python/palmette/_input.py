"""Conversion of user data (NumPy arrays, SciPy sparse matrices of any format) to the types of the library,
and back.

The library takes compressed columns with 64-bit pointers and 32-bit rows, in one of four scalar types, and
dense columns in Fortran order.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple, Tuple

import numpy as np
import scipy.sparse as sparse

from . import _core
from .errors import DimensionError, UsageError

LARGEST_INDEX = np.iinfo(np.int32).max
_SCALARS = {"f": "float32", "d": "float64", "F": "complex64", "D": "complex128"}
_WIDER = {"b": np.float64, "i": np.float64, "u": np.float64}


@functools.lru_cache(maxsize=None)
def core_class(stem: str, dtype: Any) -> Any:
    """The class of the bindings for this scalar: Matrix, Solver or TriangularSolver."""
    return getattr(_core, f"{stem}_{_SCALARS[np.dtype(dtype).char]}")


def is_sparse(A: Any) -> bool:
    """Whether A is a SciPy sparse array or matrix."""
    return bool(sparse.issparse(A))


def square_shape(A: Any, name: str = "A") -> Tuple[int, int]:
    """The shape of a square matrix."""
    rows, columns = A.shape
    if rows != columns:
        raise DimensionError(
            f"{name} has shape {A.shape}: {rows} rows but {columns} columns; a solve needs a square matrix"
        )
    return int(rows), int(columns)


def working_dtype(dtype: Any, name: str) -> np.dtype:
    """The scalar type of the library for data of this type."""
    dtype = np.dtype(dtype).newbyteorder("=")
    if dtype.char in _SCALARS:
        return dtype
    if dtype.kind in _WIDER:
        return np.dtype(np.float64)
    if dtype == np.float16:
        return np.dtype(np.float32)
    raise UsageError(
        f"{name} has dtype {dtype}, which cannot be solved with; convert it to one of"
        f" {', '.join(_SCALARS.values())}"
    )


def as_csc(A: Any, name: str = "A") -> Any:
    """A in compressed columns with one of the four scalar types; the caller's object if it already is."""
    if not is_sparse(A):
        A = np.asarray(A)
        dtype = working_dtype(A.dtype, name)
        if A.ndim != 2:
            raise DimensionError(f"{name} has shape {A.shape}; a matrix needs two dimensions")
        return sparse.csc_array(A.astype(dtype, copy=False))
    dtype = working_dtype(A.dtype, name)
    if A.ndim != 2:
        raise DimensionError(f"{name} has shape {A.shape}; a matrix needs two dimensions")
    A = A.tocsc()
    return A if A.dtype == dtype else A.astype(dtype)


def to_core(A: Any, name: str = "A", dtype: Any = None) -> Any:
    """A matrix of the bindings, made from compressed columns (see as_csc); finite, duplicates summed,
    symmetry known."""
    if max(A.shape, default=0) > LARGEST_INDEX:
        raise DimensionError(
            f"{name} has shape {A.shape}; at most {LARGEST_INDEX} rows and columns can be indexed"
        )
    pointers = np.ascontiguousarray(A.indptr, dtype=np.int64)
    entries = int(pointers[-1])
    rows = _int32(A.indices[:entries], name)
    values = np.ascontiguousarray(A.data[:entries], dtype=dtype or A.dtype)
    if len(values) == entries and len(rows) == entries:
        _check_finite_entries(pointers, rows, values, name)
    return core_class("Matrix", values.dtype).from_csc(*map(int, A.shape), pointers, rows, values)


def from_core(arrays: tuple) -> sparse.csc_array:
    """A SciPy matrix from (shape, pointers, rows, values)."""
    shape, pointers, rows, values = arrays
    if pointers[-1] <= LARGEST_INDEX:
        pointers = pointers.astype(np.int32)
    result = sparse.csc_array((values, rows, pointers), shape=shape)
    result.has_canonical_format = True
    return result


def as_order(order: Any, n: int, name: str) -> np.ndarray:
    """A permutation for the library: element k is the old index at new place k."""
    order = np.asarray(order)
    if order.shape != (n,):
        raise DimensionError(f"{name} has shape {order.shape}, but the matrix has {n} rows")
    if order.dtype.kind not in "iu":
        raise UsageError(f"{name} has dtype {order.dtype}; a permutation holds integers")
    return _int32(order, name)


def as_scale(scale: Any, n: int, name: str) -> np.ndarray:
    scale = np.ascontiguousarray(scale, dtype=np.float64)
    if scale.shape != (n,):
        raise DimensionError(f"{name} has shape {scale.shape}, but the matrix has {n} rows")
    if not (np.isfinite(scale).all() and (scale != 0).all()):
        place = int(np.argmax(~np.isfinite(scale) | (scale == 0)))
        raise UsageError(f"{name}[{place}] is {scale[place]}; scale factors must be finite and not zero")
    return scale


def as_places(name: str, places: Any, n: int) -> np.ndarray:
    """Numbers of rows or columns of a matrix of order n; negative ones count from the end."""
    list_ = np.atleast_1d(np.asarray(places))
    if list_.ndim != 1 or (list_.size and list_.dtype.kind not in "iu"):
        raise UsageError(f"{name} is {places!r}; it is a list of whole numbers")
    list_ = list_.astype(np.int64)
    outside = (list_ < -n) | (list_ >= n)
    if outside.any():
        raise UsageError(f"{name} has {list_[outside][0]}, outside the {n} of the matrix")
    return np.ascontiguousarray(np.where(list_ < 0, list_ + n, list_), dtype=np.int32)


class RightHandSides(NamedTuple):
    """b in the form of the library, and what is needed to give x its shape."""

    columns: np.ndarray  # n × k in Fortran order, or n × 2k: real parts, then imaginary parts
    shape: tuple
    is_split: bool

    def answer(self, x: np.ndarray) -> np.ndarray:
        """x in the shape of b."""
        if self.is_split:
            half = x.shape[1] // 2
            complex_x = np.empty((x.shape[0], half), dtype=np.result_type(x.dtype, np.complex64), order="F")
            complex_x.real, complex_x.imag = x[:, :half], x[:, half:]
            x = complex_x
        return x.reshape(self.shape, order="F")


def as_right_hand_sides(b: Any, n: int, dtype: np.dtype, name: str = "b") -> RightHandSides:
    """b in the solver's precision. A complex b of a real matrix becomes two real ones side by side."""
    b = dense(b)
    if b.ndim not in (1, 2):
        raise DimensionError(f"{name} has shape {b.shape}; it must be a vector or a matrix of {n} rows")
    if b.shape[0] != n:
        raise DimensionError(
            f"b has shape {b.shape}, but A has shape {(n, n)}: b needs {n} rows, not {b.shape[0]}"
        )
    _check_finite(b, name)
    columns = b.reshape(n, -1 if n else int(np.prod(b.shape[1:])), order="F")
    is_split = b.dtype.kind == "c" and dtype.kind != "c"
    if is_split:
        columns = np.concatenate([columns.real, columns.imag], axis=1)
    return RightHandSides(np.asfortranarray(columns, dtype=dtype), b.shape, is_split)


def dense(b: Any) -> np.ndarray:
    """b as a dense array with one of the four scalar types."""
    b = b.toarray() if is_sparse(b) else np.asarray(b)
    return b.astype(working_dtype(b.dtype, "b"), copy=False)


def common_dtype(A: Any, b: np.ndarray) -> np.dtype:
    """The type of A that gives x the precision of A and b together; a real A stays real."""
    precision = np.result_type(A.dtype, b.dtype.type(0).real.dtype)
    return np.dtype(precision)


def _int32(indices: np.ndarray, name: str) -> np.ndarray:
    if (
        indices.dtype.itemsize > 4
        and indices.size
        and not (0 <= indices.min() and indices.max() <= LARGEST_INDEX)
    ):
        place = int(np.argmax((indices < 0) | (indices > LARGEST_INDEX)))
        raise UsageError(f"{name} holds the index {indices[place]}, which is out of range")
    return np.ascontiguousarray(indices, dtype=np.int32)


def _check_finite_entries(pointers: np.ndarray, rows: np.ndarray, values: np.ndarray, name: str) -> None:
    finite = np.isfinite(values)
    if finite.all():
        return
    entry = int(np.argmin(finite))
    column = int(np.searchsorted(pointers, entry, side="right")) - 1
    raise UsageError(f"{name}[{rows[entry]}, {column}] is {values[entry]}; all values must be finite")


def _check_finite(b: np.ndarray, name: str) -> None:
    finite = np.isfinite(b)
    if finite.all():
        return
    place = np.unravel_index(int(np.argmin(finite)), b.shape)
    raise UsageError(
        f"{name}[{', '.join(str(int(index)) for index in place)}] is {b[place]}; all values must be finite"
    )
