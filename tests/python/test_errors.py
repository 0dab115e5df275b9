"""Bad input gets a clear error that names its place; never a crash or a silent wrong answer."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse

import palmette
from conftest import spd


def test_exceptions_are_those_that_python_users_catch():
    assert issubclass(palmette.UsageError, ValueError) and issubclass(
        palmette.DimensionError, palmette.UsageError
    )
    assert issubclass(palmette.IoError, OSError) and issubclass(palmette.OutOfMemoryError, MemoryError)
    assert issubclass(palmette.NumericalError, np.linalg.LinAlgError)
    for name in ("SingularError", "NotPositiveDefiniteError", "NotFiniteError", "ConvergenceError"):
        assert issubclass(getattr(palmette, name), palmette.NumericalError)
    assert issubclass(palmette.StructurallySingularError, palmette.SingularError)
    for name in ("UsageError", "IoError", "OutOfMemoryError", "NumericalError"):
        assert issubclass(getattr(palmette, name), palmette.Error)


def test_structurally_singular_names_all_rows_and_columns():
    # Columns 1 and 3 are empty, so two rows cannot be matched either.
    A = np.array([[1, 0, 2, 0], [3, 0, 4, 0], [5, 0, 6, 0], [7, 0, 8, 0]], dtype=float)
    with pytest.raises(palmette.StructurallySingularError) as caught:
        palmette.solve(A, np.ones(4))
    assert caught.value.columns == (1, 3) and len(caught.value.rows) == 2
    assert caught.value.kind == "structurally_singular"


def test_an_empty_row_is_named():
    A = spd(4).tolil()
    A[5, :] = 0
    with pytest.raises(palmette.SingularError) as caught:
        palmette.solve(A, np.ones(16))
    assert 5 in caught.value.rows or caught.value.row == 5
    assert "row 6" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_numerically_singular_matrices_fail(dtype):
    A = np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]], dtype=dtype)
    with pytest.raises(palmette.SingularError) as caught:
        palmette.solve(A, np.ones(3))
    assert caught.value.kind == "numerically_singular"
    with pytest.raises(palmette.SingularError):
        palmette.solve(np.zeros((2, 2), dtype=dtype), np.ones(2))


def test_a_neumann_problem_is_singular():
    # The Laplacian of a path without boundary conditions: each row adds to zero.
    n = 50
    A = sparse.diags_array(
        [-np.ones(n - 1), np.r_[1, 2 * np.ones(n - 2), 1], -np.ones(n - 1)], offsets=[-1, 0, 1]
    )
    with pytest.raises(palmette.SingularError):
        palmette.solve(A, np.arange(n, dtype=float))


def test_not_positive_definite_names_row_and_column():
    with pytest.raises(palmette.NotPositiveDefiniteError) as caught:
        palmette.Solver(np.diag([1.0, 2.0, -3.0, 4.0]), kind="llt")
    assert (caught.value.row, caught.value.column) == (2, 2)
    assert "column 3" in str(caught.value) and "counted from 0: row 2" in str(caught.value)
    assert "column 3" in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_named(bad):
    A = spd(3).tolil()
    A[4, 7] = bad
    with pytest.raises(palmette.UsageError, match=r"A\[4, 7\] is -?(nan|inf)"):
        palmette.solve(A, np.ones(9))
    b = np.ones((9, 2))
    b[3, 1] = bad
    with pytest.raises(palmette.UsageError, match=r"b\[3, 1\] is -?(nan|inf)"):
        palmette.solve(spd(3), b)
    with pytest.raises(palmette.UsageError, match=r"b\[3\] is"):
        palmette.Solver(spd(3)).solve(b[:, 1])


def test_overflow_of_summed_duplicates_is_found():
    A = sparse.coo_array(([3e38, 3e38, 1], ([0, 0, 1], [0, 0, 1])), shape=(2, 2), dtype=np.float32)
    with pytest.raises(palmette.UsageError):
        palmette.solve(A, np.ones(2, np.float32))


@pytest.mark.parametrize(
    "A, b, said",
    [
        (np.ones((2, 3)), np.ones(2), r"\(2, 3\)"),
        (np.ones((3, 2)), np.ones(2), r"\(3, 2\)"),
        (np.eye(3), np.ones(4), r"\(4,\).*\(3, 3\)"),
        (np.eye(3), np.ones((1, 3)), r"\(1, 3\).*\(3, 3\)"),
        (np.eye(3), np.ones((3, 1, 1)), r"\(3, 1, 1\)"),
        (np.eye(3), 1.0, r"\(\)"),
        (np.ones(3), np.ones(3), r"\(3,\)"),
        (np.ones((2, 2, 2)), np.ones(2), r"\(2, 2, 2\)"),
        (np.zeros((0, 3)), np.ones(0), r"\(0, 3\)"),
    ],
)
def test_wrong_shapes_name_both(A, b, said):
    with pytest.raises(palmette.DimensionError, match=said):
        palmette.solve(A, b)
    if A.ndim == 2 and A.shape[0] == A.shape[1]:
        with pytest.raises(ValueError, match=said):
            palmette.Solver(A).solve(b)


@pytest.mark.parametrize(
    "options, said",
    [
        ({"kind": "qr"}, "qr"),
        ({"ordering": "magic"}, "magic"),
        ({"method": "fast"}, "fast"),
        ({"threads": 0}, "threads is 0"),
        ({"threads": -2}, "threads is -2"),
        ({"threads": 10**12}, "threads is 1000000000000"),
        ({"threads": 2.5}, "threads is 2.5"),
        ({"refine": 10**12}, "refine is"),
        ({"precision": "half"}, "half"),
        ({"trans": "X"}, "'X'"),
        ({"refine": "much"}, "much"),
        ({"refine": -1}, "-1"),
        ({"ordering": [0, 1]}, r"\(2,\)"),
        ({"ordering": [0, 1, 1]}, "1"),
        ({"ordering": [0, 1, 3]}, "3"),
        ({"ordering": [0.0, 1.0, 2.0]}, "integers"),
    ],
)
def test_options_that_cannot_be_are_refused_with_the_remedy(options, said):
    with pytest.raises(palmette.UsageError, match=said):
        palmette.solve(np.eye(3), np.ones(3), **options)


@pytest.mark.parametrize("dtype", [object, np.longdouble, "datetime64[s]", "U3"])
def test_types_that_cannot_be_solved_with_are_named(dtype):
    with pytest.raises(palmette.UsageError, match="dtype"):
        palmette.Solver(
            np.eye(2).astype(float).astype(dtype) if dtype != "datetime64[s]" else np.zeros((2, 2), dtype)
        )


def test_mixed_precision_of_a_single_precision_matrix_is_refused():
    with pytest.raises(palmette.UsageError, match="single precision"):
        palmette.Solver(np.eye(2, dtype=np.float32), precision="mixed")


def test_kinds_that_do_not_fit_are_refused():
    A = [[1.0, 2.0], [0.0, 1.0]]
    for kind in ("llt", "ldlt"):
        with pytest.raises(palmette.UsageError, match=kind):
            palmette.Solver(A, kind=kind)
    with pytest.raises(palmette.UsageError, match="inertia"):
        palmette.inertia(A)
    with pytest.raises(palmette.UsageError, match="inertia"):
        palmette.inertia(np.array([[1j, 2], [2, 1]]))


def test_damaged_sparse_matrices_are_refused():
    A = sparse.csc_array(np.eye(3))
    A.indices[1] = 7
    with pytest.raises(palmette.UsageError):
        palmette.Solver(A)
    A = sparse.csc_array(np.eye(3))
    A.indptr[1] = 3
    with pytest.raises(palmette.UsageError):
        palmette.Solver(A)
    A = sparse.csc_array(np.eye(3))
    A.indices = np.array([0, 2**40, 2])
    with pytest.raises(palmette.UsageError, match=str(2**40)):
        palmette.Solver(A)
    A = sparse.csc_array(np.eye(3))
    A.data = A.data[:2]
    with pytest.raises(palmette.UsageError):
        palmette.Solver(A)


def test_sizes_beyond_32_bits_are_refused_before_anything_is_allocated():
    A = sparse.coo_array(([1.0], ([0], [0])), shape=(2**31, 2**31))

    class Huge:
        """A matrix of compressed columns that claims a size whose pointers would take 16 GB."""

    from palmette import _input
    Huge.shape = A.shape
    with pytest.raises(palmette.DimensionError, match=str(2**31)):
        _input.to_core(Huge())


def test_refactor_refuses_other_patterns_sizes_and_types():
    solver = palmette.Solver(spd(3))
    for bad, said in (
        (np.eye(9), "pattern"),
        (np.eye(4), r"\(4, 4\)"),
        (np.ones(5), "5 values"),
        (spd(3) * 1j, "complex"),
    ):
        with pytest.raises(palmette.UsageError, match=said):
            solver.refactor(bad)
    values = spd(3).data.copy()
    values[0] = np.nan
    with pytest.raises(palmette.UsageError, match=r"A\[0, 0\]"):
        solver.refactor(values)
    assert np.allclose(spd(3) @ solver.solve(np.ones(9)), 1)


def test_solvers_with_given_factors_cannot_be_pickled_and_say_why():
    for solver in (
        palmette.TriangularSolver(np.eye(2)),
        palmette.from_factors(L=np.eye(2)),
    ):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(solver)


def test_errors_can_be_pickled_with_their_places():
    with pytest.raises(palmette.NumericalError) as caught:
        palmette.Solver(np.diag([1.0, -1.0]), kind="llt")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is type(caught.value) and copy.row == 1 and str(copy) == str(caught.value)
    copy = pickle.loads(pickle.dumps(palmette.IoError("text", "name", 3)))
    assert (str(copy), copy.file, copy.line) == ("text", "name", 3)


def test_an_answer_that_is_not_verified_warns_each_time():
    # Mixed precision without refinement leaves a backward error of single precision, far above the bound of
    # double.
    solver = palmette.Solver(spd(8), precision="mixed")
    for _ in range(2):
        with warnings.catch_warnings(record=True) as seen:
            x = solver.solve(np.linspace(1, 2, 64), refine="off")
        assert [warning.category for warning in seen] == [palmette.UnverifiedWarning]
        assert "NOT VERIFIED" in str(seen[0].message) and seen[0].filename == __file__
        assert x.shape == (64,) and not solver.report["verify"]["verified"]


def test_the_warning_names_the_users_line_wherever_it_comes_from(monkeypatch):
    import palmette.scipy
    from palmette._verified import SolveOptions
    A, b = spd(8), np.linspace(1, 2, 64)
    lu = palmette.scipy.SuperLU(palmette.Solver(A, precision="mixed"), A)
    monkeypatch.setattr(palmette.scipy, "USUAL_OPTIONS", SolveOptions(refine="off"))
    calls = [lambda: palmette.solve(A, b, precision="mixed", refine="off"), lambda: lu.solve(b),
             lambda: palmette.Solver(A, precision="mixed").solve_transpose(b, refine="off")]
    for call in calls:
        with pytest.warns(palmette.UnverifiedWarning) as seen:
            call()
        assert seen[0].filename == __file__


def test_a_verified_answer_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        palmette.solve(spd(5), np.ones(25))
