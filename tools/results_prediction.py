#!/usr/bin/env python3
"""Predicted, simulated and measured solves side by side: docs/results/prediction.md.

    PYTHON tools/results_prediction.py [--keep FILE]

Runs build/release/bench/bench_prediction (configure with -DPALMETTE_BENCH=ON), a minute on an idle machine.
--keep FILE reads its output from there, or writes it.
"""

import argparse
import pathlib

import kept_output

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/bench_prediction"
LOW, HIGH = 0.8, 1.25


def table(rows):
    """One line for each problem: predicted, measured, their ratio, bound ÷ least measured."""
    simulated = "simulated_s" in rows[0]
    head = [
        "problem",
        "kind",
        "predicted, ms",
        "measured, ms",
        "predicted / measured",
        "bound / least measured",
    ]
    head += ["simulated, ms", "simulated / measured"] if simulated else []
    lines = ["| " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * (len(head) - 2)]
    for row in rows:
        cells = [
            row["problem"],
            row["kind"],
            f"{row['predicted_s'] * 1e3:.3g}",
            f"{row['measured_s'] * 1e3:.3g}",
            f"{row['predicted_over_measured']:.2f}",
            f"{row['bound_over_least']:.2f}",
        ]
        if simulated:
            cells += [f"{row['simulated_s'] * 1e3:.3g}", f"{row['simulated_s'] / row['measured_s']:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def overheads(machine):
    """The fitted costs of tasks in addition to streaming their bytes."""
    head = {
        "task_us": "task, us",
        "panel_us": "panel, us",
        "column_ns": "column, ns",
        "row_ns": "row, ns",
        "byte_ns": "kilobyte, ns",
        "memory_byte_ns": "kilobyte from memory, more ns",
        "handoff_us": "handing to another thread, us",
    }
    lines = ["| overheads of | " + " | ".join(head.values()) + " |", "| --- |" + " ---: |" * len(head)]
    for name, key in [("engines of one machine", "overheads"), ("rank programs", "rank_overheads")]:
        cells = [f"{machine[key][field] * (1e3 if 'byte' in field else 1):.3g}" for field in head]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def verdict(rows):
    """How many are within the goal."""
    within = sum(LOW <= row["predicted_over_measured"] <= HIGH for row in rows)
    kept = sum(row["bound_over_least"] <= 1 for row in rows)
    return (
        f"{within} of {len(rows)} predictions are within {LOW} to {HIGH} of the measurement; {kept} of"
        f" {len(rows)} bounds are below the least measurement."
    )


def main():
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", type=pathlib.Path, help="file of the benchmark's output")
    machine, *rows = kept_output.rows_of(parser.parse_args().keep, BENCH)
    memory = ", ".join(f"{rate:.1f} GB/s with {int(at)}" for at, rate in machine["memory_gbs"])
    text = [
        "# Predictions beside measurements",
        "",
        (
            "Made by `tools/results_prediction.py`. The machine is measured first, in the same run (`palmette"
            " measure` does the same); then each solve (both"
        ),
        (
            "sweeps, one right-hand side) is predicted from structure, and run: median of warm repeats, 15 or"
            " more, and the least of them for the bound."
        ),
        "",
        (
            f"{machine['machine']}: memory {memory}; {machine['cache_gbs']:.1f} GB/s from the cache, of which"
            f" one solve can use {machine['lone_cache_mb']:.1f} MB and solves"
        ),
        (
            f"on all processors {machine['cache_mb']:.1f} MB each; a message between ranks that are threads"
            f" {machine['latency_us']:.2f} us."
        ),
        "",
        *overheads(machine),
        "",
    ]
    for what, title, alone in [
        ("threads", "threads of one machine", "thread of one machine"),
        ("ranks", "ranks that are threads", "rank"),
    ]:
        for count in sorted({row["count"] for row in rows if row["what"] == what}):
            mine = [row for row in rows if row["what"] == what and row["count"] == count]
            text += [
                f"## {count} {title if count > 1 else alone}",
                "",
                verdict(mine),
                "",
                *table(mine),
                "",
            ]
    notes = ROOT / "docs/results/prediction_notes.md"
    if notes.exists():
        text += [notes.read_text().rstrip("\n")]
    (ROOT / "docs/results/prediction.md").write_text("\n".join(text).rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
