#!/usr/bin/env python3
"""Solves with few entries beside whole solves: docs/results/sparse_solves.md.

    PYTHON tools/results_sparse_solves.py

PYTHON must import palmette, with NumPy and SciPy. Run it on an idle machine: a minute.
"""

import pathlib
import statistics

import numpy as np
import palmette
from scipy import sparse
from this_machine import processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROBLEMS = [
    ("poisson2d9", 512),
    ("poisson3d7", 40),
    ("elasticity3d", 20),
    ("convection_diffusion2d", 300),
]
ENTRIES = [1, 10, 1000]
TURNS = 9


def median_seconds(solver, b, rows, check):
    seconds = []
    for _ in range(TURNS + 1):
        solver.solve_sparse(b, rows, check=check)
        seconds.append(solver.sparse_report["seconds"])
    return statistics.median(seconds[1:])  # the first one warms up


def figures(problem, n):
    """A row for each number of entries of b, which are the rows that are wanted too."""
    A = palmette.generate(problem, n)
    order = A.shape[0]
    solver = palmette.Solver(A, measure=False, method="serial")
    random = np.random.default_rng(1)
    for count in ENTRIES:
        rows = np.sort(random.choice(order, count, replace=False))
        b = sparse.csc_array((np.ones(count), (rows, np.zeros(count, int))), shape=(order, 1))
        solver.solve(b.toarray(), refine="off", repeat=TURNS)
        whole = solver.report["solve"]["seconds"]
        alone = median_seconds(solver, b, rows, False)
        part = solver.sparse_report["bytes"] / solver.sparse_report["whole_bytes"]
        checked = median_seconds(solver, b, rows, True)
        assert solver.sparse_report["verified"] and not solver.sparse_report["solved_whole"]
        yield [f"{problem}:{n}", f"{order:,}", f"{count:,}", f"{1e3 * whole:.2f}", f"{1e3 * alone:.3f}",
               f"{part:.3f}", f"{whole / alone:.1f}", f"{whole / checked:.1f}"]


def main():
    rows = [row for problem, n in PROBLEMS for row in figures(problem, n)]
    lines = [
        "# Sparse right-hand sides and parts of x",
        "",
        f"Made by `tools/results_sparse_solves.py` on {processor()}, one thread, in double precision: medians"
        f" of {TURNS} solves. Each right-hand",
        "side has the number of entries given, at random places, and the same rows of x are wanted. *Factor"
        " read*: its bytes, beside those of a whole solve.",
        "*Checked*: with the other unknowns of the equations of these rows, which the check needs. The"
        " whole solve is not refined.",
        "",
        "| problem | n | entries | whole solve, ms | entries alone, ms | factor read | times faster |"
        " times faster, checked |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    (ROOT / "docs/results/sparse_solves.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
