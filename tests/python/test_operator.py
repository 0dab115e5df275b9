"""Solvers as linear operators: the inverse, for SciPy's iterative and eigenvalue solvers."""

import numpy as np
import palmette
import palmette.scipy
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as sla
from conftest import DTYPES, random_unsymmetric, spd


def makers(dtype="float64"):
    A = random_unsymmetric(40, dtype=dtype)
    L = sparse.csc_array(sparse.tril(spd(6, dtype)))
    return [
        (A, palmette.Solver(A)),
        (L, palmette.TriangularSolver(L)),
        (L @ L.conj().T, palmette.from_factors(L=L, hermitian=True)),
    ]


@pytest.mark.parametrize("dtype", DTYPES)
def test_operator_of_a_solver_is_the_inverse(dtype):
    for A, solver in makers(dtype):
        n = A.shape[0]
        b = np.arange(1, n + 1).astype(dtype) / n
        B = np.stack([b, 2 * b[::-1]], axis=1)
        for inverse in (sla.aslinearoperator(solver), solver.aslinearoperator()):
            assert inverse.shape == A.shape and inverse.dtype == np.dtype(dtype)
            assert np.array_equal(inverse @ b, solver.solve(b))
            assert np.allclose(inverse @ B, solver.solve(B), rtol=1e-4)
            assert np.array_equal(inverse.rmatvec(b), solver.solve(b, trans="H"))
            assert np.allclose(inverse.H @ B, solver.solve(B, trans="H"), rtol=1e-4)
            assert (inverse @ b[:, None]).shape == (n, 1)


def test_several_right_hand_sides_go_through_the_factor_together():
    solver = palmette.Solver(spd(9))
    solver.aslinearoperator().matmat(np.ones((81, 5)))
    assert solver.report["solve"]["num_rhs"] == 5
    solver.aslinearoperator().rmatmat(np.ones((81, 3)))
    assert solver.report["solve"]["num_rhs"] == 3


def test_preconditioner_of_iterative_solvers():
    A = random_unsymmetric(60)
    for M in (palmette.Solver(A), palmette.Solver(A).aslinearoperator()):
        calls = []
        x, info = sla.gmres(A, np.ones(60), M=M, callback=calls.append, callback_type="pr_norm")
        assert info == 0 and len(calls) <= 2 and np.allclose(A @ x, 1)
    x, info = sla.cg(spd(9), np.ones(81), M=palmette.Solver(spd(9)), maxiter=2)
    assert info == 0 and np.allclose(spd(9) @ x, 1)


def test_inverse_of_eigenvalue_solvers():
    A = spd(9)
    near = sla.eigsh(
        A,
        3,
        sigma=0.5,
        OPinv=palmette.Solver(A - 0.5 * sparse.eye_array(81)).aslinearoperator(),
        return_eigenvectors=False,
    )
    exact = np.linalg.eigvalsh(A.toarray())
    assert np.allclose(np.sort(near), np.sort(exact[np.argsort(abs(exact - 0.5))[:3]]))
    B = random_unsymmetric(40)
    near = sla.eigs(
        B,
        2,
        sigma=0.3,
        OPinv=palmette.Solver(B - 0.3 * sparse.eye_array(40)).aslinearoperator(),
        return_eigenvectors=False,
    )
    exact = np.linalg.eigvals(B.toarray())
    assert np.allclose(np.sort(abs(near - 0.3)), np.sort(abs(exact - 0.3))[:2])


def test_an_unverified_inverse_warns_within_an_operator_too(monkeypatch):
    from palmette import _verified
    monkeypatch.setattr(_verified, "USUAL_OPTIONS", _verified.SolveOptions(refine="off"))
    inverse = palmette.Solver(spd(8), precision="mixed").aslinearoperator()
    for multiply in (inverse.matvec, inverse.matmat):
        with pytest.warns(palmette.UnverifiedWarning):
            multiply(np.linspace(1, 2, 64)[:, None])


def test_factors_pass_for_those_of_scipy():
    lu = palmette.scipy.splu(sparse.csc_matrix(spd(5)))
    assert isinstance(lu, sla.SuperLU) and isinstance(lu, palmette.scipy.SuperLU)
    assert type(lu) is palmette.scipy.SuperLU and "palmette" in repr(lu)
    assert np.allclose(palmette.from_factors(lu).solve(np.ones(25)), lu.solve(np.ones(25)))
    inverse = sla.LinearOperator(lu.shape, lu.solve)
    assert np.allclose(inverse @ np.ones(25), lu.solve(np.ones(25)))
    import copy
    import pickle
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="cannot pickle"):
            attempt(lu)


def test_dispatch_on_the_class_of_scipy_finds_the_factors():
    import functools

    @functools.singledispatch
    def kind(_):
        return "something else"
    kind.register(sla.SuperLU, lambda _: "factors")
    assert kind(palmette.scipy.splu(sparse.csc_matrix(spd(5)))) == "factors"
