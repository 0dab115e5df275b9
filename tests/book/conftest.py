"""The built site. ./book makes it; the tests skip, and say so, if it is not there."""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))


@pytest.fixture(scope="session")
def built():
    folder = ROOT / "build/docs"
    if not (folder / "index.html").exists():
        pytest.skip("the site is not built: run ./book")
    return folder
