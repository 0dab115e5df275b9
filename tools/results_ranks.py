#!/usr/bin/env python3
"""Scaling of factorization and solve over simulated ranks: docs/results/rank_scaling.md and its plots.

    PYTHON tools/results_ranks.py [--keep FOLDER]

PYTHON needs matplotlib. Runs build/release/bench/bench_rank_scaling (configure with -DPALMETTE_BENCH=ON) for
two problems in 2D and two in 3D on two described machines, and again with sizes that grow with the ranks; a
quarter of an hour. Times are virtual: they do not depend on what else this machine does. --keep FOLDER reads
outputs from there, or writes them.
"""

import argparse
import pathlib

import kept_output
from plot_style import line, plotting

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/bench_rank_scaling"
MACHINES = ["cori-haswell", "perlmutter-cpu"]
CASES = [("poisson2d9", 256), ("poisson2d5", 256), ("poisson3d7", 32), ("poisson3d27", 24)]
RANKS = "1,2,4,16,64,256,1024,4096"
# Sides and ranks: unknowns for each rank stay the same.
FLAT = [(8, 1), (16, 4), (32, 16), (64, 64), (128, 256), (256, 1024), (512, 4096)]
SOLID = [(3, 1), (6, 8), (12, 64), (24, 512), (48, 4096)]
WEAK = {"poisson2d9": FLAT, "poisson2d5": FLAT, "poisson3d7": SOLID, "poisson3d27": SOLID}
RULES = ["square", "predicted"]


def rows_of(keep, machine, problem, side, ranks):
    """The output of the benchmark, one object for each number of ranks and rule."""
    known = pathlib.Path(keep) / f"{machine}_{problem}_{side}_{ranks.replace(',', '-')}.txt" if keep else None
    return kept_output.rows_of(known, BENCH, machine, problem, side, ranks)


def grid(row):
    return f"{row['grid_rows']}x{row['grid_cols']}" + (", cyclic" if row["map"] == "block_cyclic" else "")


def table(rows):
    """One line for each number of ranks; times relative to one rank."""
    lines = [
        (
            "| ranks | grid | factor, ms | times faster | messages | solve, ms | times faster | messages |"
            " grid by prediction | factor, ms | solve, ms |"
        ),
        "| ---: | --- |" + " ---: |" * 6 + " --- | ---: | ---: |",
    ]
    predicted = {row["ranks"]: row for row in rows if row["rule"] == "predicted"}
    square = [row for row in rows if row["rule"] == "square"]
    first = square[0]
    for row in square:
        other = predicted[row["ranks"]]
        lines.append(
            f"| {row['ranks']:,} | {grid(row)} | {row['factor_s'] * 1e3:.3g} |"
            f" {first['factor_s'] / row['factor_s']:.2f} | {row['factor_messages']:,} |"
            f" {row['solve_s'] * 1e3:.3g} | {first['solve_s'] / row['solve_s']:.2f} |"
            f" {row['solve_messages']:,} | {grid(other)} | {other['factor_s'] * 1e3:.3g} |"
            f" {other['solve_s'] * 1e3:.3g} |"
        )
    return lines


def weak_table(problem, keep):
    """Efficiency: work of a rank per time, relative to one rank alone."""
    lines = ["| side | ranks | factor, ms | efficiency | solve, ms | efficiency |", "|" + " ---: |" * 6]
    first = None
    for side, ranks in WEAK[problem]:
        row = next(
            row for row in rows_of(keep, MACHINES[0], problem, side, str(ranks)) if row["rule"] == "square"
        )
        first = first or row
        factor = row["factor_gflop"] / first["factor_gflop"] / ranks * first["factor_s"] / row["factor_s"]
        solve = row["factor_entries"] / first["factor_entries"] / ranks * first["solve_s"] / row["solve_s"]
        lines.append(
            f"| {side} | {ranks:,} | {row['factor_s'] * 1e3:.3g} | {factor:.2f} | {row['solve_s'] * 1e3:.3g}"
            f" | {solve:.2f} |"
        )
    return lines


def draw(results, machine, path):
    """Speed-up over one rank, factorization and solve side by side."""
    plt = plotting()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharex=True)
    for axis, key, title in zip(
        axes, ["factor_s", "solve_s"], ["factorization", "solve, one right-hand side"]
    ):
        for number, ((problem, side), rows) in enumerate(results.items()):
            for name, style in zip(RULES, ["-", ":"]):
                chosen = [row for row in rows if row["rule"] == name]
                label = f"{problem}, n = {side}" if name == RULES[0] else None
                axis.loglog(
                    [row["ranks"] for row in chosen],
                    [chosen[0][key] / row[key] for row in chosen],
                    style,
                    **line(number),
                    markersize=4,
                    label=label,
                )
        axis.set_title(f"{title} (SIMULATED: {machine})", fontsize=9)
        axis.set_xlabel("ranks")
        axis.set_xscale("log", base=2)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("times faster than one rank")
    axes[0].legend(fontsize=7)
    figure.text(
        0.5,
        0.005,
        "solid: grid nearest to a square; dotted: grid and map predicted to solve fastest",
        ha="center",
        fontsize=7,
    )
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=110)


def main():
    """Write the page and its plots."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--keep", help="folder where what was printed is kept and looked for")
    keep = parser.parse_args().keep
    folder = ROOT / "docs/results"
    lines = [
        "# Scaling over ranks, SIMULATED",
        "",
        (
            "Made by `tools/results_ranks.py`. **SIMULATED**: the rank programs that run over MPI, driven"
            " under virtual time on the machines described in"
        ),
        (
            "`data/machines` (most of whose figures are estimates); the arithmetic is real, answers have"
            " backward errors below 1e-14. A rank is a core. Products of the"
        ),
        (
            "factorization run as fast as their least length lets them; tasks of solves read at the rates of"
            " memory or cache; messages cost both ends, use links and pass"
        ),
        (
            "the doors of nodes. LLᵀ, one right-hand side. Up to 16 ranks the usual subtrees stay whole;"
            " beyond, smaller ones."
        ),
        "",
        (
            "Strong scaling: the matrix stays the same. Grids are the nearest to a square with"
            " subtree_to_subcube; beside them the grid that `--grid auto` predicts"
        ),
        (
            "to solve fastest: it looks at solves alone, and a factorization may take up to three times as"
            " long on it."
        ),
        "",
    ]
    for machine in MACHINES:
        results = {case: rows_of(keep, machine, *case, RANKS) for case in CASES}
        plot = f"rank_scaling_{machine}.png"
        draw(results, machine, folder / plot)
        lines += [f"# Strong scaling on {machine}", "", f"![speed-up, simulated]({plot})", ""]
        for (problem, side), rows in results.items():
            lines += [f"## {problem}, {side} points a side, {machine}", "", *table(rows), ""]
    lines += [
        f"# Weak scaling, SIMULATED on {MACHINES[0]}",
        "",
        (
            "64 unknowns a rank in 2D, 27 in 3D: what a rank has to do is little, so this is a hard case;"
            " every simulated rank of a factorization keeps an array of n"
        ),
        (
            "numbers in this one process, which limits the size. Grids nearest to a square. Efficiency: the"
            " work of a rank (flops of the"
        ),
        (
            "factorization, entries of the factor) over its time, against one rank; above 1 where the single"
            " rank's products are so small that they run slowly."
        ),
        "",
    ]
    for problem in WEAK:
        lines += [f"## {problem}, weak", "", *weak_table(problem, keep), ""]
    (folder / "rank_scaling.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
