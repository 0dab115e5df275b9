#!/usr/bin/env python3
"""Would regions, sent in chunks while they are computed, make our own solves faster? docs/results/regions.md.

    PYTHON tools/results_regions.py [--build FOLDER] [--keep FOLDER]

Runs `palmette simulate-cluster` of FOLDER (default build/release) on machine files of data/machines and on
changed copies of them. Times are virtual: they do not depend on what else this machine does. --keep: a folder
from which outputs are read, or to which they are written.
"""

import json
import pathlib

from results_reproduction import write_by_runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHUNKS = 4
CASES = [
    ("poisson3d27", 24, "cori-haswell", 64, 50, 1),
    ("poisson2d9", 256, "cori-haswell", 64, 50, 1),
    ("poisson3d27", 24, "perlmutter-cpu", 64, 50, 1),
    ("poisson2d9", 256, "perlmutter-cpu", 64, 50, 1),
    ("poisson2d9", 256, "perlmutter-cpu", 64, 50, 4),
    ("poisson2d9", 256, "perlmutter-cpu", 64, 1, 4),
    ("poisson3d27", 24, "perlmutter-cpu", 64, 1, 4),
    ("poisson3d27", 24, "dgx-2", 16, 50, 1),
    ("poisson3d27", 24, "dgx-2", 16, 1, 1),
]


def changed_machine(run, name, change):
    """A machine file whose links are changed; `change` is "free" or "chunks"."""
    document = json.loads((ROOT / f"data/machines/{name}.json").read_text())
    for link in document["links"]:
        for field, factor in FACTORS[change].items():
            if field in link:
                link[field]["value"] *= factor
    path = run.keep / f"{name}_{change}.json"
    path.write_text(json.dumps(document))
    return path


FACTORS = {
    "free": {"bandwidth_gbs": 1e6, "injection_gbs": 1e6},
    "chunks": {"bandwidth_gbs": CHUNKS, "send_overhead_us": CHUNKS, "receive_overhead_us": CHUNKS},
}


def simulated(run, case, change):
    problem, side, machine, ranks, num_rhs, layers = case
    name = "_".join(map(str, case)) + f"_{change or 'given'}"
    document = run.document(
        f"regions_{name}.json",
        "cli/palmette",
        "simulate-cluster",
        run.matrix(problem, side),
        "--machine",
        changed_machine(run, machine, change) if change else machine,
        "--ranks",
        str(ranks),
        "--num-rhs",
        str(num_rhs),
        "--layers",
        str(layers),
        "--json",
        "-",
        "--quiet",
    )
    return document["simulations"][0]


def row(run, case):
    problem, side, machine, ranks, num_rhs, layers = case
    given = simulated(run, case, None)
    cells = [
        f"{problem} {side}", machine, ranks, layers, num_rhs,
        f"{given['message_bytes'] / max(1, given['messages']):.0f}",
        f"{given['seconds'] * 1e6:.0f}",
        *(f"{given['seconds'] / simulated(run, case, change)['seconds']:.2f}" for change in FACTORS),
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def write_report(run):
    lines = [
        "# Regions in our own exchanges, *simulated*",
        "",
        "Made by `tools/results_regions.py`. The runtime of [transfers](../guide/transfers.md) can send a",
        "region in chunks while it is computed. Would it make our solves faster? The question is answered",
        "by the rank programs of a solve in virtual time (`palmette simulate-cluster`), with real",
        "arithmetic, before anything is built. Figures are times over changed times:",
        "",
        "- *bytes cost nothing*: links and nodes' doors are 10^6 times as wide. Latencies and overheads",
        "  stay. Nothing that only hides bytes can gain more: this is the bound.",
        f"- *{CHUNKS} chunks, all hidden but the last*: links are {CHUNKS} times as wide, so that a",
        f"  {CHUNKS}th of each message is waited for; each chunk pays the overheads of a message, so these",
        f"  are {CHUNKS} times as large; doors of nodes stay. It is optimistic: a panel would have to be",
        "  computed at least as long as it travels, and links are charged a part of what they carry.",
        "",
        "| problem | machine | ranks | layers | right-hand sides | bytes a message | us | bytes cost nothing"
        f" | {CHUNKS} chunks |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [row(run, case) for case in CASES]
    lines += ["", *(ROOT / "tools/results_regions_text.md").read_text().rstrip("\n").split("\n"), ""]
    (ROOT / "docs/results/regions.md").write_text("\n".join(lines))


if __name__ == "__main__":
    write_by_runs(__doc__.splitlines()[0], write_report)
