"""Sparse right-hand sides, and single rows of x."""

import numpy as np
import pytest
from scipy import sparse

import palmette
from palmette.errors import DimensionError, UsageError


def laplacian(n, shift=0.0, dtype=float):
    side = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    eye = sparse.eye_array(n)
    A = sparse.kron(side, eye) + sparse.kron(eye, side) + shift * sparse.eye_array(n * n)
    return A.tocsc().astype(dtype)


def unsymmetric(n, dtype=float):
    A = laplacian(n, 0.5, dtype).tolil()
    A[0, n * n - 1] = 0.25
    for row in range(0, n * n - 3, 5):
        A[row, row + 3] = 0.5
    return A.tocsc()


def few(n, k, dtype=float, seed=0):
    b = sparse.random_array((n, k), density=3 / n, rng=np.random.default_rng(seed)).tocsc().astype(dtype)
    return b * (1 - 2j) if b.dtype.kind == "c" else b


MATRICES = {"llt": laplacian(30), "ldlt": laplacian(30, -1.1), "lu": unsymmetric(30)}


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_rows_are_those_of_dense_solves(kind, dtype, trans):
    A = MATRICES[kind].astype(dtype)
    if A.dtype.kind == "c":
        A = (A + 0.25j * sparse.eye_array(A.shape[0])).tocsc().astype(dtype)
    solver = palmette.Solver(A, kind="lu" if kind == "lu" or dtype in "FD" else kind)
    b, rows = few(A.shape[0], 5, dtype), [7, -1, 300, 7]
    x = solver.solve_sparse(b, rows, trans=trans)
    assert x.shape == (4, 5) and x.dtype == np.dtype(dtype)
    assert solver.sparse_report["verified"]
    whole = solver.solve(b.toarray(), trans=trans)
    assert np.abs(x - whole[rows]).max() < (1e-4 if dtype in "fF" else 1e-12)


def test_all_rows_are_given_without_a_choice():
    solver = palmette.Solver(MATRICES["llt"])
    b = few(900, 3)
    assert np.allclose(MATRICES["llt"] @ solver.solve_sparse(b), b.toarray(), atol=1e-13)


def test_a_vector_gives_a_vector():
    solver = palmette.Solver(MATRICES["llt"])
    b = np.zeros(900)
    b[17] = 1
    assert np.allclose(solver.solve_sparse(b, [17]), solver.solve(b)[17])
    assert solver.solve_sparse(sparse.coo_array(b), [17]).shape == (1,)


def test_a_complex_right_hand_side_of_a_real_matrix_is_split():
    solver = palmette.Solver(MATRICES["lu"])
    b = few(900, 2, "D")
    assert np.allclose(solver.solve_sparse(b, [3, 4]), solver.solve(b.toarray())[[3, 4]])


def test_only_a_part_of_the_factor_is_read():
    solver = palmette.Solver(laplacian(200), kind="llt")
    b = sparse.csc_array(([1.0], ([12345], [0])), shape=(40000, 1))
    solver.solve_sparse(b, [12345])
    report = solver.sparse_report
    assert 0 < report["bytes"] < 0.2 * report["whole_bytes"]
    assert report["checked_rows"] == 1 and report["backward_error"] <= report["bound"]
    solver.solve_sparse(b, [12345], check=False)
    assert not solver.sparse_report["verified"]


def test_mixed_precision_solves_whole():
    solver = palmette.Solver(MATRICES["llt"], precision="mixed")
    b = few(900, 2)
    x = solver.solve_sparse(b, [5])
    assert solver.sparse_report["solved_whole"] and solver.sparse_report["verified"]
    assert np.allclose(x, solver.solve(b.toarray())[[5]])


def test_what_does_not_fit_is_refused():
    solver = palmette.Solver(MATRICES["llt"])
    with pytest.raises(DimensionError, match="900"):
        solver.solve_sparse(few(899, 2))
    with pytest.raises(UsageError, match="outside"):
        solver.solve_sparse(few(900, 2), [900])
    with pytest.raises(UsageError, match="trans"):
        solver.solve_sparse(few(900, 2), trans="C")
    bad = few(900, 2)
    bad.data[0] = np.nan
    with pytest.raises(UsageError, match="finite|nan"):
        solver.solve_sparse(bad)


def test_a_singular_matrix_is_refused():
    path = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(9, 9)).tolil()
    path[0, 0] = path[8, 8] = 1  # a graph's Laplacian
    b = np.zeros(9)
    b[0] = 1
    with pytest.raises(palmette.SingularError):
        palmette.Solver(path.tocsc(), kind="ldlt").solve_sparse(b, [1])
