"""JAX's door: values, derivatives of both kinds and batches are those of dense solves. Skipped without
JAX."""

import doctest
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from conftest import random_unsymmetric

jax = pytest.importorskip("jax", reason="no JAX (pip install jax)")
jnp = jax.numpy

import palmette.jax  # noqa: E402
from jax.experimental.sparse import BCOO, BCSR  # noqa: E402
from jax.test_util import check_grads  # noqa: E402


@pytest.fixture(autouse=True)
def double_precision():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)
    palmette.jax.clear_cache()


def bcoo(A):
    return BCOO.from_scipy_sparse(sparse.coo_array(A))


def solve_with(indices, data, b):
    return palmette.jax.solve(BCOO((data, indices), shape=(len(b), len(b))), b)


def system(dtype="float64", columns=()):
    n = 12
    A = random_unsymmetric(n, seed=5, dtype=dtype) + 2 * sparse.identity(n)
    b = np.random.default_rng(6).standard_normal((n, *columns)).astype(dtype)
    return sparse.csc_array(A.astype(dtype)), b


# JAX compiles each operation for each shape and type, so most tests share one: 12, 12 × 3, double.
@pytest.mark.parametrize(
    "dtype, columns", [("float32", ()), ("float64", ()), ("float64", (3,)), ("complex128", (3,))]
)
def test_solutions_are_those_of_a_dense_solve(dtype, columns):
    A, b = system(dtype, columns)
    expected = np.linalg.solve(A.toarray(), b)
    tolerance = 100 * np.finfo(dtype).eps * np.linalg.cond(A.toarray())
    x = palmette.jax.solve(A, b)
    assert x.dtype == dtype and x.shape == b.shape
    for found in (x, palmette.jax.solve(bcoo(A), b), palmette.jax.solve(BCSR.from_scipy_sparse(A.tocsr()), b),
                  jax.jit(palmette.jax.solve)(bcoo(A), b)):
        np.testing.assert_allclose(found, expected, rtol=tolerance)


@pytest.mark.parametrize("dtype, columns, order", [("float64", (), 2), ("complex128", (3,), 1)])
def test_derivatives_fit_differences(dtype, columns, order):
    A, b = system(dtype, columns)
    A = bcoo(A)
    check_grads(partial(solve_with, A.indices), (A.data, b), order=order)


def test_the_gradient_is_that_of_a_dense_solve_on_the_pattern():
    A, b = system()
    weights = np.arange(1.0, 13)
    indices = bcoo(A).indices
    found = jax.grad(lambda data: weights @ solve_with(indices, data, b) ** 2)(bcoo(A).data)
    # f = wᵀ·x², so ∂f/∂x = 2·w·x and ∂f/∂a_ij = −λ_i·x_j with Aᵀ·λ = 2·w·x
    x = np.linalg.solve(A.toarray(), b)
    adjoint = np.linalg.solve(A.toarray().T, 2 * weights * x)
    row, column = np.asarray(indices).T
    np.testing.assert_allclose(found, -adjoint[row] * x[column], rtol=1e-10)


def solves_counted(monkeypatch):
    calls = {"factorized": 0, "solved": []}
    factorize, solve = palmette.jax._factorized, palmette.jax.Solver.solve

    def count_factorization(*arguments):
        calls["factorized"] += 1
        return factorize(*arguments)

    def count_solve(self, b, **options):
        calls["solved"].append(b.shape)
        return solve(self, b, **options)

    monkeypatch.setattr(palmette.jax, "_factorized", count_factorization)
    monkeypatch.setattr(palmette.jax.Solver, "solve", count_solve)
    return calls


def test_a_gradient_factorizes_once(monkeypatch):
    A, b = system()
    calls = solves_counted(monkeypatch)
    jax.grad(lambda b: palmette.jax.solve(A, b).sum())(b).block_until_ready()
    assert calls["factorized"] == 1 and len(calls["solved"]) == 2


