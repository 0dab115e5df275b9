"""palmette.scipy against scipy.sparse.linalg: the same inputs give the same answers, types, warnings and
errors."""

import gc
import pickle
import sys

import numpy as np
import pytest
import scipy
import scipy.sparse as sparse
import scipy.sparse.linalg as theirs

import palmette
import palmette.scipy as ours
from conftest import (
    DTYPES,
    bound,
    indefinite,
    outcome,
    random_array,
    random_unsymmetric,
    spd,
    with_doubtful_pivots,
)

# What palmette.scipy does is what SciPy does from that version on: older ones warn and convert otherwise.
as_scipy_does = pytest.mark.skipif(
    tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 16), reason="compared with SciPy 1.16 or later"
)
A = sparse.csc_array([[4.0, 1, 0], [1, 3, 1], [0, 2, 5]])
T = sparse.csr_array([[2.0, 0, 0], [1, 3, 0], [0, 1, 4]])
SINGULAR = sparse.csc_array([[1.0, 2], [2, 4]])
STRUCTURALLY_SINGULAR = sparse.csc_array([[1.0, 0], [1, 0]])
RECTANGLE = sparse.csc_array(np.ones((2, 3)))
EMPTY = sparse.csc_array((0, 0))
one, two = np.ones(3), np.arange(6.0).reshape(3, 2)


def assert_same(call):
    """Compares both modules; `call` takes one of them."""
    (expected, expected_warnings), (found, found_warnings) = outcome(lambda: call(theirs)), outcome(
        lambda: call(ours)
    )
    assert [seen[:2] for seen in found_warnings] == [seen[:2] for seen in expected_warnings]
    assert all(filename == __file__ for _, _, filename in found_warnings)  # they point to the user's own line
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), found
        assert str(found) == str(expected)
        return
    assert not isinstance(found, Exception), found
    if sparse.issparse(expected):
        assert type(found) is type(expected)
    else:
        assert isinstance(found, np.ndarray)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    expected, found = (x.toarray() if sparse.issparse(x) else x for x in (expected, found))
    tolerance = 100 * bound(expected.dtype)
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


SPSOLVE = {
    "vector": (A, one),
    "column": (A, one[:, None]),
    "matrix": (A, two),
    "csr": (A.tocsr(), two),
    "coo": (A.tocoo(), one),
    "lil": (A.tolil(), one),
    "dok": (A.todok(), one),
    "bsr": (A.tobsr(), one),
    "dia": (A.todia(), one),
    "spmatrix": (sparse.csr_matrix(A), one),
    "dense": (A.toarray(), one),
    "list b": (A, [1, 2, 3]),
    "singular": (SINGULAR, np.ones(2)),
    "singular, two": (SINGULAR, np.ones((2, 2))),
    "singular, column": (SINGULAR, np.ones((2, 1))),
    "singular, sparse b": (SINGULAR, sparse.csc_array(np.ones((2, 2)))),
    "singular, sparse column": (SINGULAR, sparse.csc_array(np.ones((2, 1)))),
    "singular float32": (SINGULAR.astype("float32"), np.ones(2, "float32")),
    "structurally singular": (STRUCTURALLY_SINGULAR, np.ones(2)),
    "zero": (sparse.csc_array((2, 2)), np.ones(2)),
    "sparse b": (A, sparse.csc_array(two)),
    "sparse identity": (A, sparse.eye_array(3, format="csc")),
    "sparse csr b": (A, sparse.csr_array(two)),
    "csr and csr": (A.tocsr(), sparse.csr_array(two)),
    "spmatrix, sparse b": (sparse.csc_matrix(A), sparse.csc_matrix(two)),
    "sparse column": (A, sparse.coo_array(one[:, None])),
    "rectangle": (RECTANGLE, np.ones(2)),
    "size": (A, np.ones(4)),
    "size of matrix": (A, np.ones((4, 2))),
    "three dimensions": (A, np.ones((3, 1, 1))),
    "complex b": (A, 1j * one),
    "complex A": (A * 1j, one),
    "complex sparse b": (A, sparse.csc_array(two * 1j)),
    "float32": (A.astype("float32"), one.astype("float32")),
    "float32 and integers": (A.astype("float32"), np.ones(3, int)),
    "float32 and complex": (A.astype("float32"), one * 1j),
    "float32 and complex64": (A.astype("float32"), (one * 1j).astype("complex64")),
    "integers": (A.astype(int), np.ones(3, int)),
    "int8": (A.astype("int8"), np.ones(3, "int8")),
    "bool": (A.astype(bool), np.ones(3, bool)),
    "longdouble": (A.astype(np.longdouble), one),
    "empty": (EMPTY, np.ones(0)),
    "no columns": (A, np.ones((3, 0))),
    "nan b": (A, np.array([1, np.nan, 1])),
    "n = 1": (sparse.csc_array([[2.0]]), np.ones(1)),
}


