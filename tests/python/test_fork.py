"""Processes that fork: the child solves with earlier factorizations, and waits for nothing that exists only
in the parent."""

import multiprocessing
import os
import subprocess
import sys

import numpy as np
import pytest

import palmette
import palmette.scipy
from conftest import random_unsymmetric, spd

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")

LU = palmette.scipy.splu(random_unsymmetric(400))
SOLVER = palmette.Solver(spd(30), threads=2, method="task_driven")


def solve_with_both(seed):
    b = np.random.default_rng(seed)
    return LU.solve(b.standard_normal(400)), SOLVER.solve(b.standard_normal(900))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_pool_of_forked_processes_solves_with_factors_made_before():
    expected = [solve_with_both(seed) for seed in range(8)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(solve_with_both, range(8)).get(timeout=100)
    assert all(np.array_equal(x, y) for both, others in zip(expected, found) for x, y in zip(both, others))


def child_of(program):
    """Exit code of a process that runs a program in which `child()` forks and returns whether it is the
    child."""
    preamble = """
import os, sys, threading, time, numpy as np, palmette
def end_with(good):
    os._exit(42 if good else 1)
def wait_for(child):
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
"""
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", preamble + program],
        timeout=120,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("method", [method.name for method in palmette.methods()])
def test_a_child_solves_with_threads_of_its_own_and_gets_the_same_bits(method):
    done = child_of(f"""
A = palmette.generate("poisson2d5", 60)
b = np.random.default_rng(1).standard_normal((3600, 3))
solver = palmette.Solver(A, threads=2, method="{method}")
x = solver.solve(b)
child = os.fork()
if child == 0:
    same = np.array_equal(solver.solve(b), x)
    solver.refactor(2 * A)
    end_with(same and np.allclose(2 * solver.solve(b), x))
wait_for(child)
assert np.array_equal(solver.solve(b), x)
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_fork_beside_threads_that_solve_and_refactor_leaves_the_child_free():
    done = child_of("""
A = palmette.generate("poisson2d5", 60)
b = np.ones(3600)
solver = palmette.Solver(A, threads=2, method="sync_free")
x = solver.solve(b)
stop = threading.Event()
def solves():
    while not stop.is_set():
        solver.solve(b)
def refactors():
    while not stop.is_set():
        solver.refactor(A)
threads = [threading.Thread(target=work) for work in (solves, solves, refactors)]
for thread in threads:
    thread.start()
try:
    for turn in range(20):
        time.sleep(0.01 * (turn % 5))
        child = os.fork()
        if child == 0:
            same = np.array_equal(solver.solve(b), x)
            solver.refactor(A)
            end_with(same and np.array_equal(solver.solve(b), x))
        wait_for(child)
finally:
    stop.set()
""")
    assert (done.returncode, done.stderr) == (0, "")


def test_triangular_solvers_go_along_too():
    done = child_of("""
T = palmette.generate("random_triangular", 2000)
b = np.ones(2000)
solver = palmette.TriangularSolver(T, threads=2, method="sync_free")
x = solver.solve(b)
child = os.fork()
if child == 0:
    y = solver.solve(b, trans="T")
    end_with(np.array_equal(solver.solve(b), x) and np.allclose(T.T @ y, b))
wait_for(child)
""")
    assert (done.returncode, done.stderr) == (0, "")
