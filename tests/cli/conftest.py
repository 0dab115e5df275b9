"""Finds the command, runs it, and writes and reads the small matrices of the transcripts."""
import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"


def find_command():
    candidates = [
        os.environ.get("PALMETTE_COMMAND"),
        ROOT / "build/release/cli/palmette",
        ROOT / "bin/palmette",
    ]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return str(candidate)
    pytest.exit(f"no command palmette found: set PALMETTE_COMMAND (looked at {candidates[1:]})", returncode=1)


class Transcript:
    """What one run printed, and how it ended."""

    def __init__(self, completed):
        self.code = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def fails_with(self, code, *words):
        """One sentence on standard error, with these words, and nothing that looks like a stack trace."""
        assert self.code == code, (self.code, self.out, self.err)
        lines = self.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("palmette: error: "), self.err
        for word in words:
            assert word in self.err, (word, self.err)
        return self


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def palmette(tmp_path, cache_folder):
    command = find_command()
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache_folder)}

    def run(*arguments, stdin="", **more):
        completed = subprocess.run(
            [command, *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={**environment, **more.pop("env", {})},
            timeout=120,
            **more,
        )
        return Transcript(completed)

    run.command, run.environment = command, environment
    return run


def methods_at(palmette, where):
    """Names of the solve methods that run there, as the command lists them."""
    rows = palmette("info", "--json", "-").json["build"]["solve_methods"]
    names = [row["name"] for row in rows if row["where"] == where and row["available"]]
    assert names
    return names


def coordinate(rows, cols, entries, field="real", symmetry="general"):
    """The text of a Matrix Market file; entries are (row, column, value), 1-based."""
    lines = [f"%%MatrixMarket matrix coordinate {field} {symmetry}", f"{rows} {cols} {len(entries)}"]
    for row, column, *value in entries:
        parts = [part for v in value for part in ((v.real, v.imag) if field == "complex" else (v,))]
        lines.append(" ".join(map(repr, [row, column, *parts])))
    return "\n".join(lines) + "\n"


def dense(columns, field="real"):
    """The text of a Matrix Market array, from a list of columns."""
    lines = [f"%%MatrixMarket matrix array {field} general", f"{len(columns[0])} {len(columns)}"]
    for column in columns:
        lines += [f"{v.real!r} {v.imag!r}" if field == "complex" else repr(v) for v in column]
    return "\n".join(lines) + "\n"


def read_dense(path):
    """Columns of a Matrix Market array."""
    lines = [line for line in Path(path).read_text().splitlines() if line.strip()]
    is_complex = " complex " in lines[0]
    body = [line.split() for line in lines if not line.startswith("%")]
    rows, cols = map(int, body[0])
    values = [complex(float(v[0]), float(v[1])) if is_complex else float(v[0]) for v in body[1:]]
    assert len(values) == rows * cols
    return [values[column * rows:(column + 1) * rows] for column in range(cols)]


def grid(side):
    """The 5-point Laplacian: symmetric positive definite, side² rows."""
    entries = []
    for row in range(side):
        for column in range(side):
            here = row * side + column + 1
            entries.append((here, here, 4.0))
            if column + 1 < side:
                entries.append((here + 1, here, -1.0))
            if row + 1 < side:
                entries.append((here + side, here, -1.0))
    return coordinate(side * side, side * side, entries, symmetry="symmetric")


@pytest.fixture
def spd(tmp_path):
    path = tmp_path / "spd.mtx"
    path.write_text(grid(12))
    return path


@pytest.fixture
def unsymmetric(tmp_path):
    """[[4, 1, 0], [0, 3, 1], [2, 0, 5]]."""
    path = tmp_path / "unsymmetric.mtx"
    path.write_text(
        coordinate(3, 3, [(1, 1, 4.0), (3, 1, 2.0), (1, 2, 1.0), (2, 2, 3.0), (2, 3, 1.0), (3, 3, 5.0)])
    )
    return path


@pytest.fixture
def indefinite(tmp_path):
    """[[0, 1, 0], [1, 0, 0], [0, 0, 2]]: eigenvalues 1, -1, 2."""
    path = tmp_path / "indefinite.mtx"
    path.write_text(coordinate(3, 3, [(2, 1, 1.0), (3, 3, 2.0)], symmetry="symmetric"))
    return path


@pytest.fixture
def complex_matrix(tmp_path):
    """[[2+1j, 1j], [0, 3-1j]]."""
    path = tmp_path / "complex.mtx"
    path.write_text(coordinate(2, 2, [(1, 1, 2 + 1j), (1, 2, 0 + 1j), (2, 2, 3 - 1j)], field="complex"))
    return path


@pytest.fixture
def lower(tmp_path):
    """[[2, 0, 0], [1, 4, 0], [0, 3, 5]], and an entry in the other triangle, to be ignored."""
    path = tmp_path / "lower.mtx"
    path.write_text(
        coordinate(3, 3, [(1, 1, 2.0), (2, 1, 1.0), (2, 2, 4.0), (3, 2, 3.0), (3, 3, 5.0), (1, 3, 7.0)])
    )
    return path
