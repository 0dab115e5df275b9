#!/usr/bin/env python3
"""How near predictions and rules come to the best choice: docs/results/choices.md.

    PYTHON tools/results_choices.py [--keep FOLDER]

Runs build/release/bench/bench_choices (configure with -DPALMETTE_BENCH=ON): simulated grids and layers
(virtual time, so nothing disturbs them; some minutes), then methods and grids measured on this machine (two
minutes; it should be idle). --keep FOLDER reads outputs from there, or writes them.
"""

import argparse
import collections
import pathlib

import kept_output

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/bench_choices"
MACHINES = ["cori-haswell", "perlmutter-cpu", "cori-knl"]
RANKS = [16, 64, 256]
REAL_RANKS = [2, 4]
NEAR = 1.1


def rows_of(keep, *arguments):
    """The objects that the benchmark prints."""
    known = pathlib.Path(keep) / ("_".join(map(str, arguments)) + ".txt") if keep else None
    return kept_output.rows_of(known, BENCH, *arguments)


def cases(rows, *keys):
    """Rows by problem and everything else that defines a case."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in ("problem", *keys))].append(row)
    return groups


def layout(row):
    layers = f"x{row['layers']}" if row["layers"] > 1 else ""
    method = f", {row['method']}" if row["layers"] > 1 else ""
    cyclic = ", cyclic" if row["map"] == "block_cyclic" else ""
    return f"{row['grid_rows']}x{row['grid_cols']}{layers}{method}{cyclic}"


def nearest_to_square(rows):
    """The plain rule: one layer, the grid nearest to a square, rows >= columns, subtree_to_subcube."""
    plain = [
        row
        for row in rows
        if row["layers"] == 1 and row["map"] == "subtree_to_subcube" and row["grid_rows"] >= row["grid_cols"]
    ]
    return min(plain, key=lambda row: row["grid_rows"] - row["grid_cols"])


def verdict(ratios):
    """Share within 10 %, mean and worst of the times relative to the best."""
    near = sum(ratio <= NEAR for ratio in ratios)
    return f"{near} of {len(ratios)} | {sum(ratios) / len(ratios):.3f} | {max(ratios):.3f}"


def ratios_of(groups, choose):
    return [choose(rows)["seconds"] / min(row["seconds"] for row in rows) for rows in groups.values()]


def simulated(keep, what, rules):
    """One line for each machine, number of ranks and rule; and all cases of one machine in full."""
    lines = [
        "| machine | ranks | choice | within 10 % | mean over the best | worst |",
        "| --- | ---: | --- | ---: | ---: | ---: |",
    ]
    everything = {name: [] for name in rules}
    for machine in MACHINES:
        for ranks in RANKS:
            groups = cases(rows_of(keep, what, machine, ranks))
            for name, choose in rules.items():
                ratios = ratios_of(groups, choose)
                everything[name] += ratios
                lines.append(f"| {machine} | {ranks} | {name} | {verdict(ratios)} |")
    for name, ratios in everything.items():
        lines.append(f"| all | | {name} | {verdict(ratios)} |")
    return lines, everything


def full_table(keep, what, machine, rules):
    names = [f"{name}, times the best" for name in rules]
    lines = [
        "| problem | ranks | best | ms | predicted first | "
        + " | ".join(names)
        + " | predicted / simulated | choosing, s |",
        "| --- | ---: | --- | ---: | --- |" + " ---: |" * (len(rules) + 2),
    ]
    for ranks in RANKS:
        for (problem,), rows in cases(rows_of(keep, what, machine, ranks)).items():
            best = min(rows, key=lambda row: row["seconds"])
            first = next(row for row in rows if row["chosen"])
            found = [f"{choose(rows)['seconds'] / best['seconds']:.2f}" for choose in rules.values()]
            errors = sorted(row["predicted_s"] / row["seconds"] for row in rows)
            lines.append(
                f"| {problem} | {ranks} | {layout(best)} | {best['seconds'] * 1e3:.3g} | {layout(first)} | "
                + " | ".join(found)
                + f" | {errors[0]:.2f} to {errors[-1]:.2f} | {rows[0]['choosing_s']:.2g} |"
            )
    return lines


def methods_table(rows):
    names = [row["method"] for row in rows[:5]]
    lines = [
        "| problem | threads | " + " | ".join(f"{name}, ms" for name in names) + " | auto over the best |",
        "| --- | ---: |" + " ---: |" * (len(names) + 1),
    ]
    ratios = collections.defaultdict(list)
    for (problem, threads), mine in sorted(
        cases(rows, "threads").items(), key=lambda item: (item[0][1], item[0][0])
    ):
        seconds = {row["method"]: row["seconds"] for row in mine}
        ratio = seconds["auto"] / min(value for name, value in seconds.items() if name != "auto")
        ratios[threads].append(ratio)
        lines.append(
            f"| {problem} | {threads} | "
            + " | ".join(f"{seconds[name] * 1e3:.3g}" for name in names)
            + f" | {ratio:.2f} |"
        )
    return lines, ratios


def ranks_table(keep):
    lines = [
        (
            "| problem | ranks | best | ms | predicted first | its time over the best | nearest to a square,"
            " over the best |"
        ),
        "| --- | ---: | --- | ---: | --- | ---: | ---: |",
    ]
    ratios = {}
    for ranks in REAL_RANKS:
        groups = cases(rows_of(keep, "ranks", ranks))
        ratios[ranks] = (ratios_of(groups, chosen), ratios_of(groups, nearest_to_square))
        for (problem,), rows in groups.items():
            best = min(rows, key=lambda row: row["seconds"])
            first = chosen(rows)
            lines.append(
                f"| {problem} | {ranks} | {layout(best)} | {best['seconds'] * 1e3:.3g} | {layout(first)} |"
                f" {first['seconds'] / best['seconds']:.2f} |"
                f" {nearest_to_square(rows)['seconds'] / best['seconds']:.2f} |"
            )
    return lines, ratios


def chosen(rows):
    return next(row for row in rows if row["chosen"])


def grids_and_layers(keep):
    rules = {"by prediction": chosen, "nearest to a square": nearest_to_square}
    text = [
        "# How good automatic choices are",
        "",
        (
            "Made by `tools/results_choices.py`. A choice is good if its time is within 10 % of the best of"
            " all candidates."
        ),
        "",
        "## Grids of ranks, simulated",
        "",
        (
            "**Simulated**: the rank programs that run over MPI, with real arithmetic, in virtual time on the"
            " described machines. Candidates: every grid R x C of the"
        ),
        (
            "ranks with both maps, one layer, one right-hand side. The choice (`--grid auto`) is made from"
            " structure alone: a schedule of every candidate."
        ),
        "",
    ]
    text += (
        simulated(keep, "grids", rules)[0]
        + ["", f"In full on {MACHINES[0]}:", ""]
        + full_table(keep, "grids", MACHINES[0], rules)
    )
    text += [
        "",
        "## Layers and methods, simulated",
        "",
        (
            "Candidates: 1, 2, 4, ... layers, with one_sync_3d and baseline_3d (message_driven where there is"
            " one layer), each with every grid; map subtree_to_subcube."
        ),
        (
            "The choice (`--grid autoxauto`) schedules one grid for each number of layers and method, then"
            " all grids of the three best numbers. The rule"
        ),
        "beside it has one layer.",
        "",
    ]
    text += (
        simulated(keep, "layers", rules)[0]
        + ["", f"In full on {MACHINES[0]}:", ""]
        + full_table(keep, "layers", MACHINES[0], rules)
    )
    return text


def measurements(keep):
    text = [
        "",
        "## Methods on this machine, measured",
        "",
        (
            "One right-hand side, both sweeps; medians of 30 warm solves, the methods taking turns. `auto` is"
            " the library's choice by bytes (palmette/solve/method_list.cpp)."
        ),
        "",
    ]
    lines, ratios = methods_table(rows_of(keep, "threads"))
    text += [
        f"With {threads} thread{'s' if threads > 1 else ''}: within 10 %, mean and worst:"
        f" {verdict(found).replace(' | ', ', ')}."
        for threads, found in ratios.items()
    ]
    text += [
        "",
        *lines,
        "",
        "## Grids of ranks that are threads, measured",
        "",
        (
            "Every grid and map of 2 and 4 ranks (threads of this machine, which has two processors; medians"
            " of 30 warm solves). The prediction uses a description"
        ),
        "measured in the same run.",
        "",
    ]
    lines, ratios = ranks_table(keep)
    for ranks, (ours, plain) in ratios.items():
        text.append(
            f"With {ranks} ranks: within 10 %, mean and worst: {verdict(ours).replace(' | ', ', ')} by"
            f" prediction; {verdict(plain).replace(' | ', ', ')} by the grid nearest to a square."
        )
    return text + ["", *lines]


def main():
    """Write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--keep", help="folder of the benchmark's outputs")
    keep = parser.parse_args().keep
    text = grids_and_layers(keep) + measurements(keep)
    notes = ROOT / "docs/results/choices_notes.md"
    if notes.exists():
        text += ["", notes.read_text().rstrip("\n")]
    (ROOT / "docs/results/choices.md").write_text("\n".join(text) + "\n")


if __name__ == "__main__":
    main()
