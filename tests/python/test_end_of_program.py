"""The program ends, or is interrupted, while a thread works in the library: the process ends as if there were
no such thread."""

import signal
import subprocess
import sys

import pytest

FACTORIZES = """
import threading, time, palmette
A = palmette.generate("poisson3d7", 40)
threading.Thread(target=lambda: palmette.Solver(A), daemon=True).start()
time.sleep({wait})
"""
SOLVES = """
import threading, time, numpy as np, palmette
A = palmette.generate("poisson2d5", 60)
b, solver = np.ones(3600), palmette.Solver(A, threads=2, method="sync_free")
def loop():
    while True:
        solver.solve(b)
threading.Thread(target=loop, daemon=True).start()
time.sleep({wait})
"""
READS_AND_WRITES = """
import os, tempfile, threading, time, palmette
A = palmette.generate("poisson3d7", 20)
folder = tempfile.mkdtemp()
def loop():
    while True:
        palmette.write(folder + "/A.mtx", A)
        palmette.read(folder + "/A.mtx")
threading.Thread(target=loop, daemon=True).start()
time.sleep({wait})
"""
INTERRUPTED_BESIDE = """
import os, signal, threading, palmette
signal.signal(signal.SIGINT, signal.default_int_handler)
A = palmette.generate("poisson3d7", 40)
thread = threading.Thread(target=lambda: palmette.Solver(A))
thread.start()
threading.Timer({wait}, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    thread.join()
    os._exit(42)
except KeyboardInterrupt:
    palmette.solve(palmette.generate("poisson2d5", 20), [1.0] * 400)
"""
HANDLER_SOLVES = """
import os, signal, threading, palmette
A = palmette.generate("poisson3d7", 40)
small, b = palmette.generate("poisson2d5", 20), [1.0] * 400
signal.signal(signal.SIGALRM, lambda number, frame: palmette.Solver(small).solve(b))
signal.setitimer(signal.ITIMER_REAL, {wait}, 0.01)
palmette.Solver(A)
signal.setitimer(signal.ITIMER_REAL, 0)
print("ended")
"""
INTERRUPTED = """
import os, signal, threading, palmette
signal.signal(signal.SIGINT, signal.default_int_handler)
A = palmette.generate("poisson3d7", 40)
def loop():
    while True:
        palmette.Solver(A)
threading.Thread(target=loop, daemon=True).start()
threading.Timer({wait}, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
palmette.Solver(palmette.generate("poisson3d7", 60), ordering="natural")
"""


def ended(program, wait):
    return subprocess.run(
        [sys.executable, "-c", program.format(wait=wait)], capture_output=True, text=True, timeout=120
    )


@pytest.mark.parametrize("wait", [0.05, 0.2, 0.4, 0.5])
@pytest.mark.parametrize(
    "program", [FACTORIZES, SOLVES, READS_AND_WRITES], ids=["factorizes", "solves", "reads_and_writes"]
)
def test_a_program_that_ends_beside_a_daemon_thread_ends_well(program, wait):
    end = ended(program, wait)
    assert (end.returncode, end.stderr) == (0, "")


@pytest.mark.parametrize("wait", [0.1, 0.3])
def test_an_interrupt_beside_a_factorization_ends_the_wait_and_not_the_process(wait):
    end = ended(INTERRUPTED_BESIDE, wait)
    assert end.returncode in (0, 42)  # 42: it was over before the interrupt came
    assert end.stderr == ""


def test_a_signal_handler_may_solve_while_the_main_thread_is_inside_the_library():
    end = ended(HANDLER_SOLVES, 0.01)
    assert (end.returncode, end.stdout, end.stderr) == (0, "ended\n", "")


def test_an_interrupt_of_a_factorization_beside_another_is_the_only_thing_that_is_told():
    end = ended(INTERRUPTED, 0.5)
    assert end.returncode == -signal.SIGINT
    assert end.stderr.strip().endswith("KeyboardInterrupt") and "terminate" not in end.stderr
