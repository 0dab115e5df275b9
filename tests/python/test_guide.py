"""The pages of docs/ and the docstrings are transcripts: their code runs and prints the output shown."""

import doctest
import importlib
import importlib.util
import shutil
import sys
import warnings

import page_code
import pytest

DOCS = page_code.ROOT / "docs"
HOW_TOS = sorted((DOCS / "howto").glob("*.md"))
PAGES = [DOCS / "home.md", DOCS / "tutorial.md", *HOW_TOS, *sorted((DOCS / "guide").glob("*.md"))]
TRANSCRIPTS = [page for page in PAGES if page_code.transcript_blocks(page)]
TYPED = [page for page in [DOCS / "tutorial.md", *HOW_TOS] if page_code.consoles(page)]
# Pages of doors to other projects, and the modules that their programs need.
DOORS = {
    DOCS / "guide/eigen.md": [],
    DOCS / "guide/jax.md": ["jax"],
    DOCS / "guide/pardiso.md": ["pypardiso", "casadi"],
}
# Programs of these pages that need a module which not every Python has.
PROGRAMS_THAT_NEED = {"constrained.py": "cyipopt"}
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


def name_of(page):
    return page.relative_to(DOCS).with_suffix("").as_posix()


@pytest.mark.parametrize("page", TRANSCRIPTS, ids=name_of)
def test_the_transcripts_of_a_page_run_as_they_are_printed(page):
    with warnings.catch_warnings():
        failed, run = doctest.testfile(
            str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE
        )
    shown = "".join(page_code.transcript_blocks(page)).splitlines()
    assert run == sum(line.startswith(">>>") and "+SKIP" not in line for line in shown) and failed == 0


def test_the_tutorial_and_every_how_to_have_code_that_runs():
    with_code = {*TRANSCRIPTS, *TYPED}
    assert {page for page in [DOCS / "tutorial.md", *HOW_TOS] if page.name != "README.md"} <= with_code


def test_the_program_of_the_home_page_runs():
    names = {}
    for text in page_code.programs(DOCS / "home.md"):
        exec(text, names)
    assert names["solver"].report["verify"]["verified"]


@pytest.mark.parametrize("page", TYPED, ids=name_of)
def test_what_a_page_types_at_the_prompt_prints_what_it_shows(page, tmp_path):
    command = page_code.find_command()
    if command is None:
        pytest.skip("no command palmette: neither in bin/ nor in build/ nor on the path")
    blocks = page_code.consoles(page)
    if any("mpiexec" in block for block in blocks):
        if not shutil.which("mpiexec") or not importlib.util.find_spec("mpi4py"):
            pytest.skip("no mpiexec or no mpi4py")
        if not importlib.util.find_spec("palmette._mpi"):
            pytest.skip("Palmette was built without MPI")
    console = page_code.Console(tmp_path, command)
    console.write_programs(page)
    assert not [difference for block in blocks for difference in console.differences(block)]


@pytest.mark.parametrize("page", DOORS, ids=name_of)
def test_what_a_page_of_a_door_types_prints_what_it_shows(page, tmp_path):
    if absent := [module for module in DOORS[page] if not importlib.util.find_spec(module)]:
        pytest.skip(f"not installed: {', '.join(absent)}")
    for name in ("build", "examples", "palmette"):
        (tmp_path / name).symlink_to(page_code.ROOT / name)
    needed = [tmp_path / name for name in page_code.built_files(page)]
    if missing := [str(path.relative_to(tmp_path)) for path in needed if not path.exists()]:
        pytest.skip(f"not built: {', '.join(missing)}")
    console = page_code.Console(tmp_path, page_code.find_command() or sys.executable)
    console.write_programs(page)
    blocks = page_code.consoles(page)
    left_out = [
        program for program, module in PROGRAMS_THAT_NEED.items() if not importlib.util.find_spec(module)
    ]
    if left_out := [block for block in blocks if any(program in block for program in left_out)]:
        warnings.warn(f"not run, since a module is not installed: {left_out}", stacklevel=1)
    blocks = [block for block in blocks if block not in left_out]
    assert not [difference for block in blocks for difference in console.differences(block)]


def test_a_prompt_that_prints_something_else_is_noticed(tmp_path):
    console = page_code.Console(tmp_path, "/bin/true")
    assert console.differences("$ printf 'a\\n'\na\n") == []
    assert console.differences("$ printf 'b\\n'\na\n")
    assert console.differences("$ false\n")
    assert console.differences("$ echo error 3.1e-16\nerror 2e-15\n") == []
    assert console.differences("$ echo error 3.1e-06\nerror 2e-15\n")
    assert console.differences("$ false\n$ echo $?\n1\n") == []


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
