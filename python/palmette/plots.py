"""Plots of sparsity, supernodes, elimination tree, bandwidth beside the machine's limit, and transfers.

Each function draws into the given axes or a new figure, and returns the axes. matplotlib is imported at the
first plot. Matrices of any size can be drawn: large ones as densities, at most `PIXELS` wide.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, Tuple, Union

import numpy as np

from . import _input, _plot_style
from ._solver import Solver
from ._transfer_plots import transfer_bytes, transfer_speedups, transfer_sweep
from .errors import UsageError

__all__ = [
    "bandwidth",
    "elimination_tree",
    "sparsity",
    "supernodes",
    "transfer_bytes",
    "transfer_speedups",
    "transfer_sweep",
]

PIXELS = 400            # cells of a density, each way
MOST_RECTANGLES = 20000  # blocks that are drawn one by one
MOST_NODES = 1500       # nodes of a tree that are drawn

_MATRIX_COLOR = _plot_style.MATRIX
_FILL_COLOR = _plot_style.FILL
_COLORS = _plot_style.DENSITY


def sparsity(A: Any, solver: Optional[Solver] = None, axes: Any = None) -> Any:
    """Draw the pattern of A as given, and as it is factorized: reordered, with the fill that the factor adds.

    Parameters
    ----------
    A : array_like or any SciPy sparse array or matrix, shape (n, n)
    solver : Solver, optional
        A solver of A; otherwise one is made.
    axes : sequence of two matplotlib axes, optional

    Returns
    -------
    array of two matplotlib axes

    Examples
    --------
    >>> import palmette.plots
    >>> axes = palmette.plots.sparsity(palmette.generate("poisson2d5", 12))  # doctest: +SKIP
    """
    A = _input.as_csc(A)
    solver = _solver_of(A, solver)
    structure = solver.structure()
    n = A.shape[0]
    left, right = _two_axes(axes)
    rows, columns = _coordinates(A)
    _draw_density(left, _density(rows, columns, n), n, _MATRIX_COLOR)
    left.set_title(f"A: {A.nnz:,} entries")
    position_of_row, position_of_column = np.argsort(structure["row"]), np.argsort(structure["column"])
    entries = _density(position_of_row[rows], position_of_column[columns], n)
    lower = _factor_density(structure, n)
    _draw_density(right, lower + lower.T, n, _FILL_COLOR)
    _draw_density(right, entries, n, _MATRIX_COLOR)
    filled = 2 * _factor_entries(structure) - n
    right.set_title(f"reordered: {filled:,} entries in {'L + U' if solver.kind == 'lu' else 'L + Lᵀ'}")
    _key(right, {"entries of A": _MATRIX_COLOR, "fill": _FILL_COLOR})
    for plot in (left, right):
        _matrix_axes(plot, n)
    return np.array([left, right])


def supernodes(A: Any, axes: Any = None) -> Any:
    """Draw the blocks of the factor L; the color of each shows the number of columns of its supernode.

    Parameters
    ----------
    A : Solver, or a matrix
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    structure = _structure(A)
    plot = _one_axes(axes)
    begin = structure["supernode_begin"]
    n, widths = int(begin[-1]), np.diff(begin)
    tops, heights, owner = _blocks(structure)
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LogNorm
    colors = ScalarMappable(norm=LogNorm(1, max(2, widths.max(initial=2))), cmap=_COLORS)
    if len(tops) <= MOST_RECTANGLES:
        _draw_rectangles(plot, (begin[owner], tops, widths[owner], heights), colors.to_rgba(widths[owner]))
    else:
        mean_width = _factor_density(structure, n, by_width=True)
        plot.imshow(np.ma.masked_equal(mean_width, 0), extent=(0, n, n, 0), cmap=_COLORS, norm=colors.norm,
                    interpolation="nearest", aspect="equal")
    _matrix_axes(plot, n)
    plot.set_title(f"L: {len(widths):,} supernodes, {_factor_entries(structure):,} entries")
    bar = plot.figure.colorbar(colors, ax=plot, shrink=0.75, label="columns of the supernode")
    ticks = [width for width in 2 ** np.arange(12) if width <= widths.max(initial=2)]
    bar.set_ticks(ticks, labels=[str(width) for width in ticks])
    bar.minorticks_off()
    return plot


