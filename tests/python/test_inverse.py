"""Entries of the inverse: against dense inverses, for every kind and scalar; what is refused."""

import numpy as np
import pytest
from conftest import system
from scipy import sparse

import palmette


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("kind", ["llt", "ldlt", "lu"])
def test_entries_are_those_of_the_dense_inverse(kind, dtype):
    A = system(kind, dtype)
    solver = palmette.Solver(A, kind=kind)
    dense = np.linalg.inv(A.toarray().astype("complex128"))
    tolerance = (1e-4 if dtype in ("float32", "complex64") else 1e-12) * np.abs(dense).max()
    assert np.abs(solver.inverse_diagonal() - dense.diagonal()).max() < tolerance
    assert solver.inverse_report["verified"]
    Z = solver.selected_inverse()
    found = Z.tocoo()
    assert Z.dtype == A.dtype
    assert np.abs(found.data - dense[found.row, found.col]).max() < tolerance
    assert ((abs(A) != 0).toarray() <= (abs(Z) != 0).toarray()).all(), "the pattern holds that of A"
    rows, columns = np.divmod(np.arange(A.shape[0] ** 2)[::17], A.shape[0])
    values = solver.inverse_entries(rows, columns - A.shape[0])
    assert np.abs(values - dense[rows, columns]).max() < tolerance


def test_entries_off_the_pattern_are_counted():
    A = palmette.generate("poisson2d5", 12)
    solver = palmette.Solver(A)
    assert solver.inverse_report is None
    value = solver.inverse_entries([0], [143])
    assert solver.inverse_report["solved_columns"] == 1
    assert abs(value[0] - np.linalg.inv(A.toarray())[0, 143]) < 1e-14


def test_empty_matrix_and_empty_lists():
    assert palmette.Solver(np.zeros((0, 0))).inverse_diagonal().shape == (0,)
    assert palmette.Solver(np.eye(3)).inverse_entries([], []).shape == (0,)


@pytest.mark.parametrize("rows, columns, error", [
    ([0, 1], [0], palmette.DimensionError),
    ([0], [3], palmette.UsageError),
    ([-4], [0], palmette.UsageError),
    ([0.5], [0], palmette.UsageError),
    ([[0]], [0], palmette.UsageError),
])
def test_bad_lists_are_refused(rows, columns, error):
    with pytest.raises(error):
        palmette.Solver(np.eye(3)).inverse_entries(rows, columns)


def test_no_check_is_said():
    solver = palmette.Solver(np.eye(3))
    assert np.array_equal(solver.inverse_diagonal(check=0), np.ones(3))
    assert not solver.inverse_report["verified"]
    with pytest.raises(palmette.UsageError):
        solver.inverse_diagonal(check=-1)


def test_mixed_precision_is_refused():
    with pytest.raises(palmette.UsageError, match="mixed"):
        palmette.Solver(np.eye(3), precision="mixed").inverse_diagonal()


def test_marginal_variances_of_a_random_walk():
    """Of a random walk of order one tied at its start: Var(x_k) = k + 1."""
    n = 200
    D = sparse.diags_array([np.ones(n), -np.ones(n - 1)], offsets=[0, -1])
    variances = palmette.Solver((D.T @ D).tocsc()).inverse_diagonal()
    assert np.abs(variances - np.arange(1, n + 1)).max() < 1e-9
