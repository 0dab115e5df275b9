"""Solvers whose factor lies on the emulated device."""

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import palmette

DATA = Path(__file__).resolve().parents[2] / "data"

METHODS = ["auto"] + [method.name for method in palmette.methods("a device")]


def emulated():
    return next(kind for kind in palmette.devices() if kind.name == "emulated")


pytestmark = pytest.mark.skipif(not emulated().available, reason=emulated().reason)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_every_method_solves_a_system_of_every_kind(method, dtype):
    A = palmette.generate("convection_diffusion2d", 8).astype(dtype)
    if dtype.startswith("complex"):
        A = A + 0.5j * palmette.generate("poisson2d5", 8).astype(dtype)
    b = np.arange(1, 129).reshape(64, 2).astype(dtype)
    solver = palmette.Solver(A, method=method, device="emulated", measure=False)
    for trans, applied in (("N", A), ("T", A.T), ("H", A.conj().T)):
        x = solver.solve(b, trans=trans)
        scale = np.abs(applied).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()
        assert np.abs(applied @ x - b).max() <= 20 * np.finfo(dtype).eps * scale
    assert solver.report["solve"]["method"] == ("device_tree" if method == "auto" else method)


def test_the_report_names_the_device_and_what_it_did():
    A = palmette.generate("poisson2d9", 10)
    solver = palmette.Solver(A, device="emulated")
    solver.solve(np.ones(100))
    solve = solver.report["solve"]
    assert solve["device"]["address"] == "emulated:0" and solve["device"]["emulated"]
    assert solve["device"]["bytes_in"] >= 800 and solve["device"]["bytes_out"] == 800
    assert solve["device"]["launches"] == 4  # in, two sweeps, out
    assert solve["device"]["memory_bytes"] > 8 * solver.report["analyze"]["nnz_factor"]
    assert solve["bandwidth_gbs"] is None and solve["roofline_fraction"] is None


def test_mixed_precision_refines_a_solution_of_the_device():
    A = palmette.generate("poisson2d9", 8)
    solver = palmette.Solver(A, device="emulated", precision="mixed", measure=False)
    solver.solve(np.ones(64))
    assert solver.report["verify"]["verified"] and solver.report["verify"]["refine_steps"] >= 1


