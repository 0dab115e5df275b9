#!/usr/bin/env python3
"""Inertia with replaced pivots, Schur complements, updates: docs/results/beside.md.

    PYTHON tools/results_beside.py [MATRIX…]

PYTHON must import palmette, with NumPy and SciPy. MATRIX: files of symmetric matrices whose inertia is
counted besides those of the model problems. Run it on an idle machine.
"""

import pathlib
import statistics
import sys
import time

import numpy as np
import palmette
from scipy import sparse
from this_machine import processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
TURNS = 5
THREADS = 2


def median_seconds(work, turns=TURNS):
    seconds = []
    for _ in range(turns + 1):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])  # the first one warms up


def nearly_singular(count, distance):
    """`count` blocks [1 1; 1 1 ± distance]: one pivot of each is replaced."""
    blocks = [np.array([[1.0, 1.0], [1.0, 1.0 + (-1) ** k * distance]]) for k in range(count)]
    return sparse.csc_array(sparse.block_diag(blocks))


def inertia_rows(files):
    systems = [("kkt3d:20", palmette.generate("kkt3d", 20), (16000, 8000))]
    systems += [(f"40 blocks, determinants ±{d:.0e}", nearly_singular(40, d), (60, 20))
                for d in (1e-13, 2.0**-50)]
    for path in files:
        systems.append((pathlib.Path(path).name, palmette.read(path), None))
    for name, A, known in systems:
        solver = palmette.Solver(A, kind="ldlt", measure=False, threads=THREADS)
        start = time.perf_counter()
        found = solver.inertia
        asked = time.perf_counter() - start
        told = solver.report["factorize"]
        capacitance = told["capacitance"] or {}
        if known:
            assert found[:2] == known and found.zero == 0, (name, found)
        seconds = capacitance.get("seconds", asked if told["perturbed_pivots"] else 0)
        yield [name, f"{A.shape[0]:,}", f"{told['perturbed_pivots']:,}", f"{found.positive:,}",
               f"{found.negative:,}", f"{found.zero:,}",
               f"{capacitance['bound']:.0e}" if capacitance else "–",
               "yes" if capacitance.get("used_in_solves") else "no",
               f"{seconds / told['seconds']:.2f}"]


def schur_rows():
    for problem, n, kind in (("poisson2d9", 300, "llt"), ("poisson3d7", 32, "llt"), ("kkt3d", 14, "ldlt"),
                             ("convection_diffusion3d", 20, "lu")):
        A = palmette.generate(problem, n)
        order = A.shape[0]
        for m in (100, 1000):
            boundary = np.arange(order - m, order)
            schur = palmette.SchurComplement(A, boundary, kind=kind, threads=THREADS)
            report = schur.report
            assert report["verified"]
            whole = palmette.Solver(A, kind=kind, measure=False, threads=THREADS)
            interior = np.arange(order - m)
            inside = palmette.Solver(sparse.csc_array(A[interior][:, interior]), kind=kind, measure=False,
                                     threads=THREADS)
            some = np.asfortranarray(A[interior][:, boundary[:64]].toarray())
            inside.solve(some, refine="off", repeat=TURNS)
            solves = inside.report["solve"]["seconds"] * m / 64 + inside.report["factorize"]["seconds"]
            b = np.ones(order)
            g = schur.condense(b)
            on_boundary = np.linalg.solve(schur.S, g)
            whole.solve(b, repeat=TURNS)
            condense = median_seconds(lambda: schur.condense(b))
            yield [f"{problem}:{n}", f"{order:,}", kind, f"{m:,}", f"{report['factorize_seconds']:.3f}",
                   f"{report['factorize_seconds'] / whole.report['factorize']['seconds']:.2f}",
                   f"{solves / report['factorize_seconds']:.1f}", f"{report['backward_error']:.0e}",
                   f"{condense / whole.report['solve']['seconds']:.2f}"]
            x = schur.expand(b, on_boundary)
            assert np.abs(A @ x - b).max() < 1e-10 * np.abs(A).max() * np.abs(x).max()


