"""Inertia with replaced pivots, null spaces, and changes of low rank: against dense NumPy."""

import numpy as np
import pytest
from conftest import DTYPES, some, system
from scipy import sparse

import palmette


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["llt", "ldlt", "lu"])
def test_an_updated_system_is_solved_as_by_numpy(kind, dtype):
    A = system(kind, dtype, 60)
    U, V = some((60, 4), dtype), some((60, 4), dtype, 3)
    updated = palmette.Solver(A, kind=kind).update(U, sparse.csc_array(V))
    B = A.toarray().astype("complex128") + U.astype("complex128") @ V.astype("complex128").T
    b = some((60, 2), dtype, 4)
    tolerance = (1e-3 if dtype in ("float32", "complex64") else 1e-10)
    for trans, op in (("N", B), ("T", B.T), ("H", B.conj().T)):
        x = updated.solve(b, trans=trans)
        assert x.dtype == np.dtype(dtype)
        expected = np.linalg.solve(op, b)
        assert np.abs(x - expected).max() < tolerance * np.abs(expected).max()
        assert updated.report["verified"] and updated.report["rank"] == 4


def test_one_column_and_u_alone_are_a_symmetric_change():
    A = palmette.generate("poisson2d5", 10)
    u = np.zeros(100)
    u[[3, 50]] = 1, -1
    b = np.ones(100)
    updated = palmette.Solver(A).update(u)
    assert np.abs((A + np.outer(u, u)) @ updated.solve(b) - b).max() < 1e-13
    assert np.abs((A + np.outer(u, u)) @ updated.solve(b + 1j) - b - 1j).max() < 1e-13
    assert "rank 1" in repr(updated) and updated.shape == (100, 100)


def test_an_update_to_a_singular_matrix_is_refused():
    with pytest.raises(palmette.SingularError, match="capacitance matrix of order 1"):
        palmette.Solver(np.eye(3)).update([1.0, 0, 0], [-1.0, 0, 0])


@pytest.mark.parametrize("U, V, error", [
    (np.ones(4), None, palmette.DimensionError),
    (np.ones((3, 2)), np.ones((3, 1)), palmette.DimensionError),
    (np.ones((3, 1, 1)), None, palmette.DimensionError),
    ([np.inf, 0, 0], None, palmette.UsageError),
    ([1j, 0, 0], None, palmette.UsageError),
    (np.ones((3, 4)), None, palmette.UsageError),
])
def test_bad_changes_are_refused(U, V, error):
    with pytest.raises(error):
        palmette.Solver(np.eye(3)).update(U, V)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_factor_is_updated_and_downdated_by_sparse_columns(dtype):
    A = system("llt", dtype, 60)
    W = np.zeros((60, 3), dtype)
    for k, column in enumerate([0, 20, 41]):  # two rows of an entry of A: the factor has places for them
        W[[column, next(row for row in A[:, [column]].nonzero()[0] if row != column)], k] = 0.5, 0.25
    W = sparse.csc_array(W)
    solver = palmette.Solver(A, kind="llt")
    B = A.toarray().astype("complex128") + (W @ W.conj().T).toarray().astype("complex128")
    b = some((60, 2), dtype, 4)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-10
    done = solver.update_factor(W)
    assert done["rank"] == 3 and 0 < done["supernodes"] <= done["num_supernodes"] and done["flops"] > 0
    assert np.abs(B @ solver.solve(b) - b).max() < tolerance
    assert solver.report["verify"]["verified"]
    assert abs(solver.slogdet().logabsdet - np.linalg.slogdet(B)[1]) < 60 * tolerance
    solver.update_factor(W, subtract=True)
    assert np.abs(A @ solver.solve(b) - b).max() < tolerance