def test_triangles_and_factors_of_others_are_solved_on_the_device():
    L = np.tril(np.random.default_rng(3).standard_normal((30, 30))) / 30 + 2 * np.eye(30)
    b = np.ones(30)
    x = palmette.TriangularSolver(L, device="emulated", measure=False).solve(b)
    assert np.allclose(L @ x, b, rtol=1e-13)
    factored = palmette.from_factors(L=L, U=L.T, device="emulated", measure=False)
    assert np.allclose(L @ (L.T @ factored.solve(b)), b, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize(
    "method", ["auto"] + [method.name for method in palmette.methods("columns of several devices")]
)
def test_triangles_and_factors_of_others_are_solved_on_several_devices(dtype, method):
    T = palmette.generate("random_triangular", 50).astype(dtype)
    if dtype.startswith("complex"):
        T = T + 0.25j * scipy.sparse.eye_array(50)
    b = np.arange(1, 101).reshape(50, 2).astype(dtype)
    solver = palmette.TriangularSolver(
        T, device="emulated", gpus=3, tasks_per_gpu=2, method=method, measure=False
    )
    for trans, applied in (("N", T), ("T", T.T), ("H", T.conj().T)):
        x = solver.solve(b, trans=trans)
        scale = np.abs(applied).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max()
        assert np.abs(applied @ x - b).max() <= 20 * np.finfo(dtype).eps * scale
    assert solver.report["verify"]["verified"] and solver.report["solve"]["device"]["launches"] > 0
    if method != "auto":
        assert solver.report["solve"]["method"] == method
    A = palmette.generate("convection_diffusion2d", 7).astype(dtype)
    lu = scipy.sparse.linalg.splu(A.tocsc())
    factored = palmette.from_factors(lu, A=A, device="emulated", gpus=3, method=method, measure=False)
    x = factored.solve(np.ones(49, dtype))
    assert factored.report["verify"]["verified"] and np.allclose(A @ x, 1, atol=1e-4)
    with pytest.raises(palmette.UsageError, match="2 devices need a kind of device"):
        palmette.TriangularSolver(T, gpus=2)
    with pytest.raises(palmette.UsageError, match="gpus is 0"):
        palmette.TriangularSolver(T, device="emulated", gpus=0)
    with pytest.raises(palmette.UsageError, match="tasks_per_gpu is 0"):
        palmette.TriangularSolver(T, device="emulated", gpus=2, tasks_per_gpu=0)


def test_refactor_uploads_the_new_values():
    A = palmette.generate("poisson2d5", 8)
    solver = palmette.Solver(A, device="emulated", measure=False)
    solver.refactor((2 * A).data)
    assert np.allclose(solver.solve((2 * A) @ np.ones(64)), 1)


def test_a_budget_of_memory_is_kept_and_refused_with_the_bytes_that_are_needed():
    A = palmette.generate("poisson2d9", 20)
    with pytest.raises(palmette.OutOfMemoryError, match="the factor needs") as told:
        palmette.Solver(A, device="emulated@2e4", measure=False)
    needed = int(str(told.value).split("the factor needs ")[1].split()[0])
    solver = palmette.Solver(A, device=f"emulated:0@{needed}", measure=False)
    solver.solve(np.ones(400))
    assert solver.report["verify"]["verified"]
    assert solver.report["solve"]["device"]["memory_bytes"] <= needed
    assert "verified on the host" in solver.report["notes"][-1]


def test_a_budget_of_memory_holds_for_each_of_several_devices():
    A = palmette.generate("poisson2d9", 20)
    with pytest.raises(palmette.OutOfMemoryError, match="20000 bytes of the memory of the device emulated:0"):
        palmette.Solver(A, device="emulated@2e4", gpus=2, measure=False)
    solver = palmette.Solver(A, device="emulated@1e6", gpus=2, measure=False)
    solver.solve(np.ones(400))
    assert 1e5 < solver.report["solve"]["device"]["memory_bytes"] < 2e6


@pytest.mark.parametrize("device", ["emulatd", "emulated:x", "emulated:99", "emulated:-1", "emulated@x"])
def test_an_unknown_device_is_an_error_that_says_what_there_is(device):
    with pytest.raises(palmette.UsageError, match="emulated"):
        palmette.Solver(np.eye(3), device=device)


def test_a_method_of_the_host_is_refused_on_a_device():
    with pytest.raises(palmette.UsageError, match="serial is for one machine; for a device choose"):
        palmette.Solver(np.eye(3), device="emulated", method="serial")


@pytest.mark.parametrize("n", [0, 1, 2])
def test_systems_of_hardly_any_rows_are_solved(n):
    A = np.eye(n) * 4
    x = palmette.Solver(A, device="emulated", measure=False).solve(np.ones(n))
    assert np.array_equal(x, np.full(n, 0.25))


def files_of_systems():
    return sorted(path for path in DATA.glob("*.mtx") if path.stat().st_size < 100_000)


@pytest.mark.parametrize("path", files_of_systems(), ids=lambda path: path.stem)
def test_systems_of_files_are_solved_as_well_as_by_the_serial_engine(path):
    A = palmette.read(path)
    if A.shape[0] != A.shape[1]:
        pytest.skip("not square")
    b = np.ones(A.shape[0])

    def error(**options):
        solver = palmette.Solver(A, measure=False, **options)
        solver.solve(b, refine=0)
        return solver.report["verify"]["backward_error"]

    try:
        serial = error(method="serial")
    except palmette.NumericalError as failure:
        with pytest.raises(type(failure)):
            error(device="emulated")
        return
    for method in METHODS:
        assert error(device="emulated", method=method) <= 2 * max(serial, 4 * np.finfo(A.dtype).eps)


@pytest.mark.parametrize("problem, n", [("poisson2d9", 64), ("poisson3d7", 14)])
def test_problems_of_thousands_of_rows_are_solved_end_to_end(problem, n):
    A = palmette.generate(problem, n)
    solver = palmette.Solver(A, device="emulated", measure=False)
    x = solver.solve(A @ np.ones(A.shape[0]))
    assert solver.report["verify"]["verified"] and np.abs(x - 1).max() < 1e-10


def test_several_devices_solve_together():
    A = palmette.generate("poisson2d5", 20)
    b = np.arange(1.0, 401)
    answers = []
    for gpus in [2, 3, (2, 2)]:
        solver = palmette.Solver(A, device="emulated", gpus=gpus)
        answers.append(solver.solve(b))
        assert solver.report["verify"]["verified"]
        assert solver.report["solve"]["method"] == "devices_fan_out"
    assert all(np.array_equal(x, answers[0]) for x in answers)
    with pytest.raises(palmette.UsageError, match="use a number"):
        palmette.Solver(A, device="emulated", gpus=(1, 2, 3, 4))
    with pytest.raises(palmette.UsageError, match="2 devices need a kind of device"):
        palmette.Solver(A, gpus=2)


def test_layers_of_devices_have_bits_that_depend_on_their_number_alone():
    A = palmette.generate("poisson2d5", 20)
    b = np.arange(1.0, 401)
    for layers in [2, 3]:
        answers = []
        for grid in [(1, 1), (2, 1)]:
            solver = palmette.Solver(A, device="emulated", gpus=(*grid, layers))
            answers.append(solver.solve(b))
            assert solver.report["verify"]["verified"]
            assert solver.report["solve"]["method"] == "devices_one_sync_3d"
        assert np.array_equal(answers[0], answers[1])
    with pytest.raises(palmette.UsageError, match="for several layers of devices"):
        palmette.Solver(A, device="emulated", gpus=(1, 1, 2), method="devices_fan_out")
