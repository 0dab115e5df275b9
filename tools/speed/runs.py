"""The runs: each is one child process through the rivals' own runner, so that ours is measured exactly like
theirs."""

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from speed import rivals
from this_machine import processor

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass
class Bench:
    """Paths and the measurements so far; `rows` are stored on disk after each run."""
    scratch: Path
    build: Path  # of Palmette
    matrices: Path
    store: Path
    prefix: list
    timeout: float
    rows: dict = field(default_factory=dict)
    extra: dict = field(default_factory=dict)  # limits, reading, small systems, missing rivals
    only: list = field(default_factory=list)
    again: bool = False
    deadline: float = float("inf")  # no child starts after it

    def load(self):
        if self.store.is_file():
            known = json.loads(self.store.read_text())
            self.rows = {tuple(row["key"]): row for row in known["rows"]}
            self.extra = known["extra"]

    def save(self):
        self.store.parent.mkdir(parents=True, exist_ok=True)
        fresh = self.store.with_suffix(".new")
        lines = ",\n".join(json.dumps(row) for _, row in sorted(self.rows.items()))
        fresh.write_text(
            '{"extra": ' + json.dumps(self.extra, indent=1) + ',\n"rows": [\n' + lines + "\n]}\n"
        )
        fresh.replace(self.store)

    def check_time(self):
        if time.time() > self.deadline:
            self.save()
            sys.exit(f"the time is up with {len(self.rows)} rows; the same command goes on from here")

    def wants(self, *names):
        return not self.only or any(name in self.only for name in names)


def measure_row(bench, solver, matrix, shape):
    """One row: solver, matrix, (threads, ranks); skipped if it exists; a failure is a row too."""
    key = (matrix, solver, *shape)
    if not bench.wants(solver, matrix) or (
        key in bench.rows and not bench.again and not is_stale(bench, solver, bench.rows[key])
    ):
        return
    bench.check_time()
    threads, ranks = shape
    command = [
        *bench.prefix,
        sys.executable,
        "run.py",
        "-m",
        matrix,
        "-t",
        str(threads),
        "-r",
        str(ranks),
        "--timeout",
        str(bench.timeout),
        "--dir",
        str(bench.matrices),
    ]
    if solver in rivals.OURS or solver == "spmp":
        command += [
            "--driver",
            f"{solver}={bench.extra['drivers'][solver]}".replace(
                "{csc}", str(bench.matrices / f"{matrix}.csc")
            ),
            "--kinds",
            "spd,gen,sym,tri",
        ]
    else:
        command.insert(len(bench.prefix) + 2, solver)
    done = subprocess.run(command, cwd=bench.scratch, capture_output=True, text=True, check=False)
    found = [
        row
        for row in peer_rows(bench.scratch)
        if (row["matrix"], row["solver"], row["threads"], row["ranks"]) == key
    ]
    row = (
        found[0]
        if found and done.returncode == 0
        else {"error": (done.stderr.strip().splitlines() or ["no row"])[-1][:200]}
    )
    if "***" in row.get("error", ""):
        row["error"] = "the program aborted"
    row.update(
        key=list(key), solver=solver, matrix=matrix, threads=threads, ranks=ranks, measured=int(time.time())
    )
    bench.rows[key] = row
    bench.save()
    seconds = ", ".join(
        f"{name[:-2]} {1e3 * row[name]:.3g}"
        for name in ("analyze_s", "factor_s", "solve1_s", "solve50_s")
        if row.get(name)
    )
    print(
        f"{matrix:16s} {solver:20s} {threads} threads {ranks} ranks  {row.get('error') or seconds + ' ms'}",
        flush=True,
    )


def is_stale(bench, solver, row):
    """True if our program was built after its row was measured."""
    if solver not in rivals.OURS:
        return False
    program = next(
        word for word in bench.extra["drivers"][solver].split() if Path(word).name.startswith("bench_")
    )
    return Path(program).stat().st_mtime > row["measured"]


def peer_rows(scratch):
    path = scratch / "results.json"
    return json.loads(path.read_text())["rows"] if path.is_file() else []


def drivers(bench, spmp):
    """Commands of our own programs; each must be built."""
    row = bench.build / "bench" / "bench_peer_row"
    triangle = bench.build / "bench" / "bench_triangle_row"
    if not row.is_file():
        sys.exit(
            f"{row} does not exist: cmake --preset release -DPALMETTE_BENCH=ON && cmake --build --preset"
            " release"
        )
    commands = {
        "palmette": f"{row} {{m}}",
        "palmette_metis": f"{row} {{m}} metis",
        "palmette_counts": f"{row} {{m}} --counts",
    }
    if triangle.is_file():
        # the runner insists on naming the .mtx
        commands["palmette_tri"] = f"env MATRIX={{m}} {triangle} {{csc}}"
    if spmp:
        commands["spmp"] = spmp
    return commands


def run_matrix(bench, matrix, slow):
    """Ours and the rivals' in turn, close in time."""
    kind = rivals.kind_of(matrix)
    if bench.wants(matrix, *rivals.OURS, *rivals.RIVALS):
        rivals.make_incomplete(matrix, bench.scratch, bench.matrices)
    ours = ["palmette_tri"] if kind == "tri" else ["palmette", "palmette_metis"]
    for solver in ours:
        if solver in bench.extra["drivers"]:
            for shape in rivals.TWO:
                measure_row(bench, solver, matrix, shape)
    for name, rival in rivals.RIVALS.items():
        if kind not in rival.kinds.split() or bench.extra["absent"][name]:
            continue
        if not slow and matrix.startswith(rivals.SLOW_FOR.get(name, "-")):
            continue
        for shape in rival.shapes:
            measure_row(bench, name, matrix, shape)
    if kind == "tri" and "spmp" in bench.extra["drivers"]:
        for shape in rivals.SPMP.shapes:
            measure_row(bench, "spmp", matrix, shape)


