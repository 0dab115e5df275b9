"""What the tests of the Python package share: matrices of every kind that are solved quickly."""

import inspect
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse

import palmette

DTYPES = ("float32", "float64", "complex64", "complex128")


@pytest.fixture(autouse=True)
def cache_of_the_test(tmp_path_factory, monkeypatch):
    """The measured bandwidth is stored for the test session, not in the user's own cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def backward_error(A, x, b):
    """Normwise: max over columns of ‖b − A x‖∞ / (‖A‖∞ ‖x‖∞ + ‖b‖∞), in double precision."""
    A = sparse.csr_array(A).astype(np.result_type(A.dtype, np.float64))
    x, b = (np.asarray(v).reshape(A.shape[0], -1) for v in (x, b))
    residual = np.abs(b - A @ x).max(axis=0, initial=0)
    norm = abs(A).sum(axis=1).max(initial=0)
    return float(
        (residual / (norm * np.abs(x).max(axis=0, initial=0) + np.abs(b).max(axis=0, initial=0))).max(
            initial=0
        )
    )


def bound(dtype):
    """Ten unit roundoffs: the accuracy of refined answers."""
    return 10 * np.finfo(np.dtype(dtype)).eps


def random_array(shape, *, rng, **options):
    """SciPy's, which before version 1.15 calls the generator random_state."""
    name = "rng" if "rng" in inspect.signature(sparse.random_array).parameters else "random_state"
    return sparse.random_array(shape, **{name: rng}, **options)


def random_unsymmetric(n, seed=0, dtype="float64"):
    """A random sparse matrix with an entry in each row and column of a random permutation, diagonal mostly
    missing."""
    rng = np.random.default_rng(seed)
    A = random_array((n, n), rng=rng, density=min(1.0, 4 / n), format="coo")
    P = sparse.coo_array((rng.uniform(1, 2, n), (rng.permutation(n), np.arange(n))), shape=(n, n))
    A = (A + P).tocsc().astype(dtype)
    if A.dtype.kind == "c":
        A.data *= np.exp(1j * rng.uniform(0, 6, A.nnz)).astype(dtype)
    return A


def spd(n=12, dtype="float64"):
    A = palmette.generate("poisson2d5", n).astype(dtype)
    if A.dtype.kind == "c":  # D A Dᴴ is Hermitian and positive definite as A is
        D = sparse.diags_array(np.exp(1j * np.arange(A.shape[0])).astype(dtype))
        A = ((D @ A) @ D.conj()).tocsc()
        A = ((A + A.conj().T) / 2).tocsc().astype(dtype)
    return A


def indefinite(n=12, dtype="float64"):
    return (spd(n, dtype) - 1.7 * sparse.eye_array(n * n)).tocsc().astype(dtype)


def outcome(call):
    """The results of a call: the answer or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:  # compared by the caller, whatever it is
            result = error
    return result, [(warning.category, str(warning.message), warning.filename) for warning in seen]


def with_doubtful_pivots(n=60, count=40):
    """A random permutation and a few ±1, regular: exact cancellations leave pivots of zero that no row of
    their block can replace."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        B = random_array(
            (n, n), density=2 / n, rng=rng, data_sampler=lambda size: rng.choice([-1.0, 1.0], size)
        )
        B = (B + sparse.coo_array((np.ones(n), (np.arange(n), rng.permutation(n))))).tocsc()
        if abs(np.linalg.det(B.toarray())) >= 0.5:
            yield B


def system(kind, dtype, n=40, seed=0):
    """A sparse matrix that wants a factorization of this kind: dominant diagonals, "ldlt" with both signs."""
    random = np.random.default_rng(seed)
    A = sparse.random(n, n, 0.1, random_state=random.integers(1 << 30)).toarray()
    if np.dtype(dtype).kind == "c":
        A = A + 1j * sparse.random(n, n, 0.1, random_state=random.integers(1 << 30)).toarray()
    if kind != "lu":
        A = A + A.conj().T
    diagonal = 6.0 + np.arange(n) / n
    if kind == "ldlt":
        diagonal[::2] *= -1
    return sparse.csc_array((A + np.diag(diagonal)).astype(dtype))


def some(shape, dtype, seed=2):
    """Random values, repeatable."""
    random = np.random.default_rng(seed)
    values = random.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.standard_normal(shape)
    return values.astype(dtype)
