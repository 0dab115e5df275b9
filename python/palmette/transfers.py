"""Which grain of communication is fastest among GPUs: bulk copies, chunks, or single stores.

A program's stores are replayed packet by packet over a described interconnect, under ten paradigms, and the
memory of every GPU is compared afterwards. **All times are simulated**; no GPU is used.

>>> from palmette import transfers
>>> trace = transfers.run_application("jacobi", scale=0.05)
>>> results = transfers.simulate(trace, ["copies", "finepack"], "pcie4")
>>> results["finepack"]["different_bytes"]
0

Times do not include contention for a GPU's own memory: trust ratios above 1.2 and bytes, not microseconds.
"""

from __future__ import annotations

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _core as _bindings
from ._interconnects import as_fabric, interconnect, interconnects
from ._goodput import (
    configuration_packet_loss,
    copy_law,
    gps_tables,
    most_stores_per_packet,
    packed_goodput,
    packet_window_bytes,
    store_goodput,
)
from .errors import UsageError

__all__ = [
    "ACCESS",
    "Kernel",
    "Trace",
    "advise",
    "applications",
    "configuration_packet_loss",
    "copy_law",
    "gps_tables",
    "interconnect",
    "interconnects",
    "most_stores_per_packet",
    "packed_goodput",
    "packet_window_bytes",
    "paradigms",
    "read_trace",
    "run_application",
    "simulate",
    "store_goodput",
]

#: One access of a thread: what `Kernel.accesses` holds. ``kind`` is 0 for a store, 1 for a load, 2 for a
#: release; ``scope`` 0 weak, 1 device, 2 system; ``to`` has one bit for each GPU that a store goes to.
ACCESS = np.dtype(
    {
        "names": ["address", "value", "thread", "instruction", "to", "bytes", "kind", "scope"],
        "formats": ["u8", "u8", "u4", "u4", "u2", "u1", "u1", "u1"],
        "offsets": [0, 8, 16, 20, 24, 26, 27, 28],
        "itemsize": 32,
    }
)

_OPTIONS = (
    "issue",
    "work_gbs",
    "launch_us",
    "subheader_bytes",
    "queue_entries",
    "tlb_entries",
    "chunk_bytes",
    "page_hints",
)


class Kernel(NamedTuple):
    """What one GPU does in one phase."""

    work_bytes: float  #: of local memory that it reads and writes
    block_threads: int  #: a multiple of 32
    accesses: np.ndarray  #: of type `ACCESS`
    copies: List[Tuple[int, int, int]]  #: (begin, end, GPUs) that a version with copies copies afterwards


class Trace:
    """What the GPUs of a program store, load and release, phase by phase.

    Parameters
    ----------
    name : str
    phases : sequence of sequences of Kernel
        One kernel for each GPU; all GPUs wait for each other after a phase.
    memory_bytes : int, optional
        Shared memory, which has the same addresses on each GPU. By default as much as is accessed or copied.

    Raises
    ------
    UsageError
        If an access or copy lies outside memory, or goes to a GPU that there is not.

    Examples
    --------
    GPU 0 stores 512 values of 8 bytes for GPU 1:

    >>> import numpy as np
    >>> from palmette.transfers import ACCESS, Kernel, Trace, simulate
    >>> stores = np.zeros(512, ACCESS)
    >>> stores["thread"] = np.arange(512)
    >>> stores["address"] = 8 * np.arange(512)
    >>> stores["bytes"], stores["value"], stores["to"] = 8, 7, 0b10
    >>> idle = Kernel(0, 128, np.zeros(0, ACCESS), [])
    >>> trace = Trace("mine", [[Kernel(1e5, 128, stores, [(0, 4096, 0b10)]), idle]])
    >>> simulate(trace, ["peer_stores"])["peer_stores"]["packets"]
    32
    """

    def __init__(
        self, name: str, phases: Sequence[Sequence[Kernel]], memory_bytes: Optional[int] = None
    ) -> None:
        kernels = [[_checked(kernel) for kernel in phase] for phase in phases]
        if not kernels:
            raise UsageError("a trace needs a phase")
        reach = [_reach(kernel) for phase in kernels for kernel in phase]
        memory = max(reach, default=0) if memory_bytes is None else int(memory_bytes)
        given = [[(k[0], k[1], k[2].view(np.uint8), k[3]) for k in phase] for phase in kernels]
        self._core = _bindings.StoreTrace.make(str(name), len(kernels[0]), memory, given)

    @classmethod
    def _of(cls, core: Any) -> Trace:
        trace = cls.__new__(cls)
        trace._core = core
        return trace

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def gpus(self) -> int:
        return self._core.devices

    @property
    def memory_bytes(self) -> int:
        return self._core.memory_bytes

    @property
    def num_phases(self) -> int:
        return self._core.phases

    @property
    def num_accesses(self) -> int:
        return self._core.accesses

    def kernel(self, phase: int, gpu: int) -> Kernel:
        """What this GPU does in this phase, in copies: changes do not reach the trace."""
        if not (0 <= phase < self.num_phases and 0 <= gpu < self.gpus):
            raise UsageError(f"there is no phase {phase} of GPU {gpu}: {self!r}")
        work, threads, accesses, copies = self._core.kernel(phase, gpu)
        return Kernel(work, threads, accesses.view(ACCESS), copies)

    def write(self, path: Union[str, os.PathLike]) -> None:
        """As text, or, if the name ends in .bin, as bytes.

        Raises
        ------
        IoError
        """
        name = os.fspath(path)
        self._core.write(name, name.endswith(".bin"))

    def __repr__(self) -> str:
        return (
            f"<Trace {self.name}: {self.gpus} GPUs, {self.num_phases} phases,"
            f" {self.num_accesses} accesses>"
        )