def elimination_tree(A: Any, axes: Any = None) -> Any:
    """Draw the tree of supernodes, with roots at the top; the area of a node shows the size of its panel.

    If there are very many supernodes, small subtrees are omitted; the title says how many.

    Parameters
    ----------
    A : Solver, or a matrix
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    structure = _structure(A)
    plot = _one_axes(axes)
    parent = structure["parent"]
    widths = np.diff(structure["supernode_begin"])
    panels = widths * (widths + np.diff(structure["row_ptr"]))
    shown = _largest_subtrees(parent, widths)
    across, depth = _tree_layout(parent, shown)
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LogNorm
    nodes = np.flatnonzero(shown)
    children = nodes[parent[nodes] >= 0]
    ends = np.stack([np.stack([across[children], depth[children]], -1),
                     np.stack([across[parent[children]], depth[parent[children]]], -1)], axis=1)
    plot.add_collection(LineCollection(list(ends), colors="0.6", linewidths=0.6, zorder=1))
    largest = max(1, panels.max(initial=1))
    area = 4 + 220 * panels[nodes] / largest
    dots = plot.scatter(
        across[nodes],
        depth[nodes],
        s=area,
        c=widths[nodes],
        cmap=_COLORS,
        norm=LogNorm(1, max(2, widths.max(initial=2))),
        zorder=2,
        edgecolors="white",
        linewidths=0.3,
    )
    bar = plot.figure.colorbar(dots, ax=plot, shrink=0.75, label="columns of the supernode")
    ticks = [width for width in 2 ** np.arange(12) if width <= widths.max(initial=2)]
    bar.set_ticks(ticks, labels=[str(width) for width in ticks])
    bar.minorticks_off()
    hidden = len(parent) - len(nodes)
    plot.set_title(
        f"Elimination tree: {len(parent):,} supernodes"
        + (f" ({hidden:,} in small subtrees not shown)" if hidden else "")
    )
    plot.set_ylabel("supernodes to the root")
    plot.yaxis.get_major_locator().set_params(integer=True)
    plot.set_xticks([])
    plot.margins(0.03, 0.05)
    plot.invert_yaxis()
    for side in ("top", "right", "bottom"):
        plot.spines[side].set_visible(False)
    return plot


def bandwidth(runs: Union[Solver, Mapping[str, Any]], axes: Any = None) -> Any:
    """Draw the bandwidth of solves, compared with the memory bandwidth of this machine.

    Parameters
    ----------
    runs : Solver, or mapping of names to solvers or reports
        Each after a solve with ``measure=True`` (the default); use ``repeat=5`` or more, since a single solve
        is noisy.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Notes
    -----
    The bar is the least number of bytes that a solve must move, divided by its time. The roof is the
    measured stream bandwidth with the threads of that run, lowered if the critical path of its tasks takes
    longer than moving the bytes. A bar may exceed the roof if the factor fits into a cache.
    """
    named = runs if isinstance(runs, Mapping) else {"": runs}
    solves = {name: _solve_section(name, run) for name, run in named.items()}
    plot = _one_axes(axes, height=1.7 + 0.45 * len(solves))
    places = np.arange(len(solves))
    reached = np.array([solve["bandwidth_gbs"] for solve in solves.values()])
    roofs = np.array([_roof(solve) for solve in solves.values()])
    plot.barh(places, reached, height=0.6, color=_MATRIX_COLOR, label="reached", zorder=2)
    plot.hlines(places, reached, roofs, color="0.75", linewidth=1, zorder=1)
    plot.plot(
        roofs,
        places,
        linestyle="none",
        marker="|",
        markersize=22,
        markeredgewidth=2.5,
        color=_FILL_COLOR,
        label="roof",
        zorder=3,
    )
    right = max(roofs.max(initial=1e-9), reached.max(initial=0))
    for place, speed, roof in zip(places, reached, roofs):
        plot.text(
            right * 1.04, place, f"{speed:.1f} GB/s, {speed / roof:.0%}", va="center", ha="left", fontsize=9
        )
    plot.set_yticks(places, labels=[_label(name, solve) for name, solve in solves.items()])
    plot.set_xlim(0, right * 1.36)
    plot.set_xlabel("GB/s")
    plot.set_title("Bandwidth of solves against their roof")
    plot.grid(axis="x", color="0.9", zorder=0)
    plot.set_axisbelow(True)
    for side in ("top", "right", "left"):
        plot.spines[side].set_visible(False)
    plot.tick_params(axis="y", length=0)
    plot.set_ylim(len(solves) - 0.4, -0.6)
    owner, where = (plot, "best") if axes is not None else (plot.figure, "outside lower center")
    owner.legend(*plot.get_legend_handles_labels(), loc=where, ncol=2, frameon=False, markerscale=0.6)
    return plot


def _label(name: str, solve: Dict[str, Any]) -> str:
    sides = f"{solve['num_rhs']} right-hand side" + ("s" if solve["num_rhs"] != 1 else "")
    threads = f"{solve['threads']} thread" + ("s" if solve["threads"] != 1 else "")
    return f"{name or solve['method']}\n{sides}, {threads}"


def _roof(solve: Dict[str, Any]) -> float:
    path = solve["critical_path_seconds"] or 0.0
    return min(solve["stream_gbs"], solve["bytes"] / path / 1e9) if path else solve["stream_gbs"]


def _solve_section(name: str, run: Any) -> Dict[str, Any]:
    report = run if isinstance(run, Mapping) else run.report
    solve = report["solve"]
    if solve is None:
        raise UsageError(f"{name or 'the solver'} has not solved anything yet; call solve first")
    if solve["stream_gbs"] is None:
        raise UsageError(
            f"{name or 'the solver'} was made with measure=False, so there is no roof to compare with"
        )
    return solve


def _solver_of(A: Any, solver: Optional[Solver]) -> Solver:
    if solver is None:
        return Solver(A, measure=False)
    if solver.shape != A.shape:
        raise UsageError(f"the solver is of a matrix of shape {solver.shape}, A has shape {A.shape}")
    return solver


def _structure(A: Any) -> Dict[str, np.ndarray]:
    return A.structure() if isinstance(A, Solver) else Solver(A, measure=False).structure()


def _one_axes(axes: Any, height: float = 5.2) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt
    return plt.subplots(figsize=(6.8, height), layout="constrained")[1]


def _two_axes(axes: Any) -> Tuple[Any, Any]:
    if axes is None:
        import matplotlib.pyplot as plt
        axes = plt.subplots(1, 2, figsize=(10, 5.2), layout="constrained")[1]
    left, right = axes
    return left, right


def _matrix_axes(plot: Any, n: int) -> None:
    plot.set_xlim(0, max(n, 1))
    plot.set_ylim(max(n, 1), 0)
    plot.set_aspect("equal")
    plot.tick_params(length=3, labelsize=8)
    plot.xaxis.get_major_locator().set_params(integer=True, nbins=5)
    plot.yaxis.get_major_locator().set_params(integer=True, nbins=5)
    for spine in plot.spines.values():
        spine.set_color("0.7")


def _key(plot: Any, colors: Dict[str, Any]) -> None:
    from matplotlib.patches import Patch
    plot.legend(
        handles=[Patch(color=color, label=name) for name, color in colors.items()],
        loc="upper right",
        fontsize=9,
        framealpha=0.9,
    )


def _coordinates(A: Any) -> Tuple[np.ndarray, np.ndarray]:
    return A.indices, np.repeat(np.arange(A.shape[1]), np.diff(A.indptr))


def _bin_edges(n: int) -> np.ndarray:
    """First row of each cell of a density, and n."""
    bins = max(1, min(n, PIXELS))
    return (np.arange(bins + 1) * n) // bins


def _bin_of(places: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.searchsorted(edges, places, side="right") - 1


def _density(
    rows: np.ndarray, columns: np.ndarray, n: int, weights: Optional[np.ndarray] = None
) -> np.ndarray:
    """Entries in each cell of the picture."""
    edges = _bin_edges(n)
    bins = len(edges) - 1
    cell = _bin_of(rows, edges) * bins + _bin_of(columns, edges)
    return np.bincount(cell, weights=weights, minlength=bins * bins).reshape(bins, bins)


def _factor_density(structure: Dict[str, np.ndarray], n: int, by_width: bool = False) -> np.ndarray:
    """Entries of L in each cell, or the mean width of the supernodes that they belong to.

    A row of a panel visits the cells of the columns of its supernode one after the other.
    """
    begin = structure["supernode_begin"].astype(np.int64)
    edges, widths = _bin_edges(n), np.diff(begin)
    rows = np.concatenate([np.arange(n), structure["row_index"]])
    owner = np.concatenate(
        [
            np.repeat(np.arange(len(widths)), widths),
            np.repeat(np.arange(len(widths)), np.diff(structure["row_ptr"])),
        ]
    )
    # in the diagonal block: up to the diagonal
    last = np.where(np.arange(len(rows)) < n, rows + 1, begin[owner + 1])
    first_cell = _bin_of(begin[:-1], edges)
    cells = _bin_of(begin[1:] - 1, edges) - first_cell + 1
    density, weighted = np.zeros((2, len(edges) - 1, len(edges) - 1))
    for step in range(int(cells.max(initial=0))):
        cell = first_cell[owner] + step
        inside = cell < len(edges) - 1
        low = edges[np.minimum(cell, len(edges) - 2)]
        high = edges[np.minimum(cell, len(edges) - 2) + 1]
        overlap = np.where(inside, np.minimum(last, high) - np.maximum(begin[owner], low), 0)
        there = overlap > 0
        density = density + _density(rows[there], low[there], n, overlap[there])
        weighted = weighted + _density(rows[there], low[there], n, (overlap * widths[owner])[there])
    if not by_width:
        return density
    return np.divide(weighted, density, out=np.zeros_like(weighted), where=density > 0)


def _draw_density(plot: Any, density: np.ndarray, n: int, color: Tuple[float, float, float]) -> None:
    """Cells with entries: always visible, and opaque if they are full."""
    is_large = n > PIXELS
    picture = np.empty((*density.shape, 4))
    picture[..., :3] = color
    fullness = density / max(density.max(initial=1), 1)
    picture[..., 3] = np.where(density > 0, 0.35 + 0.65 * np.sqrt(fullness), 0) if is_large else density > 0
    plot.imshow(picture, interpolation="nearest", extent=(0, max(n, 1), max(n, 1), 0), aspect="equal")


def _factor_entries(structure: Dict[str, np.ndarray]) -> int:
    """Entries of the blocks of L, diagonal blocks as triangles."""
    widths = np.diff(structure["supernode_begin"]).astype(np.int64)
    return int((widths * (widths + 1) // 2 + widths * np.diff(structure["row_ptr"])).sum())


def _blocks(structure: Dict[str, np.ndarray]) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(top row, height, supernode) of all runs of adjacent rows, the diagonal blocks first."""
    begin, pointers, rows = (structure[name] for name in ("supernode_begin", "row_ptr", "row_index"))
    widths = np.diff(begin)
    owner = np.repeat(np.arange(len(widths)), np.diff(pointers))
    starts = np.ones(len(rows), dtype=bool)
    starts[1:] = (np.diff(rows) != 1) | (np.diff(owner) != 0)
    first = np.flatnonzero(starts)
    heights = np.diff(np.append(first, len(rows)))
    return (np.concatenate([begin[:-1], rows[first]]), np.concatenate([widths, heights]),
            np.concatenate([np.arange(len(widths)), owner[first]]))


