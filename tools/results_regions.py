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


def simulated(run, case, change, groups=1):
    problem, side, machine, ranks, num_rhs, layers = case
    name = "_".join(map(str, case)) + f"_{change or 'given'}" + (f"_{groups}" if groups != 1 else "")
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
        "--rhs-groups",
        str(groups),
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


def group_row(run, case):
    """Groups of right-hand sides as they are built: times without groups over times with them."""
    problem, side, machine, ranks, num_rhs, layers = case
    given = simulated(run, case, None)
    by_groups = {groups: simulated(run, case, None, groups) for groups in (2, 4, "auto")}
    cells = [
        f"{problem} {side}", machine, ranks, layers, num_rhs, f"{given['seconds'] * 1e6:.0f}",
        *(f"{given['seconds'] / one['seconds']:.2f}" for one in by_groups.values()),
        by_groups["auto"]["rhs_groups"],
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


FACTORED = [
    ("poisson3d27", 24, "cori-haswell", 64),
    ("poisson3d27", 24, "perlmutter-cpu", 64),
    ("poisson2d9", 256, "cori-haswell", 64),
    ("poisson2d9", 256, "perlmutter-cpu", 64),
    ("poisson3d27", 24, "dgx-2", 16),
]


def factored(run, case, change):
    """A factorization by rank programs in virtual time, on the square grid."""
    problem, side, machine, ranks = case
    name = f"factored_{problem}_{side}_{machine}_{ranks}_{change or 'given'}.json"
    given = changed_machine(run, machine, change) if change else machine
    return run.rows(name, "bench/bench_rank_scaling", given, problem, str(side), str(ranks))[0]


def factor_row(run, case):
    problem, side, machine, ranks = case
    given = factored(run, case, None)
    mean = 1e6 * given["factor_megabytes"] / max(1, given["factor_messages"])
    cells = [
        f"{problem} {side}", machine, ranks, f"{mean:.0f}", f"{given['factor_s'] * 1e6:.0f}",
        *(f"{given['factor_s'] / factored(run, case, change)['factor_s']:.2f}" for change in FACTORS),
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
    lines += [
        "",
        "## Fifty right-hand sides in groups",
        "",
        "What is built: right-hand sides are cut into groups of columns, each of which is solved by tasks",
        "and messages of its own, side by side (`--rhs-groups`). x keeps its bits. The factor is read for",
        "each group, and each message pays its overheads; both are charged. Figures are times without groups",
        "over times with them; *auto* is what the model chooses (`choose_rhs_groups`: a schedule for 1, 2, 4",
        "and 8 groups).",
        "",
        "| problem | machine | ranks | layers | right-hand sides | us"
        " | 2 groups | 4 groups | auto | groups |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [group_row(run, case) for case in CASES]
    lines += [
        "",
        "## Panels of factorizations",
        "",
        "The same changes of links for the rank programs of a factorization (`bench_rank_scaling`, LLᵀ, the",
        "square grid; one worker for each rank):",
        "",
        "| problem | machine | ranks | bytes a message | us | bytes cost nothing"
        f" | {CHUNKS} chunks |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [factor_row(run, case) for case in FACTORED]
    lines += ["", *(ROOT / "tools/results_regions_text.md").read_text().rstrip("\n").split("\n"), ""]
    (ROOT / "docs/results/regions.md").write_text("\n".join(lines))


if __name__ == "__main__":
    write_by_runs(__doc__.splitlines()[0], write_report)