@pytest.mark.parametrize("name", SPSOLVE)
def test_spsolve_does_what_scipy_does(name):
    assert_same(lambda module: module.spsolve(*SPSOLVE[name]))


@pytest.mark.parametrize(
    "permc_spec", [None, "NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD", "colamd", "FOO"]
)
def test_spsolve_and_splu_take_the_same_names(permc_spec):
    assert_same(lambda module: module.spsolve(A, one, permc_spec=permc_spec, use_umfpack=False))
    assert_same(lambda module: module.splu(A, permc_spec=permc_spec).solve(one))


SPLU = {
    "csr": lambda m: m.splu(A.tocsr()).solve(one),
    "dense": lambda m: m.splu(A.toarray()).solve(one),
    "integers": lambda m: m.splu(A.astype(int)).solve(one),
    "singular": lambda m: m.splu(SINGULAR),
    "structurally singular": lambda m: m.splu(STRUCTURALLY_SINGULAR),
    "zero": lambda m: m.splu(sparse.csc_array((1, 1))),
    "rectangle": lambda m: m.splu(RECTANGLE),
    "empty": lambda m: m.splu(EMPTY).solve(np.ones(0)),
    "unknown option": lambda m: m.splu(A, options={"Foo": 1}),
    "known options": lambda m: m.splu(A, options={"Equil": False, "SymmetricMode": True}).solve(one),
    "threshold": lambda m: m.splu(A, diag_pivot_thresh="x"),
    "relax": lambda m: m.splu(A, relax="x"),
    "panel": lambda m: m.splu(A, panel_size=1.5),
    "numbers": lambda m: m.splu(A, None, 0.5, 1, 4).solve(one),
    "matrix": lambda m: m.splu(A).solve(two),
    "column": lambda m: m.splu(A).solve(one[:, None]),
    "integer rhs": lambda m: m.splu(A).solve(np.ones(3, int)),
    "list": lambda m: m.splu(A).solve([1, 2, 3]),
    "scalar": lambda m: m.splu(A).solve(1.0),
    "complex rhs": lambda m: m.splu(A).solve(one * 1j),
    "float32 factor": lambda m: m.splu(A.astype("float32")).solve(one),
    "float32 and int16": lambda m: m.splu(A.astype("float32")).solve(np.ones(3, "int16")),
    "float32 rhs": lambda m: m.splu(A).solve(one.astype("float32")),
    "longdouble": lambda m: m.splu(A).solve(one.astype(np.longdouble)),
    "complex rhs of another size": lambda m: m.splu(A).solve(np.ones(4, complex)),
    "complex factor": lambda m: m.splu(A * 1j).solve(one),
    "size": lambda m: m.splu(A).solve(np.ones(4)),
    "size of matrix": lambda m: m.splu(A).solve(np.ones((4, 2))),
    "three dimensions": lambda m: m.splu(A).solve(np.ones((3, 1, 1))),
    "no columns": lambda m: m.splu(A).solve(np.ones((3, 0))),
    "trans X": lambda m: m.splu(A).solve(one, "X"),
    "trans t": lambda m: m.splu(A).solve(one, "t"),
    "trans H": lambda m: m.splu(A * 1j).solve(rhs=one, trans="H"),
    "sparse rhs": lambda m: m.splu(A).solve(sparse.csc_array(two)),
    "nan": lambda m: m.splu(A).solve(np.array([1, np.nan, 1])),
    "factorized": lambda m: m.factorized(A)(one),
    "factorized csr": lambda m: m.factorized(A.tocsr())(one),
    "factorized singular": lambda m: m.factorized(SINGULAR),
    "factorized rectangle": lambda m: m.factorized(RECTANGLE),
    "duplicates": lambda m: m.splu(sparse.csc_array(([1.0, 1, 2], [0, 0, 1], [0, 2, 3]), shape=(2, 2))).solve(
        np.ones(2)
    ),
}


