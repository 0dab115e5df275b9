"""Which kernels run, and how a program asks for others, where an installation holds several."""

import subprocess
import sys

import pytest

import palmette
from palmette import _kernels

LEVELS = _kernels.levels()
SOLVE = """
import hashlib, numpy as np, palmette
digest = hashlib.sha256()
for name, n in (("poisson3d7", 12), ("convection_diffusion2d", 40)):
    A = palmette.generate(name, n)
    for k in (1, 7):
        solver = palmette.Solver(A)
        digest.update(solver.solve(np.cos(np.arange(A.shape[0] * k).reshape(-1, k))).tobytes())
        assert solver.report["verify"]["verified"]
print(palmette.kernels().name, digest.hexdigest())
"""


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=120)


def test_kernels_are_named_and_have_the_registers_of_their_name():
    kernels = palmette.kernels()
    bytes_of = {"x86-64": 16, "x86-64-v2": 16, "x86-64-v3": 32, "x86-64-v4": 64, "aarch64": 16}
    assert kernels.register_bytes == bytes_of[kernels.name]
    assert kernels.fuses_multiply_add == (kernels.name not in ("x86-64", "x86-64-v2"))


def test_kernels_that_are_not_there_are_refused():
    done = run("-X", "palmette_kernels=x86-64-v9", "-c", "import palmette")
    assert done.returncode == 1 and "x86-64-v9: not among the kernels that run here" in done.stderr


@pytest.mark.skipif(not LEVELS, reason="the library was built for one level of the processor")
def test_the_best_kernels_run_unless_others_are_asked_for():
    assert palmette.kernels().name == LEVELS[-1]


@pytest.mark.parametrize("level", LEVELS)
def test_each_level_solves_when_it_is_asked_for(level):
    done = run("-X", f"palmette_kernels={level}", "-c", SOLVE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == level
