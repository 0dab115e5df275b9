"""What programs print, for pages that are made of it: a program is run once, and what it printed is read
again from where it was kept."""

import json
import subprocess


def text_of(known, *command):
    """What the command prints, or what is kept of it; `known` is the path of that file, or None where nothing
    is kept."""
    if known and known.exists():
        return known.read_text()
    text = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout
    if known:
        known.write_text(text)
    return text


def rows_of(known, *command):
    """The same of a benchmark that prints one JSON object a line; other lines are for people."""
    return [json.loads(line) for line in text_of(known, *command).splitlines() if line.startswith("{")]
