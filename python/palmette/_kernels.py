"""Which kernels run: a wheel holds them for several levels of the processor.

The dynamic linker takes the best. `python -X palmette_kernels=LEVEL` takes another: the kernels of that level
are loaded before the module that needs them, which then finds them there.
"""

import ctypes
import sys
from pathlib import Path
from typing import List

_FOLDER = Path(__file__).with_name("lib")
# What a level has over the one before, in the words of Linux; a level has its predecessors' too.
_FLAGS = {
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
}


def wanted() -> str:
    """The level that the option names; empty without the option."""
    return str(sys._xoptions.get("palmette_kernels", ""))


def load(level: str) -> None:
    """Load the library of this level, if it is there and the processor has it.

    Raises
    ------
    ImportError
        There are no such kernels, or the processor cannot run them.
    """
    if level not in levels():
        choices = ", ".join(levels()) or "none: the library was built for one level"
        raise ImportError(f"-X palmette_kernels={level}: not among the kernels that run here ({choices})")
    ctypes.CDLL(str(_libraries(level)[0]))


def levels() -> List[str]:
    """The levels that this installation holds and this processor runs, in ascending order."""
    if not (_FOLDER / "glibc-hwcaps").is_dir():
        return []  # built for one level
    flags, found = _flags_of_this_processor(), ["x86-64"]
    for level, needed in _FLAGS.items():
        if not needed <= flags:
            break
        if _libraries(level):
            found.append(level)
    return found


def _libraries(level: str) -> List[Path]:
    folder = _FOLDER if level == "x86-64" else _FOLDER / "glibc-hwcaps" / level
    return sorted(folder.glob("libpalmette_kernels.so*"))


def _flags_of_this_processor() -> set:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return set()
    return next((set(line.split()) for line in lines if line.startswith("flags")), set())
