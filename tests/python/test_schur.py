"""Schur complements against dense NumPy, solves through them, and what is refused."""

import numpy as np
import pytest
from conftest import DTYPES, some, system

import palmette


def dense_schur(A, boundary):
    A = A.toarray().astype("complex128")
    interior = np.setdiff1d(np.arange(A.shape[0]), boundary)
    I, B = np.ix_(interior, interior), np.ix_(boundary, boundary)
    couplings = np.linalg.solve(A[I], A[np.ix_(interior, boundary)])
    return A[B] - A[np.ix_(boundary, interior)] @ couplings


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["llt", "ldlt", "lu"])
def test_complement_and_whole_solves_are_those_of_numpy(kind, dtype):
    A = system(kind, dtype, 60)
    boundary = [7, 59, 0, 31, -3]
    schur = palmette.SchurComplement(A, boundary, kind=kind)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-12
    expected = dense_schur(A, np.array(boundary) % 60)
    assert schur.S.dtype == np.dtype(dtype) and schur.report["verified"] and schur.report["kind"] == kind
    assert np.abs(schur.S - expected).max() < tolerance * np.abs(expected).max()
    for b in (some(60, dtype), some((60, 3), dtype)):
        x = schur.expand(b, np.linalg.solve(schur.S, schur.condense(b)))
        assert x.shape == b.shape
        assert np.abs(A @ x - b).max() < 100 * tolerance
        assert schur.solve_report["verified"]
    inside = schur.solve_interior(some(60, dtype))
    assert not inside[boundary].any()


def test_complex_right_hand_sides_of_a_real_matrix():
    A = palmette.generate("poisson2d5", 8)
    schur = palmette.SchurComplement(A, [0, 9, 63])
    b = some(64, "complex128")
    x = schur.expand(b, np.linalg.solve(schur.S, schur.condense(b)))
    assert np.abs(A @ x - b).max() < 1e-13


def test_two_subdomains_add_up_to_the_whole():
    """Substructuring: the whole's S is the sum of those of its halves on the separator."""
    A = palmette.generate("poisson2d5", 9)
    grid = np.arange(81).reshape(9, 9)
    separator, left, right = grid[4], grid[:4].ravel(), grid[5:].ravel()
    whole = palmette.SchurComplement(A, separator).S
    total = -A[np.ix_(separator, separator)].toarray()
    for part in (left, right):
        both = np.concatenate([part, separator])
        total += palmette.SchurComplement(A[np.ix_(both, both)], np.arange(len(part), len(both))).S
    assert np.abs(whole - total).max() < 1e-14


def test_no_boundary_and_nothing_else():
    A = np.array([[2.0, 1.0], [1.0, 3.0]])
    nothing = palmette.SchurComplement(A, [])
    assert nothing.S.shape == (0, 0)
    assert nothing.expand([3.0, 4.0], []).round(12).tolist() == [1, 1]
    assert palmette.SchurComplement(A, [1, 0]).S.tolist() == [[3, 1], [1, 2]]


def test_a_singular_interior_is_warned_of_or_refused():
    A = np.array([[3.0, -1, 0], [-1, 1, -1], [0, -1, 1]])
    with pytest.warns(palmette.UnverifiedWarning):
        palmette.SchurComplement(A, [0], kind="ldlt")
    with pytest.raises(palmette.SingularError):
        palmette.SchurComplement(np.array([[0.0, 1, 0], [1, 1, 1], [0, 1, 0]]), [1])


@pytest.mark.parametrize("boundary", [[3], [-4], [1, 1], [0.5], [[0]]])
def test_bad_boundaries_are_refused(boundary):
    with pytest.raises(palmette.UsageError):
        palmette.SchurComplement(np.eye(3), boundary)


def test_bad_parts_are_refused():
    schur = palmette.SchurComplement(np.eye(3), [1])
    with pytest.raises(palmette.DimensionError):
        schur.expand(np.ones(3), np.ones(2))
    with pytest.raises(palmette.DimensionError):
        schur.condense(np.ones(4))
