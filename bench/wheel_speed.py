"""Is the command of a wheel as fast as one that was built for this processor? Runs both on model problems, in
turn, and prints the native command's time over the wheel's: medians of the ratios of neighbouring runs, above
1 where the wheel is faster. Ends with 1 if one of them is below the limit.

usage: wheel_speed.py --native COMMAND --wheel COMMAND [--kernels LEVEL] [--rounds 7] [--threads N]
                      [--limit 0.97] [PROBLEM:N]...
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

PROBLEMS = ["poisson3d27:26", "elasticity3d:16", "poisson2d9:400", "convection_diffusion3d:26"]
SOLVES = {"solve": 1, "50 solves": 50}


def run(command, *arguments):
    return subprocess.run([*command, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def write_ones(path, rows, columns):
    head = f"%%MatrixMarket matrix array real general\n{rows} {columns}\n"
    path.write_text(head + "1\n" * (rows * columns))


def seconds_of(command, matrix, rhs, options):
    """Of the phases of one process with these right-hand sides; the solve is a median."""
    report = json.loads(run(command, "solve", matrix, "--rhs", rhs, "--order", "amd", "--refine", 0,
                            "--repeat", 9, "--threads", options.threads, "--json", "-", "--quiet"))
    return {name: report[name]["seconds"] for name in ("analyze", "factorize", "solve")}


def compare(name, commands, folder, options):
    problem, n = name.split(":")
    matrix = Path(folder, f"{problem}_{n}.mtx")
    run(commands[0], "generate", problem, "--n", n, "--out", matrix)
    rows = json.loads(run(commands[0], "info", matrix, "--json", "-", "--quiet"))["matrix"]["rows"]
    files = {label: matrix.with_suffix(f".{columns}.mtx") for label, columns in SOLVES.items()}
    for label, columns in SOLVES.items():
        write_ones(files[label], rows, columns)
    ratios = {}
    for turn in range(options.rounds):
        for label, rhs in files.items():
            order = (0, 1) if turn % 2 == 0 else (1, 0)
            found = {which: seconds_of(commands[which], matrix, rhs, options) for which in order}
            ratios.setdefault(label, []).append(found[0]["solve"] / found[1]["solve"])
            for phase in ("analyze", "factorize"):
                ratios.setdefault(phase, []).append(found[0][phase] / found[1][phase])
    return {label: statistics.median(values) for label, values in ratios.items()}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--native", required=True)
    parser.add_argument("--wheel", required=True)
    parser.add_argument("--kernels", help="of the wheel; by default its best")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--limit", type=float, default=0.97)
    parser.add_argument("problems", nargs="*", default=PROBLEMS)
    options = parser.parse_args()
    wheel = [options.wheel] + (["--kernels", options.kernels] if options.kernels else [])
    labels = ["analyze", "factorize", *SOLVES]
    print(f"| native ÷ wheel | {' | '.join(labels)} |\n| --- |{' ---: |' * len(labels)}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name in options.problems:
            rows.append(compare(name, ([options.native], wheel), folder, options))
            print(f"| {name} | {' | '.join(f'{rows[-1][label]:.3f}' for label in labels)} |", flush=True)
    means = {label: statistics.geometric_mean(row[label] for row in rows) for label in labels}
    print(f"| geometric mean | {' | '.join(f'{means[label]:.3f}' for label in labels)} |")
    sys.exit(min(means.values()) < options.limit)


if __name__ == "__main__":
    main()
