"""Batches of small systems."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import palmette
from palmette.errors import DimensionError, SingularError, UnverifiedWarning, UsageError


def varied(A, systems, seed=0):
    random = np.random.default_rng(seed)
    noise = 1 + 0.01 * random.standard_normal((systems, A.nnz))
    return A.data * random.uniform(0.9, 1.1, (systems, 1)) * noise


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("k", [None, 2])
def test_solutions_are_those_of_scipys_loop(dtype, k):
    A = palmette.generate("convection_diffusion2d", 6).astype(dtype)
    if dtype in "FD":
        A = (A + 0.5j * sparse.eye_array(36)).tocsc().astype(dtype)
    values = varied(A, 21).astype(dtype)
    b = np.random.default_rng(2).standard_normal((21, 36) if k is None else (21, 36, k)).astype(dtype)
    batch = palmette.BatchSolver(A)
    assert batch.report is None and batch.kind == "lu" and batch.dtype == A.dtype and "36 x 36" in repr(batch)
    x = batch.solve(values, b)
    assert x.shape == b.shape and x.dtype == A.dtype
    for own, rhs, solution in zip(values, b, x):
        theirs = linalg.splu(sparse.csc_matrix((own, A.indices, A.indptr), shape=A.shape)).solve(rhs)
        loose = dtype in "fF"
        assert np.allclose(solution, theirs, rtol=2e-3 if loose else 1e-9, atol=1e-4 if loose else 0)
    assert batch.report["verified"] and set(batch.report["state"]) == {"solved"}
    assert batch.report["backward_error"].max() <= batch.report["bound"]


def test_values_come_in_the_order_of_the_first_matrix():
    A = sparse.csc_array((np.array([3.0, 2.0, 1.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert np.allclose(palmette.BatchSolver(A).solve([[3.0, 2.0, 1.0]], [[2.0, 4.0]]), [[1.0, 1.0]])
    # duplicates are summed
    A = sparse.csc_array((np.array([1.0, 1.0, 4.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert np.allclose(palmette.BatchSolver(A).solve([[1.0, 2.0, 4.0]], [[3.0, 4.0]]), [[1.0, 1.0]])
    small = np.array([[100, 100, 4]], dtype=np.int8)
    assert np.allclose(palmette.BatchSolver(A).solve(small, [[200.0, 4.0]]), [[1.0, 1.0]])


def test_systems_that_fail_are_named_and_the_others_solved():
    batch = palmette.BatchSolver(np.array([[4.0, 1.0], [1.0, 3.0]]), kind="llt")
    with pytest.warns(UnverifiedWarning, match="not solved, the first is system 1: not_definite"):
        x = batch.solve([[4.0, 1.0, 1.0, 3.0], [1.0, 2.0, 2.0, 1.0]], [[5.0, 4.0], [3.0, 3.0]])
    assert np.allclose(x[0], 1) and np.isnan(x[1]).all()
    assert list(batch.report["state"]) == ["solved", "not_definite"] and batch.report["failed"] == 1
    assert set(batch.report["state"]) <= set(batch.states)
    regular = palmette.BatchSolver(np.array([[4.0, 1.0], [1.0, 3.0]]))
    # Elimination in place meets a zero; a solver of its own exchanges rows.
    assert np.allclose(regular.solve([[0.0, 2.0, 2.0, 0.0]], [[2.0, 2.0]]), 1)
    assert regular.report["solved_alone"] == 1 and regular.report["verified"]


def test_what_does_not_fit_is_refused():
    batch = palmette.BatchSolver(np.array([[4.0, 1.0], [2.0, 3.0]]), threads=1)
    with pytest.raises(DimensionError, match="values has shape"):
        batch.solve(np.ones((2, 3)), np.ones((2, 2)))
    with pytest.raises(DimensionError, match="b has shape"):
        batch.solve(np.ones((2, 4)), np.ones((3, 2)))
    with pytest.raises(UsageError, match="b are complex"):
        batch.solve(np.ones((1, 4)), 1j * np.ones((1, 2)))
    with pytest.raises(UsageError, match="needs symmetric matrices"):
        palmette.BatchSolver(np.array([[4.0, 1.0], [2.0, 3.0]]), kind="llt")
    with pytest.raises(SingularError):
        palmette.BatchSolver(np.array([[1.0, 1.0], [0.0, 0.0]]))
    assert batch.solve(np.ones((0, 4)), np.ones((0, 2))).shape == (0, 2)
