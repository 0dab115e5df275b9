#!/usr/bin/env python3
"""Predicted solves on GPUs: docs/results/device_prediction.md.

    python3 tools/results_devices.py

Runs build/release/cli/palmette generate and predict --device; a minute. Nothing runs on a GPU.
"""

import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PALMETTE = ROOT / "build/release/cli/palmette"
DEVICES = ["a100", "h100", "h200", "mi250x"]
PROBLEMS = [
    ("poisson2d9", 256),
    ("poisson2d9", 512),
    ("poisson2d5", 512),
    ("poisson3d7", 20),
    ("poisson3d7", 30),
    ("poisson3d27", 20),
    ("thermal2d", 100000),
    ("elasticity3d", 14),
    ("kkt3d", 16),
    ("convection_diffusion2d", 400),
    ("poisson3d27", 40),
]


def predicted(path, num_rhs):
    """The JSON of palmette predict --device."""
    done = subprocess.run(
        [PALMETTE, "predict", path, "--device", ",".join(DEVICES), "--num-rhs", str(num_rhs), "--json", "-"],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def cell(row):
    """Predicted time and lower bound in microseconds."""
    return f"{row['seconds'] * 1e6:,.0f} ({row['bound_seconds'] * 1e6:,.0f})"


def table(results):
    """A row for each problem."""
    lines = [
        "| problem | factor, MB | supernodes on the path | " + " | ".join(DEVICES) + " |",
        "| --- | ---: | ---: | " + " | ".join("---:" for _ in DEVICES) + " |",
    ]
    for (name, n), document in results:
        rows = document["devices"]
        lines.append(
            f"| {name}:{n} | {rows[0]['bytes'] / 2e6:.3g} | {rows[0]['path_supernodes']} | "
            + " | ".join(cell(row) for row in rows)
            + " |"
        )
    return lines


def main():
    """Writes the page."""
    lines = [
        "# Predicted solves on GPUs",
        "",
        "**Predicted, not measured: no GPU ran.** Made by `tools/results_devices.py`. One solve is both"
        " sweeps of `device_tree` with the factor and the vectors",
        "on the device. A schedule takes the tasks of the kernels in their order, one block of threads on"
        " each multiprocessor; the machine files",
        "(`data/machines/a100.json` and so on) hold data sheets' figures and estimates that are marked as"
        " such. In parentheses: the larger of two lower",
        "bounds, the bytes of the factor over the rate of the memory, and the costliest path of supernodes.",
        "",
    ]
    with tempfile.TemporaryDirectory() as folder:
        for num_rhs, title in ((1, "One right-hand side"), (50, "Fifty right-hand sides")):
            results = []
            for name, n in PROBLEMS:
                path = pathlib.Path(folder) / f"{name}_{n}.mtx"
                if not path.exists():
                    subprocess.run(
                        [PALMETTE, "generate", name, "--n", str(n), "--out", path, "--quiet"], check=True
                    )
                results.append(((name, n), predicted(path, num_rhs)))
            lines += [f"## {title}", "", "Microseconds.", "", *table(results), ""]
    lines += [
        "## What the model leaves out",
        "",
        "Caches, several blocks on a multiprocessor, and the order in which memory answers. The latencies"
        " (a flag 0.8 µs, four dependent loads 2 µs, a",
        "launch 4 µs on NVIDIA's devices) are estimates: with half of them, times that are close to their"
        " path nearly halve too.",
    ]
    (ROOT / "docs/results/device_prediction.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
