#!/usr/bin/env python3
"""Compares the speed of two builds of Palmette and makes docs/results/before_after.md.

    git worktree add ../before COMMIT
    (cd ../before && cmake --preset release -DPALMETTE_BENCH=ON && cmake --build --preset release)
    cmake --preset release -DPALMETTE_BENCH=ON && cmake --build --preset release
    tools/compare_builds.py ../before . MATRIX.mtx…      # about four minutes a matrix with 5 rounds

In each round the rows of docs/results/speed.md (`bench_peer_row`, one and two threads) and of
docs/results/ranks.md (`bench_rank_row` under mpiexec, two ranks) are measured by both builds in turn, the
order of the two changing from round to round. A ratio on the page is after ÷ before, each the best of its
rounds, since other processes only add time; the last column shows the ratios of single rounds. Rows are kept
in --store, so that the command can be stopped and go on later. The machine should be idle.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import geometric_mean

sys.path.insert(0, str(Path(__file__).resolve().parent))

from speed.rivals import TITLES  # noqa: E402
from this_machine import cores, processor  # noqa: E402

RESULT = Path(__file__).resolve().parent.parent / "docs" / "results" / "before_after.md"
WITHIN = 1.03  # the change that was allowed
# What is compared: names in the rows of bench_peer_row and bench_rank_row.
ONE_MACHINE = {
    "factor_s": "factorize",
    "refactor_solve_s": "factorize again and solve",
    "solve1_s": "solve, 1 right-hand side",
    "solve50_s": "solve, 50",
    "first_s": "first solution",
}
RANKS = {"factor_s": "factorize", "solve1_s": "solve, 1 right-hand side", "solve50_s": "solve, 50"}
SETTINGS = {"1 thread": ONE_MACHINE, "2 threads": ONE_MACHINE, "2 ranks": RANKS}


def parse():
    parser = argparse.ArgumentParser(
        formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__
    )
    parser.add_argument("before", type=Path, help="root of the earlier working tree, built")
    parser.add_argument("after", type=Path, help="root of the later working tree, built")
    parser.add_argument("matrices", type=Path, nargs="+", metavar="MATRIX")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=list(SETTINGS))
    parser.add_argument("--store", type=Path, default=Path("build/before_after.json"))
    parser.add_argument("--note", default="", help="what a reader should know about these runs")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin nothing after this time")
    return parser.parse_args()


def row_of(root, setting, matrix):
    """What one program of one build prints for one matrix."""
    count = setting.split()[0]
    bench = root.resolve() / "build" / "release" / "bench"
    command = [str(bench / "bench_peer_row"), str(matrix)]
    environment = {**os.environ, "PEERS_THREADS": count}
    if setting.endswith("ranks"):
        command = ["mpiexec", "--allow-run-as-root", "-n", count, str(bench / "bench_rank_row"), str(matrix)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    return json.loads(done.stdout)


def measure(options, rows):
    """Adds the rounds that are missing; rows: setting → matrix → list of [before, after]."""
    began = time.monotonic()
    for number in range(options.rounds):
        for setting in options.settings:
            for matrix in options.matrices:
                pairs = rows.setdefault(setting, {}).setdefault(matrix.name.split(".")[0], [])
                if len(pairs) > number or time.monotonic() - began > 60 * options.minutes:
                    continue
                pair = {}
                for which in ["before", "after"][:: -1 if number % 2 else 1]:
                    row = row_of(getattr(options, which), setting, matrix)
                    pair[which] = {name: row[name] for name in SETTINGS[setting]}
                pairs.append([pair["before"], pair["after"]])
                options.store.parent.mkdir(parents=True, exist_ok=True)
                options.store.write_text(json.dumps(rows))
                print(number + 1, setting, matrix.name, flush=True)


def ratio(pairs, name):
    return best(pairs, 1, name) / best(pairs, 0, name)


def best(pairs, which, name):
    return min(pair[which][name] for pair in pairs)


def summary(rows):
    """A table: for each setting and phase the geometric mean over matrices, least and greatest."""
    yield f"| | | geometric mean | least | greatest | rows over {WITHIN} |\n|---|---|--:|--:|--:|---|"
    for setting, by_matrix in rows.items():
        for name, title in SETTINGS[setting].items():
            found = {matrix: ratio(pairs, name) for matrix, pairs in by_matrix.items() if pairs}
            slow = [f"{TITLES.get(matrix, matrix)} {found[matrix]:.2f}" for matrix in found]
            slow = [text for text, value in zip(slow, found.values(), strict=True) if value > WITHIN]
            numbers = [geometric_mean(found.values()), min(found.values()), max(found.values())]
            shown = " | ".join(f"{number:.2f}" for number in numbers)
            yield f"| {setting} | {title} | {shown} | {', '.join(slow) or '–'} |"


def details(rows):
    yield "| | matrix | | rounds | before ms | after ms | after ÷ before | single rounds |"
    yield "|---|---|---|--:|--:|--:|--:|--:|"
    for setting, by_matrix in rows.items():
        for matrix, pairs in by_matrix.items():
            for name, title in SETTINGS[setting].items() if pairs else ():
                single = [after[name] / before[name] for before, after in pairs]
                seconds = " | ".join(f"{1e3 * best(pairs, which, name):.3g}" for which in (0, 1))
                yield (
                    f"| {setting} | {TITLES.get(matrix, matrix)} | {title} | {len(pairs)} | {seconds} "
                    f"| {ratio(pairs, name):.2f} | {min(single):.2f}–{max(single):.2f} |"
                )


def commit_of(root):
    return subprocess.run(
        ["git", "-C", root, "log", "-1", "--format=%h of %cs"], capture_output=True, text=True, check=True
    ).stdout.strip()


def introduction(options):
    today = time.strftime("%Y-%m-%d", time.gmtime())
    before, after = commit_of(options.before), commit_of(options.after)
    return (
        f"Made by `tools/compare_builds.py` ({today}) on {processor()}, {cores()} cores; measured. "
        f"Before: commit {before}; after: commit {after}.\n"
        "Both builds ran in turn. A ratio is after ÷ before, each the best of its rounds, so that below 1 "
        "the later commit is faster;\nsingle rounds show how far the machine can be trusted. Programs and "
        "matrices are those of [speed.md](speed.md) and [ranks.md](ranks.md).\n"
        + (f"\n{options.note}\n" if options.note else "")
    )


def page(options, rows):
    parts = ["# Speed before and after\n", introduction(options), *summary(rows), "\n## Every row\n"]
    return "\n".join([*parts, *details(rows)]) + "\n"


if __name__ == "__main__":
    given = parse()
    kept = json.loads(given.store.read_text()) if given.store.is_file() else {}
    measure(given, kept)
    RESULT.write_text(page(given, kept))
