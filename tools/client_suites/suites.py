"""Runs suites: environments from the package index, sources of tests, and one pytest process for each suite
and side."""

import json
import os
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

from client_suites.catalog import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[2]
_SECONDS_OF_A_TEST, _SECONDS_OF_A_SUITE = 120, 1800


@dataclass(frozen=True)
class Workshop:
    """A folder with environments, sources and results; and Palmette's package, if it is not to be
    installed."""
    folder: Path
    palmette: Path = None

    def python(self, environment):
        return self.folder / environment / "bin" / "python"

    def record(self, client, side):
        return self.folder / "results" / f"{client.name}-{side}.jsonl"

    def sources(self, client):
        """The folder of a client's source distribution."""
        return self.folder / "sources" / f"{client.name.replace('-', '_')}-{client.version}"


def make_environment(workshop, environment):
    """A virtual environment with a list of packages and Palmette; in one that already has the packages, only
    Palmette is renewed."""
    python, packages = workshop.python(environment), workshop.folder / environment / "packages.json"
    if not packages.exists() or json.loads(packages.read_text()) != ENVIRONMENTS[environment]:
        subprocess.run([sys.executable, "-m", "venv", "--clear", workshop.folder / environment], check=True)
        _pip(python, "install", "--quiet", *ENVIRONMENTS[environment])
        packages.write_text(json.dumps(ENVIRONMENTS[environment]))
    if not workshop.palmette:
        _pip(python, "install", "--quiet", "--no-deps", "--force-reinstall", str(ROOT))


def fetch_sources(workshop, client):
    """Unpacks the source distribution of a client whose tests are not in its wheel."""
    if not client.source or workshop.sources(client).exists():
        return
    folder = workshop.folder / "sources"
    _pip(
        workshop.python(client.environment),
        "download",
        "--quiet",
        "--no-deps",
        "--no-binary",
        client.name,
        "--dest",
        str(folder),
        client.requirement,
    )
    for archive in folder.glob(f"{workshop.sources(client).name}.tar.gz"):
        with tarfile.open(archive) as opened:
            opened.extractall(folder, filter="data")
    if not workshop.sources(client).exists():
        raise FileNotFoundError(
            f"{client.requirement}: no {workshop.sources(client)} in its source distribution"
        )


def run(workshop, client, side, short):
    """Runs a suite with one side's solvers on one thread. Returns its seconds; outcomes are in the record."""
    record, scratch = workshop.record(client, side), workshop.folder / "scratch" / f"{client.name}-{side}"
    record.parent.mkdir(parents=True, exist_ok=True)
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "empty.ini").touch()
    # a process that fails before its first test must not leave the results of another
    record.unlink(missing_ok=True)
    started = time.monotonic()
    with record.with_suffix(".log").open("w") as log:
        try:
            subprocess.run(
                _command(workshop, client, side, short),
                cwd=scratch,
                env=_environment(workshop),
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                timeout=_SECONDS_OF_A_SUITE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            print(f"{client.name} with {side}: stopped after {_SECONDS_OF_A_SUITE} s", file=log)
    return time.monotonic() - started


def _command(workshop, client, side, short):
    python = workshop.python(client.environment)
    if client.source:
        root = workshop.sources(client)
        targets = [str(root / client.source / part) for part in client.parts_of(short)]
    else:
        asked = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_paths()['platlib'])"],
            capture_output=True,
            text=True,
            check=True,
        )
        root, targets = asked.stdout.strip(), ["--pyargs", *client.parts_of(short)]
    return [
        str(python),
        "-m",
        "pytest",
        "-p",
        "client_suites.plugin",
        "--solvers",
        side,
        "--record",
        str(workshop.record(client, side)),
        "-q",
        "-p",
        "no:cacheprovider",
        "-c",
        "empty.ini",
        "--rootdir",
        str(root),
        "--timeout",
        str(_SECONDS_OF_A_TEST),
        *[word for test in client.left_out for word in ("--deselect", test)],
        *targets,
    ]


def _environment(workshop):
    """One thread for every library, no display, and the folders of the plugin and of Palmette's package."""
    paths = [str(ROOT / "tools")] + ([str(workshop.palmette)] if workshop.palmette else [])
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
    return {**os.environ, **threads, "MPLBACKEND": "Agg", "PYTHONPATH": os.pathsep.join(paths)}


def _pip(python, *words):
    subprocess.run([str(python), "-m", "pip", *words], check=True)
