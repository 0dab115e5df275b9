"""The guide and the docstrings are transcripts: their code runs and prints the output shown."""

import doctest
import importlib
import pathlib

import pytest

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "guide" / "python.md"
MODULES = [
    "palmette",
    "palmette._device_arrays",
    "palmette._solver",
    "palmette._triangular",
    "palmette._problems",
    "palmette.scipy",
    "palmette.cholmod",
    "palmette._sparse_solves",
    "palmette.plots",
    "palmette.transfers",
]


def test_the_guide_runs_as_it_is_printed():
    failed, run = doctest.testfile(
        str(GUIDE), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
    )
    assert run > 25 and failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
