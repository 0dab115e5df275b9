#!/usr/bin/env python3
"""Entries of the inverse beside the factorization: docs/results/inverse.md.

    PYTHON tools/results_inverse.py
    python tools/results_inverse.py --ranks

PYTHON must import palmette, with NumPy and SciPy. Each problem is factorized and inverted in turn, five
times; medians. Run it on an idle machine: a minute. With --ranks, only the section on ranks is rewritten:
counts of build/release/cli/palmette, on any machine.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

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
COUNTED = [("poisson2d9", 256), ("poisson3d7", 24), ("convection_diffusion3d", 16)]
RANKS = [1, 2, 4, 8]
PAGE = ROOT / "docs/results/inverse.md"
OVER_RANKS = "## Over ranks (counted)"


def figures(problem, n):
    """Medians of one problem."""
    import numpy as np
    import palmette

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


def counts(command, path, ranks):
    """The command's sections on the inverse and on ranks."""
    words = [command, "inverse", path, "--entries", "selected", "--transport", f"threads:{ranks}"]
    done = subprocess.run([*words, "--json", "-"], check=True, capture_output=True, text=True)
    report = json.loads(done.stdout)
    assert report["inverse"]["verified"]
    return report


def counted_rows(command):
    for problem, n in COUNTED:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "A.mtx"
            words = [command, "generate", problem, "--n", str(n), "--out", path, "--quiet"]
            subprocess.run(words, check=True)
            for ranks in RANKS:
                report = counts(command, path, ranks)
                made = report["inverse"]
                yield [
                    f"{problem}:{n}",
                    f"{report['matrix']['rows']:,}",
                    report["factorize"]["kind"],
                    str(ranks),
                    f"{made['flops'] / 1e9:.3f}",
                    f"{int(made['messages']):,}",
                    f"{made['message_bytes'] / 1e6:.2f}",
                    f"{made['memory_bytes'] / 1e6:.2f}",
                ]


def ranks_section(command):
    heads = ["Gflop", "messages", "MB sent", "memory, MB"]
    head = ["problem", "n", "kind", "ranks", *(f"{name} (*counted*)" for name in heads)]
    lines = [
        OVER_RANKS,
        "",
        "Made by `tools/results_inverse.py --ranks`: sums over ranks that are threads, in double precision,",
        "with default options. All figures are *counted* by the runs; none is a time. Messages are those of",
        "the recurrence, without the check and without gathering; in each round a rank sends one to each",
        "other rank, some of them empty. *Memory*: of the entries of the inverse.",
        "",
        "| " + " | ".join(head) + " |",
        "| --- | ---: | --- |" + " ---: |" * (len(head) - 3),
    ]
    lines += ["| " + " | ".join(row) + " |" for row in counted_rows(command)]
    return "\n".join(lines) + "\n"


def timed_table():
    from palmette._threads import allowed_threads
    from this_machine import processor

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
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", action="store_true", help="rewrite the section on ranks only")
    parser.add_argument("--command", default=ROOT / "build/release/cli/palmette", type=pathlib.Path)
    asked = parser.parse_args()
    timed, mark, ranks = PAGE.read_text().partition(OVER_RANKS)
    if asked.ranks:
        PAGE.write_text(timed.rstrip("\n") + "\n\n" + ranks_section(asked.command))
    else:
        PAGE.write_text(timed_table() + ("\n" + mark + ranks if mark else ""))


if __name__ == "__main__":
    main()
