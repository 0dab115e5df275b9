"""Matrices that are symmetric up to rounding are factored as symmetric and reported as such, and answers are
verified against the given matrix."""

import numpy as np
import palmette
import pytest
import scipy.sparse as sparse
from conftest import DTYPES, backward_error, bound, spd


def assembled(n, dtype, seed=0):
    """Bᴴ D B + 1, each product with D on the other side: (i, j) and (j, i) are rounded differently."""
    rng = np.random.default_rng(seed)
    B = sparse.random_array((2 * n, n), density=6 / n, rng=rng, format="csr").astype(dtype)
    if B.dtype.kind == "c":
        B = (B @ sparse.diags_array(np.exp(1j * np.arange(n)).astype(dtype))).tocsr()
    D = sparse.diags_array(rng.uniform(1, 2, 2 * n).astype(dtype))
    return (B.conj().T @ (D @ B) + sparse.eye_array(n, dtype=dtype)).tocsc()


def notes(solver):
    return " ".join(solver.report["notes"])


@pytest.mark.parametrize("n", [60, 3000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_added_up_in_another_order_are_symmetric(dtype, n):
    A = assembled(n, dtype)
    assert (A != A.conj().T).nnz > 0
    solver = palmette.Solver(A)
    assert solver.kind == "llt" and "up to rounding" in notes(solver)
    assert solver.report["matrix"]["symmetry"] == ("hermitian" if A.dtype.kind == "c" else "symmetric")
    b = np.ones(n, dtype)
    for trans, op in (("N", A), ("T", A.T), ("H", A.conj().T)):
        assert backward_error(op, solver.solve(b, trans=trans), b) < bound(dtype)
        assert solver.report["verify"]["verified"]
    solver.refactor(2 * A)
    assert "up to rounding" in notes(solver) and backward_error(2 * A, solver.solve(b), b) < bound(dtype)


def test_an_asymmetry_beyond_rounding_is_no_symmetry():
    A = spd(9)
    i, j = 1, 0
    for part, kind in ((4e-16, "llt"), (1e-14, "lu")):
        disturbed = A.copy()
        disturbed[i, j] *= 1 + part
        solver = palmette.Solver(disturbed)
        assert solver.kind == kind
        assert ("up to rounding" in notes(solver)) == (kind == "llt")


def test_exact_symmetry_is_not_called_symmetric_up_to_rounding():
    assert "up to rounding" not in notes(palmette.Solver(spd(9)))
