"""The goals of one machine at its limit: for each the target, the figure reached, and the margin, from the
rows."""

from dataclasses import dataclass

from speed import rivals
from speed.figures import factor_rivals, geometric_mean, is_2d, is_3d, largest_step, worst_cliff


@dataclass
class Goal:
    number: int
    text: str
    target: float
    reached: float  # None: not measured
    where: str = ""  # the matrix that decides
    unit: str = ""
    at_least: bool = True

    @property
    def margin(self):
        """Above 1: reached, by this margin."""
        return self.reached / self.target if self.at_least else self.target / self.reached

    def line(self):
        sign = "≥" if self.at_least else "≤"
        asked = f"{sign} {shown(self.target)}{self.unit}"
        if self.reached is None:
            return f"| {self.number} | {self.text} | {asked} | not measured | |"
        where = f" ({self.where})" if self.where else ""
        verdict = "yes" if self.margin >= 1 else "**no**"
        return (
            f"| {self.number} | {self.text} | {asked} | {shown(self.reached)}{self.unit}{where} | {verdict},"
            f" × {self.margin:.2f} |"
        )


def shown(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.2f}"


def least(found):
    """(value, name) of the smallest; (None, "") if there is none."""
    return min(((value, name) for name, value in found.items()), default=(None, ""))


def most(found):
    return max(((value, name) for name, value in found.items()), default=(None, ""))


def minimum(number, text, target, found):
    return Goal(number, text, target, *least(found))


def one_side(f):
    fractions = {f"{m}, {t} threads": f.read_fraction(f.ours(m, t))
                 for m in f.matrices for t in (1, 2) if f.ours(m, t) and f.beyond_cache(f.ours(m, t))}
    both = {f"{m}, {t} threads": r for t in (1, 2) for m, r in f.ratios("solve1", t).items()}
    yield minimum(
        1, "least bytes over read bandwidth, factors beyond the cache: worst", 0.85, fractions
    )
    yield minimum(1, "best rival's time over ours: worst matrix", 1, both)
    yield Goal(1, "the same, geometric mean, 2 threads", 1.8, geometric_mean(f.ratios("solve1").values()))


def fifty_sides(f):
    for name, test, target in (("3D", is_3d, 0.55), ("2D", is_2d, 0.35)):
        found = {m: f.solve_peak_fraction(f.ours(m, 2)) for m in f.matrices if test(m)}
        yield minimum(2, f"fraction of the dgemm peak, {name}: worst, 2 threads", target, found)
    yield Goal(
        2,
        "best rival's time over ours: geometric mean, 2 threads",
        2.5,
        geometric_mean(f.ratios("solve50").values()),
    )
    counts = {key[0]: row["counts"] for key, row in f.rows.items() if key[1] == "palmette_counts"}
    cliff, name = most({m: worst_cliff(c)[0] for m, c in counts.items()})
    yield Goal(
        2, "1 to 64 sides: time of k over that of more than k, worst k", 1.1, cliff, name, at_least=False
    )
    step, name = most({m: largest_step(c)[0] for m, c in counts.items()})
    yield Goal(
        2, "from 8 sides on: a side's time at k + 1 over that at k, worst k", 1.2, step, name, at_least=False
    )


def triangles(f):
    names = ("tri_csr", "tri_mkl", "spmp")
    against_all = {m: f.ratio(m, "solve1", 2, names, solver="palmette_tri") for m in f.triangles}
    against_loop = {m: f.ratio(m, "solve1", 2, ("tri_csr",), solver="palmette_tri") for m in f.triangles}
    yield Goal(3, "best rival's time over ours: geometric mean, 2 threads", 1.5,
               geometric_mean(r for r in against_all.values() if r))
    yield minimum(
        3, "serial CSR's time over ours: worst, 2 threads", 1, {m: r for m, r in against_loop.items() if r}
    )


def factorization(f):
    found = {m: f.ratio(m, "factor", 2, factor_rivals(f.ours(m, 2)["factor_kind"])) for m in f.matrices}
    found = {m: ratio for m, ratio in found.items() if ratio}
    large = {
        m: f.factor_peak_fraction(f.ours(m, 2))
        for m in f.matrices
        if is_3d(m) and f.ours(m, 2)["flops"] > 3e10
    }
    yield Goal(
        4,
        "best of the named rivals over ours: geometric mean, 2 threads",
        1.15,
        geometric_mean(found.values()),
    )
    yield minimum(4, "the same: worst", 0.95, found)
    yield minimum(4, "parallel efficiency, 2 threads: worst", 0.85,
                  {m: e for m in f.matrices if (e := f.efficiency(m, "factor_s"))})
    yield minimum(4, "fraction of the dgemm peak, 3D beyond 3·10¹⁰ flops: worst, 2 threads", 0.8, large)


