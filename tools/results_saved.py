#!/usr/bin/env python3
"""Saving and loading factors beside factorizing again, and solves out of core: docs/results/saved_factors.md.

    PYTHON tools/results_saved.py [FOLDER]

PYTHON must import palmette, with NumPy. FOLDER (a temporary one by default) holds the files, up to 1 GB. Run
it on an idle machine: a minute.
"""

import os
import pathlib
import re
import statistics
import sys
import tempfile
import time

import numpy as np
import palmette
from this_machine import processor

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROBLEMS = [("poisson2d9", 512), ("poisson3d7", 40), ("elasticity3d", 20), ("convection_diffusion2d", 300)]
TURNS = 3


def timed(work):
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def forget(path):
    """Take the file out of the page cache, so that the next reader waits for the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def warm_solve(solver, b):
    solver.solve(b, refine="off", repeat=9)
    return solver.report["solve"]["seconds"]


def loaded(path, b, cold, **options):
    """Seconds to load, of the first solve, and of a warm solve: medians."""
    loads, firsts, warms = [], [], []
    for _ in range(TURNS):
        if cold:
            forget(path)
        solver, seconds = timed(lambda: palmette.load(path, measure=False, threads=1, **options))
        loads.append(seconds)
        firsts.append(timed(lambda solver=solver: solver.solve(b))[1])
        warms.append(warm_solve(solver, b))
    return [statistics.median(seconds) for seconds in (loads, firsts, warms)]


def figures(problem, n, folder):
    A = palmette.generate(problem, n)
    b = np.ones(A.shape[0])
    solver, factorize = timed(lambda: palmette.Solver(A, measure=False, threads=1))
    x = solver.solve(b)
    path = os.path.join(folder, "factors")
    save = timed(lambda: solver.save(path))[1]
    assert np.array_equal(palmette.load(path).solve(b), x)
    warm = warm_solve(solver, b)
    del solver
    ways = [
        ("mapped", {"check": False}, False),
        ("mapped, compared", {}, False),
        ("copied, compared", {"map": False}, False),
        ("mapped, from the disk", {"check": False}, True),
        ("mapped, compared, from the disk", {}, True),
    ]
    for way, options, cold in ways:
        load, first, then = loaded(path, b, cold, **options)
        yield [f"{problem}:{n}", f"{os.path.getsize(path) / 1e6:.0f}", f"{1e3 * factorize:.0f}",
               f"{1e3 * save:.0f}", way, f"{1e3 * load:.1f}", f"{1e3 * first:.1f}",
               f"{factorize / (load + first):.1f}", f"{then / warm:.2f}"]


def least_budget(path):
    try:
        palmette.load(path, memory_budget=1, check=False, measure=False)
    except palmette.UsageError as error:
        return int(re.search(r"give at least (\d+) bytes", str(error)).group(1))
    raise AssertionError("a budget of one byte was accepted")


def out_of_core(problem, n, folder):
    """Solves with panels that stay on the disk, for the least budget and for parts of the file."""
    A = palmette.generate(problem, n)
    path = os.path.join(folder, "factors")
    solver = palmette.Solver(A, measure=False, threads=1)
    solver.save(path)
    bytes_of_file = os.path.getsize(path)
    least = least_budget(path)
    for budget in (least, least + bytes_of_file // 4, least + bytes_of_file):
        for num_rhs in (1, 64):
            b = np.ones((A.shape[0], num_rhs))
            small = palmette.load(path, memory_budget=budget, check=False, threads=1)
            for cold in (True, False):
                if cold:
                    forget(path)
                x = small.solve(b, refine="off")
                solve = small.report["solve"]
                file = solve["file"]
                assert np.array_equal(x, solver.solve(b, refine="off"))
                cached = file["cached_bytes"]
                yield [f"{problem}:{n}", f"{bytes_of_file / 1e6:.0f}", f"{budget / 1e6:.0f}", f"{num_rhs}",
                       "from the disk" if cold else "again", f"{1e3 * solve['seconds']:.1f}",
                       f"{file['bytes'] / 1e6:.0f}", "–" if cached is None else f"{cached / 1e6:.0f}",
                       "–" if not file["read_gbs"] else f"{file['read_gbs']:.2f}",
                       "–" if not file["disk_fraction"] else f"{file['disk_fraction']:.2f}",
                       f"{1e3 * file['wait_seconds']:.1f}"]


def main():
    head = ["problem", "file, MB", "factorize anew, ms", "save, ms", "loaded", "load, ms", "first solve, ms",
            "times faster", "warm solve, ratio"]
    lines = ["# Factors that stay", ""]
    intro = (
        f"Made by `tools/results_saved.py` on {processor()}, one thread, in double precision: medians of\n"
        f"{TURNS} turns. *Factorize anew*: order, analyze, factorize and plan, once. *Save*: until the disk\n"
        "has the file. *Mapped*: the values stay in the file; the first solve brings in the pages.\n"
        "*Compared*: checksums of the values. *From the disk*: the file was taken out of the page cache\n"
        "before (a disk of a virtual machine may have a cache of its own). *Times faster*: a new\n"
        "factorization over load and first solve. *Warm solve, ratio*: later solves over those of the\n"
        "solver that was saved, whose values lie in large pages. x has the same bits in all of them\n"
        "(asserted)."
    )
    lines += [intro, "", "| " + " | ".join(head) + " |",
              "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |"]
    with tempfile.TemporaryDirectory(dir=sys.argv[1] if len(sys.argv) > 1 else None) as folder:
        for problem, n in PROBLEMS:
            for row in figures(problem, n, folder):
                print(row, flush=True)
                lines.append("| " + " | ".join(row) + " |")
        head = ["problem", "file, MB", "budget, MB", "right-hand sides", "solve", "ms", "read, MB",
                "from the page cache, MB", "GB/s", "of the disk's rate", "waited, ms"]
        lines += ["", "## Out of core", "",
                  "Panels stay in the file. *Budget*: the least, and more by a quarter and by all of the",
                  "file.",
                  "*Again*: the next solve, which begins with what is in memory. *Of the disk's rate*: that",
                  "of reading the file plainly, measured when it is loaded. x has the bits of a solve in",
                  "memory.", "",
                  "| " + " | ".join(head) + " |", "| --- | ---: | ---: | ---: | --- |" + " ---: |" * 6]
        for problem, n in PROBLEMS[:2]:
            for row in out_of_core(problem, n, folder):
                print(row, flush=True)
                lines.append("| " + " | ".join(row) + " |")
    (ROOT / "docs/results/saved_factors.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