@as_scipy_does
@pytest.mark.parametrize("name", SPLU)
def test_splu_does_what_scipy_does(name):
    if name == "unknown option" and sys.version_info >= (3, 13):
        pytest.skip("Python 3.13 has other words for it")
    assert_same(SPLU[name])


TRIANGULAR = {
    "csr": (T, one),
    "csc": (T.tocsc(), two),
    "column": (T, one[:, None]),
    "coo": (T.tocoo(), two),
    "dense": (T.toarray(), one),
    "list": (T, [1, 2, 3]),
    "upper": (T.T.tocsc(), two, False),
    "upper csr": (T.T.tocsr(), two, False),
    "singular": (STRUCTURALLY_SINGULAR, np.ones(2)),
    "unit": (STRUCTURALLY_SINGULAR, np.ones(2), True, False, False, True),
    "unit over stored": (T, one, True, False, False, True),
    "rectangle": (RECTANGLE, np.ones(2)),
    "three dimensions": (T, np.ones((3, 1, 1))),
    "scalar": (T, 1.0),
    "size": (T, np.ones(4)),
    "size of matrix": (T, np.ones((4, 2))),
    "integers": (T.astype(int), np.ones(3, int)),
    "float32": (T.astype("float32"), one.astype("float32")),
    "float32 and int16": (T.astype("float32"), np.ones(3, "int16")),
    "complex": (T, one * 1j),
    "complex T": (T * 1j, one),
    "empty": (EMPTY, np.ones(0)),
    "no columns": (T, np.ones((3, 0))),
    "overwriting": (T, one.copy(), True, True, True),
    "explicit zero outside": (
        sparse.csc_array(([1.0, 1, 0, 1], [0, 1, 0, 1], [0, 2, 4]), shape=(2, 2)),
        np.ones(2),
    ),
}


@as_scipy_does
@pytest.mark.parametrize("name", TRIANGULAR)
def test_spsolve_triangular_does_what_scipy_does(name):
    assert_same(lambda module: module.spsolve_triangular(*TRIANGULAR[name]))


def test_spsolve_triangular_refuses_what_is_not_triangular():
    for matrix, lower in ((A, True), (A.tocsr(), False)):
        with pytest.raises(np.linalg.LinAlgError, match="not triangular"):
            ours.spsolve_triangular(matrix, one, lower)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(4))
def test_pr_a_pc_is_l_u(dtype, seed):
    n = 30 + 60 * seed
    for matrix in (random_unsymmetric(n, seed, dtype), spd(6, dtype), indefinite(6, dtype)):
        rng = np.random.default_rng(seed)
        # Rows and columns of very different size, so that scaling has something to undo.
        size = matrix.shape[0]
        rows, columns = (sparse.diags_array(10.0 ** rng.uniform(-4, 4, size)) for _ in "rc")
        matrix = (rows @ matrix @ columns).tocsc().astype(dtype)
        lu = ours.splu(matrix)
        ones, places = np.ones(size), np.arange(size)
        Pr = sparse.csc_array((ones, (lu.perm_r, places)))
        Pc = sparse.csc_array((ones, (places, lu.perm_c)))
        assert lu.perm_r.dtype == lu.perm_c.dtype == np.int32 and lu.shape == (size, size)
        assert lu.L.dtype == lu.U.dtype == dtype and lu.L.format == lu.U.format == "csc"
        assert (sparse.triu(lu.L, 1).nnz, sparse.tril(lu.U, -1).nnz) == (0, 0)
        assert (lu.L.diagonal() == 1).all() and lu.nnz == lu.L.nnz + lu.U.nnz
        product, sizes = (lu.L @ lu.U).toarray(), (abs(lu.L) @ abs(lu.U)).toarray()
        assert (np.abs(product - (Pr @ matrix @ Pc).toarray()) <= size * np.finfo(dtype).eps * sizes).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_natural_keeps_the_order_of_columns(dtype):
    # A chain whose order is no postorder of its tree (its ends are far apart), a grid, and unsymmetric ones:
    # diagonally dominant, so that no rows need to be exchanged. L and sqrt(D) of the symmetric ones are then
    # a Cholesky factor, which programs rely on.
    rng = np.random.default_rng(3)
    shuffled = spd(6, dtype)[rng.permutation(36)]
    dominant = sparse.csc_array(
        random_array((200, 200), density=0.01, rng=rng) + 201 * sparse.eye_array(200)
    ).astype(dtype)
    for matrix in (spd(6, dtype), dominant, (dominant + dominant.T).tocsc(), shuffled):
        n = matrix.shape[0]
        lu = ours.splu(matrix, permc_spec="NATURAL")
        places = np.arange(n)
        P = matrix[np.argsort(lu.perm_r)][:, np.argsort(lu.perm_c)]
        assert (sparse.triu(lu.L, 1).nnz, sparse.tril(lu.U, -1).nnz) == (0, 0)
        # Distant fill is subnormal and counts as zero; it would be multiplied by a pivot.
        lost = n * np.finfo(dtype).tiny * abs(lu.U).max()
        rounding = n * np.finfo(dtype).eps * (abs(lu.L) @ abs(lu.U)).toarray() + lost
        assert (abs(lu.L @ lu.U - P).toarray() <= rounding).all()
        if matrix is not shuffled:
            assert (
                (lu.perm_c == places).all()
                and (lu.perm_r == places).all()
                and lu.perm_r.dtype == lu.perm_c.dtype == np.int32
            )