def test_a_downdate_to_an_indefinite_matrix_leaves_the_solver_as_it_was():
    solver = palmette.Solver(np.array([[4.0, 1.0], [1.0, 4.0]]), kind="llt")
    with pytest.raises(palmette.NotPositiveDefiniteError, match="not positive definite"):
        solver.update_factor([3.0, 0.0], subtract=True)
    assert np.allclose(solver.solve([5.0, 5.0]), 1)


def test_new_values_follow_the_pattern_of_the_changed_matrix():
    A = sparse.csc_array(np.diag([4.0] * 4) + np.diag([1.0] * 3, 1) + np.diag([1.0] * 3, -1))
    A[0, 3] = A[3, 0] = 1.0  # fills (1, 3) or (0, 2)
    A = A.tocsc()
    for rows in ([1, 3], [0, 2]):
        solver = palmette.Solver(A, kind="llt", ordering="natural")
        W = sparse.csc_array((np.ones(2), (rows, [0, 0])), shape=(4, 1))
        try:
            solver.update_factor(W)
        except palmette.UsageError as error:
            assert "has no place in the factor" in str(error)
            continue
        B = sparse.csc_array(A + W @ W.T)
        B.sort_indices()
        with pytest.raises(palmette.UsageError):
            solver.refactor(A)
        solver.refactor(2 * B.data)
        assert np.allclose(2 * B @ solver.solve(np.ones(4)), 1)
        return
    pytest.fail("no update was accepted")


@pytest.mark.parametrize("W, error", [
    (np.ones(4), palmette.DimensionError),
    ([np.nan, 0, 0], palmette.UsageError),
    ([1j, 0, 0], palmette.UsageError),
    ([1.0, 1.0, 0], palmette.UsageError),
])
def test_bad_columns_are_refused(W, error):
    with pytest.raises(error):
        palmette.Solver(sparse.eye_array(3), kind="llt", ordering="natural").update_factor(W)


def test_inertia_of_nearly_singular_matrices_is_decided():
    """[1 1; 1 1+e] has determinant e."""
    for e in (1e-13, -1e-13, 2.0**-51, -(2.0**-51)):
        solver = palmette.Solver(np.array([[1.0, 1], [1, 1 + e]]), kind="ldlt")
        assert solver.report["factorize"]["perturbed_pivots"] == 1
        assert solver.inertia == ((2, 0, 0) if e > 0 else (1, 1, 0))
        assert solver.report["factorize"]["capacitance"]["undecided"] == 0
        assert solver.report["factorize"]["inertia"]["zero"] == 0


def laplacian(n):
    A = sparse.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tolil()
    A[0, 0] = A[n - 1, n - 1] = 1
    return sparse.csc_array(A)


def test_inertia_of_a_singular_matrix_keeps_its_range():
    solver = palmette.Solver(laplacian(30), kind="ldlt")
    assert solver.inertia == (29, 0, 1)
    notes = " ".join(solver.report["notes"])
    assert "undecided" in notes
    assert not solver.report["factorize"]["capacitance"]["used_in_solves"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_null_space_is_that_of_the_dense_matrix(dtype):
    A = sparse.block_diag([laplacian(20), laplacian(11), np.array([[3.0]])]).astype(dtype)
    solver = palmette.Solver(A)
    assert solver.null_space_report is None
    N = solver.null_space()
    assert N.shape == (32, 2) and N.dtype == np.dtype(dtype)
    tolerance = 1e-5 if dtype in ("float32", "complex64") else 1e-13
    assert np.abs(N.conj().T @ N - np.eye(2)).max() < tolerance
    assert np.abs(A @ N).max() < tolerance
    assert solver.null_space_report["verified"] and solver.null_space_report["singular_distance"] < tolerance
    assert palmette.Solver(sparse.eye_array(5, dtype=dtype)).null_space().shape == (5, 0)


def test_null_space_with_too_many_dimensions_is_refused():
    with pytest.raises(palmette.SingularError, match="more than 16"):
        palmette.Solver(sparse.block_diag([laplacian(4)] * 18)).null_space()
