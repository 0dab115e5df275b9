#!/usr/bin/env python3
"""Writes docs/results/gpu.md from what ./check --gpu left in build/gpu-reports.

    python3 tools/results_gpu.py [--reports FOLDER] [--page FILE]

A file without the name of a device, of the emulated device, or of another device than the others is refused:
then nothing is written.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu.models import model_problems  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SERIAL, RIVALS = "serial", ("cusparse", "cudss")
PLACES = ("seconds", "device_seconds")  # from host memory to host memory; between vectors of the device
TITLES = {"cusparse": "cuSPARSE", "cudss": "cuDSS"}


class Refused(Exception):
    """Results that cannot be told to be of one GPU."""


def device_of(name, document):
    """The GPU that gave a file."""
    device = document.get("device") or document.get("device_bench", {}).get("device", {})
    is_gpu = True
    if isinstance(device, dict):
        is_gpu = device.get("emulated") is False
        device = device.get("name", "")
    if not isinstance(device, str) or not device.strip():
        raise Refused(f"{name} names no device")
    if not is_gpu:
        raise Refused(f"{name} is not of a GPU but of {device}")
    return device.strip()


def read_reports(folder):
    """{file name: document} of all results, and the parts of the check."""
    results = {}
    for path in [folder / "words.json", *sorted(folder.glob("bench-*.json"))]:
        if path.is_file():
            results[path.name] = json.loads(path.read_text())
    state = folder / "parts.json"
    parts = json.loads(state.read_text()) if state.is_file() else {"about": {}, "parts": {}}
    return results, parts


def one_device(results):
    """@throws Refused unless all results are of the same GPU"""
    names = {name: device_of(name, document) for name, document in results.items()}
    if not names:
        raise Refused("there are no results: run ./check --gpu")
    if len(set(names.values())) > 1:
        raise Refused(f"results of several devices: {', '.join(sorted(set(names.values())))}")
    return next(iter(names.values()))


def words_section(words):
    """Hand-overs, launches and rates."""
    scopes = ["block", "device", "system"]
    peers = {row["protocol"]: row["nanoseconds"] for row in words.get("peer_hand_overs", [])}
    players = [*scopes, "two GPUs"] if peers else scopes
    lines = [
        "## Microbenchmarks",
        "",
        "Nanoseconds until a value that one warp sends is in the hands of another that waits for it: half of"
        " a round, from the slope over rounds, by `bench_gpu_words`.",
        "With scope block two warps of a block, else two blocks. Waiting threads pause as those of solves"
        " do."
        + (" Two GPUs, with scope system, reach each other's memory." if peers else ""),
        "",
        "| protocol | " + " | ".join(players) + " |",
        "| --- |" + " ---: |" * len(players),
    ]
    found = {(row["protocol"], row["scope"]): row["nanoseconds"] for row in words["hand_overs"]}
    for protocol in dict.fromkeys(row["protocol"] for row in words["hand_overs"]):
        cells = [f"{found[protocol, scope]:,.0f}" if (protocol, scope) in found else "" for scope in scopes]
        if peers:
            cells.append(f"{peers[protocol]:,.0f}" if protocol in peers else "")
        lines.append(f"| `{protocol}` | " + " | ".join(cells) + " |")
    return lines + [
        "",
        "| what | measured |",
        "| --- | ---: |",
        f"| a launch among many | {words['launch_us']:.2f} µs |",
        f"| a launch that the host waits for | {words['launch_and_wait_us']:.2f} µs |",
        f"| device memory, read 16 bytes at a time | {words['read_gbs']:,.0f} GB/s |",
        f"| bus to the device, pinned memory | {words['to_device_gbs']:,.1f} GB/s |",
        f"| bus from the device, pinned memory | {words['from_device_gbs']:,.1f} GB/s |",
        "",
    ]


def cell(row, key="seconds"):
    """Milliseconds, or nothing."""
    return f"{row[key] * 1e3:.3g}" if row and row.get(key) else ""


def ratio(rows, engines, key):
    """Of the fastest rival's time to that of our fastest engine."""
    ours, theirs = ([rows[name][key] for name in names if rows.get(name, {}).get(key)]
                    for names in (engines, RIVALS))
    return f"{min(theirs) / min(ours):.2f}" if ours and theirs else ""


