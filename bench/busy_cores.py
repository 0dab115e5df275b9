"""What do threads cost if other processes keep the processors busy? Compares solves with all threads and with
one, next to 0, 1, 2 … processes that never sleep; they take turns, so that both meet the same load. Prints
JSON lines, or a page.

usage: busy_cores.py [--busy 0,1,2] [--seconds 0.5] [--rounds 6] [--page] [PROBLEM:N]...
"""

import argparse
import json
import multiprocessing
import os
import statistics
import time

import numpy as np

import palmette

PAGE = """# Beside busy processes

Solves with one right-hand side by `Solver(A)`, with all threads, and by `Solver(A, threads=1)`, next to
processes that never sleep, on {processors} processors. Both take turns of {seconds} s, {rounds} times; what
counts is the mean time of a solve in a turn, and its median over the turns. A hand-over to a thread that
has lost its processor takes milliseconds, so that threads are withheld while hand-overs are slow: then a
ratio of 1 is what can be had, and more than 1.3 is a fault. "factorize" is one whole `Solver(A)`.

Made by `python bench/busy_cores.py --page {arguments}`.

| matrix | n | busy processes | solve, all threads | one thread | ratio | factorize, all threads | one thread | ratio |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"""


def burn(stop):
    while not stop.is_set():
        for _ in range(10000):
            pass


def mean_ms(work, seconds):
    begin, count = time.perf_counter(), 0
    while True:
        work()
        count += 1
        spent = time.perf_counter() - begin
        if spent >= seconds:
            return spent / count * 1e3


def medians(works, seconds, rounds):
    """Seconds of each kind of work; the kinds take turns."""
    turns = [[mean_ms(work, seconds) for work in works] for _ in range(rounds)]
    return [statistics.median(times) for times in zip(*turns)]


def row_of(name, busy, options):
    problem, size = name.split(":")
    A = palmette.generate(problem, int(size))
    b = np.random.default_rng(0).standard_normal(A.shape[0])
    solvers = [palmette.Solver(A, measure=False), palmette.Solver(A, threads=1, measure=False)]
    solves = [lambda solver=solver: solver.solve(b) for solver in solvers]
    makes = [lambda: palmette.Solver(A, measure=False), lambda: palmette.Solver(A, threads=1, measure=False)]
    stop = multiprocessing.Event()
    processes = [multiprocessing.Process(target=burn, args=(stop,)) for _ in range(busy)]
    for process in processes:
        process.start()
    try:
        time.sleep(0.3)
        for work in solves:
            work()
        solved, made = (medians(works, options.seconds, options.rounds) for works in (solves, makes))
    finally:
        stop.set()
        for process in processes:
            process.join()
    return {
        "matrix": name,
        "n": A.shape[0],
        "busy": busy,
        "solve_ms": solved,
        "solve_ratio": solved[0] / solved[1],
        "factorize_ms": made,
        "factorize_ratio": made[0] / made[1],
    }


def line_of(row):
    return (
        f"| {row['matrix']} | {row['n']} | {row['busy']} | {row['solve_ms'][0]:.2f} ms |"
        f" {row['solve_ms'][1]:.2f} ms | {row['solve_ratio']:.2f} | {row['factorize_ms'][0]:.0f} ms |"
        f" {row['factorize_ms'][1]:.0f} ms | {row['factorize_ratio']:.2f} |"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--busy", default="0,1,2")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--page", action="store_true")
    parser.add_argument("problems", nargs="*", default=["poisson2d5:100"])
    options = parser.parse_args()
    if options.page:
        print(
            PAGE.format(
                processors=len(os.sched_getaffinity(0)),
                seconds=options.seconds,
                rounds=options.rounds,
                arguments=" ".join(options.problems),
            ),
            end="",
        )
    for name in options.problems:
        for busy in map(int, options.busy.split(",")):
            row = row_of(name, busy, options)
            print(line_of(row) if options.page else json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
