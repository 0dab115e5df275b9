"""docs/results/speed.md from the figures. Of docs/results/speed_notes.md, which people write, the text before
the first heading comes verbatim; under each goal there is a link to its section there."""

import re

from speed import cold, rivals
from speed.figures import BEST_PHASES, PHASES, factor_rivals, geometric_mean, largest_step, worst_cliff
from speed.goals import SECTIONS, small_ratios, title_of_matrix

HEAD = """# Speed on one machine

Made by `{command}` ({date}, commit {commit}); never edited by hand. Profiles, what was tried and what each
trial gave are in [speed_notes.md](speed_notes.md).

Machine: {processor}, {cores} cores, {cache} MiB of last-level cache, {compiler}. Measured in the same run:

| threads | read bandwidth GB/s | triad GB/s | dgemm GFLOP/s (2000 × 2000) | by |
|--:|--:|--:|--:|---|
{limits}

**How to read it.** Each ratio is the best rival's time over Palmette's, so that above 1 Palmette is faster;
both were measured one after another in this run, through the same runner. "Best rival" is the fastest with
at most that many threads or ranks, each with its own or METIS's ordering; Palmette orders by `auto`. Times
are medians of warm repeats; a rival's factorization is the better of two where its driver repeats it
(CHOLMOD, PARDISO) and the only one elsewhere. Solves are whole, in the user's numbering, without
refinement. The first solution is read + order + analyze + factorize + solve + verify: a whole warm pass for
Palmette, for a rival the sum of its phases and of Palmette's own reading and verification, since it has
neither. The least bytes of a solve are the factor's entries once in each sweep, and b and x; its roof is
the read bandwidth of the threads used, measured in turn with the solve seven times, since the memory of
shared machines changes its speed within seconds (the fraction is the median of the turns). `*`: the factor
fits into four times the last-level cache, or into 192 MiB if that is less, so that memory is no roof for it.
Rivals that are far behind on large problems (SuperLU, Eigen, ranks of MPI) run those with --long only.
"""


def ms(seconds):
    return "–" if seconds is None else f"{1e3 * seconds:,.3g}"


def number(value, digits=2):
    return "–" if value is None else f"{value:.{digits}f}"


def table(titles, rows):
    align = "|".join("---" if index == 0 else "--:" for index in range(len(titles)))
    lines = ["| " + " | ".join(titles) + " |", f"|{align}|"] + [
        "| " + " | ".join(map(str, row)) + " |" for row in rows
    ]
    return "\n".join(lines) + "\n"


def best_cells(f, matrix, phase, *, threads=2, among=None, solver="palmette"):
    """Its milliseconds, its name, and the ratio."""
    best = f.best_rival(matrix, phase, threads, among)
    if not best:
        return ["–", "–", "–"]
    return [
        ms(best[1]),
        rivals.title_of(best[0]),
        number(f.ratio(matrix, phase, threads, among, solver=solver)),
    ]


def both_threads(f, matrix, name):
    return [ms((f.ours(matrix, threads) or {}).get(name)) for threads in (1, 2)]


# ------------------------------------------------------------------------------------------------- one table
# for each goal

def one_side(f):
    rows = []
    for m in f.matrices:
        row = f.ours(m, 2)
        star = "" if f.beyond_cache(row) else " *"
        fractions = [number(f.read_fraction(f.ours(m, t))) if f.ours(m, t) else "–" for t in (1, 2)]
        moved = number(f.read_fraction(row, row["solve1_bytes"])) + star
        rows.append(
            [
                title_of_matrix(m),
                f"{row['nnz_l']:.3g}",
                *both_threads(f, m, "solve1_s"),
                *fractions,
                moved,
                *best_cells(f, m, "solve1", threads=1),
                *best_cells(f, m, "solve1"),
            ]
        )
    return table(
        [
            "matrix",
            "entries",
            "ms, 1 thread",
            "ms, 2",
            "of the roof, 1",
            "of the roof, 2",
            "with all bytes moved, 2",
            "best rival ms, 1",
            "who",
            "ratio, 1",
            "best rival ms, 2",
            "who",
            "ratio, 2",
        ],
        rows,
    )


