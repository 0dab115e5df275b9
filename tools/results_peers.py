#!/usr/bin/env python3
"""Makes docs/results/peers.md from the rows that the comparison's runner collected.

    ../shared/peers/run.py cholmod_metis superlu_metis --driver "palmette=build/release/bench/bench_peer_row {m}" \\
        --kinds spd,gen,sym -m s2D9pt512 thermal100k p3d7_30 elas20 cd3d40 kkt20 -t 1 2
    tools/results_peers.py results.json > docs/results/peers.md

Build the row's program first: cmake --preset release -DPALMETTE_BENCH=ON && cmake --build --preset release.
"""
import json
import math
import sys

PROBLEMS = {
    "s2D9pt512": "2D 9-point 512²",
    "thermal100k": "irregular 2D, 10⁵",
    "p3d7_30": "3D 7-point 30³",
    "elas20": "3D elasticity 20³",
    "cd3d40": "3D convection–diffusion 40³, LU",
    "kkt20": "KKT 20³, LDLᵀ (SuperLU: LU)",
}
PHASES = {
    "analyze_s": "order + analyze",
    "factor_s": "factorize",
    "solve1_s": "solve, 1 right-hand side",
    "solve50_s": "solve, 50",
}
RIVALS = {"cholmod_metis": "CHOLMOD", "superlu_metis": "SuperLU"}

PROSE = """# Beside CHOLMOD and SuperLU

Made by the two commands in `tools/results_peers.py`, in one session on one machine (2 cores of an AMD EPYC with AVX-512, 24 GiB, GCC 12).
Debian's CHOLMOD 5.12 and SuperLU 5.3 with Debian's OpenBLAS 0.3.21, METIS orderings; Palmette with its defaults (`auto` ordering), compiled
for this processor. Whole processes at high priority; solves are medians of warm repeats in the user's numbering, without refinement;
backward errors were below 1.1e-15 everywhere.

What to keep in mind when reading:

- OpenBLAS 0.3.21 does not know this processor and runs its AVX2 kernels, while Palmette's own kernels use AVX-512 here. On AVX2
  machines the advantage of the factorization is smaller.
- Factorization: Palmette's figure is the best of four (three warm), CHOLMOD's the better of two, SuperLU's the only one. First passes pay for
  memory that the system has yet to find: on this virtual machine up to three times the warm figure, for either solver.
- CHOLMOD's and SuperLU's threads are those of the BLAS; SuperLU's solve has none.
- Repeats differ by up to 15 %.
"""


def ratios(rows):
    for threads in (1, 2):
        for problem in PROBLEMS:
            ours = rows[problem, "palmette", threads]
            for phase in PHASES:
                for rival in RIVALS:
                    theirs = rows.get((problem, rival, threads), {}).get(phase)
                    if theirs:
                        yield threads, rival, phase, problem, theirs / ours[phase]


def geometric_means(rows):
    print("\n## Geometric means of the ratios: rival's time over Palmette's, above 1 Palmette is faster\n")
    print("| threads | rival | " + " | ".join(PHASES.values()) + " |\n|--:|---|" + "--:|" * len(PHASES))
    found = list(ratios(rows))
    for threads in (1, 2):
        for rival, name in RIVALS.items():
            means = []
            for phase in PHASES:
                logs = [math.log(r) for t, s, p, _, r in found if (t, s, p) == (threads, rival, phase)]
                means.append(f"{math.exp(sum(logs) / len(logs)):.2f}")
            print(f"| {threads} | {name} | " + " | ".join(means) + " |")


def table(rows, threads):
    print(f"\n## {threads} thread{'s' if threads > 1 else ''}\n")
    print("| problem | phase | Palmette ms | CHOLMOD ms | ratio | SuperLU ms | ratio |\n|---|---|--:|--:|--:|--:|--:|")
    for problem, title in PROBLEMS.items():
        ours = rows[problem, "palmette", threads]
        for phase, name in PHASES.items():
            cells = []
            for rival in RIVALS:
                theirs = rows.get((problem, rival, threads), {}).get(phase)
                cells.append(f"{1e3 * theirs:,.3g} | {theirs / ours[phase]:.2f}" if theirs else "– | –")
            print(f"| {title if phase == 'analyze_s' else ''} | {name} | {1e3 * ours[phase]:,.3g} | " + " | ".join(cells) + " |")


def main(path):
    with open(path, encoding="utf-8") as file:
        rows = {(r["matrix"], r["solver"], r["threads"]): r for r in json.load(file)["rows"]}
    print(PROSE, end="")
    geometric_means(rows)
    for threads in (1, 2):
        table(rows, threads)


if __name__ == "__main__":
    main(sys.argv[1])
