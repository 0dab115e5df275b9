"""The style of the package's plots for the plots of tools/: one file says what both look like."""

import pathlib
import runpy

_STYLE = runpy.run_path(str(pathlib.Path(__file__).parents[1] / "python/palmette/_plot_style.py"))
LINES, BETTER, WORSE, INK, GRID = (_STYLE[name] for name in ("LINES", "BETTER", "WORSE", "INK", "GRID"))
line = _STYLE["line"]


def plotting():
    """matplotlib.pyplot in this style, writing files alone."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update(_STYLE["SETTINGS"])
    plt.rcParams["axes.prop_cycle"] = plt.cycler(color=LINES)
    return plt