def test_right_hand_sides_of_vmap_are_solved_together(monkeypatch):
    A, b = system(columns=(3,))
    expected = np.linalg.solve(A.toarray(), b)
    calls = solves_counted(monkeypatch)
    x = jax.vmap(partial(palmette.jax.solve, A), in_axes=1, out_axes=1)(b)
    np.testing.assert_allclose(x, expected, rtol=1e-10)
    assert calls == {"factorized": 1, "solved": [(12, 3)]}
    both = jax.vmap(jax.vmap(partial(palmette.jax.solve, A)))(np.stack([b.T] * 2))
    np.testing.assert_allclose(both[1], expected.T, rtol=1e-10)
    assert calls["factorized"] == 1 and calls["solved"][1] == (12, 6)


def test_matrices_of_vmap_are_factorized_one_by_one(monkeypatch):
    A, b = system(columns=(3,))
    A = bcoo(A)
    scales = jnp.array([1.0, 2.0, 4.0])
    calls = solves_counted(monkeypatch)

    def scaled(scale, b):
        return solve_with(A.indices, scale * A.data, b)

    dense = np.asarray(A.todense())
    expected = np.linalg.solve(dense, b) / np.asarray(scales)
    np.testing.assert_allclose(jax.vmap(scaled, in_axes=(0, 1), out_axes=1)(scales, b), expected, rtol=1e-10)
    assert calls["factorized"] == 3
    same = jax.vmap(scaled, in_axes=(0, None))(scales, b[:, 0])
    np.testing.assert_allclose(same[2], np.linalg.solve(dense, b[:, 0]) / 4, rtol=1e-10)


def test_the_number_of_kept_factorizations_is_limited(monkeypatch):
    monkeypatch.setattr(palmette.jax, "MOST_KEPT", 1)
    A, b = system()
    for matrix in (A, A.T):
        palmette.jax.solve(matrix, b).block_until_ready()
    (kept,) = palmette.jax._kept._solvers.values()
    np.testing.assert_allclose(kept[1].solve(b), np.linalg.solve(A.toarray().T, b), rtol=1e-10)


def test_values_of_another_kind_in_the_same_pattern_are_solved():
    A, b = system()
    B = sparse.coo_array(A + A.T + 20 * sparse.identity(12))  # positive definite
    for data in (B.data, -B.data, B.data * (1 + 0.1 * np.arange(B.nnz))):
        scaled = sparse.coo_array((data, (B.row, B.col)), shape=B.shape)
        x = palmette.jax.solve(scaled, b)
        np.testing.assert_allclose(scaled @ np.asarray(x), b, rtol=1e-12, atol=1e-14)


def test_padding_and_duplicates_of_a_bcoo_are_understood():
    indices = np.array([[0, 0], [0, 0], [1, 1], [2, 2]])  # (2, 2) lies beyond the matrix
    A = BCOO((np.array([1.0, 1.0, 4.0, 7.0]), indices), shape=(2, 2))
    np.testing.assert_allclose(palmette.jax.solve(A, np.array([2.0, 8.0])), [1, 2])
    gradient = jax.grad(lambda data: solve_with(indices, data, np.array([2.0, 8.0])).sum())(A.data)
    np.testing.assert_allclose(gradient, [-0.5, -0.5, -0.5, 0])


def test_options_reach_the_solver():
    with pytest.raises(jax.errors.JaxRuntimeError, match="positive"):
        palmette.jax.solve(-sparse.identity(12), np.ones(12), kind="llt").block_until_ready()


def test_misuse_is_told_at_once():
    A, b = system()
    for wrong, error in (
        (lambda: palmette.jax.solve(A[:5], b), palmette.DimensionError),
        (lambda: palmette.jax.solve(A, b[:5]), palmette.DimensionError),
        (lambda: palmette.jax.solve(A, jnp.ones((12, 2, 2))), palmette.DimensionError),
        (lambda: palmette.jax.solve(A.toarray(), b), palmette.UsageError),
    ):
        with pytest.raises(error):
            wrong()


def test_the_example_of_the_docstring_runs():
    failed, run = doctest.testmod(palmette.jax)
    assert run > 3 and failed == 0
