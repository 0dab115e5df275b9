#!/usr/bin/env python3
"""Published results of [Liu et al. 2023], [Ding et al. 2020], [Bellavita et al. 2023] and [Muthukrishnan
2022] compared with ours: docs/results/reproduction.md and its plots.

    PYTHON tools/results_reproduction.py [--long] [--only CHAPTER] [--build FOLDER] [--keep FOLDER]

PYTHON needs matplotlib, and palmette for the last chapter. Runs programs of FOLDER (default build/release;
configure with -DPALMETTE_BENCH=ON): bench_rank_decompositions, `palmette simulate-cluster` and `palmette
simulate-transfers`. Times are virtual: they do not depend on what else this machine does. --long: s2D9pt
2048² instead of 1024², which needs some 20 GB. --only: a chapter alone, gpus (L5, by bench_many_gpus) in
half a minute, offload in a minute or transfers in some ten. --keep: a folder from which outputs are read, or
to which they are written.
"""

import argparse
import json
import pathlib
import subprocess
import tempfile

import kept_output
from reproduction import gpus, grids, layers, offload, transfers

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAST_CHAPTERS = {"offload": offload, "transfers": transfers}
ALONE = {"gpus": gpus, **LAST_CHAPTERS}  # what --only makes


class Runner:
    """Runs a program once and stores its output."""

    def __init__(self, build, keep):
        self.build = pathlib.Path(build)
        self.keep = pathlib.Path(keep)
        self.keep.mkdir(parents=True, exist_ok=True)

    def rows(self, name, program, *arguments):
        """One JSON object per line."""
        return kept_output.rows_of(self.keep / name, self.build / program, *arguments)

    def matrix(self, problem, side):
        """A generated model problem, as a file."""
        path = self.keep / f"{problem}_{side}.mtx"
        if not path.exists():
            subprocess.run(
                [self.build / "cli/palmette", "generate", problem, "--n", str(side), "--out", str(path)],
                check=True,
                capture_output=True,
            )
        return path

    def document(self, name, program, *arguments):
        """One JSON document."""
        return json.loads(kept_output.text_of(self.keep / name, self.build / program, *arguments))


def write_report(run, side):
    folder = ROOT / "docs/results"
    lines = [
        "# What the papers published, and what we get",
        "",
        (
            "Made by `tools/results_reproduction.py`. The papers are [Liu et al. 2023](../REFERENCES.md), on"
            " solves over layers of ranks,"
        ),
        (
            "[Ding et al. 2020](../REFERENCES.md), on one-sided communication and process grids,"
            " [Bellavita et al. 2023](../REFERENCES.md), on GPUs in a factorization, and"
            " [Muthukrishnan 2022](../REFERENCES.md), on transfers among GPUs. Their machines"
        ),
        (
            "are gone or not ours, so all times here are **simulated**: mostly the rank programs that run"
            " over MPI, under virtual time, on machine files whose"
        ),
        (
            "numbers are mostly estimates (data/machines says which). Counts are exact. Trends and bands are"
            " compared, not seconds."
        ),
        "",
    ]
    lines += layers.chapter(run, folder, side)
    lines += grids.chapter(run, folder)
    for chapter in LAST_CHAPTERS.values():
        lines += ["", *chapter.chapter(run, folder)]
    (folder / "reproduction.md").write_text("\n".join(lines) + "\n")


def replace_chapter(run, chapter):
    """L5 or one of the last chapters of the page made anew, the others as they are."""
    folder = ROOT / "docs/results"
    page = folder / "reproduction.md"
    made = "\n".join(chapter.chapter(run, folder)).rstrip("\n") + "\n"
    before, _, old = page.read_text().partition(chapter.BEGIN)
    later = [gpus.NEXT] if chapter is gpus else []
    later += [one.BEGIN for one in LAST_CHAPTERS.values() if one.BEGIN in old]
    after = "\n" + old[old.index(later[0]) :] if later else ""
    page.write_text(before.rstrip("\n") + "\n\n" + made + after)


def write_by_runs(description, write_report):
    """The main program of a page that is made of runs of the command: write_report(run)."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build/release")
    parser.add_argument("--keep")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        write_report(Runner(options.build, options.keep or temporary))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--build", default=ROOT / "build/release")
    parser.add_argument("--keep")
    parser.add_argument("--only", choices=ALONE)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        run = Runner(given.build, given.keep or scratch)
        if given.only:
            replace_chapter(run, ALONE[given.only])
        else:
            write_report(run, 2048 if given.long else 1024)


if __name__ == "__main__":
    main()
