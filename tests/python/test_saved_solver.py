"""Solvers that stay in files, and pickled ones."""

import pickle
import re

import numpy as np
import pytest
from scipy import sparse

import palmette
from palmette.errors import IoError, UsageError


def systems():
    grid = palmette.generate("poisson2d5", 12)
    yield "llt", {}, grid
    yield "llt by columns", {}, palmette.generate("poisson2d5", 4)
    yield "ldlt", {"kind": "ldlt", "ordering": "amd"}, (grid - 0.7 * sparse.eye_array(144)).tocsc()
    yield "lu", {"ordering": "amd"}, palmette.generate("convection_diffusion2d", 12)
    yield "complex", {"ordering": "amd"}, (grid + 1j * sparse.eye_array(144)).tocsc()
    yield "single", {"ordering": "amd"}, grid.astype(np.float32)
    yield "mixed", {"precision": "mixed"}, grid


@pytest.mark.parametrize("name, options, A", [pytest.param(*case, id=case[0]) for case in systems()])
def test_x_has_the_same_bits_after_load_and_after_pickle(name, options, A, tmp_path):
    solver = palmette.Solver(A, **options)
    b = np.random.default_rng(1).standard_normal((A.shape[0], 3))
    x = solver.solve(b)
    solver.save(tmp_path / "A.factors")
    for again in (
        palmette.load(tmp_path / "A.factors"),
        palmette.load(tmp_path / "A.factors", map=False, check=False, threads=1),
        pickle.loads(pickle.dumps(solver)),
    ):
        assert np.array_equal(again.solve(b), x)
        assert (again.shape, again.dtype, again.kind, again.nnz) == (
            solver.shape, solver.dtype, solver.kind, solver.nnz)
        assert repr(again) == repr(solver)
        if name != "mixed":
            few = sparse.csc_array(b[:, :1])
            assert np.array_equal(again.solve_sparse(few, rows=[0, 3]), solver.solve_sparse(few, rows=[0, 3]))
        again.refactor((2 * A).tocsc())
        assert np.allclose(again.solve(b), x / 2, rtol=1e-4)


def test_pickled_solvers_take_values_in_the_order_of_the_first_matrix():
    A = sparse.csc_array((np.array([3.0, 2.0, 1.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    again = pickle.loads(pickle.dumps(palmette.Solver(A)))
    again.refactor(np.array([6.0, 4.0, 2.0]))
    assert np.allclose(again.solve([4.0, 8.0]), [1.0, 1.0])


def test_files_that_cannot_be_used_are_refused_with_the_remedy(tmp_path):
    path = tmp_path / "A.factors"
    solver = palmette.Solver(np.eye(3))
    solver.save(path)
    whole = path.read_bytes()
    for bad, word in (
        (whole[:-1], "cut short"),
        (whole + b"x", "appended"),
        (b"%%MatrixMarket" * 20, "not saved by Palmette"),
        (whole[:300] + bytes([whole[300] ^ 1]) + whole[301:], "damaged"),
    ):
        path.write_bytes(bad)
        with pytest.raises(IoError, match=f"A.factors.*{word}.*factorize the matrix again") as caught:
            palmette.load(path)
        assert caught.value.file == str(path)
    with pytest.raises(IoError, match="absent"):
        palmette.load(tmp_path / "absent")
    with pytest.raises(IoError, match="cannot be written"):
        solver.save(tmp_path / "absent" / "A.factors")
    with pytest.raises(UsageError, match="threads"):
        palmette.load(path, threads=0)


def test_the_file_is_read_from_any_process_start_to_end(tmp_path):
    import subprocess
    import sys

    A = palmette.generate("convection_diffusion2d", 12)
    solver = palmette.Solver(A, ordering="amd")
    solver.save(tmp_path / "A.factors")
    code = (
        "import sys, numpy, palmette; s = palmette.load(sys.argv[1]);"
        "sys.stdout.buffer.write(s.solve(numpy.ones(144)).tobytes())"
    )
    command = [sys.executable, "-c", code, tmp_path / "A.factors"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == solver.solve(np.ones(144)).tobytes()


def test_a_memory_budget_leaves_the_factors_in_the_file(tmp_path):
    A = palmette.generate("poisson3d7", 12)
    solver = palmette.Solver(A, kind="llt", measure=False)
    path = tmp_path / "A.factors"
    solver.save(path)
    with pytest.raises(palmette.UsageError, match=r"give at least (\d+) bytes") as refused:
        palmette.load(path, memory_budget=1, measure=False)
    least = int(re.search(r"at least (\d+)", str(refused.value)).group(1))
    b = np.random.default_rng(3).standard_normal((A.shape[0], 3))
    for budget in (least, 10**9):
        small = palmette.load(path, memory_budget=budget, disk_gbs=1.5)
        assert np.array_equal(small.solve(b), solver.solve(b))
        file = small.report["solve"]["file"]
        assert file["bytes"] > 0 and file["memory_budget"] == budget and file["disk_gbs"] == 1.5
        assert np.isclose(file["disk_fraction"], file["read_gbs"] / 1.5)
        for refused in (lambda: small.refactor(A), lambda: small.save(tmp_path / "B"), small.L,
                        lambda: small.update_factor(np.eye(A.shape[0], 1))):
            with pytest.raises(palmette.UsageError, match="without a memory budget"):
                refused()
    assert small.solve(b) is not None  # everything is in memory now
    assert small.report["solve"]["file"]["bytes"] == 0
    with pytest.raises(palmette.UsageError, match="memory_budget"):
        palmette.load(path, memory_budget=0)