def test_rows_that_are_small_beside_the_norm_are_solved_as_well():
    # A stiff grid, a rigid inclusion by weak multipliers, and forces that turn and move it: ‖A‖‖x‖ is so
    # large compared with b that x counts as verified (‖b − A x‖ ≤ 10⁻¹⁴ (‖A‖‖x‖ + ‖b‖)) while rows of b are
    # missed by 10⁻⁷ of what is in them.
    k = 48
    K = palmette.generate("poisson2d5", k)
    X, Y = (places.ravel() / k for places in np.meshgrid(np.arange(k), np.arange(k)))
    inside = (X > 0.3) & (X < 0.7) & (Y > 0.3) & (Y < 0.7)
    B = sparse.csr_array(8 * sparse.eye_array(k * k) - K)[np.flatnonzero(inside)] * 1e-4
    motions = sparse.csr_array(B @ np.stack([np.ones(k * k), X, Y], axis=1))
    saddle = sparse.block_array(
        [[1e9 * K, None, B.T], [None, None, -motions.T], [B, -motions, None]], format="csc"
    )
    b = np.zeros(saddle.shape[0])
    b[:k] = 1e9
    for x in (ours.splu(saddle).solve(b), ours.spsolve(saddle, b)):
        # componentwise backward error: max_i |b − A x|_i / (|A||x| + |b|)_i
        assert (np.abs(b - saddle @ x) / (abs(saddle) @ np.abs(x) + np.abs(b) + 1e-300)).max() <= 1e-10


def test_l_u_is_a_where_pivots_had_to_be_replaced():
    n, met = 60, 0
    for B in with_doubtful_pivots(n):
        lu = ours.splu(B)
        met += palmette.Solver(B, kind="lu", ordering="amd").report["factorize"]["perturbed_pivots"] > 0
        P = B[np.argsort(lu.perm_r)][:, np.argsort(lu.perm_c)]
        assert (abs(lu.L @ lu.U - P).toarray() <= 20 * n * 2**-53 * (abs(lu.L) @ abs(lu.U)).toarray()).all()
        assert np.allclose(B @ lu.solve(np.ones(n)), 1)
    assert met >= 3


def test_the_object_of_splu_is_used_like_scipys():
    lu = ours.splu(A)
    with pytest.raises(AttributeError):
        lu.shape = (1, 1)
    with pytest.raises(TypeError):
        pickle.dumps(lu)
    assert lu.L is lu.L
    x = lu.solve(two)
    assert x.flags.f_contiguous == theirs.splu(A).solve(two).flags.f_contiguous


def test_columns_of_nan_do_not_spoil_the_others():
    b = two.copy()
    b[1, 0] = np.nan
    x = ours.spsolve(A, b)
    assert np.isnan(x[:, 0]).all() and np.allclose(A @ x[:, 1], b[:, 1])


