"""The rule about classes of C++: how many lines one may have. What it contains counts."""

import re

from house.source import code_only, line_of
from house.tree import Finding

MAX_CLASS_LINES = 200
# From the keyword to the brace: a name with attributes before it and bases behind it, but no parenthesis or
# semicolon. After `enum`, and among the parameters of a template, the word means something else.
_CLASS = re.compile(
    r"(?<!enum )(?<![<,] )(?<![<,\w])(?:class|struct)\s+(?:\[\[\w+\]\]\s*)?"
    r"([\w:]+(?:<[^;{}()]*?>)?(?:::\w+)*)"
    r"\s*(?:final\s*)?(?::(?!:)[^;{}()]*)?\{"
)


def _end_of(code, opening):
    """The position of the brace that closes the one at `opening`, or −1."""
    depth = 0
    for brace in re.finditer(r"[{}]", code[opening:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opening + brace.start()
    return -1


def classes(code):
    """(name, first line, lines) of each class in code without comments."""
    for match in _CLASS.finditer(code):
        end = _end_of(code, match.end() - 1)
        if end >= 0:
            first = line_of(code, match.start())
            yield match[1], first, line_of(code, end) - first + 1


def class_sizes(tree, architecture):
    for path in tree.cpp_files():
        if not path.startswith("palmette/"):
            continue
        for name, line, lines in classes(code_only(tree.text(path) or "")):
            if lines > MAX_CLASS_LINES:
                what = f"{name} has {lines} lines, more than {MAX_CLASS_LINES}"
                yield Finding(path, line, "class-length", what, "split it by what it holds", name)
