"""Several Python threads: the interpreter lock is released while the library works, and solves may run side by side."""

import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import palmette
from conftest import backward_error, bound, random_unsymmetric, spd


def longest_pause_beside(work):
    """(seconds of `work`, longest time for which another Python thread could not run meanwhile)."""
    pause, running = [0.0], threading.Event()
    stop = threading.Event()

    def watch():
        last = time.perf_counter()
        running.set()
        while not stop.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            pause[0], last = max(pause[0], now - last), now

    watcher = threading.Thread(target=watch)
    watcher.start()
    running.wait()
    begin = time.perf_counter()
    work()
    seconds = time.perf_counter() - begin
    stop.set()
    watcher.join()
    return seconds, pause[0]


def test_other_threads_run_while_a_matrix_is_factorized_and_solved():
    A = palmette.generate("poisson3d7", 28)
    b = np.ones((A.shape[0], 8))
    seconds, pause = longest_pause_beside(lambda: palmette.Solver(A, threads=1).solve(b))
    # With the lock held, the pause would be all of it.
    assert seconds > 0.1 and pause < 0.6 * seconds


def test_other_threads_run_while_a_matrix_is_generated():
    seconds, pause = longest_pause_beside(lambda: palmette.generate("elasticity3d", 24))
    assert seconds > 0.05 and pause < 0.8 * seconds


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
    assert all(min(np.abs(x - answer).max() for answer in answers.values()) < 1e-9 * np.abs(answers[3]).max() for x in found)


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
    program = ("import palmette, sys\n"
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


def test_a_forked_process_is_told_to_make_its_own_solver():
    program = ("import os, sys, numpy as np, palmette\n"
               "A = palmette.generate('poisson2d5', 40)\n"
               "solver = palmette.Solver(A, threads=2, method='task_driven')\n"
               "child = os.fork()\n"
               "if child == 0:\n"
               "    try: solver.solve(np.ones(1600))\n"
               "    except palmette.UsageError as error:\n"
               "        x = palmette.Solver(A, threads=2).solve(np.ones(1600))\n"
               "        os._exit(42 if 'forked' in str(error) and np.allclose(A @ x, 1) else 1)\n"
               "    os._exit(2)\n"
               "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n")
    assert subprocess.run([sys.executable, "-c", program], timeout=120).returncode == 42