@pytest.mark.parametrize(
    "name, n",
    [
        ("poisson2d9", 20),
        ("poisson3d7", 8),
        ("convection_diffusion2d", 20),
        ("circuit", 300),
        ("kkt3d", 4),
        ("random_unsymmetric", 200),
        ("elasticity3d", 4),
    ],
)
def test_model_problems_are_solved_as_scipy_does(name, n):
    B = palmette.generate(name, n)
    b = B @ np.linspace(1, 2, B.shape[0])
    x, y = ours.spsolve(B, b), theirs.spsolve(B, b)
    assert np.allclose(B @ x, b, rtol=1e-9, atol=1e-9 * np.abs(b).max())
    assert np.linalg.norm(B @ x - b) <= 2 * np.linalg.norm(B @ y - b) + 1e-13 * np.linalg.norm(b)


def test_the_users_matrix_is_as_it_was():
    given = sparse.csc_array(
        (np.array([1.0, 1.0, 2.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2)
    )
    before = given.indices.copy()
    ours.spsolve(given, np.ones(2))
    ours.splu(given)
    assert np.array_equal(given.indices, before)


def test_the_factors_are_of_the_matrix_as_it_was():
    matrix, rhs = random_unsymmetric(30, 1), np.ones(30)
    kept = matrix.copy()
    lu = ours.splu(matrix)  # factors by columns, and factors again when L and U are asked for
    matrix.data[:] = 7
    matrix.indices[:] = 0
    P = kept[np.argsort(lu.perm_r)][:, np.argsort(lu.perm_c)]
    assert abs(P - lu.L @ lu.U).max() <= 1e-12
    assert np.abs(kept @ lu.solve(rhs) - rhs).max() <= 1e-12


def test_permutations_refer_to_the_factorization_as_those_of_scipy_do():
    for module in (ours, theirs):
        lu = module.splu(A)
        before = sys.getrefcount(lu)
        for name in ("perm_r", "perm_c"):
            permutation = getattr(lu, name)
            assert permutation.dtype == np.int32
            assert sys.getrefcount(lu) == before + 1
            del permutation
            assert sys.getrefcount(lu) == before
    kept, expected = ours.splu(A).perm_c, ours.splu(A).perm_c.copy()
    gc.collect()
    assert np.array_equal(kept, expected)


@pytest.mark.parametrize("shape", [(2,), (4,), (4, 2), (1, 3), (3, 2, 1), ()])
def test_a_right_hand_side_of_another_size_is_refused_as_by_scipy(shape):
    for module in (ours, theirs):
        with pytest.raises(ValueError):
            module.splu(A).solve(np.ones(shape))


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_sparse_sides_visit_the_branches_of_their_entries_alone(dtype, monkeypatch):
    A = sparse.csc_array(palmette.generate("convection_diffusion3d", 14)).astype(dtype)
    n = A.shape[0]
    b = sparse.random_array((n, 150), density=1e-3, rng=np.random.default_rng(4), format="csc").astype(dtype)
    b = sparse.csc_array(b @ sparse.diags_array(np.r_[0.0, np.ones(149)]))  # a column without entries, too
    seen = []
    solve_sparse = palmette.Solver.solve_sparse

    def observed(self, *arguments):
        x = solve_sparse(self, *arguments)
        seen.append(self.sparse_report)
        return x

    monkeypatch.setattr(palmette.Solver, "solve_sparse", observed)
    x = ours.spsolve(A, b)
    assert isinstance(x, sparse.csc_array) and x.dtype == np.dtype(dtype)
    assert abs(A @ x - b).max() < 1e-12
    assert len(seen) == 3 and all(report["verified"] and not report["solved_whole"] for report in seen)
    assert sum(report["bytes"] for report in seen) < sum(report["whole_bytes"] for report in seen)


def test_sparse_sides_leave_out_parts_of_the_matrix_that_they_do_not_touch():
    part = sparse.csc_array(palmette.generate("convection_diffusion3d", 10))
    A = sparse.block_diag([part, part, part], format="csc")
    n = part.shape[0]
    b = sparse.csc_array((np.ones(3), ([5, n + 7, 9], [0, 1, 2])), shape=(3 * n, 3))
    x = ours.spsolve(A, b)
    assert abs(A @ x - b).max() < 1e-12
    assert sorted(set(x.nonzero()[0] // n)) == [0, 1] and x.nnz == 3 * n