def paradigms() -> List[str]:
    """How GPUs may pass on what they compute, as `simulate` calls it."""
    return _bindings.transfer_names()["paradigms"]


def applications() -> List[str]:
    """Programs for `run_application`."""
    return _bindings.transfer_names()["applications"]


def read_trace(path: Union[str, os.PathLike]) -> Trace:
    """A trace in either of the formats that the guide describes.

    Raises
    ------
    IoError
        With file and line.
    """
    return Trace._of(_bindings.StoreTrace.read(os.fspath(path)))


def run_application(
    name: str,
    *,
    gpus: int = 4,
    scale: float = 1.0,
    iterations: int = 0,
    seed: int = 1,
    ratings: Union[str, os.PathLike] = "",
) -> Trace:
    """Run a program on one thread for each GPU, check it against a serial answer, and return its trace.

    Parameters
    ----------
    name : str
        One of `applications`.
    gpus : int
        1 to 16.
    scale : float
        Of the number of unknowns, roughly.
    iterations : int
        0: as many as usual.
    ratings : str or path, optional
        For "als": a text file with user, item and rating in each line, instead of generated ratings; it
        takes the first `scale` of them.

    Raises
    ------
    UsageError
    IoError
        With file and line of a rating that cannot be read.
    """
    given: Dict[str, Any] = {"gpus": int(gpus), "scale": float(scale), "iterations": int(iterations)}
    given.update(seed=int(seed), ratings=os.fspath(ratings))
    return Trace._of(_bindings.run_transfer_application(name, given))


def simulate(
    trace: Trace,
    paradigms: Union[str, Iterable[str]] = "all",
    interconnect: Union[str, Dict[str, Any]] = "pcie4",
    **options: Any,
) -> Dict[str, Dict[str, Any]]:
    """Replay a trace under each paradigm.

    Parameters
    ----------
    trace : Trace
    paradigms : str or iterable of str
        Names from `paradigms`, or "all".
    interconnect : str or dict
        A name, a file, or what `interconnect` returned.
    **options
        ``issue`` ("greedy" or "in_turn": which warp is next), ``work_gbs`` (10⁹ bytes of local memory that
        kernels use per second), ``launch_us``, ``subheader_bytes`` (of FinePack, 2 to 6), ``queue_entries``,
        ``tlb_entries``, ``chunk_bytes`` (of PROACT; by default the best of 16 KB to 1 MB, or none),
        ``page_hints``.

    Returns
    -------
    dict
        For each paradigm its figures: ``seconds`` (simulated), ``speedup`` over one GPU, ``wire_bytes`` =
        ``useful_bytes`` + ``wasted_bytes`` + ``overhead_bytes``, ``packets``, ``different_bytes`` (0 if all
        memory images are right), and others.

    Raises
    ------
    UsageError
    """
    fabric, given = as_fabric(interconnect), _options(options)
    names = [paradigms] if isinstance(paradigms, str) else list(paradigms)
    if names == ["all"]:
        names = _bindings.transfer_names()["paradigms"]
    single = _bindings.simulate_transfers(trace._core, fabric, "single", given)["seconds"]
    results = {name: _bindings.simulate_transfers(trace._core, fabric, name, given) for name in names}
    for result in results.values():
        result["speedup"] = single / result["seconds"] if result["seconds"] > 0 else 1.0
    return results


def advise(
    trace: Trace, interconnect: Union[str, Dict[str, Any]] = "pcie4", **options: Any
) -> Dict[str, Any]:
    """The fastest of copies, unified memory, peer loads, peer stores and chunks for this program.

    Parameters
    ----------
    trace, interconnect, **options
        As for `simulate`.

    Returns
    -------
    dict
        ``winner``, its ``chunk_bytes`` (0 if it is not "proact"), its ``margin`` over the next best, all
        ``candidates`` (fastest first), and ``sensitivity``: the winner and margin with each estimated
        parameter halved and doubled.

    Raises
    ------
    UsageError
    """
    return _bindings.advise_transfers(trace._core, as_fabric(interconnect), _options(options))


def _options(options: Dict[str, Any]) -> Dict[str, Any]:
    wrong = sorted(set(options) - set(_OPTIONS))
    if wrong:
        raise UsageError(f"there is no option {wrong[0]!r}; options are {', '.join(_OPTIONS)}")
    kinds = {"issue": str, "work_gbs": float, "launch_us": float, "page_hints": bool}
    return {key: kinds.get(key, int)(value) for key, value in options.items()}


def _checked(kernel: Kernel) -> Kernel:
    work, threads, accesses, copies = kernel
    accesses = np.ascontiguousarray(accesses)
    if accesses.dtype != ACCESS or accesses.ndim != 1:
        raise UsageError("accesses are a one-dimensional array of type palmette.transfers.ACCESS")
    ranges = [(int(begin), int(end), int(to)) for begin, end, to in copies]
    return Kernel(float(work), int(threads), accesses, ranges)


def _reach(kernel: Kernel) -> int:
    """The first address behind all that it accesses or copies."""
    accesses = kernel.accesses
    ends = accesses["address"] + accesses["bytes"]
    return max([int(ends.max(initial=0)), *(end for _, end, _ in kernel.copies)])
