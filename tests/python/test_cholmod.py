"""The interface of scikit-sparse: the identities that its factors satisfy, and its errors."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import palmette
from palmette import cholmod
from palmette.cholmod import CholmodError, CholmodNotPositiveDefiniteError, analyze, analyze_AAt, cholesky
from palmette.cholmod import cholesky_AAt


def positive(n, dtype=float, seed=1):
    B = sparse.random(n, n, 4 / n, random_state=seed, format="csc").astype(dtype)
    if B.dtype.kind == "c":
        B = B + 0.5j * sparse.random(n, n, 3 / n, random_state=seed + 1, format="csc")
    return sparse.csc_matrix(B @ B.conj().T + sparse.identity(n))


@pytest.fixture(params=["d", "D"])
def system(request):
    A = positive(80, request.param)
    b = np.random.default_rng(2).standard_normal((80, 3)).astype(request.param)
    return A, b, cholesky(A)


def test_solutions_are_right_for_vectors_columns_and_sparse_sides(system):
    A, b, factor = system
    for rhs in (b, b[:, 0], b[:, :1]):
        x = factor(rhs)
        assert x.shape == rhs.shape and np.allclose(A @ x, rhs)
        assert np.allclose(factor.solve_A(rhs), x)
    x = factor(sparse.csc_matrix(b))
    assert sparse.issparse(x) and np.allclose((A @ x).toarray(), b)
    assert factor.solver.report["verify"]["verified"]


def test_factors_multiply_to_the_permuted_matrix(system):
    A, _, factor = system
    p, L, (L1, D) = factor.P(), factor.L(), factor.L_D()
    permuted = A[p][:, p].toarray()
    assert np.allclose((L @ L.conj().T).toarray(), permuted)
    assert np.allclose((L1 @ D @ L1.conj().T).toarray(), permuted)
    assert np.allclose(L1.diagonal(), 1) and np.allclose(D.diagonal(), factor.D())
    assert np.allclose(factor.LD().toarray(), (L1 + D).toarray() - np.eye(80))
    assert (abs(sparse.triu(L, 1)) != 0).nnz == 0


def test_solves_with_one_factor_belong_to_ldl_unless_told(system):
    _, b, factor = system
    L, (L1, D) = factor.L().toarray(), factor.L_D()
    L1, D = L1.toarray(), D.toarray()
    for rhs in (b, b[:, 1]):
        assert np.allclose(L1 @ factor.solve_L(rhs), rhs)
        assert np.allclose(L1.conj().T @ factor.solve_Lt(rhs), rhs)
        assert np.allclose(L @ factor.solve_L(rhs, use_LDLt_decomposition=False), rhs)
        assert np.allclose(L.conj().T @ factor.solve_Lt(rhs, use_LDLt_decomposition=False), rhs)
        assert np.allclose(D @ factor.solve_D(rhs), rhs)
        assert np.allclose(L1 @ D @ factor.solve_LD(rhs), rhs)
        assert np.allclose(D @ L1.conj().T @ factor.solve_DLt(rhs), rhs)
        assert np.allclose(L1 @ D @ L1.conj().T @ factor.solve_LDLt(rhs), rhs)
    assert sparse.issparse(factor.solve_L(sparse.csc_matrix(b)))


def test_permutations_undo_each_other(system):
    _, b, factor = system
    assert np.array_equal(factor.apply_P(b), b[factor.P()])
    assert np.array_equal(factor.apply_Pt(factor.apply_P(b)), b)


def test_determinants_and_inverse(system):
    A, _, factor = system
    sign, logarithm = np.linalg.slogdet(A.toarray())
    assert np.isclose(factor.logdet(), logarithm) and np.isclose(factor.slogdet()[1], logarithm)
    assert factor.slogdet()[0] == 1 and np.isclose(factor.det(), np.exp(logarithm))
    assert np.allclose((factor.inv() @ A).toarray(), np.eye(80))


def test_only_the_lower_triangle_is_read():
    A = positive(30)
    spoiled = sparse.csc_matrix(sparse.tril(A) + 7 * sparse.triu(A, 1))
    b = np.ones(30)
    assert np.allclose(cholesky(spoiled)(b), cholesky(A)(b))


def test_beta_is_added_to_the_diagonal():
    A, b = positive(30), np.ones(30)
    assert np.allclose((A + 3 * sparse.identity(30)) @ cholesky(A, 3)(b), b)


def test_products_are_factored():
    A = sparse.random(20, 50, 0.2, random_state=3, format="csc")
    b = np.ones(20)
    product = A @ A.T + 2 * sparse.identity(20)
    assert np.allclose(product @ cholesky_AAt(A, beta=2)(b), b)
    symbolic = analyze_AAt(A)
    assert np.allclose(product @ symbolic.cholesky_AAt(A, beta=2)(b), b)
    symbolic.cholesky_AAt_inplace(A, beta=2)
    assert np.allclose(product @ symbolic(b), b)


def test_analysis_is_used_for_several_matrices():
    A, b = positive(60), np.ones(60)
    symbolic = analyze(A)
    with pytest.raises(CholmodError, match="no values"):
        symbolic(b)
    with pytest.raises(CholmodError, match="no values"):
        symbolic.L()
    with pytest.raises(CholmodError, match="no values"):
        symbolic.apply_P(b)
    first, second = symbolic.cholesky(A), symbolic.cholesky(2 * A)
    assert np.array_equal(first.P(), second.P())
    assert np.allclose(A @ first(b), b) and np.allclose(2 * A @ second(b), b)
    symbolic.cholesky_inplace(3 * A)
    assert np.allclose(3 * A @ symbolic(b), b)


def test_values_are_replaced_in_place_and_copies_stay():
    A, b = positive(60), np.ones(60)
    factor = cholesky(A)
    kept = factor.copy()
    factor.cholesky_inplace(4 * A)
    assert np.allclose(4 * A @ factor(b), b) and np.allclose(A @ kept(b), b)
    factor.cholesky_inplace(A + 0j)  # complex values: another scalar
    assert np.allclose(A @ factor(b), b)


def test_later_changes_of_the_matrix_have_no_effect():
    A, b = positive(40), np.ones(40)
    factor = cholesky(A)
    x = factor(b)
    A.data[:] = 0
    assert np.array_equal(factor(b), x)


def test_what_is_not_positive_definite_is_refused():
    A = positive(30)
    A[3, 3] = -1
    with pytest.raises(CholmodNotPositiveDefiniteError):
        cholesky(sparse.csc_matrix(A))
    factor = cholesky(positive(30))
    with pytest.raises(CholmodNotPositiveDefiniteError):
        factor.cholesky_inplace(positive(30), beta=-1e6)
    assert np.allclose(positive(30) @ factor(np.ones(30)), 1)  # the factor before it stays


def test_arguments_are_checked():
    A = positive(10)
    with pytest.raises(ValueError, match="mode"):
        cholesky(A, mode="fast")
    with pytest.raises(ValueError, match="ordering_method"):
        cholesky(A, ordering_method="alphabetical")
    with pytest.raises(CholmodError, match="square"):
        cholesky(A[:5])
    with pytest.raises(CholmodError, match="10"):
        cholesky(A)(np.ones(9))
    with pytest.raises(CholmodError, match="shape"):
        cholesky(A).cholesky(positive(11))
    with pytest.raises(CholmodError, match="C has shape"):
        cholesky(A).update_inplace(A[:9])
    for name in ("natural", "amd", "colamd", "nesdis", "best", "default"):
        assert np.allclose(A @ cholesky(A, ordering_method=name)(np.ones(10)), 1)


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_updates_in_place_are_those_of_the_changed_matrix(dtype):
    A, b = positive(80, dtype), np.ones(80)
    row, column = (part[0] for part in sparse.triu(A, 1).nonzero())
    edge = sparse.csc_matrix((np.ones(2), ([row, column], [0, 0])), shape=(80, 1))
    for C, has_place in (
        (edge, True),  # rows with an entry of A between them
        (sparse.csc_matrix(np.eye(80)[:, :1]), True),
        (A[:, [3, 40]], False),  # rows without
    ):
        factor = cholesky(A)
        C = sparse.csc_matrix(C.astype(dtype))
        solver_before = factor.solver
        factor.update_inplace(C)
        assert (factor.solver is solver_before) == has_place  # changed, or factorized anew
        B = sparse.csc_matrix(A + C @ C.conj().T)
        assert np.allclose(B @ factor(b), b)
        p, L = factor.P(), factor.L()
        assert np.allclose((L @ L.conj().T).toarray(), B[p][:, p].toarray())
        factor.update_inplace(C, subtract=True)
        assert np.allclose(A @ factor(b), b)
        factor.cholesky_inplace(2 * A)
        assert np.allclose(2 * A @ factor(b), b)
    with pytest.raises(CholmodNotPositiveDefiniteError):
        factor.update_inplace(100 * C, subtract=True)
    assert np.allclose(2 * A @ factor(b), b)


def test_an_update_by_complex_columns_makes_a_complex_factor():
    A, C = positive(20), sparse.csc_matrix(1j * np.eye(20)[:, :1])
    factor = cholesky(A)
    factor.update_inplace(C)
    x = factor(np.ones(20))
    assert np.allclose((A + C @ C.conj().T) @ x, 1)


def test_conversions_are_told():
    A = positive(10)
    with pytest.warns(cholmod.CholmodTypeConversionWarning, match="compressed columns"):
        cholesky(A.tocsr())
    with pytest.warns(cholmod.CholmodTypeConversionWarning, match="float32"):
        cholesky(A.astype("f"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cholesky(A)


def test_agrees_with_scikit_sparse_where_it_is_installed():
    sksparse = pytest.importorskip("sksparse.cholmod", reason="scikit-sparse is not installed")
    A, b = positive(80), np.ones(80)
    theirs, ours = sksparse.cholesky(A), cholesky(A)
    assert np.allclose(ours(b), theirs(b)) and np.isclose(ours.logdet(), theirs.logdet())


def test_it_is_found_as_a_module_of_the_package():
    assert palmette.cholmod is cholmod
