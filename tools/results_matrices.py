#!/usr/bin/env python3
"""Makes docs/results/matrices.md: every matrix of a folder, solved by bin/palmette with default options.

    tools/results_matrices.py FOLDER > docs/results/matrices.md

Each row is one process. Exits with 1 if an answer is neither verified to 1e-14 nor a reported numerical
failure.
"""

import json
import pathlib
import subprocess
import sys

COMMAND = pathlib.Path(__file__).resolve().parent.parent / "bin" / "palmette"
BOUND = 1e-14


def solve(path):
    run = subprocess.run([COMMAND, "solve", path, "--json", "-"], capture_output=True, text=True)
    try:
        return run.returncode, json.loads(run.stdout)
    except json.JSONDecodeError:
        return run.returncode, {"error": {"message": run.stderr.strip() or f"exit code {run.returncode}"}}


def row_of(name, code, report):
    if "error" in report:
        return (
            code == 4,
            f"| {name} | – | – | – | – | – | – | – | – | {code} | {report['error']['message']} |",
        )
    matrix, factor, verify = report["matrix"], report["factorize"], report["verify"]
    good = code == 0 and verify["backward_error"] <= BOUND
    memory = report["peak_memory_bytes"] / report["analyze"]["memory_bytes_predicted"]
    notes = "; ".join(report["notes"])
    return (
        good,
        (
            f"| {name} | {matrix['rows']:,} | {matrix['nnz']:,} | {factor['kind']},"
            f" {report['order']['method']} | {report['analyze']['nnz_factor']:,} | {factor['seconds']:.3f} |"
            f" {verify['backward_error']:.1e} | {verify['refine_steps']} | {memory:.2f} | {code} | {notes} |"
        ),
    )


def main(folder):
    files = [p for p in pathlib.Path(folder).iterdir() if p.name != "README.md" and p.is_file()]
    rows, good = [], 0
    for path in sorted(files, key=lambda p: p.stat().st_size):
        code, report = solve(path)
        fine, row = row_of(path.name, code, report)
        good += fine
        rows.append(row)
    print("# Every open matrix, default options\n")
    print(
        "Made by `tools/results_matrices.py FOLDER > docs/results/matrices.md`, right-hand side all ones,"
        " double precision. Exit 0: verified; 4: an honest numerical failure. Pattern-only files have ones"
        " as values. Memory: peak of the process over the prediction made after analysis (the process's own"
        " start weighs on small matrices).\n"
    )
    print(
        f"**{good} of {len(rows)}** are verified with a normwise backward error of at most {BOUND:g}, or are"
        " singular and said to be so.\n"
    )
    print(
        "| matrix | n | entries | kind, ordering | entries of the factor | factorize s | backward error |"
        " refinement steps | memory / predicted | exit | notes |"
    )
    print("|---|--:|--:|---|--:|--:|--:|--:|--:|--:|---|")
    print("\n".join(rows))
    return 0 if good == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else "usage: tools/results_matrices.py FOLDER")
