"""The one style of Palmette's plots. Its colors can be told apart with every kind of color vision, and lines
have markers as well. Imports nothing, so that programs beside the package can load this file alone.

@source [Wong 2011] for the colors of lines
"""

# blue, vermilion, green, purple, orange, sky, black
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MATRIX = (0.08, 0.20, 0.37)  # what is given, and what is reached
FILL = (0.93, 0.56, 0.16)    # what is added, and limits
BETTER, WORSE = "#0072b2", "#d55e00"
INK, GRID = "#222222", "#e4e4e4"
DENSITY = "viridis"          # for sizes
SETTINGS = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "legend.edgecolor": "none",  # without a frame, but in front of lines
}


def line(number: int) -> dict:
    """Color and marker of a line, counted from 0."""
    return {"color": LINES[number % len(LINES)], "marker": MARKERS[number % len(MARKERS)]}
