"""The plots of docs/results/speed.md: ratios to the best rival as bars, and a roofline."""
from plot_style import BETTER, GRID, INK, WORSE, line, plotting

from speed.figures import BEST_PHASES
from speed.goals import title_of_matrix

ROOF_COLORS = {1: "#8a8a8a", 2: INK}
KINDS = {"solve1": ("solve, 1 right-hand side", 0), "solve50": ("solve, 50", 1), "factor": ("factorize", 2)}


def draw(f, folder):
    """Writes the pictures that the rows allow; [(file name, title)]."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise SystemExit(
            f"the plots need matplotlib in this Python ({error}); --no-plots leaves them out"
        ) from error
    plt = plotting()
    drawn = [
        (bars(f, plt, folder), "Ratio to the best rival in each phase, 2 threads"),
        (roofline(f, plt, folder), "Roofline, 2 threads"),
    ]
    if f.triangles:
        drawn.append(
            (triangle_bars(f, plt, folder), "Plain triangular matrices: ratio to each rival, 2 threads")
        )
    return drawn


def one_bar_axis(axis, names, ratios, title):
    """A bar from one for each name that has a ratio; the lines of the others stay empty."""
    for place, name in enumerate(names):
        if not (value := ratios.get(name)):
            continue
        axis.barh(place, value - 1, left=1, color=BETTER if value >= 1 else WORSE, height=0.7)
        axis.annotate(
            f"{value:.2f}",
            (value, place),
            xytext=(3 if value >= 1 else -3, 0),
            textcoords="offset points",
            va="center",
            ha="left" if value >= 1 else "right",
            fontsize=8,
            color=INK,
        )
    low, high = min([*ratios.values(), 0.9]) / 1.6, max([*ratios.values(), 1.1]) * 1.7
    axis.axvline(1, color=INK, linewidth=0.8)
    axis.set_xscale("log")
    axis.set_xlim(low, high)
    ticks = [tick for tick in (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100) if low <= tick <= high]
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_title(title, fontsize=9, loc="left")
    axis.set_yticks(range(len(names)), [title_of_matrix(name) for name in names], fontsize=8)
    axis.set_ylim(len(names) - 0.5, -0.5)


def bars(f, plt, folder):
    figure, axes = plt.subplots(
        2, 3, figsize=(10, 1.6 + 0.42 * max(len(f.matrices), 4)), sharey=True, layout="constrained"
    )
    panels = [
        ("solve1", "solve, 1 right-hand side, 1 thread", 1),
        *((phase, title, 2) for phase, title in BEST_PHASES.items()),
    ]
    for axis, (phase, title, threads) in zip(axes.flat, panels):
        one_bar_axis(axis, f.matrices, f.ratios(phase, threads), title)
    figure.supxlabel(
        "best rival's time ÷ Palmette's, 2 threads where not said otherwise (above 1: Palmette is faster)",
        fontsize=9,
    )
    return saved(figure, plt, folder / "speed_ratios.png")


def triangle_bars(f, plt, folder):
    rivals = [("tri_csr", "serial CSR"), ("tri_mkl", "MKL"), ("spmp", "SpMP")]
    found = {
        title: {m: f.ratio(m, "solve1", 2, (name,), solver="palmette_tri") for m in f.triangles}
        for name, title in rivals
    }
    found = {title: {m: r for m, r in ratios.items() if r} for title, ratios in found.items()}
    found = {title: ratios for title, ratios in found.items() if ratios}
    figure, axes = plt.subplots(
        1,
        max(len(found), 1),
        figsize=(3.6 * max(len(found), 1) + 1, 1 + 0.3 * len(f.triangles)),
        squeeze=False,
        sharey=True,
        layout="constrained",
    )
    for axis, (title, ratios) in zip(axes.flat, found.items()):
        one_bar_axis(axis, f.triangles, ratios, title)
    figure.supxlabel("rival's time ÷ Palmette's, forward + backward, 2 threads", fontsize=9)
    return saved(figure, plt, folder / "speed_triangles.png")


def work_of(f, row, phase):
    """(flops, least bytes, seconds) of a phase; a factorization reads and writes its factor at least once."""
    if phase == "factor":
        return row["flops"], 16 * row["nnz_l"], row["factor_s"]
    sides = 1 if phase == "solve1" else 50
    return f.solve_flops(row, sides), f.least_bytes(row, sides), row[phase + "_s"]


def roofline(f, plt, folder):
    figure, axis = plt.subplots(figsize=(8, 5), layout="constrained")
    points = [
        (*work_of(f, f.ours(m, 2), phase), phase)
        for m in f.matrices
        for phase in KINDS
        if f.ours(m, 2).get(phase + "_s")
    ]
    intensities = [flops / least for flops, least, _, _ in points]
    low, high = min(intensities) / 2, max(intensities) * 2
    for threads, limit in f.limits.items():
        peak, read = limit["dgemm_gflops"], limit["read_gbs"]
        corner = peak / read
        axis.plot(
            [low, corner, high],
            [low * read, peak, peak],
            color=ROOF_COLORS[threads],
            linewidth=1.4,
            linestyle="-" if threads == 2 else "--",
            label=f"roof of {threads} thread{'s' if threads > 1 else ''}: "
            f"{read:.0f} GB/s, {peak:.0f} GFLOP/s",
        )
    for phase, (title, number) in KINDS.items():
        mine = [
            (flops / least, flops / seconds / 1e9) for flops, least, seconds, name in points if name == phase
        ]
        axis.plot(
            [x for x, _ in mine],
            [y for _, y in mine],
            linestyle="none",
            **line(number),
            markersize=6,
            markeredgecolor="white",
            label=title,
        )
    axis.set(
        xscale="log",
        yscale="log",
        xlim=(low, high),
        xlabel="flops per least byte",
        ylabel="GFLOP/s, 2 threads",
    )
    axis.grid(which="major", color=GRID, linewidth=0.6)
    axis.legend(frameon=False, fontsize=8, loc="lower right")
    return saved(figure, plt, folder / "speed_roofline.png")


def saved(figure, plt, path):
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path.name
