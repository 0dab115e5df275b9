"""Is there a cliff for small and thin systems in Python? Palmette's Python interface compared with SciPy's
splu, for each family and size: one system end to end, and one more right-hand side; and spsolve, with
matrices by columns and by rows. Prints JSON lines; microseconds are medians of warm repeats.

usage: small_systems.py [--sizes 1,10,100] [--seconds 0.05] [FAMILY | MATRIX.npz]...
"""

import argparse
import json
import statistics
import time
import warnings

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg as linalg

import palmette
import palmette.scipy


def grid(n):
    side = max(1, int(np.ceil(np.sqrt(n))))
    line = sparse.diags_array([-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1])
    eye = sparse.eye_array(side)
    return (sparse.kron(line, eye) + sparse.kron(eye, line)).tocsc()[:n, :n].tocsc()


def scattered(n):
    rng = np.random.default_rng(7)
    count = 4 * n
    A = sparse.coo_array(
        (rng.uniform(-1, 1, count), (rng.integers(0, n, count), rng.integers(0, n, count))), shape=(n, n)
    )
    return (A + sparse.diags_array(rng.uniform(0.25, 0.75, n))).tocsc()


def tridiagonal(n):
    return sparse.diags_array(
        [-1.25 * np.ones(n - 1), 2.5 * np.ones(n), -0.75 * np.ones(n - 1)], offsets=[-1, 0, 1]
    ).tocsc()


def arrow(n):
    A = sparse.lil_array((n, n))
    A.setdiag(2.0)
    A[0, :], A[:, 0] = -0.5, -1.0
    A[0, 0] = n
    return A.tocsc()


def dense(n):
    return sparse.csc_array(np.random.default_rng(3).uniform(-1, 1, (n, n)) + np.eye(n))


def circuit(n):
    return palmette.generate("circuit", n)


def diagonal(n):
    return sparse.diags_array(np.arange(1.0, n + 1)).tocsc()


def power_grid(n):
    """A tree with three branches at each inner node, and a ring through the inner nodes: the degrees of a
    transmission grid."""
    node = np.arange(1, n)
    inner = np.arange(1, max(1, n // 3 - 1))
    row, column = np.concatenate([node, inner + 1]), np.concatenate([(node - 1) // 3, inner])
    weight = 1.0 + (row * 7919 + column) % 13
    W = sparse.coo_array((weight, (row, column)), shape=(n, n))
    W = W + W.T
    return (sparse.diags_array(np.asarray(W.sum(axis=1)).ravel() + (np.arange(n) == 0)) - W).tocsc()


FAMILIES = {"grid": grid, "scattered": scattered, "tridiagonal": tridiagonal, "arrow": arrow, "dense": dense,
            "circuit": circuit, "diagonal": diagonal, "power_grid": power_grid}


def median_us(work, seconds):
    work()
    times, begin = [], time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - begin < seconds and len(times) < 10000):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def rows(family, A, seconds):
    b = np.random.default_rng(1).uniform(-1, 1, A.shape[0])
    ways = {
        "palmette": (
            lambda: palmette.Solver(A, measure=False).solve(b),
            palmette.Solver(A, measure=False).solve,
        ),
        "palmette.scipy": (lambda: palmette.scipy.splu(A).solve(b), palmette.scipy.splu(A).solve),
        "scipy": (lambda: linalg.splu(A).solve(b), linalg.splu(A).solve),
    }
    for name, (whole, solve) in ways.items():
        yield {
            "family": family,
            "n": A.shape[0],
            "nnz": int(A.nnz),
            "solver": name,
            "total_us": round(median_us(whole, seconds), 2),
            "solve_us": round(median_us(lambda: solve(b), seconds), 2),
        }


def spsolve_rows(family, A, seconds):
    b = np.random.default_rng(1).uniform(-1, 1, A.shape[0])
    for form in ("csc", "csr"):
        given = A.asformat(form)
        for name, spsolve in (("palmette.scipy", palmette.scipy.spsolve), ("scipy", linalg.spsolve)):
            yield {
                "family": f"{family}, spsolve of {form}",
                "n": A.shape[0],
                "nnz": int(A.nnz),
                "solver": name,
                "total_us": round(median_us(lambda: spsolve(given, b), seconds), 2),
            }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", default="1,2,5,10,20,50,100,200,500,1000,2000")
    parser.add_argument("--seconds", type=float, default=0.05)
    parser.add_argument("what", nargs="*", default=list(FAMILIES))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for what in arguments.what:
        if what in FAMILIES:
            matrices = [
                FAMILIES[what](int(n))
                for n in arguments.sizes.split(",")
                if what != "dense" or int(n) <= 1000
            ]
        else:
            matrices = [sparse.csc_array(sparse.load_npz(what))]
        for A in matrices:
            for row in (*rows(what, A, arguments.seconds), *spsolve_rows(what, A, arguments.seconds)):
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