def update_rows():
    random = np.random.default_rng(1)
    for problem, n in (("poisson2d9", 300), ("poisson3d7", 32), ("convection_diffusion2d", 300)):
        A = palmette.generate(problem, n)
        order = A.shape[0]
        solver = palmette.Solver(A, measure=False, threads=THREADS)
        refactor = median_seconds(lambda: solver.refactor(A), 3)
        b = np.ones(order)
        plain = median_seconds(lambda: solver.solve(b))
        for k in (1, 10, 100):
            U = np.zeros((order, k))
            U[random.choice(order, k, replace=False), np.arange(k)] = 1
            made = median_seconds(lambda: solver.update(U), 3)
            updated = solver.update(U)
            solve = median_seconds(lambda: updated.solve(b))
            assert updated.report["verified"]
            yield [f"{problem}:{n}", f"{order:,}", f"{k}", f"{1e3 * made:.1f}", f"{made / refactor:.2f}",
                   f"{solve / plain:.2f}", f"{updated.report['backward_error']:.0e}"]


def edges(A, count, random):
    """n × count, each column with 1 and −1 in two rows of which A has the entry."""
    W = np.zeros((A.shape[0], count))
    columns = sparse.csc_array(A)
    for k, column in enumerate(random.choice(A.shape[0], count, replace=False)):
        rows = columns.indices[columns.indptr[column]:columns.indptr[column + 1]]
        W[[column, rows[rows != column][0]], k] = 1, -1
    return sparse.csc_array(W)


def factor_rows():
    random = np.random.default_rng(2)
    for problem, n in (("poisson2d9", 300), ("poisson3d7", 32)):
        A = palmette.generate(problem, n)
        solver = palmette.Solver(A, kind="llt", measure=False, threads=THREADS)
        refactor = median_seconds(lambda: solver.refactor(A), 3)
        for k in (1, 10, 100):
            W = edges(A, k, random)
            turns = [False]

            def change():  # up and down again
                solver.update_factor(W, subtract=turns[0])
                turns[0] = not turns[0]

            seconds = median_seconds(change)
            solver.solve(np.ones(A.shape[0]))
            verify = solver.report["verify"]
            assert verify["verified"]
            done = solver.update_factor(W, subtract=turns[0])
            yield [f"{problem}:{n}", f"{A.shape[0]:,}", f"{k}", f"{1e3 * seconds:.1f}",
                   f"{seconds / refactor:.2f}", f"{done['supernodes'] / done['num_supernodes']:.3f}",
                   f"{verify['refine_steps']}", f"{verify['backward_error']:.0e}"]
            if not turns[0]:
                solver.update_factor(W, subtract=True)


def table(head, rows):
    names = [name.strip() for name in head.split("|")]
    lines = ["| " + " | ".join(names) + " |", "| --- |" + " ---: |" * (len(names) - 1)]
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


def main():
    lines = [
        "# Beside A·x = b: inertia, Schur complements, updates",
        "",
        f"Made by `tools/results_beside.py` on {processor()}, {THREADS} threads, in double",
        f"precision. Ratios are of times measured in one run, medians of {TURNS} or 3 where a call was",
        "repeated.",
        "",
        "## Signs that replaced pivots left open",
        "",
        "*Bound*: of the errors of the capacitance matrix's eigenvalues. *Cost*: of the decision, by that of",
        "the factorization. The inertia of the first three is known and asserted.",
        "",
        *table("matrix | n | replaced | positive | negative | undecided | bound | in solves | cost",
               inertia_rows(sys.argv[1:])),
        "",
        "## Schur complements",
        "",
        "The last m unknowns stay. *Whole*: time by that of a whole factorization. *Solves*: how many times",
        "longer a factorization of the interior and m solves with it take (estimated from 64 solves).",
        "*Condense*: time by that of a whole solve.",
        "",
        *table("problem | n | kind | m | factorization, s | whole | solves | backward error | condense",
               schur_rows()),
        "",
        "## Updates of low rank",
        "",
        "U = V with one entry in each of k columns. *Refactor*: time of the update by that of factorizing",
        "new values. *Solve*: time of a verified solve by that of one with A.",
        "",
        *table("problem | n | k | update, ms | refactor | solve | backward error", update_rows()),
        "",
        "## Factors changed by columns",
        "",
        "A ± W·Wᴴ, W with two entries in each of k columns, added and subtracted in turn. *Refactor*: as",
        "above. *Supernodes*: the part on the paths of the columns. *Steps*: of refinement that a solve then",
        "takes, since every change of the factor rounds.",
        "",
        *table("problem | n | k | update, ms | refactor | supernodes | steps | backward error",
               factor_rows()),
    ]
    (ROOT / "docs/results/beside.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
