"""Right-hand sides that lie on a device, by the interfaces of other packages; on the emulated device."""

import numpy as np
import pytest

import palmette

emulated = next(kind for kind in palmette.devices() if kind.name == "emulated")
pytestmark = pytest.mark.skipif(not emulated.available, reason=emulated.reason)

DTYPES = ["float32", "float64", "complex64", "complex128"]


class ByCudaInterface:
    """An array that tells only what CuPy's and PyTorch's do."""

    def __init__(self, array, **changes):
        self.keeps = array
        self.__cuda_array_interface__ = {**array.__cuda_array_interface__, **changes}


class ByDlpack:
    """An array that tells only what JAX's does."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def system(dtype, n=8):
    A = palmette.generate("convection_diffusion2d", n).astype(dtype)
    if np.dtype(dtype).kind == "c":
        A = A + 0.5j * palmette.generate("poisson2d5", n).astype(dtype)
    return A


def columns(n, k, dtype):
    random = np.random.default_rng(3)
    b = random.standard_normal((n, k)).astype(dtype)
    return b + 1j * b[::-1] if np.dtype(dtype).kind == "c" else b


@pytest.mark.parametrize("wrap", [lambda array: array, ByCudaInterface, ByDlpack])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_of_the_device_give_the_bits_of_arrays_of_the_host(dtype, order, wrap):
    A = system(dtype)
    solver = palmette.Solver(A, device="emulated", measure=False)
    for b in (columns(64, 3, dtype), columns(64, 1, dtype), columns(64, 1, dtype)[:, 0]):
        there = palmette.DeviceArray(b, "emulated", order)
        for trans in ("N", "H"):
            x = solver.solve(wrap(there), trans=trans)
            assert isinstance(x, palmette.DeviceArray) and x.shape == b.shape and x.dtype == b.dtype
            assert solver.report["verify"]["verified"]
            assert solver.report["solve"]["device"]["bytes_in"] == 0
            assert solver.report["solve"]["device"]["bytes_out"] == 0
            assert np.array_equal(x.numpy(), solver.solve(b, trans=trans))
        assert np.array_equal(there.numpy(), b)


def test_out_is_written_where_it_lies():
    A = system("float64")
    solver = palmette.Solver(A, device="emulated", measure=False)
    b = columns(64, 3, "float64")
    for order in ("C", "F"):
        out = palmette.DeviceArray.empty((64, 3), "float64", "emulated", order)
        wrapped = ByCudaInterface(out)
        assert solver.solve(palmette.DeviceArray(b, "emulated"), out=wrapped) is wrapped
        assert np.array_equal(out.numpy(), solver.solve(b))
    both = palmette.DeviceArray(b, "emulated", "F")
    solver.solve(both, out=both)
    assert np.array_equal(both.numpy(), solver.solve(b))
    here = np.empty((64, 3))
    assert solver.solve(b, out=here) is here and np.array_equal(here, solver.solve(b))


def test_triangles_and_mixed_precision_take_arrays_of_the_device():
    L = np.tril(np.random.default_rng(3).standard_normal((30, 30))) / 30 + 2 * np.eye(30)
    b = palmette.DeviceArray(np.ones(30), "emulated")
    x = palmette.TriangularSolver(L, device="emulated", measure=False).solve(b)
    assert np.allclose(L @ x.numpy(), 1, rtol=1e-13)
    factored = palmette.from_factors(L=L, U=L.T, device="emulated", measure=False)
    assert np.allclose(L @ (L.T @ factored.solve(b).numpy()), 1, rtol=1e-12)
    A = palmette.generate("poisson2d9", 8)
    mixed = palmette.Solver(A, device="emulated", precision="mixed", measure=False)
    x = mixed.solve(palmette.DeviceArray(np.ones(64), "emulated"))
    assert mixed.report["verify"]["verified"] and mixed.report["verify"]["refine_steps"] >= 1
    assert np.allclose(A @ x.numpy(), 1, rtol=1e-12)


def test_what_is_told_of_an_array_is_what_other_packages_expect():
    values = columns(6, 2, "float32")
    for order, strides in (("C", (8, 4)), ("F", (4, 24))):
        array = palmette.DeviceArray(values, "emulated:1", order)
        told = array.__cuda_array_interface__
        assert told["shape"] == (6, 2) and told["typestr"] == "<f4" and told["version"] == 3
        assert told["strides"] == strides == array.strides and told["data"][0] > 0
        assert array.__dlpack_device__() == (12, 1) and array.device == "emulated:1"
        assert "dltensor" in repr(array.__dlpack__())
        assert np.array_equal(array.numpy(), values) and array.ndim == 2


def test_an_array_outlives_its_name_while_another_package_has_it():
    capsule = palmette.DeviceArray(np.arange(5.0), "emulated").__dlpack__()
    palmette.DeviceArray(np.zeros(5), "emulated")
    del capsule


def test_arrays_that_do_not_fit_are_refused_by_name():
    A = system("float64")
    solver = palmette.Solver(A, device="emulated", measure=False)
    b = palmette.DeviceArray(np.ones((64, 4)), "emulated")
    with pytest.raises(palmette.UsageError, match="dtype float32, but the solver float64"):
        solver.solve(palmette.DeviceArray(np.ones(64, "float32"), "emulated"))
    with pytest.raises(palmette.DimensionError, match=r"shape \(63,\).*64 rows"):
        solver.solve(palmette.DeviceArray(np.ones(63), "emulated"))
    with pytest.raises(palmette.UsageError, match="gaps"):
        solver.solve(ByCudaInterface(b, shape=(64, 2)))
    with pytest.raises(palmette.UsageError, match="does not lie in the memory of the device emulated:0"):
        solver.solve(palmette.DeviceArray(np.ones(64), "emulated:1"))
    with pytest.raises(palmette.UsageError, match="out does not"):
        solver.solve(b, out=np.empty((64, 4)))
    with pytest.raises(palmette.UsageError, match="b does not"):
        solver.solve(np.ones((64, 4)), out=b)
    with pytest.raises(palmette.DimensionError, match="out has shape"):
        solver.solve(b, out=palmette.DeviceArray.empty((64, 2), "float64", "emulated"))
    with pytest.raises(palmette.UsageError, match="mask"):
        solver.solve(ByCudaInterface(b, mask=b))
    with pytest.raises(palmette.UsageError, match="the factor on the host"):
        palmette.Solver(A, measure=False).solve(b)
    broken = np.ones(64)
    broken[9] = np.nan
    with pytest.raises(palmette.UsageError, match="row 10, column 1"):
        solver.solve(palmette.DeviceArray(broken, "emulated"))
    with pytest.raises(palmette.UsageError, match="floats or complex"):
        palmette.DeviceArray(np.arange(3), "emulated")
    with pytest.raises(palmette.UsageError, match="'none' is the host"):
        palmette.DeviceArray(np.ones(3), "none")


def test_no_columns_are_solved():
    solver = palmette.Solver(system("float64"), device="emulated", measure=False)
    x = solver.solve(palmette.DeviceArray(np.ones((64, 0)), "emulated"))
    assert x.shape == (64, 0) and x.numpy().shape == (64, 0)
