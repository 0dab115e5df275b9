"""Loads the library without the threads that OpenBLAS would start at load time, with the wanted kernels.

Palmette uses one thread of OpenBLAS. The others would spin for about a tenth of a second before they sleep,
on processors that the first solve needs. OpenBLAS reads its variable only while it is loaded, so it is set
only for that moment.
"""

import os

from . import _kernels

_VARIABLE = "OPENBLAS_NUM_THREADS"
_before = os.environ.get(_VARIABLE)
os.environ[_VARIABLE] = "1"
try:
    if _kernels.wanted():
        _kernels.load(_kernels.wanted())
    from ._core import __version__
finally:
    if _before is None:
        del os.environ[_VARIABLE]
    else:
        os.environ[_VARIABLE] = _before

__all__ = ["__version__"]
