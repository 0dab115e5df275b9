"""Several Python threads: the interpreter lock is released while the library works, and solves may run
concurrently."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import palmette
from palmette import _input
from conftest import backward_error, bound, random_unsymmetric, spd


@pytest.fixture
def advances_during():
    """Whether another Python thread makes progress while `call` runs; `call` may be called repeatedly until
    one does.

    The interpreter does not switch threads by itself here (the switch interval is a minute), so the other
    thread can run only where `call` releases the lock.
    """
    steps, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            steps[0] += 1
            time.sleep(0.0002)

    def advances(call):
        for _ in range(200):
            before = steps[0]
            call()
            if steps[0] > before:
                return True
        return False

    interval = sys.getswitchinterval()
    counter = threading.Thread(target=count)
    counter.start()
    sys.setswitchinterval(60)
    yield advances
    sys.setswitchinterval(interval)
    stop.set()
    counter.join()


def test_the_lock_is_released_in_every_long_call(advances_during, tmp_path):
    A = palmette.generate("poisson3d7", 14)
    solver, matrix = palmette.Solver(A, kind="lu", threads=1), _input.to_core(A)
    options = {
        "kind": "auto",
        "ordering": "auto",
        "permutation": None,
        "method": "auto",
        "threads": 1,
        "device": "none",
        "gpus": [1, 1, 1],
        "mixed": False,
        "singular": "raise",
        "measure": False,
        "cache_folder": "",
    }
    request = {"trans": "N", "refine": -1, "condition": False, "repeat": 1, "threads": 0}
    b, x = (np.ones((A.shape[0], 8), order="F") for _ in "bx")
    pointers, rows = A.indptr.astype(np.int64), A.indices.astype(np.int32)
    path = str(tmp_path / "a.mtx")
    matrix.write(path, "")
    core = palmette._core
    assert advances_during(lambda: core.generate("poisson3d7", 14, 1, 0.0))
    assert advances_during(lambda: core.Matrix_float64.from_csc(*A.shape, pointers, rows, A.data))
    # a matrix belongs to the solver to which it was given
    handed_over = [_input.to_core(A) for _ in range(400)]
    assert advances_during(lambda: core.Solver_float64.create(handed_over.pop(), options))
    assert advances_during(lambda: solver._core.solve(b, x, request))
    assert advances_during(lambda: solver._core.refactor(handed_over.pop(), 0))
    assert advances_during(lambda: solver._core.extract_lu())
    assert advances_during(lambda: core.selected_inverse(solver._core, 1, 0))
    assert advances_during(lambda: core.read(path, 1))
    assert advances_during(lambda: matrix.write(path, ""))


def test_a_call_that_keeps_the_lock_lets_no_other_thread_run(advances_during):
    # Shows that the test above can fail: sorting a list of integers is one call that keeps the lock.
    numbers = list(range(20000, 0, -1))
    assert not advances_during(lambda: sorted(numbers))


def test_solves_of_several_threads_give_the_same_bits():
    for A in (spd(30), random_unsymmetric(400)):
        n = A.shape[0]
        solver = palmette.Solver(A, threads=2)
        sides = [np.random.default_rng(seed).standard_normal((n, 1 + seed % 3)) for seed in range(24)]
        expected = [solver.solve(b) for b in sides]
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(solver.solve, sides))
        assert all(np.array_equal(x, y) for x, y in zip(found, expected))


def test_refactor_waits_for_solves_and_each_answer_belongs_to_one_matrix():
    A = spd(20)
    b = np.ones(400)
    solver = palmette.Solver(A)
    answers = {factor: solver_of(factor, A).solve(b) for factor in (1, 2, 3)}
    stop = threading.Event()
    found = []

    def keep_solving():
        while not stop.is_set():
            found.append(solver.solve(b))

    threads = [threading.Thread(target=keep_solving) for _ in range(3)]
    for thread in threads:
        thread.start()
    for turn in range(12):
        solver.refactor((1 + turn % 3) * A)
        solver.slogdet()
    stop.set()
    for thread in threads:
        thread.join()
    assert found
    assert all(
        min(np.abs(x - answer).max() for answer in answers.values()) < 1e-9 * np.abs(answers[3]).max()
        for x in found
    )


def solver_of(factor, A):
    return palmette.Solver((factor * A).tocsc())


def test_an_error_in_one_thread_leaves_the_others_alone():
    solver = palmette.Solver(spd(10))

    def one(turn):
        if turn % 2:
            try:
                solver.solve(np.ones(7))
            except palmette.DimensionError:
                return None
        return solver.solve(np.ones(100))

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(one, range(20)))
    assert all(answer is None for answer in answers[1::2])
    assert all(backward_error(spd(10), answer, np.ones(100)) < bound("float64") for answer in answers[::2])


def test_an_interrupt_ends_a_factorization():
    # A shell makes background jobs ignore interrupts: enable them again.
    program = ("import palmette, signal, sys\n"
               "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
               "A = palmette.generate('poisson3d7', 60)\n"
               "print('go', flush=True)\n"
               "try: palmette.Solver(A, ordering='natural', threads=2)\n"
               "except KeyboardInterrupt: sys.exit(42)\n")
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    try:
        assert child.stdout.readline() == b"go\n"
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=60) == 42
    finally:
        child.kill()
        child.wait()
        child.stdout.close()
