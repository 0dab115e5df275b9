"""A folder with all that ./check --gpu runs, for a machine with a GPU but without compilers and a network.

    FOLDER/run [--fresh] [--seconds N]    checks and measures there, as ./check --gpu does
    FOLDER/bin, FOLDER/lib                the programs, and the libraries that they were linked with
    FOLDER/tools, FOLDER/bench            the check itself, as in the source tree
    FOLDER/packed                         of which sources, and where reports belong
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

PROGRAMS = ("tests/bench_gpu_words", "tests/test_gpu", "cli/palmette")
TOOLS = ("tools/check_gpu.py", "tools/results_gpu.py", "bench/device/model_problems.txt")
# Part of the system, which brings them in versions that fit together.
OF_SYSTEM = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util)\.so.*|linux-vdso.*)$")
RUN = """#!/usr/bin/env bash
# Checks and measures on the first GPU of this machine; tools/check_gpu.py --help says what and how long.
exec python3 "$(dirname -- "${BASH_SOURCE[0]}")/tools/check_gpu.py" "$@"
"""


class NotPacked(Exception):
    """Why there is no folder."""


def libraries_of(program):
    """Shared libraries that a program is linked with and that are not the system's own: [path]."""
    done = subprocess.run(["ldd", program], capture_output=True, text=True)
    found = []
    for line in done.stdout.splitlines():
        name, _, place = line.strip().partition(" => ")
        if place.startswith("not found"):
            raise NotPacked(f"{Path(program).name} needs {name}, which is not here")
        if place and not OF_SYSTEM.match(name):
            found.append(Path(place.split(" (")[0]))
    return found


def copy_program(program, folder):
    """Without symbols: they are most of its size."""
    target = folder / "bin" / program.name
    shutil.copy2(program, target)
    subprocess.run(["strip", target], capture_output=True)  # where there is no strip it is larger
    for library in libraries_of(program):
        shutil.copy2(library.resolve(), folder / "lib" / library.name)


def pack(root, build, folder, about):
    """Writes the folder. @param about  what results are of; @returns its size in bytes. @throws NotPacked"""
    folder = Path(folder)
    if folder.exists() and any(folder.iterdir()) and not (folder / "packed").is_file():
        raise NotPacked(f"{folder} is not empty and was not made by --pack: name another one")
    missing = [program for program in PROGRAMS if not (build / program).is_file()]
    if missing:
        raise NotPacked(f"not built: {', '.join(missing)}, in {build}")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "packed").write_text(json.dumps(about, indent=1) + "\n")
    for name in ("bin", "lib", "tools", "bench"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir()
    for program in PROGRAMS:
        copy_program(build / program, folder)
    for name in TOOLS:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / name, folder / name)
    shutil.copytree(root / "tools/gpu", folder / "tools/gpu", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "run").write_text(RUN)
    (folder / "run").chmod(0o755)
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
