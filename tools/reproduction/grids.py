"""[Ding et al. 2020]: grids on the two extreme triangles (O1, O2), the model beside simulated times (O3),
one-sided messages (O4, O5)."""

import json
import pathlib

from plot_style import LINES, line, plotting

MACHINES = pathlib.Path(__file__).resolve().parent.parent.parent / "data/machines"
# A put of foMPI: 1 µs and 0.16 ns per byte [Gerstenberger et al. 2013]; it costs the receiver nothing, since
# it polls its memory.
PUT = {"latency_us": 0.7, "bandwidth_gbs": 6.25, "send_overhead_us": 0.3, "receive_overhead_us": 0}


def shape(row):
    ranks = row["grid_rows"] * row["grid_cols"]
    if ranks == 1:
        return "1 × 1"
    if row["grid_cols"] == 1:
        return "P × 1"
    return "1 × P" if row["grid_rows"] == 1 else "√P × √P"


def ranks_of(row):
    return row["grid_rows"] * row["grid_cols"]


def table(rows, triangle):
    """Binary trees; one line for each grid."""
    lines = [
        (
            "| P | grid | messages | solve, ms | communication alone, ms | the paper's model, communication,"
            " ms | flat trees: communication alone, ms |"
        ),
        "| ---: | --- |" + " ---: |" * 5,
    ]
    flat = {
        (ranks_of(row), shape(row)): row
        for row in rows
        if row["triangle"] == triangle and row["trees"] == "flat"
    }
    for row in rows:
        if row["triangle"] != triangle or row["trees"] != "binary":
            continue
        other = flat[ranks_of(row), shape(row)]
        lines.append(
            f"| {ranks_of(row)} | {shape(row)} | {row['messages']:,} | {row['seconds'] * 1e3:.2f} |"
            f" {row['communication_seconds'] * 1e3:.2f} | {row['model_communication'] * 1e3:.2f} |"
            f" {other['communication_seconds'] * 1e3:.2f} |"
        )
    return lines


def draw(rows, path):
    plt = plotting()
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
    for axis, triangle in zip(axes, ["dense1200", "bidiagonal1000"]):
        for number, name in enumerate(["P × 1", "1 × P", "√P × √P"]):
            chosen = [
                row
                for row in rows
                if row["triangle"] == triangle and row["trees"] == "binary" and shape(row) in (name, "1 × 1")
            ]
            ranks = [ranks_of(row) for row in chosen]
            axis.plot(
                ranks,
                [row["seconds"] * 1e3 for row in chosen],
                "-",
                **line(number),
                markersize=4,
                label=name,
            )
            communication = [row["communication_seconds"] * 1e3 for row in chosen]
            axis.plot(ranks, communication, "--", color=LINES[number])
        axis.set_title(f"{triangle} (simulated)", fontsize=10)
        axis.set_xlabel("ranks")
        axis.set_xscale("log", base=2)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[0].set_ylabel("solve, ms (dashed: communication)")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def with_puts(run):
    """Cori KNL, whose messages between nodes are puts."""
    machine = json.loads((MACHINES / "cori-knl.json").read_text())
    for name, value in PUT.items():
        machine["links"][-1][name] = {"value": value, "source": "[Gerstenberger et al. 2013]"}
    path = run.keep / "cori-knl-puts.json"
    path.write_text(json.dumps(machine))
    return path


def one_sided(run):
    """Communication is the time that is not work of the mean rank."""
    matrix = run.matrix("poisson2d9", 512)
    rows = {}
    for name, machine in (("messages", "cori-knl"), ("puts", with_puts(run))):
        rows[name] = run.document(
            f"knl_{name}.json",
            "cli/palmette",
            "simulate-cluster",
            matrix,
            "--machine",
            machine,
            "--map",
            "block_cyclic",
            "--ranks",
            "256,1024,4096",
            "--json",
            "-",
            "--quiet",
        )["simulations"]
    lines = [
        "| P | two-sided, ms | puts, ms | times faster | communication, times less |",
        "|" + " ---: |" * 5,
    ]
    for two, one in zip(rows["messages"], rows["puts"]):
        rest = [row["seconds"] - row["times"]["all"]["work"]["mean"] for row in (two, one)]
        lines.append(
            f"| {two['ranks']:,} | {two['seconds'] * 1e3:.2f} | {one['seconds'] * 1e3:.2f} |"
            f" {two['seconds'] / one['seconds']:.2f} | {rest[0] / rest[1]:.2f} |"
        )
    return lines


def chapter(run, folder):
    rows = run.rows("decompositions.txt", "bench/bench_rank_decompositions", 64)
    draw(rows, folder / "reproduction_grids.png")
    bidiagonal = {
        (ranks_of(row), shape(row)): row["messages"] for row in rows if row["triangle"] == "bidiagonal1000"
    }
    ratio = bidiagonal[64, "√P × √P"] / bidiagonal[64, "P × 1"]
    return (
        [
            "# [Ding et al. 2020]: process grids, and the model",
            "",
            "![process grids](reproduction_grids.png)",
            "",
            (
                "Both sweeps, binary trees; every rank on a node of its own, 3.5 µs a message, 8 GB/s, 1 µs a"
                " task, 1.2 GB/s a core (KNL, estimates)."
            ),
            "",
            "## O1: dense lower triangle 1200 × 1200 in 1 × 1 blocks (figures 8 and 9)",
            "",
            (
                "Published: communication does not scale with P, total time does, P × 1 is best. Ours:"
                " communication does not scale either, and among the"
            ),
            (
                "grids with binary trees P × 1 has the least up to P = 16; at 64 the square grid has shorter"
                " trees. With flat trees all one-dimensional grids are alike"
            ),
            (
                "and best, since the simulated sender pays nothing for one more message. Total time does not"
                " fall with P here: a task of an 1 × 1 block reads 8"
            ),
            "bytes and costs a microsecond of bookkeeping, so there is no computing worth dividing.",
            "",
        ]
        + table(rows, "dense1200")
        + [
            "",
            "## O2: bidiagonal 1000 × 1000 (figures 10 and 11)",
            "",
            (
                "Published: nothing scales; the square grid sends twice the messages of the others. Ours:"
                f" {bidiagonal[64, '√P × √P']:,} messages over {bidiagonal[64, 'P × 1']:,}, {ratio:.2f}"
                " times,"
            ),
            "for every P > 1; time does not depend on P.",
            "",
        ]
        + table(rows, "bidiagonal1000")
        + [
            "",
            "## O3: the model",
            "",
            (
                "The column of the model is Algorithm 1 of the paper on the same link, with the depth"
                " log2(#in + 1) of the trees that we build. On the"
            ),
            (
                "bidiagonal triangle it and the simulation agree to the last digit. Table 3 (A30, g7jac160 on"
                " Cori KNL) cannot be had: the matrices and the measured curves are"
            ),
            "not public.",
            "",
            "## O4 and O5: one-sided messages (table 3, figures 12 and 13)",
            "",
            (
                "Published, Cori KNL, 256 to 4,096 ranks: puts with checksums make communication 1.5 to 2.5"
                " times faster and solves up to 2.4 times; counters by atomic"
            ),
            (
                "accumulation are seven times slower than messages. Ours: s2D9pt 512² on the machine file"
                " cori-knl, and again with the puts of foMPI"
            ),
            "(1 µs, 0.16 ns a byte [Gerstenberger et al. 2013]):",
            "",
        ]
        + one_sided(run)
        + [
            "",
            (
                "Real transports on one machine, where puts are copies in shared memory, are compared in"
                " [ranks.md](ranks.md)."
            ),
            "",
        ]
    )
