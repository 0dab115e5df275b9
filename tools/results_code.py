#!/usr/bin/env python3
"""The size and shape of the library at several commits: docs/results/code.md.

    PYTHON tools/results_code.py COMMIT [COMMIT…]

PYTHON must import lizard. Counts what git has in palmette/ at each commit; nothing is compiled.
"""

import io
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from house.rules_classes import classes  # noqa: E402
from house.rules_functions import _cpp_functions  # noqa: E402
from house.source import code_only, includes, without_comments  # noqa: E402
from house.tree import Tree  # noqa: E402

ROWS = [
    ("rooms", "rooms"),
    ("files", "files"),
    ("lines", "lines of code, without blank lines and comments"),
    ("functions", "functions"),
    ("over_25", "of these over 25 lines"),
    ("over_100", "of these over 100 lines"),
    ("classes", "classes over 200 lines"),
    ("over_300", "files over 300 lines"),
    ("includes", "edges of the include graph: file to file of the library"),
    ("arrows", "edges of the include graph: room to room"),
    ("casts", "casts to `std::size_t`"),
]


PAGE = """# The code, counted

Made by `tools/results_code.py {commits}`, which times nothing. The first commit is the last one before the
seams were taken out: methods, tasks of ranks, virtual time and plans were described in two to four places
each. Its columns count the same rooms at each commit, the last column all rooms. The library can do much more
at the second commit (devices, layers of devices, sparse right-hand sides, entries of the inverse, transfers),
so its lines say little about the seams alone.
"""
AFTER = """
What a reader meets once instead of several times:

| description | at first | now |
| --- | --- | --- |
"""
ONCE = [
    (
        "solve methods",
        "four lists",
        "one line each in `palmette/solve/methods.inc`; commit `2b7c7a5` adds `devices_one_sync_3d` by one"
        " line and its files",
    ),
    (
        "tasks of a rank in a solve: edges",
        "the program's counters, `solve_tasks`, layers in both",
        "`palmette/tasks/rank_graph.cpp`",
    ),
    ("tasks of a rank: names and costs", "three places", "`SolvePart`, `work_of`"),
    (
        "virtual time",
        "an event loop each for predictions and simulated ranks",
        "`EventLoop`, `Interconnect::arrival`",
    ),
    ("a rank's plan", "one for a layer, one for several", "`RankSolvePlan`"),
    ("the library's objects", "compiled for the command and again for Python", "once"),
]

WAITS_TITLE = """
What a newcomer waits for, on two cores, from nothing: packages, nvcc and all builds included. Processor time
is that of all processes. The machines are shared, and the same commit takes half as long again on some days.

| what | asked | `aed677c` | 2026-11-26 |
| --- | ---: | ---: | ---: |
"""
WAITS = [
    (
        "`./quickstart`",
        "270 s, 8 processor minutes",
        "7 to 18 minutes, 23 processor minutes (another machine)",
        "418 s, 13.4 processor minutes; on another day 270 s, 8.1",
    ),
    (
        "`./check`",
        "25 minutes, with what `aed677c` tested",
        "not measured",
        "44 minutes (2,656 s) and 82 processor minutes, with all that is tested now",
    ),
    ("tests: functions of C++ and Python", "", "855", "1,924"),
    ("lines of library and tests", "", "56,642", "139,581"),
]
AFTER_WAITS = """
Seconds of stages of `./check`, alone on the machine but for short runs of others: build 869, tests 292,
the build with sanitizers 645 and its tests 174. Tried for that build, processor minutes of it and of its
tests: as it is 20.3 and 5.1; checks by calls and few functions inlined 12.9 and 9.6; calls in long functions
of tests and of files without arithmetic alone: no gain beyond the noise, and 8.1.
"""


def figures(tree, rooms):
    """Counts of the files of these rooms."""
    files = [path for path in tree.files if tree.is_cpp(path) and path.split("/")[1] in rooms]
    counts = dict.fromkeys((key for key, _ in ROWS), 0)
    counts["rooms"], counts["files"] = len(rooms), len(files)
    arrows = set()
    for path in files:
        text = tree.text(path)
        code = without_comments(text)
        counts["lines"] += sum(1 for line in code.splitlines() if line.strip())
        counts["over_300"] += len(text.splitlines()) > 300
        counts["casts"] += code.count("static_cast<std::size_t>(")
        lengths = [lines for _, _, lines, _ in _cpp_functions(tree, path)]
        counts["functions"] += len(lengths)
        counts["over_25"] += sum(lines > 25 for lines in lengths)
        counts["over_100"] += sum(lines > 100 for lines in lengths)
        counts["classes"] += sum(lines > 200 for _, _, lines in classes(code_only(text)))
        own = [name for _, name in includes(text) if name.startswith("palmette/")]
        counts["includes"] += len(set(own))
        here = path.split("/")[1]
        arrows |= {(here, name.split("/")[1]) for name in own if name.split("/")[1] != here}
    counts["arrows"] = len(arrows)
    return counts


def tree_of(commit, folder):
    """The library at a commit."""
    packed = subprocess.run(
        ["git", "-C", str(ROOT), "archive", commit, "palmette"], check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder)
    return Tree(folder)


def rooms_of(tree):
    return {path.split("/")[1] for path in tree.files if path.count("/") > 1}


def main(commits):
    with tempfile.TemporaryDirectory() as folder:
        trees = [tree_of(commit, Path(folder) / str(number)) for number, commit in enumerate(commits)]
        first = rooms_of(trees[0])
        columns = [figures(tree, first) for tree in trees] + [figures(trees[-1], rooms_of(trees[-1]))]
    titles = [f"`{commit}`" for commit in commits] + [f"`{commits[-1]}`, all rooms"]
    print(PAGE.format(commits=" ".join(commits)))
    print(f"| counted | {' | '.join(titles)} |")
    print(f"| --- |{' ---: |' * len(titles)}")
    for key, words in ROWS:
        print(f"| {words} | {' | '.join(f'{one[key]:,}' for one in columns)} |")
    print(AFTER, end="")
    for row in ONCE:
        print(f"| {' | '.join(row)} |")
    print(WAITS_TITLE, end="")
    for row in WAITS:
        print(f"| {' | '.join(row)} |")
    print(AFTER_WAITS, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
