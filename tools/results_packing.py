#!/usr/bin/env python3
"""Small messages in packets, on simulated clusters: docs/results/packing.md.

    PYTHON tools/results_packing.py [--build FOLDER] [--keep FOLDER]

Runs `palmette simulate-cluster --packing` of FOLDER (default build/release). Times are virtual: they do not
depend on what else this machine does. --keep: a folder from which outputs are read, or to which they are
written.
"""

import pathlib

from results_reproduction import write_by_runs

ROOT = pathlib.Path(__file__).resolve().parent.parent
SPLIT = ("--map", "block_cyclic", "--subtrees", "split")
CASES = [
    ("poisson2d9", 256, "cori-haswell", 64, SPLIT),
    ("poisson2d9", 256, "cori-haswell", 256, SPLIT),
    ("poisson2d9", 256, "perlmutter-cpu", 64, SPLIT),
    ("poisson2d9", 256, "perlmutter-cpu", 256, SPLIT),
    ("poisson2d9", 400, "cori-haswell", 256, SPLIT),
    ("poisson3d27", 24, "cori-haswell", 64, SPLIT),
    ("poisson3d7", 30, "cori-haswell", 256, SPLIT),
    ("poisson2d9", 256, "cori-haswell", 64, ()),
    ("poisson2d9", 256, "cori-haswell", 256, ()),
    ("poisson2d9", 256, "perlmutter-cpu", 64, ()),
    ("poisson3d27", 24, "cori-haswell", 64, ()),
    ("poisson3d7", 30, "cori-haswell", 256, ()),
    ("poisson2d9", 256, "cori-haswell", 256, ("--layers", "4")),
    ("poisson2d9", 256, "cori-haswell", 64, ("--num-rhs", "50")),
]
CHOICES = ["never", "0", "4", "16", "64", "256", "auto"]


def simulated(run, case, packing):
    problem, side, machine, ranks, options = case
    name = "_".join([problem, str(side), machine, str(ranks), *options, packing]).replace("--", "")
    document = run.document(
        f"packing_{name}.json",
        "cli/palmette",
        "simulate-cluster",
        run.matrix(problem, side),
        "--machine",
        machine,
        "--ranks",
        str(ranks),
        *options,
        "--packing",
        packing,
        "--json",
        "-",
        "--quiet",
    )
    return document["simulations"][0]


def row(run, case):
    problem, side, machine, ranks, options = case
    found = {packing: simulated(run, case, packing) for packing in CHOICES}
    alone = found["never"]
    age = found["auto"]["packing_max_age_tasks"]
    cells = [
        f"{problem} {side}",
        machine,
        str(ranks),
        "block-cyclic, split" if options == SPLIT else " ".join(options).replace("--", "") or "default",
        f"{alone['message_bytes'] / max(1, alone['messages']):.0f}",
        f"{alone['seconds'] * 1e6:.0f}",
        *(f"{alone['seconds'] / found[packing]['seconds']:.2f}" for packing in CHOICES[1:-1]),
        f"{alone['seconds'] / found['auto']['seconds']:.2f} ({'alone' if age is None else age})",
    ]
    return "| " + " | ".join(cells) + " |"


def write_report(run):
    lines = [
        "# Small messages in packets",
        "",
        "Made by `tools/results_packing.py`. All times are **simulated**: the rank programs of a solve,",
        "with real arithmetic, in virtual time on described machines (`palmette simulate-cluster",
        "--packing`). A rank packs messages of up to 1,024 bytes to one destination. A packet leaves",
        "when it holds 8 KiB, when its rank has nothing to do, and when the rank has begun a number of",
        "tasks since the packet's first message: the columns 4 to 256; 0 is no such limit. Figures are",
        "the time without packets over the time with them. Packing and unpacking a message is charged",
        "0.03 us at each end, an estimate. `auto` compares predicted schedules and packs only where that",
        "saves 5 %; the age that it chose is in parentheses. In the layout of [Ding et al. 2020] every",
        "supernode is distributed over a block-cyclic grid (`split`), so that messages are short; in",
        "Palmette's default layout small subtrees stay whole, messages are long, and packets only delay",
        "them. The bits of x are the same with and without packets.",
        "",
        "| problem | machine | ranks | layout | bytes a message | us, alone | "
        + " | ".join(CHOICES[1:])
        + " |",
        "| --- | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    lines += [row(run, case) for case in CASES] + [""]
    (ROOT / "docs/results/packing.md").write_text("\n".join(lines))


if __name__ == "__main__":
    write_by_runs(__doc__, write_report)
