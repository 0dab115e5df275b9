"""Palmette solves sparse linear systems. Every answer is verified and measured.

>>> import palmette
>>> A = palmette.generate("poisson2d5", 30)
>>> x = palmette.solve(A, A @ ([1.0] * 900))

Use `solve` for one system, `Solver` for many with the same matrix, and `TriangularSolver` and `from_factors`
for factors computed elsewhere. `palmette.scipy` has the functions of `scipy.sparse.linalg`; `palmette.plots`
draws.
"""

from ._load import __version__
from ._batch import BatchSolver
from ._device_arrays import DeviceArray
from ._problems import (
    DeviceKind,
    Generator,
    Kernels,
    Method,
    OrderingMethod,
    devices,
    generate,
    generators,
    kernels,
    methods,
    orderings,
    read,
    write,
)
from ._low_rank import UpdatedSolver
from ._saved import load
from ._schur import SchurComplement
from ._solver import Inertia, SlogdetResult, Solver, inertia, slogdet, solve
from ._threads import get_num_threads, set_num_threads, threads
from ._triangular import FactoredMatrix, TriangularSolver, from_factors
from .errors import (
    ConvergenceError,
    DimensionError,
    Error,
    IoError,
    NotFiniteError,
    NotPositiveDefiniteError,
    NumericalError,
    OutOfMemoryError,
    SingularError,
    SingularWarning,
    StructurallySingularError,
    UnverifiedWarning,
    UsageError,
)

__all__ = [
    "BatchSolver",
    "ConvergenceError",
    "DeviceArray",
    "DeviceKind",
    "DimensionError",
    "Error",
    "FactoredMatrix",
    "Generator",
    "Inertia",
    "IoError",
    "Kernels",
    "Method",
    "NotFiniteError",
    "NotPositiveDefiniteError",
    "NumericalError",
    "OrderingMethod",
    "OutOfMemoryError",
    "SchurComplement",
    "SingularError",
    "SingularWarning",
    "SlogdetResult",
    "Solver",
    "StructurallySingularError",
    "TriangularSolver",
    "UnverifiedWarning",
    "UpdatedSolver",
    "UsageError",
    "__version__",
    "devices",
    "from_factors",
    "generate",
    "generators",
    "get_num_threads",
    "inertia",
    "kernels",
    "load",
    "methods",
    "orderings",
    "read",
    "set_num_threads",
    "slogdet",
    "solve",
    "threads",
    "write",
]
