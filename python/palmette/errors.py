"""Exceptions and warnings of Palmette, each a subclass of the matching standard exception.

Rows and columns in attributes count from 0, as in Python. Messages of the library count from 1, as matrix
files do, and give both.
"""

from __future__ import annotations

from typing import Sequence

from numpy.linalg import LinAlgError

__all__ = [
    "Error",
    "UsageError",
    "DimensionError",
    "IoError",
    "OutOfMemoryError",
    "NumericalError",
    "SingularError",
    "StructurallySingularError",
    "NotPositiveDefiniteError",
    "NotFiniteError",
    "ConvergenceError",
    "UnverifiedWarning",
    "SingularWarning",
]


class Error(Exception):
    """Base of all exceptions of Palmette."""


class UsageError(Error, ValueError):
    """The caller made an invalid request: an unknown name, a value in A that is not finite, or an impossible
    combination."""


class DimensionError(UsageError):
    """Two sizes that must agree do not; the message names both."""


class IoError(Error, OSError):
    """A file cannot be read, written or parsed.

    Attributes
    ----------
    file : str
        Path of the file.
    line : int or None
        Line of the error, counted from 1; None if it has no line.
    """

    def __init__(self, message: str, file: str = "", line: int = 0) -> None:
        super().__init__(message)
        self.file = file
        self.line = line if line > 0 else None

    def __reduce__(self):
        return type(self), (str(self), self.file, self.line or 0)


class OutOfMemoryError(Error, MemoryError):
    """Memory could not be allocated.

    Attributes
    ----------
    requested_bytes : int
        Size of the allocation that failed; 0 if unknown.
    """

    def __init__(self, message: str, requested_bytes: int = 0) -> None:
        super().__init__(message)
        self.requested_bytes = requested_bytes


class NumericalError(Error, LinAlgError):
    """A factorization or solve failed for a numerical reason.

    Attributes
    ----------
    kind : str
        "structurally_singular", "numerically_singular", "not_positive_definite", "not_finite" or
        "no_convergence".
    row, column : int or None
        Place in the matrix, counted from 0; None if the error has no place.
    rows, columns : tuple of int
        Structurally singular matrices: all rows and columns that cannot be matched, counted from 0; otherwise
        empty.
    """

    def __init__(self, message: str, kind: str = "", place: Sequence[int] = (-1, -1),
                 rows: Sequence[int] = (), columns: Sequence[int] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.row = place[0] if place[0] >= 0 else None
        self.column = place[1] if place[1] >= 0 else None
        self.rows = tuple(rows)
        self.columns = tuple(columns)

    def __reduce__(self):
        place = tuple(-1 if where is None else where for where in (self.row, self.column))
        return type(self), (str(self), self.kind, place, self.rows, self.columns)


class SingularError(NumericalError):
    """The matrix is singular to working precision."""


class StructurallySingularError(SingularError):
    """The matrix is singular whatever its values: `rows` and `columns` cannot be matched by nonzero
    entries."""


class NotPositiveDefiniteError(NumericalError):
    """A pivot of a Cholesky factorization is not positive."""


class NotFiniteError(NumericalError):
    """NaN or infinity appeared in a factor or in a solution."""


class ConvergenceError(NumericalError):
    """Refinement stalled above its bound."""


class UnverifiedWarning(RuntimeWarning):
    """The backward error of a returned solution exceeds its bound: check the report before using the
    solution."""


class SingularWarning(UnverifiedWarning):
    """A solution was returned although the matrix is singular to working precision: it is one of many
    solutions, or that of least norm."""


_CLASS_OF_KIND = {
    "numerically_singular": SingularError,
    "structurally_singular": StructurallySingularError,
    "not_positive_definite": NotPositiveDefiniteError,
    "not_finite": NotFiniteError,
    "no_convergence": ConvergenceError,
}


def numerical_error(kind: str, message: str, place: Sequence[int], rows: Sequence[int],
                    columns: Sequence[int]) -> NumericalError:
    """The exception for a failure of the library; called by the bindings."""
    named = [f"{name} {where}" for name, where in zip(("row", "column"), place) if where >= 0]
    if named:
        message += f" [counted from 0: {', '.join(named)}]"
    return _CLASS_OF_KIND.get(kind, NumericalError)(message, kind, tuple(place), rows, columns)
