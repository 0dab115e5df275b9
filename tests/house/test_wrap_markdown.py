"""tools/wrap_markdown.py breaks prose and nothing else."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "wrap_markdown.py"
LONG = " ".join(["word"] * 40)


def wrapped(tmp_path, text):
    page = tmp_path / "a.md"
    page.write_text(text)
    subprocess.run([sys.executable, str(TOOL), str(page)], check=True)
    return page.read_text()


def test_paragraphs_and_items_are_broken_with_the_same_words(tmp_path):
    for text in (f"# A\n\n{LONG}\nand more\n", f"- short\n- {LONG}\n  goes on\n- short\n"):
        found = wrapped(tmp_path, text)
        assert found.split() == text.split()
        assert max(map(len, found.splitlines())) <= 110
        assert wrapped(tmp_path, found) == found


def test_items_keep_their_indent(tmp_path):
    assert all(line.startswith("  word") for line in wrapped(tmp_path, f"- {LONG}\n").splitlines()[1:])


def test_no_line_begins_like_an_item(tmp_path):
    # 110 columns, so that the break would be before the dash.
    text = " ".join(["word"] * 22) + " - " + "word " * 10
    lines = wrapped(tmp_path, text + "\n").splitlines()
    assert not any(line.startswith("- ") for line in lines)


def test_code_tables_and_short_lines_stay(tmp_path):
    text = f"| {LONG} | b |\n| --- | --- |\n\n    {LONG}\n\n```\n{LONG}\n```\n\nshort\nlines\n"
    assert wrapped(tmp_path, text) == text
