"""Solvers that replace those of `scipy.sparse.linalg`: SciPy's or Palmette's, both counted and timed by the
same wrapper.

A nested call (SciPy's `factorized` calls its `splu`) counts as part of the outer call. The result of a
factorization is wrapped in a proxy that times its `solve` and otherwise behaves like the object itself,
including `isinstance`.
"""

import functools
import importlib
import sys
import time
from collections import Counter

NAMES = ("spsolve", "splu", "factorized", "spsolve_triangular")
SIDES = ("scipy", "palmette")


class Clock:
    """Counts the outermost calls and adds up their seconds."""

    def __init__(self):
        self.calls, self.seconds = Counter(), Counter()
        self._inside = False

    def timed(self, name, function):
        @functools.wraps(function)
        def stand_in(*arguments, **options):
            if self._inside:
                return function(*arguments, **options)
            self._inside = True
            started = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds[name] += time.perf_counter() - started
                self.calls[name] += 1
                self._inside = False
        return stand_in

    def read_and_clear(self):
        """(calls, seconds) since the last reading, by name."""
        read = dict(self.calls), dict(self.seconds)
        self.calls.clear()
        self.seconds.clear()
        return read


class Factor:
    """The factorization that `splu` returned, with a timer on its `solve`."""

    def __init__(self, factor, clock):
        object.__setattr__(self, "_factor", factor)
        object.__setattr__(self, "solve", clock.timed("solve", factor.solve))

    @property
    def __class__(self):
        return type(self._factor)

    def __getattr__(self, name):
        return getattr(self._factor, name)

    def __setattr__(self, name, value):
        setattr(self._factor, name, value)

    def __reduce_ex__(self, protocol):
        return self._factor.__reduce_ex__(protocol)


def stand_ins(module, clock):
    """The four functions of a module, by name, with timers on them and on their results."""
    timed = {name: clock.timed(name, getattr(module, name)) for name in NAMES}
    result = dict(timed)
    result["splu"] = functools.wraps(module.splu)(
        lambda *arguments, **options: Factor(timed["splu"](*arguments, **options), clock)
    )
    result["factorized"] = functools.wraps(module.factorized)(
        lambda *arguments, **options: clock.timed("solve", timed["factorized"](*arguments, **options)))
    return result


def install(side, clock):
    """Replaces SciPy's solvers by those of a side in every module that has them, under any name, and wherever
    a later import will find them.

    Palmette's own modules are not changed: when they ask SciPy for its factorization, they must get it.
    """
    scipys = importlib.import_module("scipy.sparse.linalg")
    module = importlib.import_module("palmette.scipy") if side == "palmette" else scipys
    ours = stand_ins(module, clock)
    by_identity = {id(getattr(scipys, name)): ours[name] for name in NAMES}
    for name, holder in list(sys.modules.items()):
        if holder is None or name.split(".")[0] in ("palmette", __name__.split(".")[0]):
            continue
        for attribute, value in list(vars(holder).items()):
            if id(value) in by_identity:
                setattr(holder, attribute, by_identity[id(value)])
