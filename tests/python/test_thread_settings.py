"""Numbers of threads: set for the module, for a context, by the environment, by threadpoolctl."""

import asyncio
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import palmette
import palmette.scipy
from conftest import spd


@pytest.fixture(autouse=True)
def default_again():
    yield
    palmette.set_num_threads(None)


@pytest.fixture
def solver():
    """A solver of two threads that uses all of them for every solve."""
    palmette.set_num_threads(2)
    return palmette.Solver(spd(40), method="level_set", measure=False)


def threads_of(solver):
    """The most threads that a few solves used: a single solve may find other processes on its processors and
    use one thread."""
    def of_one():
        solver.solve(np.ones(solver.shape[0]))
        return solver.report["solve"]["threads"]
    return max(of_one() for _ in range(2000))


def one_thread(solver):
    return all(threads_of(solver) == 1 for _ in range(2))


def test_the_modules_setting_is_kept_by_new_solvers_and_by_old_ones(solver):
    assert palmette.get_num_threads() == 2
    palmette.set_num_threads(1)
    assert palmette.get_num_threads() == 1
    assert one_thread(solver)
    assert one_thread(palmette.Solver(spd(40), method="level_set", measure=False))


def test_a_factorization_keeps_to_the_setting():
    A = palmette.generate("poisson3d7", 20)
    palmette.set_num_threads(1)
    solver = palmette.Solver(A, measure=False)
    assert solver.report["factorize"]["threads"] == 1
    palmette.set_num_threads(2)
    solver = palmette.Solver(A, measure=False)
    assert solver.report["factorize"]["threads"] == 2
    with palmette.threads(1):
        solver.refactor(A)
    assert solver.report["factorize"]["threads"] == 1


def test_the_argument_comes_before_the_context_and_the_context_before_the_module():
    palmette.set_num_threads(1)
    with palmette.threads(3):
        assert palmette.get_num_threads() == 3
        assert (
            palmette.Solver(palmette.generate("poisson3d7", 20), measure=False).report["factorize"]["threads"]
            == 3
        )
        with palmette.threads(2):
            assert palmette.get_num_threads() == 2
        assert palmette.get_num_threads() == 3
        one = palmette.Solver(palmette.generate("poisson3d7", 20), threads=1, measure=False)
        assert one.report["factorize"]["threads"] == 1
    assert palmette.get_num_threads() == 1
    two = palmette.Solver(palmette.generate("poisson3d7", 20), threads=2, measure=False)
    assert two.report["factorize"]["threads"] == 2


def test_a_context_ends_with_an_exception():
    with pytest.raises(KeyError):
        with palmette.threads(3):
            raise KeyError
    assert palmette.get_num_threads() == palmette._core.available_processors()


def test_a_context_is_that_of_its_thread_and_of_its_task():
    seen = {}

    def look(name):
        seen[name] = palmette.get_num_threads()

    async def in_task(count):
        with palmette.threads(count):
            await asyncio.sleep(0.01)
            seen[count] = palmette.get_num_threads()

    async def tasks():
        await asyncio.gather(in_task(5), in_task(6))

    palmette.set_num_threads(4)
    with palmette.threads(3):
        other = threading.Thread(target=look, args=("other",))
        other.start()
        other.join()
        look("own")
    asyncio.run(tasks())
    assert seen == {"other": 4, "own": 3, 5: 5, 6: 6}


def test_palmette_scipy_keeps_to_the_setting():
    palmette.set_num_threads(1)
    lu = palmette.scipy.splu(palmette.generate("poisson3d7", 20))
    assert lu._solver.report["factorize"]["threads"] == 1
    with palmette.threads(2):
        lu = palmette.scipy.splu(palmette.generate("poisson3d7", 20))
    assert lu._solver.report["factorize"]["threads"] == 2


@pytest.mark.parametrize("count", [0, -1, 5000, 1.5, "2"])
def test_a_number_that_cannot_be_is_refused(count):
    with pytest.raises(palmette.UsageError):
        palmette.set_num_threads(count)
    with pytest.raises(palmette.UsageError):
        with palmette.threads(count):
            pass


def number_with(environment, program="import palmette; print(palmette.get_num_threads())"):
    without = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=without | environment,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


def test_the_environment_gives_the_default():
    usual = palmette._core.available_processors()
    assert number_with({}) == usual
    for text, number in (
        ("1", 1),
        ("3", 3),
        (" 5 , 2", 5),
        ("", usual),
        ("0", usual),
        ("-2", usual),
        ("many", usual),
        ("2x", usual),
    ):
        assert number_with({"OMP_NUM_THREADS": text}) == number
    back = (
        "import palmette; palmette.set_num_threads(1); palmette.set_num_threads(None);"
        " print(palmette.get_num_threads())"
    )
    assert number_with({"OMP_NUM_THREADS": "7"}, back) == 7


def test_importing_starts_no_threads_and_leaves_the_environment_as_it_was():
    program = """
import os, numpy, scipy.sparse.linalg
def seen(): return len(os.listdir("/proc/self/task")), dict(os.environ)
before = seen()
import palmette
assert seen() == before, seen()
A = palmette.generate("poisson2d5", 60)
palmette.solve(A, numpy.ones(3600), threads=1)
assert seen() == before, seen()
print(1)
"""
    assert number_with({}, program) == 1
    assert number_with({"OPENBLAS_NUM_THREADS": "2"}, program) == 1


@pytest.mark.parametrize("first", ["palmette", "threadpoolctl"])
def test_threadpoolctl_lists_and_limits_whichever_is_imported_first(first):
    pytest.importorskip("threadpoolctl")
    second = "threadpoolctl" if first == "palmette" else "palmette"
    program = f"""
import {first}, {second}, numpy as np
A = palmette.generate("poisson3d7", 20)
palmette.set_num_threads(2)
solver = palmette.Solver(A, measure=False)
assert solver.report["factorize"]["threads"] == 2
(ours,) = [lib for lib in threadpoolctl.threadpool_info() if lib["user_api"] == "palmette"]
assert ours["num_threads"] == 2 and ours["version"] == palmette.__version__ and "_core" in ours["filepath"]
for limits in (dict(limits=1), dict(limits=1, user_api="palmette"), dict(limits={{"palmette": 1}})):
    with threadpoolctl.threadpool_limits(**limits):
        assert palmette.get_num_threads() == 1
        solver.refactor(A)
        solver.solve(np.ones(8000))
        assert solver.report["solve"]["threads"] == solver.report["factorize"]["threads"] == 1
        assert palmette.Solver(A, measure=False).report["factorize"]["threads"] == 1
    assert palmette.get_num_threads() == 2
with threadpoolctl.threadpool_limits(limits=1, user_api="blas"):
    assert palmette.get_num_threads() == 2
print(2)
"""
    assert number_with({}, program) == 2


def test_importing_palmette_does_not_import_threadpoolctl():
    assert number_with({}, "import palmette, sys; print(int('threadpoolctl' in sys.modules))") == 0