def fifty_sides(f):
    rows = []
    for m in f.matrices:
        one = f.ours(m, 1)
        rows.append(
            [
                title_of_matrix(m),
                *both_threads(f, m, "solve50_s"),
                number(f.solve_peak_fraction(one)) if one else "–",
                number(f.solve_peak_fraction(f.ours(m, 2))),
                *best_cells(f, m, "solve50", threads=1),
                *best_cells(f, m, "solve50"),
            ]
        )
    text = table(
        [
            "matrix",
            "ms, 1 thread",
            "ms, 2",
            "of dgemm, 1",
            "of dgemm, 2",
            "best rival ms, 1",
            "who",
            "ratio, 1",
            "best rival ms, 2",
            "who",
            "ratio, 2",
        ],
        rows,
    )
    counts = [(key[0], row["counts"]) for key, row in sorted(f.rows.items()) if key[1] == "palmette_counts"]
    shown = (1, 2, 3, 4, 7, 8, 9, 16, 17, 32, 33, 50, 63, 64)
    rows = [
        [
            title_of_matrix(m),
            *(f"{1e3 * c[k - 1]:.3g}" for k in shown),
            "{:.2f} at {}".format(*worst_cliff(c)),
            "{:.2f} at {}".format(*largest_step(c)),
        ]
        for m, c in counts
    ]
    if rows:
        text += (
            "\nMilliseconds by the number of right-hand sides, 2 threads; all counts from 1 to 64 were"
            " measured:\n\n"
        )
        text += table(["matrix", *map(str, shown), "worst cliff", "largest step"], rows)
    return text


def triangles(f):
    rows = []
    for m in f.triangles:
        one, two = f.ours(m, 1, "palmette_tri"), f.ours(m, 2, "palmette_tri")
        loop = f.best_rival(m, "solve1", 1, ("tri_csr",))
        mkl = f.best_rival(m, "solve1", 2, ("tri_mkl",))
        rows.append(
            [
                m,
                ms(one and one["solve1_s"]),
                ms(two["solve1_s"]),
                number(two["analysis_in_solves"], 1),
                ms(loop and loop[1]),
                ms(mkl and mkl[1]),
                number(f.ratio(m, "solve1", 2, ("tri_csr",), solver="palmette_tri")),
                *best_cells(f, m, "solve1", among=("tri_csr", "tri_mkl", "spmp"), solver="palmette_tri")[1:],
            ]
        )
    return (
        table(
            [
                "matrix",
                "ms, 1 thread",
                "ms, 2",
                "analysis, in serial solves",
                "serial CSR ms",
                "MKL ms",
                "serial CSR ÷",
                "best",
                "ratio",
            ],
            rows,
        )
        if rows
        else ""
    )


def factorization(f):
    rows = []
    for m in f.matrices:
        row = f.ours(m, 2)
        among = factor_rivals(row["factor_kind"])
        rows.append(
            [
                title_of_matrix(m),
                row["factor_kind"],
                f"{row['flops']:.3g}",
                *both_threads(f, m, "factor_s"),
                number(f.efficiency(m, "factor_s")),
                number(row["flops"] / row["factor_s"] / 1e9, 1),
                number(f.factor_peak_fraction(row)),
                ms(row.get("plan_s")),
                *best_cells(f, m, "factor", among=among),
                *best_cells(f, m, "factor")[1:],
            ]
        )
    return table(
        [
            "matrix",
            "kind",
            "flops",
            "ms, 1 thread",
            "ms, 2",
            "efficiency",
            "GFLOP/s",
            "of dgemm",
            "prepare solves ms",
            "best named rival ms",
            "who",
            "ratio",
            "best of all",
            "ratio",
        ],
        rows,
    )


def first_solution(f):
    rows = []
    for m in f.matrices:
        row, metis = f.ours(m, 2), f.ours(m, 2, "palmette_metis")
        fill = row["nnz_l"] / metis["nnz_l"] if metis else None
        phases = [
            ms(row[name])
            for name in ("read_s", "order_s", "symbolic_s", "first_factor_s", "first_solve_s", "verify_s")
        ]
        rows.append(
            [
                title_of_matrix(m),
                row["ordering"],
                *phases,
                ms(row["first_s"]),
                ms(row["cold_s"]),
                *best_cells(f, m, "first"),
                number(fill),
            ]
        )
    return table(
        [
            "matrix",
            "ordering",
            "read",
            "order",
            "analyze",
            "factorize",
            "solve",
            "verify",
            "whole ms, 2 threads",
            "first pass of the process",
            "best rival ms",
            "who",
            "ratio",
            "entries ÷ METIS's",
        ],
        rows,
    )


def same_pattern(f):
    rows = [
        [title_of_matrix(m), *both_threads(f, m, "refactor_solve_s"), *best_cells(f, m, "refactor")]
        for m in f.matrices
    ]
    return table(["matrix", "ms, 1 thread", "ms, 2", "best rival ms, 2", "who", "ratio"], rows)


