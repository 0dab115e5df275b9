"""[Liu et al. 2023], section 4.2.2: GPUs of several nodes in two dimensions and in layers (L5), by the
programs of our kernels and a model of two kinds of links."""

from plot_style import line, plotting

BEGIN = "## L5: GPUs of several nodes (figure 11)"
NEXT = "## Where ours differ, and why"

ROWS = [1, 2, 4, 8, 16, 32, 64]
LAYERS = [2, 4, 8, 16, 32, 64]
ROWS_WITH_LAYERS = [1, 2, 4]
CASES = [("poisson2d9", 320), ("poisson3d27", 26)]  # those of many_gpus_layers.md


def seconds(run, problem, side):
    """Of one solve on ROWS x 1 GPUs by number, and in layers by rows and layers."""
    grids = [f"{rows}x1" for rows in ROWS]
    grids += [f"{rows}x1x{layers}" for rows in ROWS_WITH_LAYERS for layers in LAYERS]
    words = ["perlmutter", problem, str(side), "1", *grids]
    rows = run.rows(f"gpus_{problem}_{side}.json", "bench/bench_many_gpus", *words)
    found = {row["grid"]: row["seconds"] for row in rows}
    flat = {rows: found[f"{rows}x1"] for rows in ROWS}
    layered = {
        (rows, layers): found[f"{rows}x1x{layers}"] for rows in ROWS_WITH_LAYERS for layers in LAYERS
    }
    return flat, layered


def table(flat, layered):
    """Microseconds by number of GPUs."""
    lines = [
        "| GPUs | P × 1, one layer | "
        + " | ".join(f"{rows} × 1 × P/{rows}" if rows > 1 else "1 × 1 × P" for rows in ROWS_WITH_LAYERS)
        + " |",
        "|" + " ---: |" * (2 + len(ROWS_WITH_LAYERS)),
    ]
    for ranks in sorted({rows * layers for rows, layers in layered} | set(flat)):
        cells = [f"{flat[ranks] * 1e6:.0f}" if ranks in flat else ""]
        for rows in ROWS_WITH_LAYERS:
            key = (rows, ranks // rows)
            cells.append(f"{layered[key] * 1e6:.0f}" if ranks % rows == 0 and key in layered else "")
        lines.append(f"| {ranks} | " + " | ".join(cells) + " |")
    return lines


def draw(results, path):
    plt = plotting()
    figure, axes = plt.subplots(1, len(results), figsize=(4.4 * len(results), 3.4))
    for axis, (problem, side, flat, layered) in zip(axes, results):
        axis.loglog(
            list(flat),
            [value * 1e6 for value in flat.values()],
            "-",
            color="black",
            marker="x",
            markersize=4,
            label="P × 1, one layer",
        )
        for number, rows in enumerate(ROWS_WITH_LAYERS):
            axis.loglog(
                [rows * layers for layers in LAYERS],
                [layered[rows, layers] * 1e6 for layers in LAYERS],
                "-",
                **line(number),
                markersize=4,
                label=f"{rows} × 1 × Pz",
            )
        axis.axvline(4, color="0.6", linestyle=":")
        axis.set_title(f"{problem}, {side} a side (simulated)", fontsize=9)
        axis.set_xlabel("GPUs (dotted: one node)")
        axis.set_xscale("log", base=2)
        axis.grid(alpha=0.3, which="both")
    axes[0].set_ylabel("solve, us")
    axes[0].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def judgement(problem, flat, layered):
    """Where two dimensions stop scaling, and what layers reach."""
    best = min(flat, key=flat.get)
    where = min(layered, key=layered.get)
    return (
        f"{problem}: one layer is fastest with {best} GPUs ({flat[1] / flat[best]:.2f} times one,"
        f" {flat[1] / flat[max(flat)]:.2f} with {max(flat)}); layers with {where[0]} × 1 × {where[1]}"
        f" ({flat[1] / layered[where]:.2f} times one)."
    )


def chapter(run, folder):
    results = []
    for problem, side in CASES:
        results.append((problem, side, *seconds(run, problem, side)))
    draw(results, folder / "reproduction_gpus.png")
    lines = [
        BEGIN,
        "",
        "![GPUs](reproduction_gpus.png)",
        "",
        "Published: on Perlmutter (four A100 a node, 300 GB/s between those of a node, 12.5 GB/s",
        "beyond) the two-dimensional solve stops scaling where it leaves its node; with layers, each",
        "inside a node, it scales to 256 GPUs. Ours is a model, **no GPU ran**: the programs of our",
        "kernels in virtual time, on the machine file `perlmutter`. Each of a GPU's 216 workers takes",
        "the next task and waits for its input; messages go by the two kinds of links. The figures are",
        "those of [many_gpus_layers.md](many_gpus_layers.md), which says more, and what is missed.",
        "",
    ]
    lines += [f"- {judgement(problem, flat, layered)}" for problem, _, flat, layered in results] + [""]
    for problem, side, flat, layered in results:
        lines += (
            [f"### {problem}, {side} points a side", "", "Microseconds.", ""] + table(flat, layered) + [""]
        )
    return lines
