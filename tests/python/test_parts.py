"""L, D, U, permutations and solves with one factor, as scikit-sparse's factors have them."""

import numpy as np
import palmette
import pytest
import scipy.sparse as sparse
from conftest import DTYPES, indefinite, random_unsymmetric, spd, with_doubtful_pivots

MATRICES = {
    "llt": spd,
    "ldlt": lambda n, dtype: palmette.generate("kkt3d", 3).astype(dtype),
    "lu": lambda n, dtype: random_unsymmetric(90, dtype=dtype),
}


def close(x, y, dtype, size=1.0):
    return abs(np.asarray(x) - np.asarray(y)).max() <= 2000 * np.finfo(np.dtype(dtype)).eps * size


def solver_of(kind, dtype, n=9):
    A = MATRICES[kind](n, dtype)
    return A, palmette.Solver(A, kind=kind)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["llt", "ldlt"])
@pytest.mark.parametrize("n", [3, 9])
def test_product_of_symmetric_factors_is_the_permuted_matrix(kind, dtype, n):
    A, solver = solver_of(kind, dtype, n)
    L, D, p = solver.L(), solver.D(), solver.P()
    assert (
        sparse.triu(L, 1).nnz == 0
        and np.array_equal(solver.row_perm, p)
        and np.array_equal(solver.col_perm, p)
    )
    assert close((L @ D @ L.conj().T).toarray(), A.toarray()[p][:, p], dtype, abs(A).max())
    both = solver.L_D()
    assert (both[0] != L).nnz == 0 and (both[1] != D).nnz == 0
    if kind == "llt":
        assert (D != sparse.eye_array(A.shape[0])).nnz == 0
    else:
        assert np.all(L.diagonal() == 1) and sparse.triu(D, 1).nnz > 0 and sparse.triu(D, 2).nnz == 0


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_symmetric_factors_are_not_conjugated(dtype):
    A = ((1 + 0.5j) * indefinite(7, "float64")).astype(dtype)
    solver = palmette.Solver(A)
    assert solver.kind == "ldlt" and solver.report["matrix"]["symmetry"] == "symmetric"
    L, D, p = solver.L(), solver.D(), solver.P()
    assert close((L @ D @ L.T).toarray(), A.toarray()[p][:, p], dtype, 10)
    b = np.exp(1j * np.arange(49)).astype(dtype)
    assert close(L.T @ solver.solve_Lt(b), b, dtype, 10)
    assert close(solver.apply_Pt(solver.solve_LDLt(solver.apply_P(b))), solver.solve(b), dtype, 100)


@pytest.mark.parametrize("dtype", DTYPES)
def test_product_of_lu_is_the_permuted_matrix(dtype):
    A, solver = solver_of("lu", dtype)
    L, U = solver.L(), solver.U()
    assert np.all(L.diagonal() == 1) and sparse.triu(L, 1).nnz == 0 and sparse.tril(U, -1).nnz == 0
    product = (L @ U).toarray()
    size = (abs(L) @ abs(U)).max()
    assert close(product, A.toarray()[solver.row_perm][:, solver.col_perm], dtype, size)
    again = palmette.from_factors(L=L, U=U, row_perm=solver.row_perm, col_perm=solver.col_perm, A=A)
    assert close(A @ again.solve(np.ones(90)), np.ones(90), dtype, 10)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("columns", [None, 1, 5])
@pytest.mark.parametrize("kind", ["llt", "ldlt", "lu"])
def test_half_solves_agree_with_the_factors_they_are_named_after(kind, columns, dtype):
    A, solver = solver_of(kind, dtype)
    n = A.shape[0]
    shape = (n,) if columns is None else (n, columns)
    b = np.random.default_rng(0).uniform(-1, 1, shape).astype(dtype)
    L = solver.L().toarray()
    Lt = L.T if kind == "lu" else L.conj().T
    named = [(L, solver.solve_L), (Lt, solver.solve_Lt)]
    if kind == "lu":
        U = solver.U().toarray()
        named += [(U, solver.solve_U), (U.T, solver.solve_Ut)]
    else:
        D = solver.D().toarray()
        named += [
            (D, solver.solve_D),
            (L @ D, solver.solve_LD),
            (D @ Lt, solver.solve_DLt),
            (L @ D @ Lt, solver.solve_LDLt),
        ]
    for F, solve in named:
        x = solve(b)
        assert x.shape == b.shape and x.dtype == np.dtype(dtype)
        assert close(F @ x, b, dtype, (abs(F) @ abs(x)).max() + 1), solve.__name__
    if kind == "lu":
        x = solver.apply_Qt(solver.solve_U(solver.solve_L(solver.apply_P(b))))
    else:
        x = solver.apply_Pt(solver.solve_LDLt(solver.apply_P(b)))
    assert close(A @ x, b, dtype, abs(A).max() * abs(x).max() + 1)
    assert np.array_equal(solver.solve_A(b), solver.solve(b))


def test_permutations_are_applied_and_undone():
    for kind in ("llt", "lu"):
        A, solver = solver_of(kind, "float64")
        b = np.arange(A.shape[0])
        assert np.array_equal(solver.apply_P(b), solver.row_perm) and np.array_equal(
            solver.apply_Q(b), solver.col_perm
        )
        assert np.array_equal(solver.apply_Pt(solver.apply_P(b)), b) and np.array_equal(
            solver.apply_Qt(solver.apply_Q(b)), b
        )
        assert sorted(solver.row_perm) == sorted(solver.col_perm) == list(b)


def test_parts_follow_the_values_of_refactor():
    A, solver = solver_of("llt", "float64")
    before = solver.L()
    solver.refactor(4 * A)
    assert np.array_equal(solver.L().data, 2 * before.data)
    assert np.array_equal(
        2 * solver.solve_L(np.ones(81)), palmette.Solver(A, kind="llt").solve_L(np.ones(81))
    )


def test_a_complex_right_hand_side_of_a_real_factor():
    A, solver = solver_of("llt", "float64")
    b = np.exp(1j * np.arange(81))
    assert close(solver.L() @ solver.solve_L(b), b, "float64", 10)


def test_what_a_factorization_has_not_is_refused_with_what_it_has():
    lu, llt = solver_of("lu", "float64")[1], solver_of("llt", "float64")[1]
    for ask, instead in (
        (lu.P, "row_perm"),
        (lu.D, "U"),
        (lu.L_D, "U"),
        (llt.U, "L"),
        (lambda: lu.solve_D(np.ones(90)), "solve_U"),
        (lambda: llt.solve_U(np.ones(81)), "U"),
        (palmette.Solver(spd(9), precision="mixed").L, "mixed"),
    ):
        with pytest.raises(palmette.UsageError, match=instead):
            ask()
    for wrong in (llt.apply_P, llt.apply_Pt, llt.solve_L):
        with pytest.raises(palmette.DimensionError, match="80"):
            wrong(np.ones(80))


def test_replaced_pivots_are_told():
    met = 0
    for B in with_doubtful_pivots():
        solver = palmette.Solver(B, kind="lu", ordering="amd")
        if solver.report["factorize"]["perturbed_pivots"] > 0:
            met += 1
            with pytest.warns(palmette.UnverifiedWarning, match="replaced"):
                solver.L()
    assert met >= 3