def _draw_rectangles(plot: Any, boxes: Tuple[np.ndarray, ...], colors: Any) -> None:
    """Boxes as (left, top, width, height); those on the diagonal as triangles."""
    from matplotlib.collections import PolyCollection
    left, top, width, height = boxes
    right, bottom = left + width, top + height
    upper_right = np.where(top == left, left, right)
    corners = np.stack(
        [
            np.stack([left, top], -1),
            np.stack([upper_right, top], -1),
            np.stack([right, bottom], -1),
            np.stack([left, bottom], -1),
        ],
        axis=1,
    )
    plot.add_collection(PolyCollection(list(corners), facecolors=colors, edgecolors=colors, linewidths=0.4))


def _largest_subtrees(parent: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Which nodes are drawn: all, or those with the largest subtrees (always with all their ancestors)."""
    columns = widths.astype(np.int64)
    for node, above in enumerate(parent):  # children come before their parents
        if above >= 0:
            columns[above] += columns[node]
    if len(parent) <= MOST_NODES:
        return np.ones(len(parent), dtype=bool)
    return columns > np.sort(columns)[-MOST_NODES - 1]


def _tree_layout(parent: np.ndarray, shown: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """Place of each node across (leaves side by side, parents in the middle of their children), and its
    depth."""
    across, depth = np.zeros(len(parent)), np.zeros(len(parent))
    low, high = np.full(len(parent), np.inf), np.full(len(parent), -np.inf)
    leaves = 0
    for node in np.flatnonzero(shown):
        if np.isinf(low[node]):
            low[node] = high[node] = leaves
            leaves += 1
        across[node] = (low[node] + high[node]) / 2
        if parent[node] >= 0:
            low[parent[node]] = min(low[parent[node]], across[node])
            high[parent[node]] = max(high[parent[node]], across[node])
    for node in np.flatnonzero(shown)[::-1]:
        if parent[node] >= 0:
            depth[node] = depth[parent[node]] + 1
    return across, depth
