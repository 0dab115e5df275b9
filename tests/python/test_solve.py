"""palmette.solve and Solver: every input that users have, every kind of factorization, every option."""

import numpy as np
import pytest
import scipy.sparse as sparse

import palmette
from conftest import DTYPES, backward_error, bound, indefinite, random_unsymmetric, spd

FORMATS = ("csc", "csr", "coo", "bsr", "dia", "lil", "dok")
MATRICES = {"llt": spd, "ldlt": indefinite, "lu": lambda dtype: random_unsymmetric(90, dtype=dtype)}


def right_hand_side(n, shape=(), dtype="float64", seed=1):
    rng = np.random.default_rng(seed)
    b = rng.standard_normal((n, *shape)).astype(dtype)
    return b * (1 - 0.5j) if np.dtype(dtype).kind == "c" else b


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", MATRICES)
def test_each_kind_of_factorization_solves_each_scalar_type(kind, dtype):
    A = MATRICES[kind](dtype=dtype)
    solver = palmette.Solver(A)
    assert solver.kind == kind
    assert solver.dtype == dtype and solver.shape == A.shape and solver.nnz == A.nnz
    b = right_hand_side(A.shape[0], (3,), dtype)
    for trans, op in (("N", A), ("T", A.T), ("H", A.conj().T)):
        x = solver.solve(b, trans=trans)
        assert x.dtype == dtype and x.shape == b.shape
        assert backward_error(op, x, b) < bound(dtype)
        assert solver.report["verify"]["verified"]