def first_solution(f):
    yield Goal(
        5,
        "best rival's time over ours: geometric mean, 2 threads",
        1.3,
        geometric_mean(f.ratios("first").values()),
    )
    fill = {m: f.ours(m, 2)["nnz_l"] / f.ours(m, 2, "palmette_metis")["nnz_l"]
            for m in f.matrices if f.ours(m, 2, "palmette_metis")}
    yield Goal(
        5,
        "entries of the factor over METIS's: geometric mean",
        1.05,
        geometric_mean(fill.values()),
        at_least=False,
    )
    yield Goal(5, "the same: worst", 1.2, *most(fill), at_least=False)


def same_pattern(f):
    ratios = f.ratios("refactor")
    yield Goal(
        6, "best rival's time over ours: geometric mean, 2 threads", 1.5, geometric_mean(ratios.values())
    )
    yield minimum(6, "the same: worst", 1.5, ratios)


def mixed(f):
    rows = {m: f.ours(m, 2) for m in f.matrices if f.ours(m, 2).get("mixed_factor_s")}
    yield minimum(7, "double's factorization over mixed's: worst, 2 threads", 1.6,
                  {m: row["factor_s"] / row["mixed_factor_s"] for m, row in rows.items()})
    yield minimum(
        7,
        "double's factor memory over mixed's, indices included (halved but for these): worst",
        1.9,
        {m: row["factor_bytes"] / row["mixed_factor_bytes"] for m, row in rows.items()},
    )


def no_cliffs(f):
    for language, title in (("small", "C++"), ("small_python", "Python")):
        worst = most(small_ratios(f, language))
        yield Goal(
            8,
            f"small and circuit-like systems end to end, {title}: ours over the best rival, worst",
            1.1,
            *worst,
            at_least=False,
        )
    circuits = {
        m: r
        for m in f.matrices
        if m.startswith("circuit") and (r := f.ratio(m, "system", 1, ("klu", "eigen_lu", "scipy_splu")))
    }
    worst = most({m: 1 / ratio for m, ratio in circuits.items()})
    yield Goal(
        8,
        "the circuit of 10⁵ nodes, from the matrix to x, one thread: ours over the best of KLU, Eigen, SciPy",
        1.1,
        *worst,
        at_least=False,
    )
    for language, title, limit in (("small", "C++", 1), ("small_python", "Python", 10)):
        solves = {row["family"]: row["solve_us"] for row in f.extra.get(language, [])
                  if row["n"] == 10 and row["solver"] in SMALL_OURS and "solve_us" in row}
        yield Goal(
            8, f"one solve of ten unknowns from {title}", limit, *most(solves), unit=" µs", at_least=False
        )
    names = {"factor_s": "factorize", "solve1_s": "solve 1", "solve50_s": "solve 50"}
    gain = {
        f"{m}, {title}": 2 * e
        for m in f.matrices
        for name, title in names.items()
        if (e := f.efficiency(m, name))
    }
    yield minimum(8, "one thread's time over two threads': worst", 1, gain)


SMALL_OURS = ("palmette1", "palmette.scipy")  # our rows of bench/small_systems


def small_ratios(f, language):
    """{family and n: ours over the best rival's}, one thread, from the rows of bench/small_systems."""
    systems = {}
    for row in f.extra.get(language, []):
        systems.setdefault(f"{row['family']} {row['n']}", {})[row["solver"]] = row["total_us"]
    ratios = {}
    for name, times in systems.items():
        ours = [time for solver, time in times.items() if solver in SMALL_OURS]
        theirs = [time for solver, time in times.items() if not solver.startswith("palmette")]
        if ours and theirs:
            ratios[name] = ours[0] / min(theirs)
    return ratios


def reading(f):
    found = {f"{row['symmetry']}, {row['megabytes']:.0f} MB": row["megabytes"] / row["seconds"]
             for row in f.extra.get("reading", []) if row["threads"] == 2}
    goal = minimum(10, "Matrix Market files, 2 threads: slowest", 300, found)
    goal.unit = " MB/s"
    yield goal


SECTIONS = {
    1: ("One right-hand side", one_side),
    2: ("Fifty right-hand sides", fifty_sides),
    3: ("Plain triangular matrices", triangles),
    4: ("Factorization", factorization),
    5: ("Time to the first solution", first_solution),
    6: ("Same pattern again", same_pattern),
    7: ("Mixed precision", mixed),
    8: ("No cliffs", no_cliffs),
    9: ("Same bits", lambda f: ()),
    10: ("Reading", reading),
}


def title_of_matrix(matrix):
    return rivals.TITLES.get(matrix, matrix)
