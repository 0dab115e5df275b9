"""Cold starts: every figure is from a process that has done nothing before. Our runs and PARDISO's alternate;
best and median of several."""

import json
import os
import statistics
import subprocess
import time

from speed import rivals
from speed.figures import geometric_mean

RUNS = 6
KINDS = {"spd": "2", "sym": "-2", "gen": "11"}  # as PARDISO numbers them
ASKED = {"factorization": (1.3, 1.0), "first solution": (1.5, 1.0)}  # geometric mean, worst
MARKS = ("<!-- cold starts: made by tools/results_speed.py --cold -->", "<!-- end of cold starts -->")


def child_environment(threads):
    """The value of the rivals' own runner."""
    env = {
        **os.environ,
        "MKL_DYNAMIC": "FALSE",
        "OMP_DYNAMIC": "false",
        "MKL_RT": rivals.mkl_library(),
        "OMP_PROC_BIND": "true",
        "OMP_PLACES": "cores",
    }
    for name in (
        "PEERS_THREADS",
        "OMP_NUM_THREADS",
        "OMP_THREAD_LIMIT",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
    ):
        env[name] = str(threads)
    return env


def run_once(bench, command, threads):
    done = subprocess.run(
        [*bench.prefix, *command],
        env=child_environment(threads),
        capture_output=True,
        text=True,
        check=False,
        timeout=bench.timeout,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def ensure_matrix(bench, matrix):
    if not (bench.matrices / f"{matrix}.mtx").is_file():
        subprocess.run(
            [rivals.sys.executable, "gen.py", "--dir", str(bench.matrices), matrix],
            cwd=bench.scratch,
            check=True,
        )


def measure(bench, runs=RUNS):
    """bench.extra["cold"]: rows, by matrix, threads and solver, of `runs` processes each; existing rows are
    kept."""
    if not bench.wants("cold", *rivals.COLD):
        return
    programs = {name: bench.build / "bench" / f"bench_cold_{name}" for name in ("row", "pardiso")}
    for program in programs.values():
        if not program.is_file():
            raise SystemExit(f"{program} is not built: cmake --build --preset release")
    if not rivals.mkl_library():
        raise SystemExit(f"libmkl_rt is not beside {rivals.sys.executable}: pip install mkl there")
    known = bench.extra.setdefault("cold", {"rows": {}})
    for threads in (2, 1):
        for matrix in rivals.COLD:
            key = f"{matrix} {threads}"
            if not bench.wants("cold", matrix) or (key in known["rows"] and not bench.again):
                continue
            bench.check_time()
            ensure_matrix(bench, matrix)
            path = str(bench.matrices / f"{matrix}.mtx")
            commands = {
                "palmette": [str(programs["row"]), path],
                "pardiso": [str(programs["pardiso"]), path, KINDS[rivals.kind_of(matrix)]],
            }
            rows = {solver: [] for solver in commands}
            for _ in range(runs):
                for solver, command in commands.items():
                    rows[solver].append(run_once(bench, command, threads))
            known["rows"][key] = rows
            known["machine"] = bench.extra["machine"]
            bench.save()
            print(
                f"{key:14s} cold: factorize {1e3 * best(rows['palmette'], 'factor_s'):.1f} and"
                f" {1e3 * best(rows['pardiso'], 'factor_s'):.1f} ms, first solution"
                f" {1e3 * best(rows['palmette'], 'first_s'):.1f} and"
                f" {1e3 * best(rows['pardiso'], 'first_s'):.1f} ms",
                flush=True,
            )


# ----------------------------------------------------------------------------------------------------------
# figures

def best(rows, name):
    return min(row[name] for row in rows)


def median(rows, name):
    return statistics.median(row[name] for row in rows)


def better_of_two(row):
    """The two factorizations of a process."""
    return min(row["factor_s"], row["again_factor_s"])


def ready(row):
    """Factorized and prepared for solves, as in PARDISO's factorization."""
    return row["factor_s"] + row["plan_s"]


# The comparisons: title, PARDISO's seconds and ours, of one process.
COMPARISONS = {
    "factorization": (lambda row: row["factor_s"], lambda row: row["factor_s"]),
    "factorization, against the better of PARDISO's two": (better_of_two, lambda row: row["factor_s"]),
    "factorization and preparing solves": (lambda row: row["factor_s"], ready),
    "first solution": (lambda row: row["first_s"], lambda row: row["first_s"]),
}


def ratio(rows, name, pick=min):
    """PARDISO's seconds over ours, `pick` of the processes of each: above 1 we are faster."""
    theirs, own = COMPARISONS[name]
    return pick(map(theirs, rows["pardiso"])) / pick(map(own, rows["palmette"]))


def ratios(cold, name, threads, pick=min):
    found = {m: cold["rows"].get(f"{m} {threads}") for m in rivals.COLD}
    return {m: ratio(rows, name, pick) for m, rows in found.items() if rows}


def mean_and_worst(found):
    worst = min(found, key=found.get)
    return f"{geometric_mean(found.values()):.2f}", f"{found[worst]:.2f} ({rivals.TITLES[worst]})"


# -------------------------------------------------------------------------------------------------------------
# text

HEAD = """## Cold starts

Measured {date} (commit {commit}) on {processor}, {cores} cores: one machine only. Each figure is of a
process that has done nothing before: it reads the file, orders, analyzes, factorizes, solves and verifies,
once. {runs} processes of Palmette and {runs} of MKL's PARDISO in turn, best of each; files stand in the
page cache. Reader and verification are Palmette's for both (`bench/cold_row.cpp`,
`bench/cold_pardiso.cpp`), and turning the matrix into PARDISO's form is not counted. Ratios are PARDISO's
time over Palmette's: above 1 Palmette is faster. PARDISO's factorization leaves a factor that solves; ours
needs its solves prepared as well, so that both are shown. Everything below this section is warm: medians of
repeats in one process.

**Ratios move with the machine.** With one right-hand side and warm, 1.63 on one machine was 1.19 on another
whose memory is a third slower. Before the work on cold starts, on yet another machine and against the
better of PARDISO's two factorizations, two threads: factorization 0.92 (3D convection 40³) to 1.85,
geometric mean 1.32; first solution 0.73 to 3.3, 1.39; one thread 1.03 and 1.15.
"""


def summary_rows(cold):
    for name in COMPARISONS:
        cells = [name]
        for threads in (2, 1):
            found = ratios(cold, name, threads)
            cells += mean_and_worst(found) if found else ("–", "–")
        middle = ratios(cold, name, 2, statistics.median)
        cells.append(f"{geometric_mean(middle.values()):.2f}" if middle else "–")
        yield cells


def verdict_rows(cold):
    for name, (mean_asked, worst_asked) in ASKED.items():
        found = ratios(cold, name, 2)
        if not found:
            continue
        for what, asked, reached in (
            ("geometric mean", mean_asked, geometric_mean(found.values())),
            ("worst", worst_asked, min(found.values())),
        ):
            yield [
                f"{name}, {what}, 2 threads",
                f"≥ {asked:.1f}",
                f"{reached:.2f}",
                "yes" if reached >= asked else "**no**",
            ]


def matrix_rows(cold, threads):
    def ms(seconds):
        return f"{1e3 * seconds:,.3g}"

    for matrix in rivals.COLD:
        rows = cold["rows"].get(f"{matrix} {threads}")
        if not rows:
            continue
        ours, theirs = rows["palmette"], rows["pardiso"]
        yield [
            rivals.TITLES[matrix],
            ours[0]["ordering"],
            ms(best(ours, "factor_s")),
            ms(min(map(ready, ours))),
            ms(best(theirs, "factor_s")),
            ms(min(map(better_of_two, theirs))),
            f"{ratio(rows, 'factorization'):.2f}",
            ms(best(ours, "first_s")),
            ms(best(theirs, "first_s")),
            f"{ratio(rows, 'first solution'):.2f}",
            f"{ratio(rows, 'first solution', statistics.median):.2f}",
        ]


def phase_rows(cold, threads):
    for matrix in rivals.COLD:
        rows = cold["rows"].get(f"{matrix} {threads}")
        if not rows:
            continue
        phases = ("read_s", "order_s", "symbolic_s", "factor_s", "plan_s", "solve_s", "verify_s")
        ours = [f"{1e3 * best(rows['palmette'], phase):,.3g}" for phase in phases]
        theirs = [
            f"{1e3 * best(rows['pardiso'], phase):,.3g}"
            for phase in ("read_s", "analyze_s", "factor_s", "solve_s", "verify_s")
        ]
        yield [rivals.TITLES[matrix], *ours, f"{best(rows['palmette'], 'create_faults'):,}", *theirs]


def section(cold, table, link=""):
    """Markdown between its marks; `table` comes from the report, `link` leads to what people wrote."""
    runs = len(next(iter(cold["rows"].values()))["palmette"])
    text = HEAD.format(
        runs=runs, **{name: cold["machine"][name] for name in ("date", "commit", "processor", "cores")}
    )
    text += "\n" + table(
        [
            "PARDISO's time ÷ Palmette's, cold",
            "2 threads, geometric mean",
            "worst",
            "1 thread, geometric mean",
            "worst",
            "2 threads, of medians",
        ],
        summary_rows(cold),
    )
    text += "\n" + table(["asked, cold against cold", "", "reached", ""], verdict_rows(cold))
    titles = [
        "matrix",
        "ordering",
        "factorize ms",
        "with prepared solves",
        "PARDISO's first",
        "better of its two",
        "ratio",
        "first solution ms",
        "PARDISO's",
        "ratio",
        "of medians",
    ]
    for threads in (2, 1):
        text += (
            f"\n{threads} thread{'s' if threads > 1 else ''}; the first ratio is first factorization against"
            " first factorization:\n\n"
        )
        text += table(titles, matrix_rows(cold, threads))
    text += (
        "\nPhases of the same processes, 2 threads, each the best in ms; page faults are those of ordering to"
        " prepared solves:\n\n"
    )
    text += table(
        [
            "matrix",
            "read",
            "order",
            "analyze",
            "factorize",
            "prepare solves",
            "solve",
            "verify",
            "page faults",
            "PARDISO: read",
            "analyze",
            "factorize",
            "solve",
            "verify",
        ],
        phase_rows(cold, 2),
    )
    if link:
        text += f"\n{link}\n"
    return f"{MARKS[0]}\n\n{text}\n{MARKS[1]}\n"


def replace_section(text, fresh, before):
    """Replaces the section in the text by `fresh`, or inserts it before `before` if there is none."""
    begin, end = (text.find(mark) for mark in MARKS)
    if 0 <= begin < end:
        return text[:begin] + fresh.rstrip("\n") + text[end + len(MARKS[1]):]
    at = text.find(before)
    if at < 0:
        raise SystemExit(f"there is neither a section of cold starts nor {before!r} to put it in front of")
    return text[:at] + fresh + "\n" + text[at:]


def readme_table(cold, table):
    rows = []
    for name in ("factorization", "first solution"):
        cells = [f"{name}, first of a process"]
        for threads in (2, 1):
            found = ratios(cold, name, threads)
            cells += (
                [f"{geometric_mean(found.values()):.2f}", f"{min(found.values()):.2f}"]
                if found
                else ["–", "–"]
            )
        rows.append(cells)
    count = len(ratios(cold, "factorization", 2))
    return table(
        [
            f"PARDISO's time ÷ Palmette's, cold, {count} matrices",
            "2 threads, geometric mean",
            "worst",
            "1 thread, geometric mean",
            "worst",
        ],
        rows,
    )
