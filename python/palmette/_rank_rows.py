"""What solvers over MPI ranks share: rows of matrices and right-hand sides, and errors of all processes."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np
import scipy.sparse as sparse

from . import _input
from ._verified import SolveOptions, count, warn_unverified
from .errors import DimensionError, Error, UsageError

try:
    from mpi4py import MPI as _MPI
except ImportError as missing:
    raise ImportError(
        "palmette.mpi needs mpi4py: pip install 'palmette[mpi]', or mpi4py itself, beside an MPI library"
    ) from missing
try:
    from . import _mpi
except ImportError as missing:
    raise ImportError(
        "this build of Palmette has no MPI: install an MPI library with its headers (libopenmpi-dev), then"
        " palmette again"
    ) from missing


def together(comm: Any, work: Callable[[], Any]) -> Any:
    """Run work() on this process. If it raised on any process, raise the error of the first such process on
    all."""
    result, error = None, None
    try:
        result = work()
    except (Error, ValueError, TypeError) as raised:
        error = raised
    errors = comm.allgather(None if error is None else (type(error).__name__, str(error)))
    for rank, told in enumerate(errors):
        if told is not None:
            kind = DimensionError if told[0] == "DimensionError" else UsageError
            raise kind(told[1] if comm.size == 1 else f"rank {rank}: {told[1]}") from error
    return result


def as_csr(A: Any) -> Any:
    """The rows of a process in compressed rows, with one of the four scalar types."""
    if not _input.is_sparse(A):
        A = np.asarray(A)
    if A.ndim != 2:
        raise DimensionError(f"A has shape {A.shape}; the rows of a matrix need two dimensions")
    dtype = _input.working_dtype(A.dtype, "A")
    A = A.tocsr() if _input.is_sparse(A) else sparse.csr_array(A)
    if max(A.shape) > _input.LARGEST_INDEX:
        raise DimensionError(
            f"A has shape {A.shape}; at most {_input.LARGEST_INDEX} rows and columns can be indexed"
        )
    return A.astype(dtype, copy=False)


def grid_of(grid: Any) -> Tuple[int, ...]:
    """Rows, columns and layers."""
    if grid is None:
        return 0, 0, 1
    if len(grid) not in (2, 3):
        raise UsageError(f"grid is {grid!r}; give rows and columns, and layers if there are several")
    return tuple(count("grid", size, 1) for size in (*grid, 1)[:3])


def communicator_of(comm: Any) -> Any:
    comm = _MPI.COMM_WORLD if comm is None else comm
    if not hasattr(comm, "py2f"):
        raise UsageError(f"comm is {comm!r}; it is a communicator of mpi4py")
    return comm


def own_right_hand_sides(comm: Any, b: Any, rows: int, dtype: np.dtype) -> Any:
    """This process's rows of b; complex if those of any process are."""
    b = together(comm, lambda: _input.dense(b))
    if any(comm.allgather(b.dtype.kind == "c")):
        b = b.astype(np.result_type(b.dtype, np.complex64), copy=False)
    return together(comm, lambda: _input.as_right_hand_sides(b, rows, dtype))


def core_options(
    *,
    kind: str = "auto",
    ordering: str = "auto",
    matching: bool = True,
    grid: Optional[Tuple[int, ...]] = None,
    map: str = "subtree_to_subcube",
    trees: str = "binary",
    transport: str = "mpi_two_sided",
    threads: int = 1,
    watchdog: float = 600.0,
    device: str = "none",
    memory: str = "auto",
    singular: str = "raise",
) -> Dict[str, Any]:
    """The options of `palmette.mpi.RowSolver` for the library."""
    rows, columns, layers = grid_of(grid)
    return {
        "kind": kind,
        "ordering": ordering,
        "matching": bool(matching),
        "grid_rows": rows,
        "grid_cols": columns,
        "layers": layers,
        "map": map,
        "trees": trees,
        "transport": transport,
        "threads": int(threads),
        "watchdog": float(watchdog),
        "device": str(device),
        "memory": str(memory),
        "singular": str(singular),
    }


class RankSolves:
    """Solves of all processes together."""

    _core: Any
    _comm: Any
    _dtype: np.dtype
    _shape: Tuple[int, int]  # of what this process has of the matrix
    _report: Dict[str, Any]

    def _answer(self, b: Any, options: SolveOptions) -> np.ndarray:
        request = together(self._comm, options.for_core)
        rhs = own_right_hand_sides(self._comm, b, self._shape[0], self._dtype)
        if rhs.is_split and options.trans == "H":
            request["trans"] = "T"
        x = np.empty(rhs.columns.shape, dtype=self._dtype, order="F")
        self._report = self._core.solve(rhs.columns, x, request)
        if not self._report["verify"]["verified"]:
            warn_unverified(self._report)
        return rhs.answer(x)


class OfRows:
    """What has some rows of a matrix on each process."""

    _dtype: np.dtype
    _shape: Tuple[int, int]
    _first_row: int

    @property
    def shape(self) -> Tuple[int, int]:
        """Shape of the whole matrix."""
        return (self._shape[1], self._shape[1])

    @property
    def dtype(self) -> np.dtype:
        """Scalar type: the widest of all processes."""
        return self._dtype

    @property
    def rows(self) -> range:
        """The rows of this process."""
        return range(self._first_row, self._first_row + self._shape[0])


class OwnRows:
    """This process's rows of a matrix that all processes hold together."""

    def __init__(self, A: Any, comm: Any, first_row: Optional[int]) -> None:
        A = together(comm, lambda: as_csr(A))
        self.dtype = np.result_type(*[np.dtype(char) for char in comm.allgather(A.dtype.char)])
        self.first = self._start(comm, A.shape[0], first_row)
        self.shape = A.shape
        self.arrays = together(comm, lambda: core_rows(A, self.first, self.dtype))

    @staticmethod
    def _start(comm: Any, rows: int, first_row: Optional[int]) -> int:
        given = comm.allgather((rows, first_row))
        if all(start is None for _, start in given):
            return sum(count for count, _ in given[:comm.rank])
        return together(comm, lambda: count("first_row", first_row, 0))


def core_rows(A: Any, first_row: int, dtype: np.dtype, name: str = "A") -> Any:
    """Compressed rows for the library."""
    nnz = int(A.indptr[-1])
    return getattr(_mpi, f"Rows_{dtype.name}").from_csr(
        int(A.shape[1]),
        first_row,
        np.ascontiguousarray(A.indptr, dtype=np.int64),
        _input._int32(A.indices[:nnz], name),
        np.ascontiguousarray(A.data[:nnz], dtype=dtype),
    )