def mixed(f):
    rows = []
    for m in f.matrices:
        row = f.ours(m, 2)
        if not row.get("mixed_factor_s"):
            rows.append(
                [
                    title_of_matrix(m),
                    "–",
                    ms(row["factor_s"]),
                    "–",
                    "–",
                    "–",
                    "–",
                    row.get("mixed_refused", ""),
                ]
            )
            continue
        rows.append(
            [
                title_of_matrix(m),
                ms(row["mixed_factor_s"]),
                ms(row["factor_s"]),
                number(row["factor_s"] / row["mixed_factor_s"]),
                number(row["factor_bytes"] / row["mixed_factor_bytes"]),
                f"{row['mixed_berr']:.1e}",
                f"{row['first_berr']:.1e}",
                f"{row['mixed_refine_steps']} refinement steps",
            ]
        )
    return table(
        [
            "matrix",
            "mixed ms, 2 threads",
            "double ms",
            "ratio",
            "memory, ratio",
            "backward error, mixed",
            "double",
            "note",
        ],
        rows,
    )


def no_cliffs(f):
    text = ""
    for language, rivals_here in (
        ("small", "C++, beside KLU and Eigen"),
        ("small_python", "Python, beside SciPy's splu and spsolve"),
    ):
        worst = sorted(small_ratios(f, language).items(), key=lambda item: -item[1])
        if worst:
            over = sum(ratio > 1.1 for _, ratio in worst)
            text += (
                f"\n{rivals_here}: {len(worst)} systems, one thread, end to end; {over} of them above 1.1."
                " The worst:\n\n"
            )
            text += table(
                ["system", "ours ÷ best rival"], [[name, number(ratio)] for name, ratio in worst[:8]]
            )
    return text.strip()


def reading(f):
    rows = [
        [
            row["symmetry"],
            f"{row['megabytes']:,.0f}",
            row["threads"],
            number(row["seconds"]),
            f"{row['megabytes'] / row['seconds']:.0f}",
            number(row["memory_ratio"]),
        ]
        for row in f.extra.get("reading", [])
    ]
    return table(["file", "MB", "threads", "seconds", "MB/s", "memory ÷ matrix"], rows) if rows else ""


TABLES = {
    1: one_side,
    2: fifty_sides,
    3: triangles,
    4: factorization,
    5: first_solution,
    6: same_pattern,
    7: mixed,
    8: no_cliffs,
    9: lambda f: "",
    10: reading,
}


# ----------------------------------------------------------------------------------------------------------
# the whole

def overview(f):
    """Geometric means against each rival, and the number of matrices that both have."""
    text = ""
    for solver, among, title in (
        ("palmette", None, "each with its own ordering, Palmette with `auto`"),
        (
            "palmette_metis",
            [n for n, r in rivals.RIVALS.items() if not r.own_ordering],
            "the same ordering: METIS's, for all",
        ),
    ):
        rows = [["best rival", "", *(mean_cell(f, phase, among, solver) for phase in BEST_PHASES)]]
        for name, rival in rivals.RIVALS.items():
            if "tri" in rival.kinds or (among and name not in among):
                continue
            absent = f.extra["absent"].get(name)
            cells = (
                [f"not here: {absent}"] + [""] * (len(PHASES) - 1)
                if absent
                else [mean_cell(f, phase, [name], solver) for phase in PHASES]
            )
            rows.append([rival.title, *cells])
        text += f"\n2 threads, {title}; geometric mean, worst, and number of matrices:\n\n"
        text += table(["rival", *PHASES.values()], rows)
    return text


def mean_cell(f, phase, among, solver):
    ratios = list(f.ratios(phase, 2, among, solver=solver).values())
    return f"{geometric_mean(ratios):.2f}, {min(ratios):.2f} ({len(ratios)})" if ratios else "–"


class Notes:
    """The page that people write."""

    def __init__(self, path):
        self._name = path.name
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        self._headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
        words = text.split("\n## ")[0]
        self.first_words = re.sub(r"\A# [^\n]*\n|<!--.*?-->", "", words, flags=re.DOTALL).strip()

    def link(self, begin):
        """To the section whose heading begins with these words; empty if there is none."""
        for heading in self._headings:
            if re.match(re.escape(begin) + r"\b", heading):
                anchor = re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")
                return f"Profiles and what was tried: [{self._name}]({self._name}#{anchor})."
        return ""