def run_counts(bench, matrices):
    for matrix in matrices:
        measure_row(bench, "palmette_counts", matrix, (2, 1))


# ------------------------------------------------------------------------------------------- what is not a
# row of a solver

def run_json(bench, command, env=None):
    """The objects that a child prints, one per line, and the reason if there are none."""
    try:
        done = subprocess.run([*bench.prefix, *command], env={**os.environ, **(env or {})}, cwd=bench.scratch,
                              capture_output=True, text=True, check=False)
    except OSError as error:
        return [], str(error)
    objects = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return objects, (
        ""
        if objects and done.returncode == 0
        else (done.stderr.strip().splitlines() or ["no output"])[-1][:200]
    )


def measure_limits(bench):
    """{threads: {read_gbs, triad_gbs, dgemm_gflops, blas}}: the best of three, since other load can only slow
    it down."""
    if "limits" in bench.extra and not (bench.again and bench.wants("limits")):
        return
    bench.check_time()
    program = str(bench.scratch / "bin" / "limits")
    libraries = {
        "openblas": "libopenblas.so.0",
        **({"mkl": rivals.mkl_library()} if rivals.mkl_library() else {}),
    }
    limits = {}
    for threads in (1, 2):
        env = {
            name: str(threads)
            for name in ("PEERS_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        }
        env.update(OMP_PROC_BIND="true", OMP_PLACES="cores", OMP_DYNAMIC="false", MKL_DYNAMIC="FALSE")
        best = {"read_gbs": 0, "triad_gbs": 0, "dgemm_gflops": 0, "blas": ""}
        for _ in range(3):
            for row in run_json(bench, [program, "-", "--huge", "1"], env)[0]:
                best["read_gbs"] = max(best["read_gbs"], row["read_gbs"])
                best["triad_gbs"] = max(best["triad_gbs"], row["triad_gbs"])
        for name, path in libraries.items():
            if name == "openblas":
                env = {key: value for key, value in env.items() if not key.startswith("OMP_P")}
            for row in run_json(bench, [program, "-", "--blas", f"{name}={path}"], env)[0]:
                best[name] = row["dgemm_2000"]
                if row["dgemm_2000"] > best["dgemm_gflops"]:
                    best.update(dgemm_gflops=row["dgemm_2000"], blas=name)
        if not best["read_gbs"] or not best["dgemm_gflops"]:
            sys.exit(
                "the machine's limits could not be measured: bin/limits of the rivals' folder gives no"
                " figures"
            )
        limits[str(threads)] = best
        print(
            f"{threads} threads: read {best['read_gbs']:.1f} GB/s, dgemm {best['dgemm_gflops']:.1f} GFLOP/s"
            f" ({best['blas']})",
            flush=True,
        )
    bench.extra["limits"] = limits
    bench.save()


def measure_reading(bench, megabytes):
    """bench_read_matrix on files that are generated for it and deleted afterwards."""
    if not bench.wants("reading") or ("reading" in bench.extra and not bench.again):
        return
    bench.check_time()
    program, command = bench.build / "bench" / "bench_read_matrix", bench.build / "cli" / "palmette"
    folder = bench.scratch / "reading"
    folder.mkdir(exist_ok=True)
    rows = []
    # one entry per line of about 26 bytes, seven per row; 25 bytes, 42 per row in the lower triangle
    problems = {"general": ("convection_diffusion3d", round((megabytes * 1e6 / 180) ** (1 / 3))),
                "symmetric": ("elasticity3d", round((megabytes * 1e6 / 3300) ** (1 / 3)))}
    for name, (problem, n) in problems.items():
        path, found = folder / f"{name}.mtx", folder / "rows.json"
        subprocess.run(
            [*bench.prefix, str(command), "generate", problem, "--n", str(n), "--out", str(path), "--quiet"],
            check=True,
        )
        subprocess.run(
            [*bench.prefix, str(program), "--alone", "--repeats", "3", "--json", str(found), str(path)],
            check=True,
        )
        rows += [dict(row, symmetry=name) for row in json.loads(found.read_text())["rows"]]
        path.unlink()
    bench.extra["reading"] = rows
    bench.save()


def measure_small(bench, sizes, python):
    """bench/small_systems in both languages: one object for each family, size and solver."""
    options = ["--sizes", sizes] if sizes else []
    commands = {"small": [str(bench.build / "bench" / "bench_small_systems")],
                "small_python": [str(python), str(ROOT / "bench" / "small_systems.py")]}
    for name, command in commands.items():
        if not bench.wants("small", name) or (name in bench.extra and not bench.again):
            continue
        bench.check_time()
        rows, why = run_json(bench, [*command, *options])
        if rows and not why:
            bench.extra[name] = rows
            bench.extra.pop(name + "_absent", None)
        else:
            bench.extra[name + "_absent"] = why.replace(f"{ROOT}/", "")
            print(f"{name}: not here: {why}", file=sys.stderr)
        bench.save()


def describe_machine(bench):
    """Processor, caches, compiler and commit, as the system reports them."""
    def first(*command):
        try:
            return (
                subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
                .stdout.strip()
                .splitlines()[0]
            )
        except (OSError, IndexError):
            return "unknown"

    sizes = [0]
    for path in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size"):
        text = path.read_text().strip()
        sizes.append(int(text[:-1]) * {"K": 1 << 10, "M": 1 << 20}[text[-1]])
    bench.extra["machine"] = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "last_level_cache_bytes": max(sizes),
        "compiler": first("g++", "--version"),
        "commit": first("git", "rev-parse", "--short", "HEAD"),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }
