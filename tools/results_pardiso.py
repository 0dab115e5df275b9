#!/usr/bin/env python3
"""Other people's programs on PARDISO's door: pypardiso's own tests, and Ipopt on problems of Hock and
Schittkowski's collection with MUMPS and with Palmette as linear solvers, as CasADi's and as cyipopt's wheels
have it: docs/results/pardiso.md.

    cmake --preset check && cmake --build build/check --target libpalmette_pardiso libpalmette_pardiso_mkl
    python3 -m venv doors
    doors/bin/pip install numpy scipy pytest casadi cyipopt-wheels
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
from pardiso_door.ipopt import solve, solve_by_cyipopt  # noqa: E402

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


def ipopt_rows(run, library):
    """By problem: the runs with MUMPS and with Palmette."""
    return [(run(problem, "mumps", None), run(problem, "pardiso", library)) for problem in PROBLEMS]


def verdict(rows):
    """A sentence on rows, and whether all is well."""
    close = [abs(ours.iterations - mumps.iterations) <= 0.1 * mumps.iterations for mumps, ours in rows]
    same = sum(ours.iterations == mumps.iterations for mumps, ours in rows)
    right = sum(
        ours.status == "Solve_Succeeded" and abs(ours.least - p.least) <= 1e-6 * max(1, abs(p.least))
        for p, (_, ours) in zip(PROBLEMS, rows)
    )
    words = (
        f"{right} end at the known value; {same} take the same number of iterations,"
        f" {sum(close)} a number within 10 %; all together take"
        f" {sum(mumps.iterations for mumps, _ in rows)} with MUMPS and"
        f" {sum(ours.iterations for _, ours in rows)} with Palmette."
    )
    return words, right == len(rows) and all(close)


def write(suite, by_casadi, by_cyipopt, page):
    words, is_good = verdict(by_casadi)
    words_of_cyipopt, is_good_too = verdict(by_cyipopt)
    lines = [
        "# PARDISO's door",
        "",
        "Other people's programs, unchanged, on Palmette's libraries. Counted by"
        " `PYTHON tools/results_pardiso.py build/check` (its docstring says what PYTHON needs) with"
        f" pypardiso {version('pypardiso')}, CasADi {version('casadi')} and cyipopt"
        f" {version('cyipopt-wheels')}.",
        "",
        "## pypardiso's own tests",
        "",
        f"`PYPARDISO_MKL_RT=libpalmette_pardiso_mkl.so python -m pytest tests`: **{suite}**.",
        "",
        "## Ipopt",
        "",
        f"CasADi's Ipopt on {len(PROBLEMS)} problems of [Hock and Schittkowski 1981](../REFERENCES.md), with"
        " `linear_solver=mumps` and with `linear_solver=pardiso` and"
        f" `pardisolib=libpalmette_pardiso.so`, all other options as they are. {words}",
        "",
        f"cyipopt's Ipopt on the same problems, with CasADi's derivatives: {words_of_cyipopt}",
        "",
        "| problem | unknowns | constraints | iterations with MUMPS | with Palmette | cyipopt with MUMPS |"
        " with Palmette | objective |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {p.number} | {len(p.start)} | {len(p.constraints[0])} | {mumps.iterations} | {ours.iterations} |"
        f" {mumps_there.iterations} | {ours_there.iterations} | {ours.least + 0.0:.8g} |"
        for p, (mumps, ours), (mumps_there, ours_there) in zip(PROBLEMS, by_casadi, by_cyipopt)
    ]
    page.write_text("\n".join(lines) + "\n")
    return is_good and is_good_too


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        suite = pypardiso_tests(build / "libpalmette_pardiso_mkl.so", folder)
    library = build / "libpalmette_pardiso.so"
    is_good = write(suite, ipopt_rows(solve, library), ipopt_rows(solve_by_cyipopt, library), PAGE)
    print(f"{PAGE}: {suite}")
    sys.exit(not is_good)


if __name__ == "__main__":
    main()