def absent_text(f):
    lines = [
        f"- {rivals.title_of(name)} (`{name}`): not here: {why}"
        for name, why in f.extra["absent"].items()
        if why
    ]
    if "spmp" not in f.extra["drivers"]:
        lines.append("- SpMP: not here: it is not packaged; `--spmp \"COMMAND {m}\"` gives its row")
    if "palmette_tri" not in f.extra["drivers"]:
        lines.append("- Palmette's rows of triangular matrices: not here: bench_triangle_row is not built")
    lines += [
        f"- {title}: not here: {f.extra[name + '_absent']}"
        for name, title in (("small", "small systems"), ("small_python", "small systems from Python"))
        if name + "_absent" in f.extra
    ]
    lines += [f"- {matrix}, {rivals.title_of(solver)}, {threads} threads, {ranks} ranks: {why}"
              for (matrix, solver, threads, ranks), why in sorted(f.errors.items())]
    return "\n".join(lines)


def write(f, path, notes_path, pictures):
    machine = f.extra["machine"]
    limits = "\n".join(
        f"| {t} | {v['read_gbs']:.1f} | {v['triad_gbs']:.1f} | {v['dgemm_gflops']:.1f} | {v['blas']} |"
        for t, v in f.limits.items()
    )
    text = HEAD.format(
        limits=limits,
        cache=machine["last_level_cache_bytes"] >> 20,
        command=f.extra["command"],
        **{k: machine[k] for k in ("date", "commit", "processor", "cores", "compiler")},
    )
    notes = Notes(notes_path)
    if notes.first_words:
        text += "\n" + notes.first_words + "\n"
    if f.extra.get("cold", {}).get("rows"):
        text += "\n" + cold.section(f.extra["cold"], table, notes.link("Cold starts"))
    text += "\n## Goals\n\n| goal | what | asked | reached | |\n|--:|---|--:|--:|---|\n"
    text += "\n".join(goal.line() for _, goals in SECTIONS.values() for goal in goals(f)) + "\n"
    for picture, title in pictures:
        text += f"\n![{title}]({picture})\n"
    text += "\n## Ratios to each rival\n" + overview(f)
    for at, (title, _) in SECTIONS.items():
        body = [part.rstrip("\n") for part in (TABLES[at](f), notes.link(f"Goal {at}")) if part]
        text += (
            f"\n## Goal {at}: {title}\n\n"
            + ("\n\n".join(body) if body else "Not measured by this command.")
            + "\n"
        )
    if absent := absent_text(f):
        text += "\n## What is not here\n\n" + absent + "\n"
    path.write_text(text, encoding="utf-8")


README_MARKS = ("<!-- speed: made by tools/results_speed.py -->", "<!-- end of speed -->")


def fill_readme(f, path):
    """Replaces the text between the marks in README.md, so that its claims are the figures of the last run:
    cold starts first."""
    rows = [
        [title, *mean_and_worst(f.ratios(phase, 2)), *mean_and_worst(f.ratios(phase, 1))]
        for phase, title in BEST_PHASES.items()
    ]
    claims = table(
        [
            f"best rival's time ÷ Palmette's, warm, {len(f.matrices)} matrices",
            "2 threads, geometric mean",
            "worst",
            "1 thread, geometric mean",
            "worst",
        ],
        rows,
    )
    measured = f.extra.get("cold", {})
    put_in_readme(path, (cold.readme_table(measured, table) + "\n" if measured.get("rows") else "") + claims)


def put_in_readme(path, claims):
    text = path.read_text(encoding="utf-8")
    begin, end = readme_marks(text, path)
    path.write_text(text[:begin] + README_MARKS[0] + "\n\n" + claims + "\n" + text[end:], encoding="utf-8")


def readme_marks(text, path):
    begin, end = (text.find(mark) for mark in README_MARKS)
    if begin < 0 or end < begin:
        raise SystemExit(f"{path} has lost its marks {README_MARKS}")
    return begin, end


def renew_cold(measured, path, readme):
    """Writes the section on cold starts of the page, and its table in README.md; everything else stays."""
    path.write_text(
        cold.replace_section(
            path.read_text(encoding="utf-8"),
            cold.section(measured, table, Notes(path.parent / "speed_notes.md").link("Cold starts")),
            "## Goals",
        ),
        encoding="utf-8",
    )
    if readme is None:
        return
    text = readme.read_text(encoding="utf-8")
    begin, end = readme_marks(text, readme)
    # The last table between the marks is the warm one.
    tables = [part for part in text[begin + len(README_MARKS[0]):end].split("\n\n") if part.strip()]
    put_in_readme(readme, cold.readme_table(measured, table) + "\n" + tables[-1].strip("\n") + "\n")


def mean_and_worst(ratios):
    return [number(geometric_mean(ratios.values())), number(min(ratios.values(), default=None))]
