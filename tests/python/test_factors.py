"""Triangles and factors that other programs computed."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

import palmette
import palmette.scipy
from conftest import DTYPES, backward_error, bound, random_unsymmetric, spd


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_factors_of_scipy_solve_the_matrix(dtype):
    A = random_unsymmetric(80, dtype=dtype)
    lu = linalg.splu(A)
    b = np.ones((80, 2), dtype=dtype)
    for solver in (palmette.from_factors(lu), palmette.from_factors(lu, A=A)):
        assert solver.shape == (80, 80) and solver.dtype == dtype
        for trans, op in (("N", A), ("T", A.T), ("H", A.conj().T)):
            assert backward_error(op, solver.solve(b, trans=trans), b) < 10 * bound(dtype)
        assert solver.report["order"] is None and solver.report["verify"]["verified"]
    assert palmette.from_factors(lu, A=A).nnz == A.nnz
    assert palmette.from_factors(palmette.scipy.splu(A), A=A).solve(b).shape == b.shape


def test_an_incomplete_factorization_is_solved_as_it_is():
    A = palmette.generate("convection_diffusion2d", 15)
    ilu = linalg.spilu(A, drop_tol=1e-2)
    b = np.arange(225, dtype=float)
    assert np.allclose(palmette.from_factors(ilu).solve(b), ilu.solve(b), rtol=1e-10)


def test_permutations_and_scales_follow_numpy_indexing():
    # (r[:, None] * A * c)[p][:, q] = L U, so A is found from L, U and the rest.
    rng = np.random.default_rng(3)
    n = 20
    L = np.tril(rng.standard_normal((n, n)), -1) / n + np.eye(n)
    U = np.triu(rng.standard_normal((n, n))) / n + np.eye(n)
    p, q = rng.permutation(n), rng.permutation(n)
    r, c = 2.0 ** rng.integers(-3, 3, n), 2.0 ** rng.integers(-3, 3, n)
    scaled = np.empty((n, n))
    scaled[np.ix_(p, q)] = L @ U
    A = scaled / r[:, None] / c
    x = rng.standard_normal(n)
    solver = palmette.from_factors(L=L, U=U, row_perm=p, col_perm=q, row_scale=r, col_scale=c)
    assert np.allclose(solver.solve(A @ x), x, rtol=1e-10)
    assert np.allclose(solver.solve_transpose(A.T @ x), x, rtol=1e-10)


def test_a_cholesky_factor_alone_is_enough():
    A = spd(5).toarray()
    L = np.linalg.cholesky(A)
    assert backward_error(A, palmette.from_factors(L=L).solve(np.ones(25)), np.ones(25)) < 10 * bound(
        "float64"
    )
    A = spd(5, "complex128").toarray()
    L = np.linalg.cholesky(A)
    assert backward_error(
        A, palmette.from_factors(L=L, hermitian=True).solve(np.ones(25)), np.ones(25)
    ) < 10 * bound("float64")
    plain = palmette.from_factors(L=L)
    assert backward_error(L @ L.T, plain.solve(np.ones(25)), np.ones(25)) < 10 * bound("float64")


def test_a_unit_diagonal_is_found_or_told():
    strict = np.array([[0.0, 0.0], [3.0, 0.0]])
    U = np.array([[2.0, 1.0], [0.0, 4.0]])
    b = (strict + np.eye(2)) @ U @ [1.0, 2.0]
    assert np.allclose(palmette.from_factors(L=strict, U=U).solve(b), [1, 2])
    packed = strict + np.diag([7.0, 8.0])
    assert np.allclose(palmette.from_factors(L=packed, U=U, unit_lower=True).solve(b), [1, 2])
    assert not np.allclose(palmette.from_factors(L=packed, U=U).solve(b), [1, 2])


def test_factors_of_different_types_are_promoted():
    solver = palmette.from_factors(L=np.eye(2, dtype=np.float32), U=np.eye(2) * 1j)
    assert solver.dtype == "complex128"
    assert np.allclose(solver.solve([1.0, 2.0]), [-1j, -2j])


def test_bad_factors_are_refused_with_their_place():
    I = np.eye(3)
    with pytest.raises(palmette.SingularError) as caught:
        palmette.from_factors(L=I, U=np.diag([1.0, 0.0, 1.0]))
    assert caught.value.row == 1
    with pytest.raises(palmette.DimensionError, match=r"U has shape \(2, 2\).*\(3, 3\)"):
        palmette.from_factors(L=I, U=np.eye(2))
    with pytest.raises(palmette.DimensionError, match="A has shape"):
        palmette.from_factors(L=I, A=np.eye(2))
    with pytest.raises(palmette.DimensionError, match="row_perm"):
        palmette.from_factors(L=I, row_perm=[0, 1])
    with pytest.raises(palmette.UsageError):
        palmette.from_factors(L=I, row_perm=[0, 0, 1])
    with pytest.raises(palmette.UsageError, match="row_scale"):
        palmette.from_factors(L=I, row_scale=[1, 0, 1])
    with pytest.raises(palmette.UsageError):
        palmette.from_factors(L=np.triu(np.ones((3, 3))), U=I)
    with pytest.raises(palmette.UsageError, match="not both"):
        palmette.from_factors(linalg.splu(sparse.csc_array(I)), L=I)
    with pytest.raises(palmette.UsageError, match="from_factors"):
        palmette.from_factors(I)
    with pytest.raises(palmette.UsageError, match="no factor"):
        palmette.from_factors()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("method", ["auto"] + [method.name for method in palmette.methods()])
def test_triangles_are_solved_as_scipy_does(dtype, lower, method):
    A = random_unsymmetric(60, dtype=dtype) + 3 * sparse.eye_array(60, dtype=dtype)
    T = (sparse.tril(A) if lower else sparse.triu(A)).tocsc()
    b = np.arange(120, dtype=dtype).reshape(60, 2)
    solver = palmette.TriangularSolver(T, lower, method=method)
    for trans in "NTH":
        expected = scipy.linalg.solve_triangular(
            T.toarray(), b, trans={"N": 0, "T": 1, "H": 2}[trans], lower=lower
        )
        assert np.allclose(
            solver.solve(b, trans=trans), expected, rtol=100 * bound(dtype), atol=100 * bound(dtype)
        )
    assert method in ("auto", solver.report["solve"]["method"])


def test_the_other_triangle_and_a_unit_diagonal_are_not_looked_at():
    A = np.array([[5.0, 9.0], [3.0, 7.0]])
    assert np.allclose(palmette.TriangularSolver(A, unit_diagonal=True).solve([1.0, 5.0]), [1, 2])
    assert np.allclose(palmette.TriangularSolver(A, lower=False).solve([23.0, 14.0]), [1, 2])
    assert palmette.TriangularSolver(np.zeros((0, 0))).solve(np.zeros(0)).shape == (0,)


def test_a_zero_or_missing_diagonal_is_named():
    for T in (sparse.csc_array([[1.0, 0, 0], [1, 0, 0], [0, 1, 1]]), np.diag([1.0, 0, 1])):
        with pytest.raises(palmette.SingularError) as caught:
            palmette.TriangularSolver(T)
        assert caught.value.row == 1
    with pytest.raises(palmette.DimensionError, match=r"T has shape \(2, 3\)"):
        palmette.TriangularSolver(np.ones((2, 3)))
    with pytest.raises(palmette.UsageError, match=r"T\[1, 0\] is nan"):
        palmette.TriangularSolver([[1.0, 0], [np.nan, 1]])
