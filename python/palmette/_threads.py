"""The default number of threads of solvers: that of a context, else that of the module, else OMP_NUM_THREADS,
else all processors."""

from __future__ import annotations

import contextvars
import operator
import os
import sys
import threading
import weakref
from typing import Any, Iterator, Optional
from contextlib import contextmanager

from . import _core
from .errors import UsageError

_MOST_THREADS = 4096


def _checked(count: Any) -> int:
    try:
        number = operator.index(count)
    except TypeError:
        raise UsageError(f"the number of threads is {count!r}; it is a whole number, or None") from None
    if not 1 <= number <= _MOST_THREADS:
        raise UsageError(
            f"the number of threads is {number}; use 1 to {_MOST_THREADS}, or None for the default"
        )
    return number


def _of_environment(text: str) -> int:
    """The first number of OMP_NUM_THREADS; 0 if it is invalid."""
    first = text.split(",")[0].strip()
    return min(int(first), _MOST_THREADS) if first.isascii() and first.isdigit() else 0


_default = _of_environment(os.environ.get("OMP_NUM_THREADS", ""))  # 0: all processors
_of_module = _default
_of_context: contextvars.ContextVar[int] = contextvars.ContextVar("palmette_threads", default=0)


def allowed_threads() -> int:
    """The number that is currently set; 0 if none is."""
    return _of_context.get() or _of_module


def set_num_threads(count: Optional[int]) -> None:
    """Set the number of threads of solvers created without ``threads=``, in all threads of the program.

    Parameters
    ----------
    count : int or None
        None: the default, which is the first number of the environment variable ``OMP_NUM_THREADS``, or all
        processors that the process may use.

    Notes
    -----
    It also limits existing solvers. A solver never uses more threads than were allowed when it
    was created. The argument ``threads=`` of a solver and the context `threads` take precedence over this
    setting.

    Examples
    --------
    >>> import palmette
    >>> palmette.set_num_threads(1)
    >>> palmette.get_num_threads()
    1
    >>> palmette.set_num_threads(None)
    """
    global _of_module
    _of_module = _default if count is None else _checked(count)


def get_num_threads() -> int:
    """The most threads of a solver that is created now without ``threads=``."""
    return allowed_threads() or _core.available_processors()


@contextmanager
def threads(count: int) -> Iterator[None]:
    """A context in which solvers created without ``threads=`` use at most this many threads, to factorize and
    to solve.

    It applies only to the thread, or the asynchronous task, that entered it.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> with palmette.threads(1):
    ...     palmette.get_num_threads()
    1
    """
    token = _of_context.set(_checked(count))
    try:
        yield
    finally:
        _of_context.reset(token)


def _register_with(threadpoolctl: Any) -> None:
    """Register the library with threadpoolctl, which then lists it and sets its limits."""
    if not hasattr(threadpoolctl, "LibController"):  # before version 3.2
        return

    class PalmetteController(threadpoolctl.LibController):
        user_api = "palmette"
        internal_api = "palmette"
        filename_prefixes = (os.path.basename(_core.__file__).lower(),)
        check_symbols = ("palmette_python_module",)

        def get_num_threads(self) -> int:
            return _of_module or _core.available_processors()

        def set_num_threads(self, num_threads: int) -> None:
            set_num_threads(num_threads)

        def get_version(self) -> str:
            return _core.__version__

    threadpoolctl.register(PalmetteController)


class _OnImport:
    """Waits in sys.meta_path for the import of threadpoolctl, which nothing else here needs."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != "threadpoolctl":
            return None
        sys.meta_path.remove(self)
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        else:
            return None
        execute = spec.loader.exec_module

        def execute_and_register(module: Any) -> None:
            execute(module)
            _register_with(module)

        spec.loader.exec_module = execute_and_register
        return spec


if "threadpoolctl" in sys.modules:
    _register_with(sys.modules["threadpoolctl"])
else:
    sys.meta_path.insert(0, _OnImport())

_holders: "weakref.WeakSet[Any]" = weakref.WeakSet()


def lock_for(holder: Any) -> threading.Lock:
    """A lock for holder._refactoring. A forked process gets a new one, since the thread that holds the old
    one does not exist there."""
    _holders.add(holder)
    return threading.Lock()


def _renew_locks() -> None:
    for holder in list(_holders):
        holder._refactoring = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_locks)
