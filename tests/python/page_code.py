"""Runs what the pages of docs/ show: blocks of Python, and what is typed at a prompt."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]
# An error that rounding leaves: its digits differ from one processor to another.
ROUNDING = re.compile(r"\d(\.\d+)?e-1[2-9]")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(page):
    """(language, text) of the fenced blocks of a page that name their language."""
    return BLOCK.findall(page.read_text())


def transcript_blocks(page):
    return [text for language, text in blocks_of(page) if language == "python" and ">>>" in text]


def programs(page):
    """Blocks of Python that are no transcripts; one that begins with "# name.py" is that file."""
    return [text for language, text in blocks_of(page) if language == "python" and ">>>" not in text]


def consoles(page):
    return [text for language, text in blocks_of(page) if language == "console"]


def built_files(page):
    """What a page takes from the folder build/check."""
    return sorted(set(re.findall(r"\bbuild/check/[\w./]+\w", page.read_text())))


def find_command():
    candidates = [os.environ.get("PALMETTE_COMMAND"), ROOT / "bin/palmette"]
    candidates += [ROOT / f"build/{preset}/cli/palmette" for preset in ("check", "release")]
    found = next((str(path) for path in candidates if path and os.access(path, os.X_OK)), None)
    return found or shutil.which("palmette")


class Console:
    """Types commands in a folder of its own, where `palmette` and `python` are those that are tested."""

    def __init__(self, folder, command):
        self.folder = folder
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "palmette").symlink_to(pathlib.Path(command).resolve())
        places = [str(bin_folder), os.path.dirname(sys.executable), os.environ["PATH"]]
        self.environment = {
            **os.environ,
            "PATH": os.pathsep.join(places),
            # Open MPI otherwise refuses to run as root, and with more ranks than cores
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
        }

    def write_programs(self, page):
        for text in programs(page):
            if name := re.match(r"# (\w+\.py)\b", text):
                (self.folder / name[1]).write_text(text)

    def differences(self, block):
        """What a block shows beside what the commands print. A command that fails must be followed by
        "$ echo $?"."""
        found, code = [], 0
        entries = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        for entry in entries:
            typed, _, shown = entry.partition("\n")
            typed = typed.partition("     #")[0].strip()
            if typed == "echo $?":
                printed, expected, code = f"{code}\n", shown, 0
            else:
                if code:
                    found.append(f"the command before '{typed}' ended with {code}")
                done = subprocess.run(
                    ["bash", "-c", typed],
                    cwd=self.folder,
                    env=self.environment,
                    capture_output=True,
                    text=True,
                    timeout=300,
                    stdin=subprocess.DEVNULL,
                )
                printed, expected, code = done.stdout + done.stderr, shown, done.returncode
            if ROUNDING.sub("ε", printed.rstrip()) != ROUNDING.sub("ε", expected.rstrip()):
                found.append(f"$ {typed}\nshown:\n{expected}\nprinted:\n{printed}")
        if code:
            found.append(f"the last command ended with {code}")
        return found
