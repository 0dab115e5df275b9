#!/usr/bin/env python3
"""Entries of the inverse beside the factorization: docs/results/inverse.md.

    PYTHON tools/results_inverse.py

PYTHON must import palmette, with NumPy and SciPy. Each problem is factorized and inverted in turn, five
times; medians. Run it on an idle machine: a minute.
"""

import os
import pathlib
import statistics
import time

import numpy as np
import palmette
from palmette._threads import allowed_threads
from this_machine import processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROBLEMS = [
    ("poisson2d9", 512),
    ("thermal2d", 200000),
    ("poisson3d7", 40),
    ("poisson3d27", 30),
    ("elasticity3d", 20),
    ("kkt3d", 20),
    ("convection_diffusion2d", 300),
    ("convection_diffusion3d", 24),
]
TURNS = 5


def figures(problem, n):
    """Medians of one problem."""
    A = palmette.generate(problem, n)
    factor_seconds, inverse_seconds = [], []
    for _ in range(TURNS):
        solver = palmette.Solver(A, measure=False)
        factor_seconds.append(solver.report["factorize"]["seconds"])
        solver.selected_inverse(check=1)
        inverse_seconds.append(solver.inverse_report["seconds"])
    b = np.ones((A.shape[0], 64))
    solver.solve(b)
    began = time.perf_counter()
    solver.solve(b)
    per_column = (time.perf_counter() - began) / 64
    factorize, inverse = solver.report["factorize"], solver.inverse_report
    flops = factorize["gflops"] * 1e9 * factorize["seconds"]
    factor, inverted = statistics.median(factor_seconds), statistics.median(inverse_seconds)
    assert inverse["verified"]
    return [
        f"{problem}:{n}",
        f"{A.shape[0]:,}",
        factorize["kind"],
        f"{factor:.3f}",
        f"{inverted:.3f}",
        f"{inverted / factor:.2f}",
        f"{inverse['flops'] / flops:.2f}",
        f"{inverse['flops'] / inverted / (flops / factor):.2f}",
        f"{inverse['difference']:.0e}",
        f"{per_column * A.shape[0] / inverted:,.0f}",
    ]


def main():
    head = [
        "problem",
        "n",
        "kind",
        "factorization, s",
        "selected inverse, s",
        "time ratio",
        "flops ratio",
        "rate ratio",
        "difference",
        "times faster than n solves",
    ]
    threads = allowed_threads() or len(os.sched_getaffinity(0))
    rows = [figures(problem, n) for problem, n in PROBLEMS]
    lines = [
        "# Entries of the inverse",
        "",
        f"Made by `tools/results_inverse.py` on {processor()}, {threads} threads, in double"
        " precision. The selected inverse has all entries of the",
        "inverse on the pattern of the factors, its diagonal among them. Ratios are to the factorization;"
        " *rate*: flops by time. *Difference*: of a column",
        "from a verified solution, by the column's largest entry. *n solves*: in blocks of 64 right-hand"
        " sides, refined and verified, estimated from one block.",
        "",
        "| " + " | ".join(head) + " |",
        "| --- | ---: | --- |" + " ---: |" * (len(head) - 3),
    ]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    (ROOT / "docs/results/inverse.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
