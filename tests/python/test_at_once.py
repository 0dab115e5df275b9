"""Small systems solved in one call of the library: the same bits as by the long way, which handles everything
unusual."""

import numpy as np
import pytest
import scipy.sparse as sparse

import palmette
import palmette.scipy
from conftest import DTYPES, outcome, random_unsymmetric, spd
from palmette._at_once import solve_at_once

FORMATS = (sparse.csc_array, sparse.csr_array, sparse.csc_matrix, sparse.csr_matrix)


def right_hand_side(n, dtype):
    rng = np.random.default_rng(n)
    b = rng.uniform(-1, 1, n) + (1j * rng.uniform(-1, 1, n) if np.dtype(dtype).kind == "c" else 0)
    return b.astype(dtype)


def with_indices(A, index_dtype):
    """The same matrix, with each line in reverse order, and every tenth entry in two halves."""
    lines = [np.arange(A.indptr[k], A.indptr[k + 1])[::-1] for k in range(len(A.indptr) - 1)]
    lines = [np.repeat(line, np.where(line % 10 == 0, 2, 1)) for line in lines]
    entries, pointers = np.concatenate(lines), np.concatenate([[0], np.cumsum([len(line) for line in lines])])
    B = A.copy()
    B.data = A.data[entries] * np.where(entries % 10 == 0, A.data.dtype.type(0.5), A.data.dtype.type(1))
    B.indices, B.indptr = A.indices[entries].astype(index_dtype), pointers.astype(index_dtype)
    B.has_sorted_indices = B.has_canonical_format = False
    return B


@pytest.mark.parametrize("made", FORMATS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index_dtype", ("int32", "int64"))
def test_the_bits_are_those_of_the_long_way(made, dtype, index_dtype, monkeypatch):
    matrices = [random_unsymmetric(n, n, dtype) for n in (1, 2, 5, 12, 13, 60)] + [
        spd(40, dtype),
        sparse.diags_array(np.arange(1.0, 6001.0)).astype(dtype),
    ]
    for A in matrices:
        A, b = made(A), right_hand_side(A.shape[0], dtype)
        for given in (A, with_indices(A, index_dtype)):
            before = [part.copy() for part in (given.data, given.indices, given.indptr, b)]
            x = solve_at_once(given, b)
            if len(given.data) <= max(4096, len(b)):
                assert x is not None and x.dtype == A.dtype
                assert (palmette.scipy.spsolve(given, b) == x).all() and (palmette.solve(given, b) == x).all()
            with monkeypatch.context() as patch:
                patch.setattr(palmette.scipy, "solve_at_once", lambda A, b: None)
                expected = palmette.scipy.spsolve(given, b)
            assert x is None or (x == expected).all()
            assert all(
                (old == new).all() for old, new in zip(before, (given.data, given.indices, given.indptr, b))
            )


def test_room_behind_the_last_entry_is_not_looked_at():
    A = sparse.csr_array(np.array([[4.0, 1], [2, 3]]))
    A.data, A.indices = np.append(A.data, np.nan), np.append(A.indices, A.indices.dtype.type(-7))
    assert (
        solve_at_once(A, np.array([6.0, 8]))
        == palmette.solve(np.array([[4.0, 1], [2, 3]]), np.array([6.0, 8]))
    ).all()


def broken(change):
    A = sparse.csc_array(np.array([[4.0, 1, 0], [1, 3, 1], [0, 2, 5]]))
    change(A)
    return A


def set_entry(name, place, value):
    def change(A):
        getattr(A, name)[place] = value
    return change


ones = np.ones(3)
GOOD = sparse.csc_array(np.array([[4.0, 1, 0], [1, 3, 1], [0, 2, 5]]))
UNUSUAL = {
    "coordinates": (GOOD.tocoo(), ones),
    "list b": (GOOD, [1.0, 1, 1]),
    "column b": (GOOD, ones.reshape(3, 1)),
    "two columns": (GOOD, np.ones((3, 2))),
    "matrix b": (GOOD, np.asmatrix(ones).T),
    "strided b": (GOOD, np.ones(6)[::2]),
    "single b": (GOOD, ones.astype("float32")),
    "whole b": (GOOD, np.ones(3, dtype=int)),
    "whole A": (GOOD.astype(int), ones),
    "swapped bytes": (GOOD, ones.astype(">f8")),
    "short b": (GOOD, np.ones(2)),
    "rectangle": (sparse.csc_array(np.ones((2, 3))), np.ones(2)),
    "empty": (sparse.csc_array((0, 0)), np.ones(0)),
    "nothing stored": (sparse.csc_array((3, 3)), ones),
    "singular": (sparse.csc_array(np.array([[1.0, 2], [2, 4]])), np.ones(2)),
    "structurally singular": (sparse.csr_array(np.array([[1.0, 0], [1, 0]])), np.ones(2)),
    "NaN in b": (GOOD, np.array([1, np.nan, 1])),
    "NaN in A": (broken(set_entry("data", 0, np.nan)), ones),
    "infinite A": (broken(set_entry("data", 2, np.inf)), ones),
}


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_is_left_to_the_long_way(name, monkeypatch):
    A, b = UNUSUAL[name]
    assert solve_at_once(A, b) is None
    for module, function in ((palmette.scipy, palmette.scipy.spsolve), (palmette._solver, palmette.solve)):
        found, seen = outcome(lambda: function(A, b))
        monkeypatch.setattr(module, "solve_at_once", lambda A, b: None)
        expected, expected_warnings = outcome(lambda: function(A, b))
        assert seen == expected_warnings and type(found) is type(expected)
        if isinstance(expected, Exception):
            assert str(found) == str(expected)
        else:
            assert np.array_equal(found, expected, equal_nan=True)


@pytest.mark.parametrize(
    "change",
    (
        set_entry("indptr", 1, 9),
        set_entry("indptr", 0, 1),
        set_entry("indptr", 3, 99),
        set_entry("indices", 0, 3),
        set_entry("indices", 1, -1),
    ),
)
@pytest.mark.parametrize("made", (sparse.csc_array, sparse.csr_array))
def test_arrays_that_do_not_fit_are_not_followed(change, made):
    A = made(GOOD.copy())
    change(A)
    assert solve_at_once(A, ones) is None


def test_large_systems_and_options_take_the_long_way(monkeypatch):
    A = palmette.generate("poisson2d5", 40)
    assert A.nnz > 4096 and solve_at_once(A, np.ones(1600)) is None
    asked = []
    monkeypatch.setattr(palmette._solver, "solve_at_once", lambda A, b: asked.append(A))
    monkeypatch.setattr(palmette.scipy, "solve_at_once", lambda A, b: asked.append(A))
    palmette.solve(GOOD, ones, trans="T")
    palmette.solve(GOOD, ones, kind="lu")
    palmette.solve(GOOD, ones, threads=1)
    palmette.scipy.spsolve(GOOD, ones, permc_spec="NATURAL")
    assert not asked
    palmette.solve(GOOD, ones)
    palmette.scipy.spsolve(GOOD, ones)
    assert len(asked) == 2
