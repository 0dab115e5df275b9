"""The colors of plots can be told apart with every kind of color vision, and no plot has others."""

import itertools
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import plot_style  # noqa: E402

# Linear RGB as eyes see it whose receptors for red, green or blue are missing [Machado et al. 2009], table 1.
SEEN_BY = {
    "all receptors": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "no green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "no blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(color):
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def lab(color, vision):
    """CIE L*a*b* of a color as it is seen."""
    seen = [min(1, max(0, sum(m * c for m, c in zip(row, linear(color))))) for row in vision]
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.0890)
    xyz = [sum(m * c for m, c in zip(row, seen)) / w for row, w in zip(rows, white)]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def least_difference(colors, vision):
    """CIE 1976 difference of the two colors that are most alike; about 2.3 can just be noticed."""
    points = [lab(color, vision) for color in colors]
    return min(sum((a - b) ** 2 for a, b in zip(p, q)) ** 0.5 for p, q in itertools.combinations(points, 2))


@pytest.mark.parametrize("vision", SEEN_BY)
def test_lines_can_be_told_apart(vision):
    assert least_difference(plot_style.LINES, SEEN_BY[vision]) > 12
    assert least_difference((plot_style.BETTER, plot_style.WORSE), SEEN_BY[vision]) > 40


def test_colors_that_look_alike_without_a_receptor_are_noticed():
    assert least_difference(("#ff7f0e", "#8fb400"), SEEN_BY["all receptors"]) > 30
    assert least_difference(("#ff7f0e", "#8fb400"), SEEN_BY["no green"]) < 12


def test_lines_differ_in_more_than_color():
    lines = [plot_style.line(number) for number in range(len(plot_style.LINES))]
    assert len({line["marker"] for line in lines}) == len({line["color"] for line in lines}) == len(lines)


def test_plots_take_their_colors_from_the_style():
    found = []
    for path in [*sorted((ROOT / "tools").rglob("*.py")), ROOT / "python/palmette/plots.py"]:
        text = path.read_text()
        if "matplotlib" not in text and "plotting" not in text:
            continue
        others = re.findall(
            r"color=f?[\"'](?:C\{|C\d|#|tab:|r\b|g\b|red|green)[^\"']*[\"']|[\"'][-osx^]+[rgbcmy][\"']", text
        )
        found += [f"{path.relative_to(ROOT)}: {other}" for other in others]
    assert found == []
