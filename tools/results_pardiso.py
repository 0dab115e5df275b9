#!/usr/bin/env python3
"""Other people's programs on PARDISO's door: pypardiso's own tests, and Ipopt on problems of Hock and
Schittkowski's collection with MUMPS and with Palmette as linear solvers: docs/results/pardiso.md.

    cmake --preset check && cmake --build build/check --target libpalmette_pardiso libpalmette_pardiso_mkl
    python3 -m venv doors
    doors/bin/pip install numpy scipy pytest casadi
    doors/bin/pip install --no-deps pypardiso
    doors/bin/python tools/results_pardiso.py build/check
"""

import os
import re
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from pardiso_door.hock_schittkowski import PROBLEMS  # noqa: E402
from pardiso_door.ipopt import solve  # noqa: E402

PAGE = ROOT / "docs" / "results" / "pardiso.md"


def pypardiso_tests(library, folder):
    """The last line of pytest on the tests in the source package."""
    download = ["download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    wanted = f"pypardiso=={version('pypardiso')}"
    subprocess.run([sys.executable, "-m", "pip", *download, wanted, "--dest", folder], check=True)
    (archive,) = Path(folder).glob("pypardiso-*.tar.gz")
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
    tests = archive.name.removesuffix(".tar.gz") + "/tests"
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests],
        cwd=folder,
        env={**os.environ, "PYPARDISO_MKL_RT": str(library)},
        capture_output=True,
        text=True,
    )
    return re.sub(r" in [\d.]+s", "", ended.stdout.strip().splitlines()[-1])


def ipopt_rows(library):
    for problem in PROBLEMS:
        yield problem, solve(problem, "mumps", None), solve(problem, "pardiso", library)


def write(suite, rows, page):
    close = [abs(ours.iterations - mumps.iterations) <= 0.1 * mumps.iterations for _, mumps, ours in rows]
    same = sum(ours.iterations == mumps.iterations for _, mumps, ours in rows)
    right = sum(
        ours.status == "Solve_Succeeded" and abs(ours.least - p.least) <= 1e-6 * max(1, abs(p.least))
        for p, _, ours in rows
    )
    lines = [
        "# PARDISO's door",
        "",
        "Other people's programs, unchanged, on Palmette's libraries. Counted by"
        " `PYTHON tools/results_pardiso.py build/check` (its docstring says what PYTHON needs) with"
        f" pypardiso {version('pypardiso')} and CasADi {version('casadi')}.",
        "",
        "## pypardiso's own tests",
        "",
        f"`PYPARDISO_MKL_RT=libpalmette_pardiso_mkl.so python -m pytest tests`: **{suite}**.",
        "",
        "## Ipopt",
        "",
        f"CasADi's Ipopt on {len(rows)} problems of [Hock and Schittkowski 1981](../REFERENCES.md), with"
        " `linear_solver=mumps` and with `linear_solver=pardiso` and"
        " `pardisolib=libpalmette_pardiso.so`, all other options as they are."
        f" {right} end at the known value; {same} take the same number of iterations,"
        f" {sum(close)} a number within 10 %; all together take"
        f" {sum(mumps.iterations for _, mumps, _ in rows)} with MUMPS and"
        f" {sum(ours.iterations for _, _, ours in rows)} with Palmette.",
        "",
        "| problem | unknowns | constraints | iterations with MUMPS | with Palmette | objective |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {p.number} | {len(p.start)} | {len(p.constraints[0])} | {mumps.iterations} | {ours.iterations} |"
        f" {ours.least + 0.0:.8g} |"
        for p, mumps, ours in rows
    ]
    page.write_text("\n".join(lines) + "\n")
    return right == len(rows) and all(close)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        suite = pypardiso_tests(build / "libpalmette_pardiso_mkl.so", folder)
    is_good = write(suite, list(ipopt_rows(build / "libpalmette_pardiso.so")), PAGE)
    print(f"{PAGE}: {suite}")
    sys.exit(not is_good)


if __name__ == "__main__":
    main()
