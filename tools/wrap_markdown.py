#!/usr/bin/env python3
"""Breaks the prose of Markdown pages at 110 columns, as the house check wants it.

    python3 tools/wrap_markdown.py FILE…

A paragraph or an item of a list is filled anew if one of its lines is too long; all others stay as they are,
and so do tables, headings, comments and code.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from house.markdown import MAX_COLUMNS, blocks  # noqa: E402

# A line that begins with one of these would be an item, a heading or a row of a table.
_SPECIAL = re.compile(r"[>|]|(?:[-+*]|#+|\d+[.)])$")


def filled(lines):
    """The lines of one paragraph or item, none too long where a space allows it."""
    first = re.match(r"\s*(?:[-+*]\s+|\d+[.)]\s+)?", lines[0])[0]
    indent = re.match(r"\s*", lines[1])[0] if len(lines) > 1 else " " * len(first)
    words = " ".join(line.strip() for line in lines)[len(first.strip()) :].split()
    result, current = [], [words[0]]
    for word in words[1:]:
        start = indent if result else first
        if len(start + " ".join([*current, word])) > MAX_COLUMNS:
            carried = [word]
            while _SPECIAL.match(carried[0]) and len(current) > 1:
                carried.insert(0, current.pop())
            result.append(start + " ".join(current))
            current = carried
        else:
            current.append(word)
    return [*result, (indent if result else first) + " ".join(current)]


def wrapped(text):
    """The page with long lines broken."""
    result = []
    for is_prose, lines in blocks(text):
        too_long = is_prose and any(len(line) > MAX_COLUMNS for line in lines)
        result += filled(lines) if too_long else lines
    return "\n".join(result) + "\n"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        page = Path(name)
        before = page.read_text()
        after = wrapped(before)
        if after != before:
            page.write_text(after)
