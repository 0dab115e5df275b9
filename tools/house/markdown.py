"""Splits a Markdown page into paragraphs, items of lists, and everything else."""

import re

MAX_COLUMNS = 110
_ITEM = re.compile(r"\s*(?:[-+*]|\d+[.)])\s")
_OTHER = re.compile(r"\s*(?:[#|>]|<|!\[|\$\$)")  # headings, tables, quotes, HTML, pictures


def blocks(text):
    """(is it prose?, its lines) for each paragraph or item, and for each other line."""
    prose, in_code = [], False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        ends = fence or in_code or not line.strip() or _OTHER.match(line)
        code = line.startswith("    ") and not prose
        # In the references, the line in italics under an entry stays a line of its own.
        starts = _ITEM.match(line) or re.fullmatch(r"\*[^*].*\*\.?", line)
        if prose and (ends or starts):
            yield True, prose
            prose = []
        if ends or code:
            yield False, [line]
        else:
            prose = [*prose, line]
        in_code ^= fence
    if prose:
        yield True, prose


def long_lines(text):
    """(line number, columns) of lines of prose that are too long and could be broken."""
    number = 0
    for is_prose, lines in blocks(text):
        for line in lines:
            number += 1
            if is_prose and len(line) > MAX_COLUMNS and " " in line.strip().lstrip("-+* "):
                yield number, len(line)
