"""Matrices from files and generators, the lists of generators, methods, devices and orderings, and what the
library was compiled for."""

from __future__ import annotations

import os
from typing import Any, List, NamedTuple, Optional

import scipy.sparse as sparse

from . import _core, _input
from .errors import UsageError


class Generator(NamedTuple):
    """A model problem."""

    name: str
    summary: str
    n_meaning: str
    parameter_meaning: str  # empty if there is none
    default_parameter: float


class Method(NamedTuple):
    """A way to solve with triangular factors; `where` is "one machine" for those that `Solver` takes.

    `reason` says why this build cannot run it, where `available` is False; else it is empty.
    """

    name: str
    threaded: bool
    summary: str
    where: str
    engine: str
    delivery: str
    available: bool
    reason: str


class DeviceKind(NamedTuple):
    """A kind of device; `reason` says why there is none here, where `available` is False; else it is
    empty."""

    name: str
    available: bool
    reason: str
    summary: str


class Kernels(NamedTuple):
    """What the library that runs was compiled for; with other instructions, solutions may have other bits."""

    name: str  # x86-64, x86-64-v2, x86-64-v3 (AVX2), x86-64-v4 (AVX-512), aarch64 or unknown
    register_bytes: int
    fuses_multiply_add: bool


class OrderingMethod(NamedTuple):
    """A way to order rows and columns; `available` is False if this build lacks its library."""

    name: str
    available: bool
    summary: str


def generators() -> List[Generator]:
    """All model problems of `generate`."""
    return [Generator(*entry) for entry in _core.generators()]


def methods(where: Optional[str] = "one machine") -> List[Method]:
    """The solve methods.

    Those of one machine give the same x, bit for bit, with any number of threads.

    Parameters
    ----------
    where : str or None
        "one machine", "ranks in one layer", "several layers of ranks", "a device", "several devices" or
        "columns of several devices"; None for all methods.

    Raises
    ------
    UsageError
        `where` is none of these.
    """
    rows = [Method(*entry) for entry in _core.methods()]
    places = list(dict.fromkeys(row.where for row in rows))
    if where is not None and where not in places:
        raise UsageError(f"no method is for {where!r}; choose one of {', '.join(map(repr, places))}, or None")
    return [row for row in rows if where is None or row.where == where]


def devices() -> List[DeviceKind]:
    """The kinds of device that `Solver` knows; ``reason`` says why one cannot be opened here."""
    return [DeviceKind(*entry) for entry in _core.devices()]


def orderings() -> List[OrderingMethod]:
    """All orderings."""
    return [OrderingMethod(*entry) for entry in _core.orderings()]


def kernels() -> Kernels:
    """For which instructions the library that runs was compiled.

    A wheel holds it for several levels of the processor, and the dynamic linker chooses the best;
    ``python -X palmette_kernels=x86-64-v3`` chooses another.
    """
    return Kernels(*_core.kernels())


def generate(name: str, n: int, seed: int = 1, parameter: Optional[float] = None) -> sparse.csc_array:
    """Generate a model problem; the same arguments give the same matrix on every machine.

    Parameters
    ----------
    name : str
        One of `generators()`.
    n : int
        Its size; its meaning is in the list (usually grid points per side).
    seed : int
        Seed of random problems.
    parameter : float, optional
        Its meaning is in the list; None means its default.

    Returns
    -------
    scipy.sparse.csc_array of float64

    Raises
    ------
    UsageError
        For an unknown name (the message suggests the nearest) or a size out of range.

    Examples
    --------
    >>> import palmette
    >>> palmette.generate("poisson2d5", 10).shape
    (100, 100)
    """
    return _input.from_core(_core.generate(name, n, seed, 0.0 if parameter is None else parameter))


def read(path: Any, *, threads: int = 1) -> sparse.csc_array:
    """Read a Matrix Market, Rutherford-Boeing or Harwell-Boeing file, plain or gzip-compressed.

    The format is detected from the contents. Symmetric matrices have both triangles; duplicates are summed,
    explicit zeros kept; entries of pattern-only files are 1.

    Parameters
    ----------
    path : str or path-like
    threads : int

    Returns
    -------
    scipy.sparse.csc_array of float64 or complex128

    Raises
    ------
    IoError
        If the file cannot be read or is malformed; ``file`` and ``line`` name the place.
    """
    return _input.from_core(_core.read(os.fspath(path), threads))


def write(path: Any, A: Any, comment: str = "") -> None:
    """Write a Matrix Market file; reading it back gives the same bits.

    Symmetric, Hermitian and skew-symmetric matrices store their lower triangle only. A path that ends in
    ".gz" is compressed.

    Parameters
    ----------
    path : str or path-like
    A : array_like or any SciPy sparse array or matrix
    comment : str
        Written into the head of the file.

    Raises
    ------
    IoError
        If the file cannot be written completely; no partial file is left behind.
    """
    _input.to_core(_input.as_csc(A)).write(os.fspath(path), comment)