@pytest.mark.parametrize("flavour", ["array", "matrix"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format_gives_the_same_bits(form, flavour):
    A = spd(6)
    b = right_hand_side(36)
    given = getattr(sparse, f"{form}_{flavour}")(A)
    before = given.toarray()
    assert np.array_equal(palmette.solve(given, b), palmette.solve(A, b))
    assert np.array_equal(given.toarray(), before)


def test_dense_matrices_and_lists_are_solved_as_numpy_does():
    A = [[2, 1, 0], [0, 3, 0], [1, 0, 4]]
    assert np.allclose(palmette.solve(A, [3, 3, 5]), [1, 1, 1], atol=1e-15)
    dense = np.asfortranarray(A, dtype=float)
    assert np.allclose(palmette.solve(dense[::-1][::-1], [3, 3, 5]), [1, 1, 1], atol=1e-15)
    assert np.allclose(palmette.solve(np.asmatrix(dense), [3, 3, 5]), [1, 1, 1], atol=1e-15)


def test_long_indices_unsorted_rows_and_duplicates_are_taken():
    # Column 0 holds rows 1, 0, 0: entries 1, 1 and 2, which add to A[0, 0] = 3; column 1 holds A[1, 1] = 2.
    A = sparse.csc_array((np.array([1.0, 1.0, 2.0, 2.0]), np.array([1, 0, 0, 1], dtype=np.int64),
                          np.array([0, 3, 4], dtype=np.int64)), shape=(2, 2))
    solver = palmette.Solver(A)
    assert solver.nnz == 3
    assert np.allclose(solver.solve([3.0, 3.0]), [1, 1], atol=1e-15)
    assert list(A.indices) == [1, 0, 0, 1] and A.nnz == 4  # the user's matrix is unchanged


@pytest.mark.parametrize(
    "dtype, works_in",
    [
        ("int8", "float64"),
        ("int64", "float64"),
        ("uint16", "float64"),
        ("bool", "float64"),
        ("float16", "float32"),
        (">f8", "float64"),
        (">c8", "complex64"),
    ],
)
def test_other_types_are_widened(dtype, works_in):
    A = np.array([[1, 1], [0, 1]], dtype=dtype)
    solver = palmette.Solver(A)
    assert solver.dtype == works_in
    assert np.allclose(solver.solve(np.array([1, 1], dtype=dtype)), [0, 1])


@pytest.mark.parametrize(
    "a_type, b_type, x_type",
    [
        ("float64", "complex64", "complex128"),
        ("float32", "complex64", "complex64"),
        ("float32", "float64", "float64"),
        ("complex64", "float64", "complex128"),
        ("float32", "int32", "float64"),
        ("float32", "complex128", "complex128"),
    ],
)
def test_solve_has_the_precision_of_both(a_type, b_type, x_type):
    A = spd(5, a_type)
    b = np.ones(25, dtype=b_type)
    x = palmette.solve(A, b)
    assert x.dtype == x_type
    assert backward_error(A, x, b) < bound(x_type)


def test_complex_right_hand_sides_of_a_real_matrix_are_solved_with_the_real_factor():
    A = random_unsymmetric(50)
    solver = palmette.Solver(A)
    b = right_hand_side(50, (2,), "complex128")
    for trans, op in (("N", A), ("T", A.T), ("H", A.T)):
        x = solver.solve(b, trans=trans)
        assert x.dtype == "complex128" and backward_error(op, x, b) < bound("float64")
    assert solver.dtype == "float64" and solver.report["solve"]["num_rhs"] == 4
    assert solver.solve(b[:, 0]).shape == (50,)


def test_every_layout_of_b_gives_the_same_bits_and_keeps_b():
    solver = palmette.Solver(spd(6))
    b = right_hand_side(36, (4,))
    expected = solver.solve(b)
    strided = np.zeros((72, 8))
    strided[::2, ::2] = b
    read_only = b.copy()
    read_only.flags.writeable = False
    for given in (
        np.asfortranarray(b),
        strided[::2, ::2],
        read_only,
        b[::-1][::-1],
        sparse.csr_array(b),
        b.tolist(),
    ):
        assert np.array_equal(solver.solve(given), expected)
    assert np.array_equal(read_only, b)
    assert np.allclose(solver.solve(b[:, 0]), expected[:, 0], rtol=1e-13)  # other kernels, other bits
    assert solver.solve(b[:, :1]).shape == (36, 1)


def test_no_right_hand_sides_and_empty_matrices_are_solved():
    assert palmette.solve(np.zeros((0, 0)), np.zeros(0)).shape == (0,)
    assert palmette.solve(sparse.csc_array((0, 0)), np.zeros((0, 3))).shape == (0, 3)
    assert palmette.solve(spd(3), np.zeros((9, 0))).shape == (9, 0)
    assert palmette.slogdet(np.zeros((0, 0))) == (1.0, 0.0)
    assert palmette.inertia(np.zeros((0, 0))) == (0, 0, 0)
    assert palmette.solve([[4.0]], [2.0]) == [0.5]
    assert palmette.solve([[4j]], [2.0]) == [-0.5j]


def test_solve_transpose_conjugates_on_request():
    A = random_unsymmetric(40, dtype="complex128")
    b = right_hand_side(40, (), "complex128")
    solver = palmette.Solver(A)
    assert np.array_equal(solver.solve_transpose(b), solver.solve(b, trans="T"))
    assert np.array_equal(solver.solve_transpose(b, conjugate=True), solver.solve(b, trans="H"))
    assert not np.allclose(solver.solve(b, trans="T"), solver.solve(b, trans="H"))
    assert np.array_equal(palmette.solve(A, b, trans="H"), solver.solve(b, trans="H"))


@pytest.mark.parametrize("method", [method.name for method in palmette.methods()])
@pytest.mark.parametrize("kind", MATRICES)
def test_every_method_agrees_and_is_reported(method, kind):
    A = MATRICES[kind](dtype="float64")
    b = right_hand_side(A.shape[0], (3,))
    solver = palmette.Solver(A, method=method, threads=2)
    x = solver.solve(b)
    assert backward_error(A, x, b) < bound("float64")
    assert solver.report["solve"]["method"] == method
    # same bits for any number of threads
    assert np.array_equal(x, palmette.Solver(A, method=method, threads=1).solve(b))


@pytest.mark.parametrize(
    "ordering", [entry.name for entry in palmette.orderings() if entry.available and entry.name != "user"]
)
def test_every_ordering_solves_and_is_reported(ordering):
    A = spd(10)
    solver = palmette.Solver(A, ordering=ordering)
    assert solver.report["order"]["method"] == ordering or ordering == "auto"
    assert backward_error(A, solver.solve(np.ones(100)), np.ones(100)) < bound("float64")


def test_a_permutation_is_an_ordering():
    # An arrow that points to the lower right fills nothing; eliminated from its tip (0 last → first) it fills
    # everything.
    n = 30
    A = sparse.lil_array(4 * sparse.eye_array(n))
    A[n - 1, :], A[:, n - 1], A[n - 1, n - 1] = 1, 1, n
    good = palmette.Solver(A, ordering=np.arange(n))
    bad = palmette.Solver(A, ordering=np.arange(n)[::-1])
    assert good.report["order"]["method"] == bad.report["order"]["method"] == "user"
    assert good.report["analyze"]["nnz_factor"] == 2 * n - 1
    assert bad.report["analyze"]["nnz_factor"] == n * (n + 1) // 2


def test_refine_off_takes_no_step_and_a_number_is_a_limit():
    A = random_unsymmetric(60)
    solver = palmette.Solver(A)
    solver.solve(np.ones(60), refine="off")
    assert solver.report["verify"]["refine_steps"] == 0
    solver.solve(np.ones(60), refine=2)
    assert solver.report["verify"]["refine_steps"] <= 2


def test_mixed_precision_factors_in_single_and_answers_in_double():
    A = spd(15)
    solver = palmette.Solver(A, precision="mixed")
    x = solver.solve(np.ones(225))
    assert solver.report["factorize"]["scalar"] == "float32"
    assert solver.report["verify"]["refine_steps"] > 0
    assert backward_error(A, x, np.ones(225)) < bound("float64")


def test_condition_and_repeat_are_done_on_request():
    A = np.diag([1.0, 10.0, 1000.0])
    solver = palmette.Solver(A)
    solver.solve(np.ones(3))
    assert solver.report["verify"]["condition_1norm"] is None
    solver.solve(np.ones(3), condition=True, repeat=3)
    assert solver.report["verify"]["condition_1norm"] == pytest.approx(1000)
    assert solver.report["verify"]["forward_error_bound"] < 1e-14


def test_refactor_takes_a_matrix_or_its_values():
    A = random_unsymmetric(60)
    b = np.ones(60)
    solver = palmette.Solver(A)
    second = A.copy()
    second.data = second.data * np.linspace(1, 2, A.nnz)
    solver.refactor(second)
    assert backward_error(second, solver.solve(b), b) < bound("float64")
    solver.refactor(2 * A.data)
    assert backward_error(2 * A, solver.solve(b), b) < bound("float64")
    solver.refactor(A.tocoo())
    assert backward_error(A, solver.solve(b), b) < bound("float64")


def test_refactor_that_fails_keeps_the_former_factor():
    A = spd(5)
    solver = palmette.Solver(A, kind="llt")
    with pytest.raises(palmette.NotPositiveDefiniteError):
        solver.refactor(-A)
    assert backward_error(A, solver.solve(np.ones(25)), np.ones(25)) < bound("float64")


def test_slogdet_is_that_of_numpy():
    for A in (spd(4), indefinite(4), random_unsymmetric(30), random_unsymmetric(30, dtype="complex128")):
        sign, logarithm = palmette.slogdet(A)
        expected = np.linalg.slogdet(A.toarray())
        assert sign == pytest.approx(expected.sign, abs=1e-12)
        assert logarithm == pytest.approx(expected.logabsdet, abs=1e-10)
    assert palmette.slogdet([[1.0, 2.0], [2.0, 4.0]]) == (0.0, -np.inf)


def test_inertia_counts_the_signs_of_eigenvalues():
    A = indefinite(7)
    values = np.linalg.eigvalsh(A.toarray())
    assert palmette.inertia(A) == ((values > 0).sum(), (values < 0).sum(), 0)
    assert palmette.inertia(spd(4, "complex128")) == (16, 0, 0)
    assert palmette.Solver(np.diag([1.0, -1.0, -2.0])).inertia.negative == 2


def test_a_thin_factor_is_made_by_columns_and_its_structure_when_it_is_asked_for():
    A = palmette.generate("circuit", 300)
    solver = palmette.Solver(A, measure=False)
    assert solver.report["analyze"]["supernodes"] == 0 and solver.report["analyze"]["diagonal_blocks"] >= 1
    x = solver.solve(np.ones(300))
    assert len(solver.structure()["column"]) == 300
    assert np.array_equal(x, solver.solve(np.ones(300)))
    assert palmette.Solver(A, ordering="amd", measure=False).report["analyze"]["supernodes"] > 0


def test_structure_describes_the_factor():
    solver = palmette.Solver(spd(8), ordering="amd")
    structure = solver.structure()
    begin = structure["supernode_begin"]
    assert begin[0] == 0 and begin[-1] == 64 and (np.diff(begin) > 0).all()
    assert sorted(structure["column"]) == list(range(64))
    parents = structure["column_parent"]
    assert ((parents > np.arange(64)) | (parents == -1)).all()
    assert len(structure["parent"]) == len(begin) - 1 == solver.report["analyze"]["supernodes"]


def test_report_has_the_names_of_the_command():
    solver = palmette.Solver(spd(5))
    assert solver.report["solve"] is None and solver.report["verify"] is None
    solver.solve(np.ones(25))
    report = solver.report
    assert list(report) == [
        "matrix",
        "order",
        "analyze",
        "factorize",
        "solve",
        "verify",
        "notes",
        "peak_memory_bytes",
        "version",
    ]
    assert report["matrix"] == {
        "rows": 25,
        "cols": 25,
        "nnz": 105,
        "scalar": "float64",
        "symmetry": "symmetric",
    }
    assert report["factorize"]["inertia"] == {"positive": 25, "negative": 0, "zero": 0}
    assert report["solve"]["stream_gbs"] > 0 and report["version"] == palmette.__version__


def test_speed_is_not_measured_where_that_is_not_wanted(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    solver = palmette.Solver(spd(5), measure=False)
    solver.solve(np.ones(25))
    assert solver.report["solve"]["stream_gbs"] is None
    assert list(tmp_path.iterdir()) == []
    measured = palmette.Solver(spd(5))
    measured.solve(np.ones(25))
    assert measured.report["solve"]["stream_gbs"] > 0
    assert [folder.name for folder in tmp_path.iterdir()] == ["palmette"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_the_short_way_for_a_vector_gives_what_the_long_way_gives(dtype):
    A = palmette.generate("convection_diffusion2d", 6).astype(dtype)
    solver = palmette.Solver(A, measure=False)
    b = np.linspace(1, 2, 36).astype(dtype)
    x = solver.solve(b)
    assert solver.report["verify"]["verified"] and x.dtype == A.dtype
    assert np.array_equal(x, solver.solve(list(b)).astype(dtype)) and np.array_equal(
        x, solver.solve(b[:, None])[:, 0]
    )
    assert np.array_equal(x, solver.solve(np.repeat(b, 2)[::2]))
    b[7] = np.nan
    with pytest.raises(palmette.UsageError, match=r"b\[7\]"):
        solver.solve(b)
    with pytest.raises(palmette.DimensionError):
        solver.solve(b[:5])
