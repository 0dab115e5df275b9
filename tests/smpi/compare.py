#!/usr/bin/env python3
"""Compares simulated clusters with SimGrid's SMPI: writes the platform of a machine file, runs the rank
programs under smpirun, prints both times side by side, and exits with 1 if they differ by more than 15 %, or
in the number of messages, or if x is wrong.

    python3 tests/smpi/compare.py build/check/tests/smpi/libsolve_under_smpi.so [--machine NAME|FILE]
    [--per-node N] [--ranks 1,2,4] [CASE…]

A case is ping_pong:BYTES or problem:n:method:GRID:sides, where GRID is RxCxL, or a number of layers: then the
grid of a layer is nearly square.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST = 0.15
ERROR = 1e-10
# Without these SMPI's times are wrong: it would time this computer, start transfers when they are received,
# and take latencies twice (its defaults fit an Ethernet cluster); and each poll would take 0.1 ms.
SETTINGS = {
    "smpi/simulate-computation": "no",
    "smpi/grow-injected-times": "no",
    "smpi/iprobe": "1e-9",
    "smpi/test": "1e-9",
    "smpi/send-is-detached-thresh": "100000000",
    "smpi/async-small-thresh": "100000000",
    "smpi/lat-factor": "0:1",
    "smpi/bw-factor": "0:1",
    "network/crosstraffic": "0",
    "network/TCP-gamma": "1e12",
    "surf/precision": "1e-12",
}

USUAL = [
    "ping_pong:8",
    "ping_pong:100000",
    "poisson2d9:128:message_driven:1:1",
    "poisson3d7:16:message_driven:1:1",
    "poisson3d7:16:message_driven:1:8",
    "poisson2d9:128:one_sync_3d:4:1",
    "poisson3d7:16:one_sync_3d:8:1",
    "poisson2d9:128:baseline_3d:4:1",
]


def nearly_square(ranks):
    """Same as nearly_square_grid."""
    rows = max(r for r in range(1, ranks + 1) if r * r <= ranks and ranks % r == 0)
    return rows, ranks // rows


def figure(value):
    """A number of a machine file, with or without its source."""
    return value["value"] if isinstance(value, dict) else value


def way(levels, source, target):
    """The links that a message passes: the gates of the groups that it leaves, the wire, and the gates of
    those that it enters."""
    def group(level, rank):
        return rank // figure(level["ranks"])

    out, into = [], []
    for level in levels:
        if "ranks" not in level or group(level, source) == group(level, target):
            return [*out, level["name"], *reversed(into)]
        if figure(level.get("injection_gbs", 0)) > 0:
            out.append(f"{level['name']}_out{group(level, source)}")
            into.append(f"{level['name']}_in{group(level, target)}")
    raise ValueError("the last level of links has a number of ranks")


def platform_text(machine, ranks):
    """One host for each rank, and the links of all levels."""
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
        '<zone id="cluster" routing="Full">',
    ]
    lines += [f'<host id="r{rank}" speed="1Gf"/>' for rank in range(ranks)]

    def link(name, gbs, latency_us, policy):
        lines.append(
            f'<link id="{name}" bandwidth="{gbs * 1e9!r}Bps" latency="{latency_us * 1e-6!r}s"'
            f' sharing_policy="{policy}"/>'
        )

    for level in machine["links"]:
        link(level["name"], figure(level["bandwidth_gbs"]), figure(level["latency_us"]), "FATPIPE")
        injection = figure(level.get("injection_gbs", 0))
        for group in range((ranks - 1) // figure(level["ranks"]) + 1 if injection > 0 else 0):
            link(f"{level['name']}_out{group}", injection, 0, "SHARED")
            link(f"{level['name']}_in{group}", injection, 0, "SHARED")
    for source in range(ranks):
        for target in range(ranks):
            links = "".join(f'<link_ctn id="{name}"/>' for name in way(machine["links"], source, target))
            lines.append(f'<route src="r{source}" dst="r{target}" symmetrical="NO">{links}</route>')
    return "\n".join([*lines, "</zone>", "</platform>", ""])


def machine_of(name, per_node):
    """A machine of the project, or a file."""
    path = Path(name) if name.endswith(".json") else ROOT / "data/machines" / f"{name}.json"
    machine = json.loads(path.read_text())
    if per_node:
        machine["ranks_per_memory"]["value"] = machine["links"][0]["ranks"]["value"] = per_node
    return machine


def case_for(case, ranks):
    """The case with its grid written out; None if these ranks cannot form that many layers."""
    words = case.split(":")
    if words[0] == "ping_pong":
        return case if ranks > 1 else None
    if "x" in words[3]:
        rows, cols, layers = map(int, words[3].split("x"))
        return case if rows * cols * layers == ranks else None
    layers = int(words[3])
    if ranks % layers:
        return None
    words[3] = "x".join(map(str, (*nearly_square(ranks // layers), layers)))
    return ":".join(words)


def run(chosen, machine, ranks, cases):
    """Rows of one number of ranks."""
    settings = {**SETTINGS, **dict(one.split(":", 1) for one in chosen.set)}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "platform.xml").write_text(platform_text(machine, ranks))
        (folder / "hosts").write_text("".join(f"r{rank}\n" for rank in range(ranks)))
        (folder / "machine.json").write_text(json.dumps(machine))
        command = [
            chosen.smpirun,
            "-no-privatize",
            "-np",
            str(ranks),
            "-platform",
            str(folder / "platform.xml"),
            "-hostfile",
            str(folder / "hosts"),
            "--log=root.thres:warning",
            *(f"--cfg={key}:{value}" for key, value in settings.items()),
            str(Path(chosen.program).resolve()),
            str(folder / "machine.json"),
            *cases,
        ]
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(f"smpirun ended with {done.returncode}:\n{done.stdout}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def judged(row):
    """The row as a line of the table, and whether it is good."""
    ratio = row["simulated_s"] / row["smpi_s"]
    forward = row["simulated_forward_s"] / row["smpi_forward_s"] if row.get("smpi_forward_s") else None
    good = (
        abs(ratio - 1) <= MOST and row["error"] <= ERROR and row["smpi_messages"] == row["simulated_messages"]
    )
    cells = [
        row["case"],
        row["machine"],
        row["ranks"],
        f"{row['simulated_messages']}",
        f"{row['smpi_s'] * 1e6:.1f}",
        f"{row['simulated_s'] * 1e6:.1f}",
        f"{ratio:.3f}",
        f"{forward:.3f}" if forward else "",
        "" if good else "DIFFERS",
    ]
    return "| " + " | ".join(map(str, cells)) + " |", good


def main():
    """Print the table; 1 if a row is not good."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("program")
    parser.add_argument("cases", nargs="*", default=USUAL)
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--machine", default="cori-haswell")
    parser.add_argument("--per-node", type=int, help="ranks of a node, instead of the machine's")
    parser.add_argument("--ranks", default="1,2,4,8,16,32,64")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY:VALUE",
        help="another setting of SimGrid: smpi/lat-factor:0:2 doubles its latencies",
    )
    chosen = parser.parse_intermixed_args()
    machine = machine_of(chosen.machine, chosen.per_node)
    print(
        "| case | machine | ranks | messages | SMPI, us | simulated, us | simulated / SMPI | forward |"
        " |\n|---|---|---|---|---|---|---|---|---|"
    )
    all_good = True
    for ranks in map(int, chosen.ranks.split(",")):
        cases = [case for case in (case_for(case, ranks) for case in chosen.cases) if case]
        for row in run(chosen, machine, ranks, cases) if cases else []:
            row["machine"] = f"{machine['name']}/{machine['ranks_per_memory']['value']}"
            line, good = judged(row)
            all_good = all_good and good
            print(line, flush=True)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
