#!/usr/bin/env python3
"""Scaling of factorization and solve over simulated ranks: docs/results/rank_scaling.md and its plot.

    PYTHON tools/results_ranks.py [--most RANKS] [--keep FOLDER]

PYTHON needs matplotlib. Runs build/release/bench/bench_rank_scaling (configure with -DPALMETTE_BENCH=ON) for two problems in 2D and two in 3D,
and again with sizes that grow with the ranks. Times are virtual: they do not depend on what else this machine does.
"""
import argparse
import json
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
BENCH = ROOT / "build/release/bench/bench_rank_scaling"
CASES = [("poisson2d9", 256), ("poisson2d5", 256), ("poisson3d7", 32), ("poisson3d27", 24)]
# Sides and ranks: unknowns for each rank stay about the same.
WEAK = {"poisson2d9": [(64, 1), (128, 4), (256, 16), (512, 64)], "poisson2d5": [(64, 1), (128, 4), (256, 16), (512, 64)],
        "poisson3d7": [(16, 1), (25, 4), (40, 16)], "poisson3d27": [(14, 1), (22, 4), (35, 16)]}
MAPS = ["subtree_to_subcube", "block_cyclic"]


def rows_of(problem, side, folder, most, least=1):
    """What the benchmark prints, one object for each number of ranks and map."""
    known = pathlib.Path(folder) / f"{problem}_{side}_{least}_{most}.txt" if folder else None
    if known and known.exists():
        text = known.read_text()
    else:
        text = subprocess.run([BENCH, problem, str(side), str(most), str(least)], capture_output=True, text=True, check=True).stdout
        if known:
            known.write_text(text)
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def table(rows):
    """One line for each number of ranks; times over those of one rank."""
    lines = ["| ranks | factor, ms | times faster | messages | solve, ms | times faster | messages | solve, block_cyclic, ms |", "|" + " ---: |" * 8]
    one = {row["map"]: row for row in rows if row["ranks"] == 1}
    cyclic = {row["ranks"]: row for row in rows if row["map"] == "block_cyclic"}
    for row in rows:
        if row["map"] != "subtree_to_subcube":
            continue
        first = one[row["map"]]
        lines.append(f"| {row['ranks']:,} | {row['factor_s'] * 1e3:.3g} | {first['factor_s'] / row['factor_s']:.2f} | {row['factor_messages']:,} | "
                     f"{row['solve_s'] * 1e3:.3g} | {first['solve_s'] / row['solve_s']:.2f} | {row['solve_messages']:,} | "
                     f"{cyclic[row['ranks']]['solve_s'] * 1e3:.3g} |")
    return lines


def weak_table(problem, folder):
    """Efficiency: work of a rank over time, against one rank alone."""
    lines = ["| side | ranks | factor, ms | efficiency | solve, ms | efficiency |", "|" + " ---: |" * 6]
    first = None
    for side, ranks in WEAK[problem]:
        row = next(row for row in rows_of(problem, side, folder, ranks, ranks) if row["map"] == MAPS[0])
        first = first or row
        factor = row["factor_gflop"] / first["factor_gflop"] / ranks * first["factor_s"] / row["factor_s"]
        solve = row["factor_entries"] / first["factor_entries"] / ranks * first["solve_s"] / row["solve_s"]
        lines.append(f"| {side} | {ranks} | {row['factor_s'] * 1e3:.3g} | {factor:.2f} | {row['solve_s'] * 1e3:.3g} | {solve:.2f} |")
    return lines


def draw(results, path):
    """Speed-up over one rank, factorization and solve side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharex=True)
    for axis, key, title in zip(axes, ["factor_s", "solve_s"], ["factorization", "solve, one right-hand side"]):
        for number, ((problem, side), rows) in enumerate(results.items()):
            for name, style in zip(MAPS, ["-o", ":"]):
                chosen = [row for row in rows if row["map"] == name]
                label = f"{problem}, n = {side}" if name == MAPS[0] else None
                axis.loglog([row["ranks"] for row in chosen], [chosen[0][key] / row[key] for row in chosen], style, color=f"C{number}",
                            markersize=3, label=label)
        axis.set_title(f"{title} (simulated)", fontsize=10)
        axis.set_xlabel("ranks")
        axis.set_xscale("log", base=2)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("times faster than one rank")
    axes[0].legend(fontsize=7)
    figure.text(0.5, 0.005, "solid: subtree_to_subcube; dotted: block_cyclic", ha="center", fontsize=7)
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=4096)
    parser.add_argument("--keep", dest="folder", help="folder where what was printed is kept and looked for")
    given = parser.parse_args()
    results = {case: rows_of(*case, given.folder, given.most) for case in CASES}
    folder = ROOT / "docs/results"
    draw(results, folder / "rank_scaling.png")
    lines = ["# Scaling over ranks, simulated", "",
             "Made by `tools/results_ranks.py`. **Simulated**: the rank programs that run over MPI, driven under virtual time; the arithmetic is real.",
             "A rank factors at 10 Gflop/s and reads 10 GB/s in solves, a task costs 0.3 µs more, a message 1.5 µs and its bytes at 10 GB/s; links are",
             "not shared and sending costs the sender nothing, so large numbers of ranks look better than they would be. LLᵀ, strong scaling: the",
             "matrix stays the same. Up to 16 ranks the usual subtrees stay whole; beyond, smaller ones.", "", "![speed-up](rank_scaling.png)", ""]
    for (problem, side), rows in results.items():
        lines += [f"## {problem}, {side} points a side", "", "Map subtree_to_subcube; the last column is the other map.", ""] + table(rows) + [""]
    lines += ["# Weak scaling, simulated", "", "Unknowns for each rank stay about the same, map subtree_to_subcube. Efficiency: the work of a rank (flops of the factorization,",
              "entries of the factor) over its time, against one rank; the rate of one rank is the same for any size.", ""]
    for problem in WEAK:
        lines += [f"## {problem}", ""] + weak_table(problem, given.folder) + [""]
    (folder / "rank_scaling.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
