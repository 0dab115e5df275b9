"""The output of programs, for pages that are made from it: a program is run once, and later its stored output
is read."""

import json
import subprocess


def text_of(known, *command):
    """The output of the command, or its stored output; `known` is the path of that file, or None if nothing
    is stored."""
    if known and known.exists():
        return known.read_text()
    text = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
    if known:
        known.write_text(text)
    return text


def rows_of(known, *command):
    """The same for a benchmark that prints one JSON object per line; other lines are for people."""
    return [json.loads(line) for line in text_of(known, *command).splitlines() if line.startswith("{")]
