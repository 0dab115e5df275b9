"""Arrays in the memory of devices: Palmette's own, and those of CuPy, PyTorch, JAX and others, which are read
and written where they lie."""

from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

import numpy as np

from . import _core
from .errors import DimensionError, UsageError

# Types of devices in DLPack: CUDA, ROCm, CUDA's managed memory, and for the emulated device "extension".
_CUDA, _ROCM, _EMULATED, _MANAGED = 2, 10, 12, 13
_CODES = {"f": 2, "c": 5}
_KINDS = {code: kind for kind, code in _CODES.items()}


class _View(NamedTuple):
    """An array of any package, as the library takes it."""

    pointer: int
    shape: Tuple[int, ...]
    dtype: np.dtype
    by_rows: bool
    stream: int

    def for_core(self) -> Dict[str, Any]:
        cols = self.shape[1] if len(self.shape) == 2 else 1
        return {"pointer": self.pointer, "rows": self.shape[0], "cols": cols, "by_rows": self.by_rows}


class DeviceArray:
    """A dense array in the memory of a device, in C or Fortran order.

    Solvers whose factor lies on that device take it as right-hand side without a copy, and return their
    solutions as such arrays. ``cupy.asarray``, ``torch.as_tensor`` and ``jax.dlpack.from_dlpack`` take it
    without a copy too, if the device is a GPU.

    Parameters
    ----------
    array : array_like
        What it shall hold; its dtype is kept.
    device : str
        One of `devices()`, with a number if there are several: "cuda:1".
    order : {"C", "F"}
        The order of two-dimensional arrays.

    Examples
    --------
    >>> import numpy as np, palmette
    >>> b = palmette.DeviceArray(np.ones(9), "emulated")
    >>> solver = palmette.Solver(palmette.generate("poisson2d5", 3), device="emulated")
    >>> x = solver.solve(b)
    >>> x
    <palmette.DeviceArray of shape (9,), float64, on emulated:0>
    >>> x.numpy().round(4)[:3]
    array([0.6875, 0.875 , 0.6875])
    """

    def __init__(self, array: Any, device: str, order: str = "C") -> None:
        values = np.asarray(array, order="F" if order == "F" else "C")
        self._make(values.shape, values.dtype, device, order)
        self._buffer.copy_in(_bytes_of(values))

    @classmethod
    def empty(cls, shape: Tuple[int, ...], dtype: Any, device: str, order: str = "C") -> DeviceArray:
        """An array whose values are not defined."""
        array = cls.__new__(cls)
        array._make(tuple(shape), np.dtype(dtype), device, order)
        return array

    def _make(self, shape: Tuple[int, ...], dtype: np.dtype, device: str, order: str) -> None:
        if order not in ("C", "F"):
            raise UsageError(f"order is {order!r}; use 'C' or 'F'")
        if dtype.kind not in _CODES:
            raise UsageError(f"dtype is {dtype}; arrays on devices hold floats or complex numbers")
        self.shape, self.dtype, self._order = shape, dtype, order
        self._buffer = _core.DeviceBuffer(device, int(np.prod(shape)) * dtype.itemsize)

    @property
    def device(self) -> str:
        """Address of the device: "cuda:0"."""
        return self._buffer.device

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def numpy(self) -> np.ndarray:
        """A copy on the host."""
        values = np.empty(self.shape, self.dtype, order=self._order)
        self._buffer.copy_out(_bytes_of(values))
        return values

    @property
    def strides(self) -> Tuple[int, ...]:
        """Bytes from an entry to the next along each dimension."""
        steps, bytes_so_far = [], self.dtype.itemsize
        for length in self.shape if self._order == "F" else self.shape[::-1]:
            steps.append(bytes_so_far)
            bytes_so_far *= length
        return tuple(steps if self._order == "F" else steps[::-1])

    @property
    def __cuda_array_interface__(self) -> Dict[str, Any]:
        return {"shape": self.shape, "typestr": self.dtype.str, "data": (self._buffer.pointer, False),
                "strides": self.strides, "version": 3, "stream": 1}

    def __dlpack_device__(self) -> Tuple[int, int]:
        kind, _, number = self.device.partition(":")
        return {"cuda": _CUDA, "hip": _ROCM}.get(kind, _EMULATED), int(number or 0)

    def __dlpack__(self, **options: Any) -> Any:
        device_type, device_id = self.__dlpack_device__()
        itemsize = self.dtype.itemsize
        layout = {"strides": [step // itemsize for step in self.strides], "code": _CODES[self.dtype.kind],
                  "bits": 8 * itemsize, "device_type": device_type, "device_id": device_id}
        return _core.dlpack_export(self, self._buffer.pointer, list(self.shape), layout)

    def __repr__(self) -> str:
        return f"<palmette.DeviceArray of shape {self.shape}, {self.dtype}, on {self.device}>"


def is_on_device(b: Any) -> bool:
    """Whether b is an array of a device, of whatever package."""
    if hasattr(b, "__cuda_array_interface__"):
        return True
    if isinstance(b, np.ndarray) or not hasattr(b, "__dlpack_device__"):
        return False
    return int(b.__dlpack_device__()[0]) in (_CUDA, _ROCM, _EMULATED, _MANAGED)


def view_of(array: Any, n: int, dtype: np.dtype, name: str = "b") -> _View:
    """The array as n × k columns or rows of this type.

    Raises
    ------
    DimensionError, UsageError
        If it has another shape, another type or gaps.
    """
    pointer, shape, steps, found, stream = _facts_of(array)
    if len(shape) not in (1, 2) or shape[0] != n:
        raise DimensionError(f"{name} has shape {shape}; it must be a vector or a matrix of {n} rows")
    if found != dtype:
        raise UsageError(f"{name} has dtype {found}, but the solver {dtype}; convert it on its device")
    cols = shape[1] if len(shape) == 2 else 1
    along_rows = steps[1] if len(shape) == 2 else 1
    by_columns = (n <= 1 or steps[0] == 1) and (cols <= 1 or along_rows == n)
    by_rows = (n <= 1 or steps[0] == cols) and (cols <= 1 or along_rows == 1)
    if not by_columns and not by_rows:
        raise UsageError(f"{name} has gaps between its entries; make it contiguous")
    return _View(pointer, shape, found, not by_columns, stream)


def _facts_of(array: Any) -> Tuple[int, Tuple[int, ...], Tuple[int, ...], np.dtype, int]:
    """Pointer, shape, steps in entries, type and stream."""
    told = getattr(array, "__cuda_array_interface__", None)
    if told is None:
        pointer, shape, steps, code, bits, _, _ = _core.dlpack_facts(array)
        if code not in _KINDS:
            raise UsageError("an array on a device must hold floats or complex numbers")
        return pointer, shape, steps, np.dtype(f"{_KINDS[code]}{bits // 8}"), 0
    dtype, shape = np.dtype(told["typestr"]), tuple(told["shape"])
    if told.get("mask") is not None:
        raise UsageError("an array with a mask cannot be solved with")
    strides = told.get("strides")
    steps = _dense_steps(shape) if strides is None else tuple(step // dtype.itemsize for step in strides)
    return int(told["data"][0] or 0), shape, steps, dtype, int(told.get("stream") or 0)


def _dense_steps(shape: Tuple[int, ...]) -> Tuple[int, ...]:
    """Steps of C order."""
    return tuple(int(np.prod(shape[k + 1:])) for k in range(len(shape)))


def room_for(b: _View, device: str, out: Optional[Any]) -> Tuple[Any, _View]:
    """The array for x, and how the library sees it: `out`, or a new one like b."""
    if out is None:
        out = DeviceArray.empty(b.shape, b.dtype, device, "C" if b.by_rows else "F")
    elif not is_on_device(out):
        raise UsageError("b lies on a device, but out does not")
    x = view_of(out, b.shape[0], b.dtype, "out")
    if x.shape != b.shape:
        raise DimensionError(f"out has shape {x.shape}, but b has shape {b.shape}")
    return out, x


def _bytes_of(values: np.ndarray) -> np.ndarray:
    """The memory of an array in C or Fortran order; nothing is copied."""
    return values.reshape(-1, order="A").view(np.uint8)
