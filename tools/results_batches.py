#!/usr/bin/env python3
"""Batches of small systems beside SciPy's loop: docs/results/batches.md.

    PYTHON tools/results_batches.py [--short]

PYTHON must import palmette, with NumPy and SciPy. Run it on an idle machine: two minutes. Every ratio is of
times of one run: turns of both ways follow each other, and medians are compared.
"""

import argparse
import pathlib
import statistics
import time

import numpy as np
import palmette
from scipy import sparse
from scipy.sparse import linalg
from this_machine import processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURNS = 5


def network(n):
    """An unsymmetric diagonally dominant matrix with four entries in a column, at random places."""
    random = np.random.default_rng(7)
    rows, columns = random.integers(0, n, 3 * n), np.repeat(np.arange(n), 3)
    A = sparse.coo_array((random.uniform(-1, 1, 3 * n), (rows, columns)), shape=(n, n)).tocsc()
    return (A + sparse.diags_array(4 * np.ones(n))).tocsc()


def problems(short):
    line = sparse.diags_array([-1.0, 2.5, -1.5], offsets=[-1, 0, 1], shape=(100, 100))
    yield "tridiagonal:100", line.tocsc(), 4000
    yield "poisson2d5:10", palmette.generate("poisson2d5", 10), 4000
    yield "convection_diffusion2d:10", palmette.generate("convection_diffusion2d", 10), 4000
    yield "network:100", network(100), 4000
    if short:
        return
    yield "network:20", network(20), 8000
    yield "convection_diffusion2d:20", palmette.generate("convection_diffusion2d", 20), 1000
    yield "poisson3d7:8", palmette.generate("poisson3d7", 8), 400


def seconds_of(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def scipys_loop(A, values, b, x):
    for own, rhs, solution in zip(values, b, x):
        solution[:] = linalg.splu(sparse.csc_matrix((own, A.indices, A.indptr), shape=A.shape)).solve(rhs)


def palmettes_loop(A, values, b, x):
    """One Solver, given the values of each system in turn."""
    solver = palmette.Solver(A, threads=1, measure=False)
    for own, rhs, solution in zip(values, b, x):
        solver.refactor(own)
        solution[:] = solver.solve(rhs)


def figures(name, A, systems):
    random = np.random.default_rng(1)
    values = A.data * random.uniform(0.9, 1.1, (systems, 1))
    values *= 1 + 0.01 * random.standard_normal((systems, A.nnz)) * (palmette.BatchSolver(A).kind == "lu")
    b = random.standard_normal((systems, A.shape[0]))
    theirs, loop = np.empty_like(b), np.empty_like(b)
    batches = {threads: palmette.BatchSolver(A, threads=threads) for threads in (1, 2)}
    times = {"scipy": [], "loop": [], 1: [], 2: []}
    for _ in range(TURNS):
        times["scipy"].append(seconds_of(lambda: scipys_loop(A, values, b, theirs)))
        times["loop"].append(seconds_of(lambda: palmettes_loop(A, values, b, loop)))
        for threads, batch in batches.items():
            times[threads].append(seconds_of(lambda batch=batch: batch.solve(values, b)))
    report = batches[1].report
    x = batches[1].solve(values, b)
    assert report["verified"] and np.allclose(x, theirs, rtol=1e-6, atol=1e-9)
    median = {key: statistics.median(value) for key, value in times.items()}
    flops = (report["flops"] + 4 * report["nnz_factor"]) * systems
    return [name, f"{A.shape[0]}", batches[1].kind, f"{systems:,}", f"{report['nnz_factor']:,}",
            f"{1e6 * median['scipy'] / systems:.1f}", f"{1e6 * median['loop'] / systems:.1f}",
            f"{1e6 * median[1] / systems:.2f}", f"{median['scipy'] / median[1]:.1f}",
            f"{median['scipy'] / median[2]:.1f}", f"{median['loop'] / median[1]:.1f}",
            f"{flops / median[1] / 1e9:.1f}", f"{report['backward_error'].max():.0e}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="four problems of order 100")
    short = parser.parse_args().short
    head = ["problem", "n", "kind", "systems", "factor", "SciPy, µs", "Solver, µs", "batch, µs",
            "faster than SciPy", "with 2 threads", "faster than Solver", "Gflop/s", "backward error"]
    lines = ["# Batches of small systems", ""]
    intro = (
        f"Made by `tools/results_batches.py` on {processor()}, in double precision: medians of {TURNS}\n"
        "turns, in which the ways follow each other. *SciPy*: the loop of `splu` and `solve` over the\n"
        "systems, each matrix made from its values. *Solver*: one `Solver` with `refactor` and `solve` for\n"
        "each system, one thread. *Batch*: `BatchSolver.solve`, one call, one thread, every solution\n"
        "verified. Times are for one system. *Factor*: entries of L, or of L and U. *Gflop/s*: of\n"
        "factorization and solve, without verification, by the time of everything."
    )
    lines += [intro, "", "| " + " | ".join(head) + " |", "| --- |" + " ---: |" * (len(head) - 1)]
    for name, A, systems in problems(short):
        row = figures(name, A, systems)
        print(row, flush=True)
        lines.append("| " + " | ".join(row) + " |")
    (ROOT / "docs/results/batches.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
