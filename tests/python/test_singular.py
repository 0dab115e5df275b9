"""Systems with singular matrices: as in SciPy under palmette.scipy, and as requested with
`Solver(singular=...)`."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as theirs

import palmette
import palmette.scipy as ours


def neumann(m, seed=0):
    """The Laplacian of an m x m grid with irregular weights and no boundary: singular, but for rounding."""
    rng = np.random.default_rng(seed)
    ends = sparse.csr_array(sparse.diags_array([-1.0, 1.0], offsets=[0, 1], shape=(m - 1, m)))
    edges = sparse.vstack(
        [sparse.kron(sparse.eye_array(m), ends), sparse.kron(ends, sparse.eye_array(m))]
    ).tocsr()
    return (edges.T @ sparse.diags_array(rng.random(edges.shape[0])) @ edges).tocsc()


def rank_deficient(n, k, kind, is_complex, seed=0):
    """Dense, n x n, of rank n - k: k columns and k rows depend on two others each."""
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if is_complex else 0)

    core = np.where(rng.random((n, n - k)) < 5 / n, draw(n, n - k), 0)
    core[:n - k] += 4 * np.eye(n - k)
    spread = np.zeros((n - k, n), dtype=core.dtype)
    spread[:, :n - k] = np.eye(n - k)
    for column in range(n - k, n):
        spread[rng.choice(n - k, 2, replace=False), column] = draw(2)
    if kind == "general":
        return (core @ spread)[rng.permutation(n)][:, rng.permutation(n)]
    adjoint = (lambda a: a.T) if kind == "symmetric" else (lambda a: a.conj().T)
    square = core[:n - k]
    A = (
        adjoint(spread)
        @ (square @ adjoint(square) if kind == "positive" else square + adjoint(square))
        @ spread
    )
    order = rng.permutation(n)
    A = A[order][:, order]
    return (A + adjoint(A)) / 2


def backward_error(A, x, b):
    """‖b − Ax‖∞ / (‖A‖∞‖x‖∞ + ‖b‖∞)"""
    A = sparse.csr_array(A)
    return abs(b - A @ x).max() / (abs(A).sum(axis=1).max() * abs(x).max() + abs(b).max())


@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("kind", ["general", "symmetric", "hermitian", "positive"])
@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_least_norm_is_the_pseudoinverse(k, kind, is_complex):
    A = rank_deficient(50, k, kind, is_complex, seed=k)
    values = np.linalg.svd(A, compute_uv=False)
    condition = values[0] / values[50 - k - 1]
    inverse = np.linalg.pinv(A, rcond=1e-13)
    solver = palmette.Solver(sparse.csc_array(A), singular="least_norm", measure=False)
    b = np.random.default_rng(1).standard_normal((50, 3)) * (1 + (0.5j if is_complex else 0))
    for trans, turn in (("N", lambda a: a), ("T", lambda a: a.T), ("H", lambda a: a.conj().T)):
        for rhs in (b, turn(A) @ b):  # out of reach, and within
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", palmette.SingularWarning)
                x = solver.solve(rhs, trans=trans)
            expected = turn(inverse) @ rhs
            # Least squares: the condition enters squared; numpy's own pseudoinverse is no better.
            assert abs(x - expected).max() <= 50 * condition**2 * np.finfo(float).eps * abs(expected).max()
            verify = solver.report["verify"]
            assert verify["null_directions"] == k and not verify["verified"]
            assert verify["singular_distance"] <= 20 * np.finfo(float).eps / 2
            assert verify["least_squares_error"] <= verify["bound"]


def test_least_norm_of_a_regular_matrix_is_its_verified_solution():
    A = sparse.csc_array([[4.0, 1], [1, 3]])
    solver = palmette.Solver(A, singular="least_norm", measure=False)
    assert np.allclose(A @ solver.solve([1.0, 2]), [1, 2])
    assert solver.report["verify"]["verified"] and solver.report["verify"]["singular_distance"] is None


@pytest.mark.parametrize("k", [1, 2])
def test_least_norm_of_structurally_singular_matrices(k):
    A = rank_deficient(30, 1, "general", False)
    A[:, 4] = 0
    A[3:3 + k] = 0
    with pytest.warns(palmette.SingularWarning):
        x = palmette.solve(sparse.csc_array(A), np.ones(30), singular="least_norm")
    assert np.allclose(x, np.linalg.pinv(A, rcond=1e-13) @ np.ones(30), atol=1e-10)


def test_too_many_dependent_columns_are_refused():
    A = sparse.csc_array(np.ones((40, 40)))
    with pytest.raises(palmette.SingularError):
        palmette.solve(A, np.arange(40.0), singular="least_norm")


def test_the_default_refuses_and_warn_answers():
    K = neumann(12)
    b = np.linspace(-1, 2, 144)
    with pytest.raises(palmette.SingularError):
        palmette.solve(K, b)
    with pytest.warns(palmette.SingularWarning, match="NOT VERIFIED.*singular to working precision"):
        x = palmette.solve(K, b, singular="warn")
    # b has a part outside the range: x is huge, and constant except for a small rest.
    assert abs(x).max() > 1e12 and np.ptp(x) < 1e-10 * abs(x).max() and backward_error(K, x, b) < 1e-14
    with pytest.raises(palmette.UsageError, match="'raise', 'warn' or 'least_norm'"):
        palmette.Solver(K, singular="ignore")


@pytest.mark.parametrize("make", [lambda K: ours.splu(K).solve, lambda K: ours.factorized(K),
                                  lambda K: palmette.Solver(K, singular="warn", measure=False).solve])
def test_shift_invert_at_an_eigenvalue_converges(make):
    """eigsh(sigma=0) of a free structure, with the factor as OPinv."""
    K = neumann(30)
    expected = np.linalg.eigvalsh(K.toarray())[:5]
    with pytest.warns(palmette.SingularWarning):
        inverse = theirs.LinearOperator(K.shape, matvec=make(K), dtype=float)
        found = np.sort(theirs.eigsh(K, k=5, sigma=0.0, OPinv=inverse, v0=np.linspace(1, 2, 900))[0])
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-11)


def test_inverse_iteration_converges_to_the_null_vector():
    rng = np.random.default_rng(3)
    rates = (
        sparse.random_array((200, 200), density=0.02, rng=rng)
        + sparse.eye_array(200, k=1)
        + sparse.eye_array(200, k=-1)
    )
    # of a Markov chain: columns sum to zero
    generator = (rates - sparse.diags_array(np.asarray(rates.sum(axis=0)))).tocsc()
    shifted = (generator - 1e-15 * sparse.eye_array(200)).tocsc()
    x = np.ones(200) / 200
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # programs treat warnings of spsolve as failures
        for _ in range(3):
            x = ours.spsolve(shifted, x)
            x /= x.sum()
    assert abs(generator @ x).max() <= 1e-14 * abs(generator).max() and (x > 0).all()


def test_consistent_systems_come_back_with_a_small_residual():
    K = neumann(15, seed=2)
    b = K @ np.sin(np.arange(225.0))
    for x in (ours.spsolve(K, b), ours.spsolve(K.tocsr(), b)):
        assert backward_error(K, x, b) < 1e-14 and abs(x).max() < 1e4
    with pytest.warns(palmette.SingularWarning):
        x = ours.splu(K).solve(b)
    assert backward_error(K, x, b) < 1e-14 and abs(x).max() < 1e4


def test_a_factor_that_exists_never_raises_and_warns_once():
    """The saddle-point system of constraints of which one nearly repeats another, as trust-constr makes
    them."""
    rng = np.random.default_rng(5)
    J = rng.standard_normal((4, 11))
    J[3] = J[0] / 3 + J[1] / 7
    saddle = sparse.csc_array(np.block([[np.eye(11), J.T], [J, np.zeros((4, 4))]]))
    lu = ours.splu(saddle)
    with pytest.warns(palmette.SingularWarning):
        lu.solve(np.ones(15))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for b in (np.ones(15), np.arange(15.0), saddle @ np.ones(15)):
            for trans in ("N", "T"):
                assert backward_error(saddle, lu.solve(b, trans), b) < 1e-14


def paths_and_their_like():
    for n in (5, 30, 100):
        yield sparse.csc_array(
            sparse.diags_array(np.r_[1.0, np.full(n - 2, 2.0), 1])
            - sparse.eye_array(n, k=1)
            - sparse.eye_array(n, k=-1)
        )
    for seed in range(6):
        yield neumann(6 + seed, seed)
        yield sparse.csc_array(rank_deficient(20 + seed, 1 + seed % 3, "general", False, seed))
        rng = np.random.default_rng(seed)
        A = rng.integers(-1, 2, (6, 6)).astype(float)
        A[:, 2] = A[:, 4]
        yield sparse.csc_array(A)
        B = (sparse.random_array((30, 30), density=0.1, rng=rng) + 5 * sparse.eye_array(30)).toarray()
        B[3] = B[7]
        yield sparse.csc_array(B)


def test_exactly_singular_is_what_it_is_for_scipy():
    exactly = 0
    for A in paths_and_their_like():
        try:
            theirs.splu(A)
        except RuntimeError as failure:
            exactly += 1
            with pytest.raises(RuntimeError, match=str(failure)):
                ours.splu(A)
        else:
            assert ours.splu(A).shape == A.shape
    assert 5 < exactly < 25


PINNED = sparse.csc_array(
    sparse.diags_array(np.full(8, 2.0)) - sparse.eye_array(8, k=1) - sparse.eye_array(8, k=-1)
)
PINNED[3, 3] = np.inf


def test_an_infinite_diagonal_entry_pins_its_unknown():
    b = np.arange(8.0) - 3.5
    assert np.allclose(ours.spsolve(PINNED, b), theirs.spsolve(PINNED, b), rtol=1e-14, atol=1e-14)
    options = {"permc_spec": "MMD_AT_PLUS_A", "options": {"Equil": True, "SymmetricMode": True}}
    mine, superlu = ours.splu(PINNED, **options), theirs.splu(PINNED, **options)
    for rhs in (b, np.outer(b, [1, 2])):
        for trans in ("N", "T"):
            assert np.allclose(mine.solve(rhs, trans), superlu.solve(rhs, trans), rtol=1e-14, atol=1e-14)
    assert mine.L.shape == (8, 8) and mine.nnz > 8
    everything = sparse.csc_array(np.diag([np.inf, -np.inf]))
    assert np.array_equal(ours.spsolve(everything, np.ones(2)), [0, 0])


@pytest.mark.parametrize("place", [(0, 0), (2, 1)])
def test_nan_in_the_matrix_counts_as_singular_as_in_scipy(place):
    A = sparse.csc_array(np.diag([1.0, 2, 3]) + 0.5 * np.ones((3, 3)))
    A[place] = np.nan
    for module in (ours, theirs):
        for matrix in (A, A.tocsr(), sparse.csr_array(np.full((2, 2), np.nan))):
            with pytest.warns(ours.MatrixRankWarning, match="Matrix is exactly singular"):
                assert np.isnan(module.spsolve(matrix, np.full(matrix.shape[0], 1.0))).all()
        for function in (module.splu, module.factorized):
            with pytest.raises(RuntimeError, match="Factor is exactly singular"):
                function(A)
    with pytest.raises(palmette.UsageError, match="nan"):
        palmette.Solver(A)


def test_infinity_off_the_diagonal_counts_as_singular():
    A = sparse.csc_array([[2.0, np.inf], [1, 3]])
    with pytest.raises(RuntimeError, match="Factor is exactly singular"):
        ours.splu(A)
    with pytest.warns(ours.MatrixRankWarning):
        assert np.isnan(ours.spsolve(A, np.ones(2))).all()


def test_these_functions_may_stand_in_scipys_place(monkeypatch):
    """For factors of matrices with replaced pivots SuperLU is called, which must be SciPy's own."""
    monkeypatch.setattr(theirs, "splu", ours.splu)
    met = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        B = sparse.random_array(
            (60, 60),
            density=2.5 / 60,
            rng=rng,
            data_sampler=lambda size, rng=rng: rng.choice([-1.0, 1.0], size),
        )
        B = (B + sparse.coo_array((np.ones(60), (np.arange(60), rng.permutation(60))))).tocsc()
        try:
            lu = theirs.splu(B)
        except RuntimeError:
            continue
        met += ours._replaced_pivots(lu._solver) > 0
        assert lu.L.shape == (60, 60)
    near = theirs.splu(neumann(8))
    assert met + ours._replaced_pivots(near._solver) > 0 and near.U.shape == (64, 64)


@pytest.mark.parametrize("m", [2, 5])
def test_an_answer_without_replaced_pivots_stays_where_its_residual_is_the_smallest(m):
    """Constraints that are nearly dependent, as those of an interior-point method. Elimination makes no error
    here, since all multiples by powers of two are exact. The backward error of a residual of 1/2 would be u
    too, but clients check b − A x.
    """
    J = np.eye(m)
    J[:, 0], J[0, 1:], J[1, 1] = 1, 0, 2.0**-25
    A, b = sparse.csc_array(np.block([[np.eye(m), J.T], [J, np.zeros((m, m))]])), np.arange(1.0, 2 * m + 1)
    with pytest.warns(palmette.SingularWarning):
        assert np.array_equal(A @ ours.splu(A).solve(b), b)
