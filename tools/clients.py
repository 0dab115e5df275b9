#!/usr/bin/env python3
"""Runs the test suites of projects that solve with SciPy, once with SciPy's solvers and once with Palmette's:
docs/results/clients.md.

    # everything: about 20 minutes on two cores, and 3 GB of packages
    python3 tools/clients.py
    python3 tools/clients.py --short                # a part of each suite: about 3 minutes
    python3 tools/clients.py --only pyamg networkx  # some suites; the results of the others are kept
    python3 tools/clients.py --report               # only the page, from the stored results

It creates two environments in --folder (by default under the system's folder for temporary files), installs
the packages of tools/client_suites/catalog.py from the package index and Palmette from this tree (or takes
the package in --palmette FOLDER), and runs each suite in a process of its own in which `spsolve`, `splu`,
`factorized` and `spsolve_triangular` of `scipy.sparse.linalg` are replaced everywhere. Every library has one
thread. The result of each test is stored when it ends (results/*.jsonl in the folder).

Tests with different outcomes for Palmette and SciPy are explained in tools/client_suites/explanations.json.
The exit status is 1 if one is not explained, or is our fault.
"""

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from client_suites import report, suites  # noqa: E402
from client_suites.catalog import CLIENTS  # noqa: E402
from client_suites.outcomes import Comparison, Explanations, read  # noqa: E402
from client_suites.stand_ins import SIDES  # noqa: E402

RESULT = suites.ROOT / "docs" / "results" / "clients.md"


def parse():
    names = [client.name for client in CLIENTS]
    parser = argparse.ArgumentParser(
        formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "palmette-clients")
    parser.add_argument(
        "--palmette",
        type=Path,
        help="a folder that holds the built package palmette, instead of installing it",
    )
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="CLIENT", help=", ".join(names)
    )
    parser.add_argument("--solvers", nargs="+", choices=SIDES, default=SIDES, help="run one side only")
    parser.add_argument("--short", action="store_true", help="a part of each suite")
    parser.add_argument("--report", action="store_true", help="run nothing")
    parser.add_argument("--out", type=Path, default=RESULT)
    return parser.parse_args()


def run_suites(workshop, options):
    chosen = [client for client in CLIENTS if client.name in options.only]
    for environment in dict.fromkeys(client.environment for client in chosen):
        suites.make_environment(workshop, environment)
    for client in chosen:
        suites.fetch_sources(workshop, client)
        for side in options.solvers:
            seconds = suites.run(workshop, client, side, options.short)
            rows = read(workshop.record(client, side)).values()
            failed = sum(row["outcome"] == "failed" for row in rows)
            print(
                f"{client.name} with {side}: {len(rows)} tests, {failed} failed, {seconds:.0f} s", flush=True
            )


def main():
    options = parse()
    workshop = suites.Workshop(options.folder.resolve(), options.palmette and options.palmette.resolve())
    if not options.report:
        run_suites(workshop, options)
    found = {}
    for client in CLIENTS:
        records = [workshop.record(client, side) for side in SIDES]
        if all(record.exists() for record in records):
            found[client] = Comparison(*map(read, records))
    explanations = Explanations.from_file(Path(suites.__file__).parent / "explanations.json")
    unsettled = report.write(found, explanations, options.out)
    for difference in unsettled:
        print(
            f"not settled: {difference.test} ({difference.scipy} with SciPy, {difference.palmette} with"
            f" Palmette): {difference.message}"
        )
    if len(found) == len(CLIENTS) and not options.short:
        for tests in explanations.unused:
            print(f"explained, but no longer different: {tests}")
    print(f"{options.out}: {len(found)} of {len(CLIENTS)} suites")
    sys.exit(bool(unsettled))


if __name__ == "__main__":
    main()
