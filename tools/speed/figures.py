"""Figures computed from rows: the best rival of a phase, ratios, fractions of the roofs. Nothing here is
entered by hand."""

import math
import statistics

from speed import rivals

# The fields of each phase in a rival's row; ours has its own names if it measures the whole.
PHASES = {
    "analyze": "order + analyze",
    "factor": "factorize",
    "solve1": "solve, 1 right-hand side",
    "solve50": "solve, 50",
    "refactor": "factorize again + solve",
    "first": "first solution",
}
# Not "analyze": the quickest orderings make the largest factors.
BEST_PHASES = {phase: title for phase, title in PHASES.items() if phase != "analyze"}
WORST_BACKWARD_ERROR = 1e-8  # a faster wrong answer is no rival


def geometric_mean(numbers):
    numbers = list(numbers)
    return math.exp(sum(math.log(number) for number in numbers) / len(numbers)) if numbers else None


def add(row, *names):
    numbers = [row.get(name) for name in names]
    return None if any(number is None for number in numbers) else sum(numbers)


def is_whole(row):
    return "error" not in row and (
        "factor_kind" in row or row["solver"] not in ("palmette", "palmette_metis")
    )


class Figures:
    def __init__(self, rows, extra):
        self.errors = {
            key: row.get("error", "a row of an older program")
            for key, row in rows.items()
            if not is_whole(row)
        }
        self.rows = {key: row for key, row in rows.items() if key not in self.errors}
        self.extra = extra
        self.limits = {int(threads): limit for threads, limit in extra.get("limits", {}).items()}
        order = list(rivals.TITLES)  # by dimension
        self.matrices = [m for m in order if self.ours(m, 2)] + sorted(
            {key[0] for key in self.rows if key[1] == "palmette"} - set(order))
        self.triangles = [m for m in rivals.TRIANGLES if (m, "palmette_tri", 2, 1) in self.rows]

    def ours(self, matrix, threads, solver="palmette"):
        return self.rows.get((matrix, solver, threads, 1))

    def seconds(self, row, phase):
        """Seconds of a phase in the row of any solver; None if unknown. "system" is from the matrix in
        memory to x.

        A rival's first solution gets Palmette's reading and verification, since it has neither; its
        factorization is warm.
        """
        if row["solver"] in rivals.OURS:
            if phase == "system":
                return row["first_s"] - row["read_s"] - row["verify_s"]
            return row.get({"refactor": "refactor_solve_s", "first": "first_s"}.get(phase, phase + "_s"))
        again = add(row, "factor_s", "solve1_s")
        if phase == "refactor" or (again is None and phase in ("system", "first")):
            return again
        if phase == "system":
            return again + (row.get("analyze_s") or 0)
        if phase == "first":
            own = self.ours(row["matrix"], min(2, row["threads"] * row["ranks"]))
            return again + (row.get("analyze_s") or 0) + add(own, "read_s", "verify_s") if own else None
        if phase == "factor" and row["solver"] == "scipy_splu":
            return None  # its figure includes the ordering
        return row.get(phase + "_s")

    def best_rival(self, matrix, phase, threads=2, among=None):
        """(rival, seconds) of the fastest with at most this many threads or ranks; None if there is none."""
        best = None
        for (name, solver, own_threads, ranks), row in self.rows.items():
            if (
                name != matrix
                or solver in rivals.OURS
                or own_threads * ranks > threads
                or (among and solver not in among)
            ):
                continue
            if (row.get("berr") or 0) > WORST_BACKWARD_ERROR:
                continue
            seconds = self.seconds(row, phase)
            if seconds and (best is None or seconds < best[1]):
                best = (solver, seconds)
        return best

    def ratio(self, matrix, phase, threads=2, among=None, solver="palmette"):
        """The best rival's time over ours: above 1 we are faster."""
        own, best = self.ours(matrix, threads, solver), self.best_rival(matrix, phase, threads, among)
        seconds = self.seconds(own, phase) if own else None
        return best[1] / seconds if best and seconds else None

    def ratios(self, phase, threads=2, among=None, solver="palmette"):
        found = {m: self.ratio(m, phase, threads, among, solver=solver) for m in self.matrices}
        return {matrix: ratio for matrix, ratio in found.items() if ratio}

    # ---------------------------------------------------------------------------------------------- roofs

    def least_bytes(self, row, num_rhs):
        """The factor's entries once per sweep, b and x once; no indices, no padding."""
        sweeps = 1 if row["factor_kind"] == "lu" else 2  # nnz_l counts L and U, of which each sweep reads one
        return 8 * sweeps * row["nnz_l"] + 16 * row["n"] * num_rhs

    def solve_flops(self, row, num_rhs):
        return 2 * (1 if row["factor_kind"] == "lu" else 2) * row["nnz_l"] * num_rhs

    def read_fraction(self, row, bytes_moved=None):
        """Least bytes (or those given) per time, as a fraction of the read bandwidth of the row's threads:
        the median over the turns in which both were measured, if there were any."""
        moved = bytes_moved or self.least_bytes(row, 1)
        turns = zip(row.get("beside_solve1_s", ()), row.get("beside_read_gbs", ()))
        fractions = [moved / seconds / 1e9 / read_gbs for seconds, read_gbs in turns]
        if fractions:
            return statistics.median(fractions)
        return moved / row["solve1_s"] / 1e9 / self.limits[row["threads"]]["read_gbs"]

    def solve_peak_fraction(self, row):
        return (
            self.solve_flops(row, 50) / row["solve50_s"] / 1e9 / self.limits[row["threads"]]["dgemm_gflops"]
        )

    def factor_peak_fraction(self, row):
        return row["flops"] / row["factor_s"] / 1e9 / self.limits[row["threads"]]["dgemm_gflops"]

    def beyond_cache(self, row):
        """Beyond four times the cache, or 192 MiB if that is less: a shared machine names a cache of 260 MiB,
        which one process seldom has."""
        cache = self.extra["machine"]["last_level_cache_bytes"]
        return cache > 0 and 8 * row["nnz_l"] > min(4 * cache, 192 << 20)

    def efficiency(self, matrix, name):
        one, two = self.ours(matrix, 1), self.ours(matrix, 2)
        return one[name] / (2 * two[name]) if one and two and one.get(name) and two.get(name) else None


def is_2d(matrix):
    return matrix.startswith(rivals.TWO_DIMENSIONS)


def is_3d(matrix):
    return matrix.startswith(rivals.THREE_DIMENSIONS)


def factor_rivals(kind):
    """The solvers of goal 4: CHOLMOD and PARDISO for LLᵀ, PARDISO and MUMPS for LDLᵀ and LU."""
    return (
        ("cholmod_metis", "cholmod_amd", "pardiso")
        if kind == "llt"
        else ("pardiso", "mumps_seq_metis", "mumps_metis")
    )


def worst_cliff(counts):
    """(gain, k): how many times cheaper it is to solve more right-hand sides than k; 1 if there is no
    gain."""
    return max((counts[k - 1] / min(counts[k - 1:]), k) for k in range(1, len(counts) + 1))


def largest_step(counts):
    """(growth, k): the largest t(k+1)/t(k) against (k+1)/k, from eight right-hand sides on."""
    return max((counts[k] / counts[k - 1] * k / (k + 1), k) for k in range(8, len(counts)))
