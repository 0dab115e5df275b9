"""Asks CUDA's driver for GPUs, without a build and within a second."""

import ctypes


def first_gpu(library="libcuda.so.1"):
    """(name of the first GPU, "") or ("", why there is none)."""
    try:
        driver = ctypes.CDLL(library)
    except OSError:
        return "", f"there is no driver of CUDA ({library})"
    status = driver.cuInit(0)
    if status != 0:
        return "", f"the driver of CUDA finds no GPU (cuInit returned {status})"
    count = ctypes.c_int(0)
    if driver.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return "", "the driver of CUDA finds no GPU"
    device, name = ctypes.c_int(0), ctypes.create_string_buffer(256)
    if (
        driver.cuDeviceGet(ctypes.byref(device), 0) != 0
        or driver.cuDeviceGetName(name, len(name), device) != 0
    ):
        return "", "the driver of CUDA does not name its first GPU"
    return name.value.decode(errors="replace"), ""
