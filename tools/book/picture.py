"""Draws the picture of the home page: an elimination tree, trained flat along a trellis like a palmette.

    python3 tools/book/picture.py docs/book/palmette.svg

The tree is that of a 31 × 31 grid under geometric nested dissection: a node is a separator, the line of
points that halves its part of the grid; the root, at the bottom, is eliminated last. The thickness of a
branch grows with the square root of the number of points above it.
"""

import dataclasses
import math
import pathlib
import sys

POINTS = 31  # of a side of the grid
SMALLEST = 4  # a part with sides of at most this many points is a leaf
WIDTH, HEIGHT = 1000, 470
ROOT = (500, 452)
BARK, LEAF, BUD = (124, 90, 62), (78, 138, 74), (226, 142, 38)


@dataclasses.dataclass
class Node:
    depth: int
    points: int  # of the part of the grid that the node separates
    children: list
    angle: float = 0


def dissected(width, height, depth=0):
    """The elimination tree of a width × height grid: halved across its longer side, again and again."""
    node = Node(depth, width * height, [])
    if max(width, height) > SMALLEST:
        across, along = sorted((width, height))
        half = (along - 1) // 2
        node.children = [dissected(across, part, depth + 1) for part in (half, along - 1 - half)]
    return node


def nodes_of(node):
    yield node
    for child in node.children:
        yield from nodes_of(child)


def spread(root):
    """Leaves side by side over the fan; a parent between its children."""
    leaves = [node for node in nodes_of(root) if not node.children]
    for place, leaf in enumerate(leaves):
        leaf.angle = math.radians(174 - 168 * place / (len(leaves) - 1))

    def settle(node):
        if node.children:
            node.angle = sum(settle(child) for child in node.children) / len(node.children)
        return node.angle

    settle(root)
    return leaves


def place_of(node, deepest):
    """The fan is wider than high."""
    share = (node.depth / deepest) ** 0.82
    return (ROOT[0] + 462 * share * math.cos(node.angle), ROOT[1] - 408 * share * math.sin(node.angle))


def colour_of(share):
    """From bark to leaf."""
    return "#" + "".join(f"{round(a + (b - a) * share**1.6):02x}" for a, b in zip(BARK, LEAF))


def branch(node, child, deepest, most):
    """A branch leaves along its parent's direction and arrives along its own."""
    (x, y), (u, v) = place_of(node, deepest), place_of(child, deepest)
    pull = 0.4 * math.hypot(u - x, v - y)
    lead = (node.angle + child.angle) / 2 if node.depth else math.pi / 2
    bends = (
        x + pull * math.cos(lead), y - 0.9 * pull * math.sin(lead),
        u - pull * math.cos(child.angle), v + 0.9 * pull * math.sin(child.angle),
    )  # fmt: skip
    width = 1 + 15 * math.sqrt(child.points / most)
    curve = f"M{x:.1f} {y:.1f}C" + " ".join(f"{value:.1f}" for value in (*bends, u, v))
    return f'<path d="{curve}" stroke="{colour_of(child.depth / deepest)}" stroke-width="{width:.1f}"/>'


def leaf_shape(leaf, deepest):
    x, y = place_of(leaf, deepest)
    turn = -math.degrees(math.atan2(0.9 * math.sin(leaf.angle), math.cos(leaf.angle)))
    outline = "M-2 0C4 -8.5 15 -8 22 0C15 8 4 8.5 -2 0Z"
    return f'<path d="{outline}" transform="translate({x:.1f} {y:.1f})rotate({turn:.1f})"/>'


def wires():
    """The trellis."""
    lines = [f"M20 {y}H{WIDTH - 20}" for y in range(60, HEIGHT - 20, 56)]
    posts = [f"M{x} 24V{HEIGHT - 16}" for x in (40, WIDTH // 2, WIDTH - 40)]
    look = 'stroke="#8b8f94" stroke-opacity=".38" stroke-width="1.2" fill="none"'
    return f'<path d="{"".join(lines + posts)}" {look}/>'


def drawing():
    root = dissected(POINTS, POINTS)
    leaves = spread(root)
    deepest = max(node.depth for node in nodes_of(root))
    inner = sorted((node for node in nodes_of(root) if node.children), key=lambda node: -node.depth)
    branches = [branch(node, child, deepest, root.points) for node in inner for child in node.children]
    buds = [
        f'<circle cx="{place_of(node, deepest)[0]:.1f}" cy="{place_of(node, deepest)[1]:.1f}"'
        f' r="{1.6 + 6 * math.sqrt(node.points / root.points):.1f}"/>'
        for node in inner
    ]
    separators = sum(1 for node in nodes_of(root) if node.children)
    name = f"The elimination tree of a {POINTS} by {POINTS} grid, with {separators} separators, as a fan"
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', wires()]
    lines += ['<g fill="none" stroke-linecap="round">', *branches, "</g>"]
    lines += [f'<g fill="{colour_of(1)}">', *(leaf_shape(leaf, deepest) for leaf in leaves), "</g>"]
    lines += [f'<g fill="rgb{BUD}">', *buds, "</g>", "</svg>"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).write_text(drawing())
