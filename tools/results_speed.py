#!/usr/bin/env python3
"""Compares Palmette with its rivals on this machine and makes docs/results/speed.md with its plots, and the
table of README.md.

    cmake --preset release -DPALMETTE_BENCH=ON && cmake --build --preset release
    # core and more groups, 1 and 2 threads: about 25 minutes on two cores
    PYTHON tools/results_speed.py
    PYTHON tools/results_speed.py --short    # six matrices: a few minutes
    PYTHON tools/results_speed.py --long     # the big group and the slow rivals too
    # only first answers of a process compared with PARDISO's, and their section: three minutes
    PYTHON tools/results_speed.py --cold

PYTHON needs numpy, scipy, matplotlib and, for PARDISO and MKL's triangular solve, mkl from PyPI. The rivals'
drivers are not part of this project: --peers names their folder (./peers). They are copied to a scratch
folder, built with system packages (named in the Makefile there), and run by that folder's own run.py, with
ours as one more driver. A rival that is not installed is left out, and the report says why. The rows of small
systems from Python are those of the package in .venv (./quickstart or pip install . renew it) or of --python.

Every row is one child process and is stored in SCRATCH/speed.json at once: the command can be stopped
(--minutes stops it automatically) and later continues; rows of ours that are older than our program are
measured again. For published figures delete that file first, so that all rows are from one run. --only NAME…
restricts a run to matrices, solvers or the words limits, reading, small; --again repeats stored measurements.
--report makes report and plots from stored rows without measuring. --prefix "nice -n -5" or "taskset -c 0,1"
is put before each child's command. The machine should be idle; at most one thread or rank for each of two
cores is used.
"""

import argparse
import shlex
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from speed import cold, report, rivals, runs  # noqa: E402
from speed.figures import Figures  # noqa: E402

RESULT = runs.ROOT / "docs" / "results" / "speed.md"


def parse():
    parser = argparse.ArgumentParser(
        formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__
    )
    temporary = Path(tempfile.gettempdir())
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--short", action="store_true", help="six matrices")
    size.add_argument("--long", action="store_true", help="the big matrices and the slow rivals as well")
    size.add_argument(
        "--cold",
        action="store_true",
        help="cold starts alone; the rest of the page and of README's table stays as it is",
    )
    parser.add_argument("--peers", type=Path, default=Path("peers"), help="folder of the rivals' drivers")
    parser.add_argument("--build", type=Path, default=runs.ROOT / "build" / "release")
    parser.add_argument("--scratch", type=Path, default=temporary / "palmette-speed")
    parser.add_argument("--matrices", type=Path, default=temporary / "palmette-matrices")
    parser.add_argument("--prefix", default="", help="command that each child is given to")
    parser.add_argument(
        "--timeout",
        type=float,
        help="seconds for a child; a slower one is told as failed (60, with --long 240)",
    )
    parser.add_argument(
        "--minutes",
        type=float,
        default=float("inf"),
        help="begin nothing after so long; the same command goes on later",
    )
    parser.add_argument("--spmp", default="", help='command of an SpMP driver, "{m}" being the matrix')
    parser.add_argument(
        "--python",
        type=Path,
        default=runs.ROOT / ".venv" / "bin" / "python",
        help="one that has palmette and scipy",
    )
    parser.add_argument("--only", nargs="+", default=[])
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--report", action="store_true", help="no measurement")
    parser.add_argument("--no-plots", action="store_true")
    parser.add_argument("--out", type=Path, default=RESULT)
    return parser.parse_args()


def measure_cold(bench, options):
    rivals.copy_drivers(options.peers.resolve(), bench.scratch)
    runs.describe_machine(bench)
    cold.measure(bench)
    bench.save()


def measure(bench, options):
    bench.extra["absent"] = rivals.prepare(options.peers.resolve(), bench.scratch, bench.prefix)
    bench.extra["drivers"] = runs.drivers(bench, options.spmp)
    runs.describe_machine(bench)
    bench.extra["command"] = "tools/results_speed.py" + (
        " --long" if options.long else " --short" if options.short else ""
    )
    runs.measure_limits(bench)
    matrices = (
        rivals.SHORT if options.short else rivals.CORE + rivals.MORE + (rivals.BIG if options.long else [])
    )
    triangles = rivals.SHORT_TRIANGLES if options.short else rivals.TRIANGLES
    cold.measure(bench)
    for matrix in matrices + triangles:
        runs.run_matrix(bench, matrix, slow=options.long)
    runs.run_counts(bench, ["thermal100k"] if options.short else ["thermal100k", "p3d7_30"])
    runs.measure_small(bench, "1,10,100,1000" if options.short else "", options.python)
    runs.measure_reading(bench, 250 if options.short else 1000)
    bench.save()


def main():
    options = parse()
    scratch = options.scratch.resolve()
    bench = runs.Bench(
        scratch,
        options.build.resolve(),
        options.matrices.resolve(),
        scratch / "speed.json",
        shlex.split(options.prefix),
        options.timeout or (240 if options.long else 60),
        only=options.only,
        again=options.again,
        deadline=time.time() + 60 * options.minutes,
    )
    bench.load()
    if options.cold:
        if not options.report:
            measure_cold(bench, options)
        return report.renew_cold(
            bench.extra["cold"], options.out, runs.ROOT / "README.md" if options.out == RESULT else None
        )
    if not options.report:
        measure(bench, options)
    if not bench.rows:
        sys.exit(f"{bench.store} holds no rows: measure first")
    figures = Figures(bench.rows, bench.extra)
    if not figures.matrices:
        sys.exit("no matrix has Palmette's row on two threads: there is nothing to compare")
    pictures = []
    if not options.no_plots:
        from speed import pictures as plots
        pictures = plots.draw(figures, options.out.parent)
    report.write(figures, options.out, options.out.parent / "speed_notes.md", pictures)
    if options.out == RESULT:
        report.fill_readme(figures, runs.ROOT / "README.md")
    print(
        f"{options.out}: {len(figures.matrices)} matrices, {len(figures.rows)} rows, {len(figures.errors)}"
        " failed"
    )


if __name__ == "__main__":
    main()
