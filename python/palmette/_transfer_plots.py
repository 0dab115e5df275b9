"""Pictures of simulated transfers, for palmette.plots: one color and mark for each paradigm."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

import numpy as np

from .errors import UsageError

Results = Mapping[str, Mapping[str, Any]]  # what palmette.transfers.simulate returns
Programs = Mapping[str, Results]

# The eight colors of Okabe and Ito, which color-blind readers can tell apart, and greys; marks differ too.
STYLE: Dict[str, Tuple[str, str]] = {
    "single": ("#999999", "."),
    "copies": ("#0072B2", "o"),
    "unified_memory": ("#F0E442", "v"),
    "peer_loads": ("#CC79A7", "^"),
    "peer_stores": ("#E69F00", "s"),
    "broadcast": ("#56B4E9", "P"),
    "gps": ("#009E73", "D"),
    "finepack": ("#D55E00", "X"),
    "proact": ("#000000", "*"),
    "infinite": ("#BBBBBB", "_"),
}
PARTS = {"useful": ("#009E73", ""), "wasted": ("#D55E00", "//"), "overhead": ("#BBBBBB", "..")}


def transfer_speedups(programs: Programs, axes: Any = None) -> Any:
    """Draw how much faster than one GPU each program is under each paradigm (simulated).

    Parameters
    ----------
    programs : mapping of names to what `palmette.transfers.simulate` returned
        With several programs, their geometric mean is drawn last.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    paradigms = _common(programs)
    rows = {name: [results[one]["speedup"] for one in paradigms] for name, results in programs.items()}
    if len(rows) > 1:
        rows["mean"] = [geometric_mean(row[k] for row in rows.values()) for k in range(len(paradigms))]
    plot = _axes(axes, 1.5 + 1.15 * len(rows))
    width = 0.84 / len(paradigms)
    for k, paradigm in enumerate(paradigms):
        places = np.arange(len(rows)) + (k - (len(paradigms) - 1) / 2) * width
        heights = [row[k] for row in rows.values()]
        plot.bar(places, heights, width, color=STYLE[paradigm][0], edgecolor="0.3", linewidth=0.4,
                 label=_word(paradigm))
    plot.set_xticks(range(len(rows)), labels=[_word(name) for name in rows])
    plot.axhline(1, color="0.4", linewidth=0.8)
    plot.set_ylabel("speed-up over one GPU (simulated)")
    _finish(plot, below=axes is None)
    return plot


def transfer_bytes(programs: Programs, axes: Any = None) -> Any:
    """Draw bytes on the wire, useful, wasted and overhead, in units of what copies move (simulated).

    Parameters
    ----------
    programs : mapping of names to what `palmette.transfers.simulate` returned
        With "copies" among the paradigms.
    axes : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    paradigms = [one for one in _common(programs) if one not in ("single", "infinite")]
    if "copies" not in paradigms:
        raise UsageError("bytes are drawn in units of those of copies; simulate 'copies' too")
    plot = _axes(axes, 1.5 + 0.42 * len(paradigms) * len(programs))
    labels: List[str] = []
    place = 0.0
    places: List[float] = []
    for name, results in programs.items():
        unit = max(1, results["copies"]["wire_bytes"])
        for paradigm in paradigms:
            bottom = 0.0
            for part, (color, hatch) in PARTS.items():
                height = results[paradigm][f"{part}_bytes"] / unit
                plot.bar(place, height, 0.8, bottom, color=color, hatch=hatch, edgecolor="0.3",
                         linewidth=0.4, label=part if not places else None)
                bottom += height
            labels.append(_word(paradigm))
            places.append(place)
            place += 1
        plot.text(place - len(paradigms) / 2 - 0.5, 1.01, _word(name), ha="center", va="bottom",
                  transform=plot.get_xaxis_transform())
        place += 0.8
    plot.set_xticks(places, labels=labels, rotation=90, fontsize=8)
    plot.set_ylabel("bytes on the wire, copies = 1")
    plot.set_yscale("symlog", linthresh=2)
    plot.set_yticks([0, 1, 2, 5, 10, 50, 300], labels=["0", "1", "2", "5", "10", "50", "300"])
    plot.set_ylim(bottom=0)
    _finish(plot, below=axes is None)
    return plot


def transfer_sweep(
    runs: Mapping[float, Programs],
    figure: str = "speedup",
    axes: Any = None,
    *,
    label: str = "",
    each_program: bool = False,
) -> Any:
    """Draw a figure of the paradigms against something that was varied (simulated).

    Parameters
    ----------
    runs : mapping of the varied number to programs' results
    figure : str
        A name of `palmette.transfers.simulate`'s figures, such as "speedup" or "wire_bytes".
    axes : matplotlib axes, optional
    label : str
        What was varied.
    each_program : bool
        Thin lines for each program beside the geometric mean of all.

    Returns
    -------
    matplotlib axes
    """
    first = next(iter(runs.values()))
    plot = _axes(axes, 6.4)
    numbers = list(runs)
    for paradigm in _common(first):
        color, mark = STYLE[paradigm]
        if each_program:
            for name in first:
                values = [programs[name][paradigm][figure] for programs in runs.values()]
                plot.plot(numbers, values, color=color, linewidth=0.7, alpha=0.6)
                plot.annotate(_word(name), (numbers[-1], values[-1]), fontsize=7, color="0.3",
                              xytext=(4, -2), textcoords="offset points")
        means = [
            geometric_mean(results[paradigm][figure] for results in programs.values())
            for programs in runs.values()
        ]
        plot.plot(numbers, means, color=color, marker=mark, markeredgecolor="0.3", label=_word(paradigm))
    plot.set_xlabel(label)
    plot.set_ylabel("speed-up over one GPU (simulated)" if figure == "speedup" else _word(figure))
    _finish(plot, below=axes is None)
    return plot


def geometric_mean(values: Iterable[float]) -> float:
    """Of positive numbers; 0 if one is 0."""
    found = np.array(list(values), dtype=float)
    return float(np.exp(np.log(found).mean())) if (found > 0).all() else 0.0


def _common(programs: Programs) -> List[str]:
    """Paradigms that all programs have, in the order of the first."""
    if not programs:
        raise UsageError("there is no program to draw")
    every = list(programs.values())
    found = [one for one in every[0] if all(one in results for results in every)]
    if not found:
        raise UsageError("these programs have no paradigm in common; simulate them with the same ones")
    return found


def _word(name: str) -> str:
    known = {"gps": "GPS", "finepack": "FinePack", "proact": "PROACT", "sssp": "SSSP", "als": "ALS",
             "ct": "CT", "jacobi": "Jacobi", "pagerank": "PageRank"}  # fmt: skip
    return known.get(name, name.replace("_", " "))


def _axes(axes: Optional[Any], width: float) -> Any:
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.figure(figsize=(max(5.0, min(width, 13.0)), 4.2), layout="constrained").add_subplot()


def _finish(plot: Any, below: bool) -> None:
    plot.grid(axis="y", color="0.9", zorder=0)
    plot.set_axisbelow(True)
    for side in ("top", "right"):
        plot.spines[side].set_visible(False)
    owner, where = (plot.figure, "outside lower center") if below else (plot, "best")
    handles, labels = plot.get_legend_handles_labels()
    owner.legend(handles, labels, loc=where, ncol=5 if below else 1, frameon=False, fontsize=8)
