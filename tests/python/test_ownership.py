"""A solver owns what it keeps: later changes to arrays and matrices change no answer."""

import numpy as np
import palmette
import palmette.scipy
import pytest
import scipy.sparse as sparse
from conftest import backward_error, bound, random_unsymmetric, spd


def shuffled(A, seed=0, duplicates=False):
    """A with the rows of each column in another order, as many assemblers leave them, and with entries in two
    parts if requested."""
    rng, A = np.random.default_rng(seed), sparse.csc_matrix(A)
    pieces, rows, data = [0], [], []
    for j in range(A.shape[1]):
        places = rng.permutation(np.arange(*A.indptr[j:j + 2]))
        for part in ((0.25, 0.75) if duplicates else (1.0,)):
            rows.append(A.indices[places])
            data.append(part * A.data[places])
        pieces.append(pieces[-1] + len(places) * (2 if duplicates else 1))
    given = sparse.csc_matrix(A.shape, dtype=A.dtype)
    given.indptr, given.indices, given.data = (
        np.array(pieces, dtype=np.int32),
        np.concatenate(rows).astype(np.int32),
        np.concatenate(data),
    )
    given.has_sorted_indices = given.has_canonical_format = False
    return given


def scribble(A):
    A.indices[:], A.data[:] = 0, np.nan
    A.indptr[1:] = A.indptr[-1]


@pytest.mark.parametrize("duplicates", [False, True])
@pytest.mark.parametrize("n", [50, 400])
def test_indices_sorted_after_creation_change_nothing_about_refactor(n, duplicates):
    A = shuffled(random_unsymmetric(n), duplicates=duplicates)
    values, exact, b = A.data.copy(), A.toarray(), np.ones(n)
    solver = palmette.Solver(A)
    A.sum_duplicates()  # in place, as printing, slicing, adding and other solvers do; this sorts too
    solver.refactor(values)
    assert backward_error(exact, solver.solve(b), b) < bound("float64")
    solver.refactor(-2 * values)
    assert backward_error(-2 * exact, solver.solve(b), b) < bound("float64")


@pytest.mark.parametrize("unsorted", [False, True])
def test_scribbling_over_the_matrix_changes_no_answer(unsorted):
    A = random_unsymmetric(60)
    given = shuffled(A) if unsorted else A.copy()
    values, b = given.data.copy(), np.ones(60)
    solver = palmette.Solver(given)
    expected = solver.solve(b)
    scribble(given)
    assert np.array_equal(solver.solve(b), expected)
    solver.refactor(values)
    assert np.array_equal(solver.solve(b), expected) or backward_error(A, solver.solve(b), b) < bound(
        "float64"
    )
    assert solver.report["verify"]["verified"]
    values[:] = 0
    assert backward_error(A, solver.solve(b), b) < bound("float64")


def test_no_index_arrays_are_kept_for_a_matrix_in_order():
    assert palmette.Solver(spd(8))._pattern is None
    A = shuffled(random_unsymmetric(30))
    pointers, rows = palmette.Solver(A)._pattern
    assert not np.shares_memory(rows, A.indices) and not np.shares_memory(pointers, A.indptr)


def test_values_for_a_matrix_in_another_format_go_by_columns():
    A = random_unsymmetric(40).tocsr()
    solver = palmette.Solver(A)
    solver.refactor(3 * A.tocsc().data)
    assert backward_error(3 * A, solver.solve(np.ones(40)), np.ones(40)) < bound("float64")


def test_triangles_and_factors_are_copied():
    L = sparse.csc_array(sparse.tril(spd(8)))
    b = np.ones(64)
    own = L.copy()
    triangular, factored = palmette.TriangularSolver(own), palmette.from_factors(
        L=own, row_perm=(order := np.arange(64)[::-1].copy())
    )
    expected = triangular.solve(b), factored.solve(b)
    scribble(own)
    order[:] = 0
    assert np.array_equal(triangular.solve(b), expected[0]) and triangular.report["verify"]["verified"]
    assert np.array_equal(factored.solve(b), expected[1]) and factored.report["verify"]["verified"]


def test_factors_of_the_scipy_module_are_their_own():
    A = random_unsymmetric(50)
    given = sparse.csc_matrix(A, copy=True)
    lu, solve = palmette.scipy.splu(given), palmette.scipy.factorized(given)
    expected = lu.solve(np.ones(50))
    scribble(given)
    assert np.array_equal(lu.solve(np.ones(50)), expected) and np.array_equal(solve(np.ones(50)), expected)
    product = (lu.L @ lu.U).toarray()
    assert np.allclose(product[lu.perm_r][:, lu.perm_c], A.toarray())


def test_a_matrix_of_the_bindings_is_handed_over_once():
    from palmette import _input
    matrix = _input.to_core(spd(4))
    palmette._core.TriangularSolver_float64.create(
        matrix,
        {
            "method": "auto",
            "threads": 1,
            "device": "none",
            "measure": False,
            "cache_folder": "",
            "lower": True,
            "unit_diagonal": False,
            "gpus": [1, 1, 1],
            "tasks_per_gpu": 8,
        },
    )
    with pytest.raises(palmette.UsageError, match="handed over"):
        matrix.nnz
