#!/usr/bin/env python3
"""Solves with few entries beside whole solves: docs/results/sparse_solves.md.

    PYTHON tools/results_sparse_solves.py

PYTHON must import palmette, with NumPy and SciPy, and mpi4py for the part over ranks, which is run by mpiexec
(`--ranks-alone` makes only that part anew). Run it on an idle machine: two minutes.
"""

import argparse
import json
import pathlib
import shutil
import statistics
import subprocess
import sys

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
RANKS = [2, 4]
PAGE = ROOT / "docs/results/sparse_solves.md"
OVER_RANKS = "## Over ranks"


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


def one_rank_of_many():
    """Run by mpiexec: each process has some rows. The first prints the figures of each case, as JSON."""
    import palmette.mpi  # only here: it needs mpi4py
    from mpi4py import MPI

    comm = MPI.COMM_WORLD

    def slowest(seconds):
        return comm.allreduce(seconds, op=MPI.MAX)

    for problem, n in PROBLEMS:
        A = palmette.generate(problem, n).tocsr()
        order = A.shape[0]
        first, end = comm.rank * order // comm.size, (comm.rank + 1) * order // comm.size
        solver = palmette.mpi.RowSolver(A[first:end], comm)
        random = np.random.default_rng(1)
        for count in ENTRIES:
            rows = np.sort(random.choice(order, count, replace=False))
            mine = rows[(rows >= first) & (rows < end)] - first
            ones, places = np.ones(len(mine)), (mine, np.zeros(len(mine), int))
            b = sparse.csc_array((ones, places), shape=(end - first, 1))
            seconds = []
            for _ in range(TURNS + 1):
                solver.solve_sparse(b, rows, check=False)
                seconds.append(slowest(solver.sparse_report["seconds"]))
            solver.solve(b.toarray(), refine="off", repeat=TURNS)
            whole = slowest(solver.report["solve"]["seconds"])
            alone, report = statistics.median(seconds[1:]), solver.sparse_report
            row = [f"{problem}:{n}", f"{comm.size}", f"{count:,}", f"{1e3 * whole:.2f}", f"{1e3 * alone:.3f}",
                   f"{whole / alone:.1f}", f"{report['bytes'] / report['whole_bytes']:.3f}",
                   f"{report['messages']:,} of {report['whole_messages']:,}",
                   f"{report['message_bytes'] / 1e3:,.1f} of {report['whole_message_bytes'] / 1e3:,.1f}"]
            if comm.rank == 0:
                print(json.dumps(row), flush=True)


def lines_over_ranks():
    """The part of the page about ranks."""
    rows = []
    for ranks in RANKS:
        version = subprocess.run(["mpiexec", "--version"], capture_output=True, text=True).stdout
        is_open_mpi = "Open MPI" in version or "OpenRTE" in version
        flags = ["--oversubscribe", "--allow-run-as-root"] if is_open_mpi else []
        command = [shutil.which("mpiexec"), *flags, "-n", str(ranks), sys.executable, __file__, "--as-rank"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows += [json.loads(line) for line in done.stdout.splitlines()]
    return [
        OVER_RANKS,
        "",
        f"As above, by `palmette.mpi` on {processor()}, processes of two-sided MPI with",
        "one thread each; no equations are checked. Seconds are those of the slowest process. *Factor read*,",
        "messages and kB are sums over the processes of both sweeps, beside those of a whole solve; what",
        "brings x to all is not counted. With more processes than cores, times say little.",
        "",
        "| problem | ranks | entries | whole solve, ms | entries alone, ms | times faster | factor read |"
        " messages | kB |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *["| " + " | ".join(row) + " |" for row in rows],
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks-alone", action="store_true")
    parser.add_argument("--as-rank", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_rank:
        return one_rank_of_many()
    if options.ranks_alone:
        before = PAGE.read_text().split(OVER_RANKS)[0].rstrip().splitlines()
    else:
        before = one_machine()
    PAGE.write_text("\n".join([*before, "", *lines_over_ranks()]) + "\n")


def one_machine():
    """The part of the page about one machine."""
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
    return lines + ["| " + " | ".join(row) + " |" for row in rows]


if __name__ == "__main__":
    main()