def bench_table(titled, num_rhs):
    """A line for each matrix. `titled`: (title, document)."""
    engines = []
    for _, document in titled:
        for row in document["device_bench"]["rows"]:
            if row["solver"] not in (SERIAL, *RIVALS, *engines):
                engines.append(row["solver"])
    names = [*(f"`{engine}`" for engine in engines), *(TITLES[rival] for rival in RIVALS)]
    heads = ["serial on the host"]
    for name in [*names, "best rival ÷ ours"]:
        heads += [name, "there"]
    lines = [
        "| matrix | factor entries | " + " | ".join(heads) + " |",
        "| --- |" + " ---: |" * (len(heads) + 1),
    ]
    for title, document in titled:
        rows = {row["solver"]: row for row in document["device_bench"]["rows"] if row["num_rhs"] == num_rhs}
        cells = [cell(rows.get(SERIAL))]
        cells += [cell(rows.get(name), key) for name in (*engines, *RIVALS) for key in PLACES]
        cells += [ratio(rows, engines, key) for key in PLACES]
        entries = document.get("analyze", {}).get("nnz_factor", 0)
        lines.append(f"| {title} | {entries:,} | " + " | ".join(cells) + " |")
    return lines


def bench_section(titled):
    """Solves by all solvers, and what kept rivals from running."""
    lines = [
        "## Solves",
        "",
        "Milliseconds of a warm solve from host memory to host memory, median of five, in double precision;"
        " columns *there*: between vectors",
        "that stay on the device (the mean of ten in a row). cuSPARSE solves with Palmette's factors (SpSV,"
        " for several right-hand sides SpSM), cuDSS with its own.",
        "",
    ]
    counts = sorted({row["num_rhs"] for _, document in titled for row in document["device_bench"]["rows"]})
    for num_rhs in counts:
        sides = "One right-hand side" if num_rhs == 1 else f"{num_rhs} right-hand sides"
        lines += [f"### {sides}", "", *bench_table(titled, num_rhs), ""]
    worst = max(row["backward_error"] or 0 for _, document in titled
                for row in document["device_bench"]["rows"] if not row["unavailable"])
    lines += [f"The largest backward error of all these solves is {worst:.1e}.", ""]
    reasons = {
        f"- {TITLES.get(row['solver'], row['solver'])}, {title}: {row['unavailable']}"
        for title, document in titled
        for row in document["device_bench"]["rows"]
        if row["unavailable"]
    }
    return lines + (["Not run:", "", *sorted(reasons), ""] if reasons else [])


def parts_section(parts):
    """What passed, with its time stamp."""
    lines = ["## Parts of the check", "", "| part | result | finished |", "| --- | --- | --- |"]
    for name, part in parts["parts"].items():
        why = f": {part['why']}" if part["why"] else ""
        lines.append(f"| {name} | {part['status']}{why} | {part['at']} |")
    return lines + [""]


def page(results, parts):
    """The text of docs/results/gpu.md. @throws Refused"""
    device = one_device(results)
    lines = [
        "# Measured on a GPU",
        "",
        f"Device: {device}",
        "",
        "Made by `tools/results_gpu.py` from the reports of `./check --gpu`; never edited by hand. Sources"
        f" {parts['about'].get('sources', 'unknown')}.",
        "",
    ]
    words = results.get("words.json")
    if words:
        lines += [
            f"{words['multiprocessors']} multiprocessors, compute capability {words['compute_capability']},"
            f" {words['memory_bytes'] / 1e9:.0f} GB of memory, {words['cache_bytes'] / 1e6:.0f} MB of cache;"
            f" driver {words['driver']}, runtime {words['runtime']}.",
            "",
            *words_section(words),
        ]
    titled = [
        (model.title, results[f"bench-{at}.json"])
        for at, model in enumerate(model_problems())
        if f"bench-{at}.json" in results
    ]
    if titled:
        lines += bench_section(titled)
    return "\n".join(lines + parts_section(parts)).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--reports", type=Path, default=ROOT / "build/gpu-reports")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/results/gpu.md")
    options = parser.parse_args()
    try:
        text = page(*read_reports(options.reports))
    except Refused as error:
        print(f"results_gpu: {error}", file=sys.stderr)
        return 1
    options.page.write_text(text)
    print(f"written: {options.page.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
