"""The report of speeds computes its figures from rows, and lists missing rivals."""
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from speed import cold, report  # noqa: E402
from speed.figures import Figures, largest_step, worst_cliff  # noqa: E402
from speed.goals import Goal  # noqa: E402

MACHINE = {
    "processor": "a processor",
    "cores": 2,
    "last_level_cache_bytes": 1 << 20,
    "compiler": "a compiler",
    "commit": "abc",
    "date": "today",
}
LIMITS = {
    str(t): {"read_gbs": 10.0 * t, "triad_gbs": 9.0, "dgemm_gflops": 40.0 * t, "blas": "a BLAS"}
    for t in (1, 2)
}


def ours(threads, **changes):
    row = {
        "solver": "palmette",
        "matrix": "p3d7_30",
        "threads": threads,
        "ranks": 1,
        "factor_kind": "llt",
        "ordering": "metis",
        "n": 27000,
        "nnz_l": 1000000,
        "flops": 4e9,
        "analyze_s": 0.2,
        "order_s": 0.1,
        "symbolic_s": 0.1,
        "factor_s": 0.2 / threads,
        "first_factor_s": 0.2,
        "first_solve_s": 0.01,
        "plan_s": 0.01,
        "solve1_s": 0.002 / threads,
        "solve1_bytes": 2e7,
        "solve50_s": 0.02,
        "refactor_solve_s": 0.2,
        "first_s": 0.5,
        "cold_s": 0.6,
        "read_s": 0.05,
        "verify_s": 0.01,
        "factor_bytes": 1.6e7,
        "first_berr": 1e-16,
        "berr": 1e-16,
    }
    return {**row, **changes}


def rival(solver, threads, **changes):
    row = {
        "solver": solver,
        "matrix": "p3d7_30",
        "threads": threads,
        "ranks": 1,
        "analyze_s": 0.3,
        "factor_s": 0.3,
        "solve1_s": 0.004,
        "solve50_s": 0.06,
        "berr": 1e-16,
    }
    return {**row, **changes}


def figures(*rows, absent=None):
    keyed = {(row["matrix"], row["solver"], row["threads"], row["ranks"]): row for row in rows}
    everybody = {name: "" for name in report.rivals.RIVALS}
    return Figures(
        keyed,
        {
            "machine": MACHINE,
            "limits": LIMITS,
            "absent": {**everybody, **(absent or {})},
            "drivers": {},
            "command": "x",
        },
    )


def test_best_rival_is_the_fastest_with_at_most_so_many_threads():
    f = figures(
        ours(1),
        ours(2),
        rival("pardiso", 1),
        rival("pardiso", 2, solve1_s=0.0015),
        rival("cholmod_metis", 2, solve1_s=0.003),
    )
    assert f.best_rival("p3d7_30", "solve1", 2) == ("pardiso", 0.0015)
    assert f.best_rival("p3d7_30", "solve1", 1) == ("pardiso", 0.004)
    assert f.ratio("p3d7_30", "solve1", 2) == pytest.approx(1.5)


def test_wrong_answers_and_failed_runs_are_no_rivals():
    f = figures(
        ours(2),
        rival("pardiso", 2, solve1_s=1e-6, berr=0.1),
        {**rival("umfpack", 2), "error": "over 60 s"},
        rival("superlu_metis", 1),
    )
    assert f.best_rival("p3d7_30", "solve1") == ("superlu_metis", 0.004)
    assert "umfpack" in {key[1] for key in f.errors}


def test_rival_gets_our_reading_and_verification_for_its_first_solution():
    f = figures(ours(2), rival("pardiso", 2))
    assert f.best_rival("p3d7_30", "first")[1] == pytest.approx(0.3 + 0.3 + 0.004 + 0.05 + 0.01)


def test_rows_of_older_programs_are_told_and_not_used():
    old = ours(2)
    del old["factor_kind"]
    f = figures(old, rival("pardiso", 2))
    assert f.matrices == [] and f.errors == {("p3d7_30", "palmette", 2, 1): "a row of an older program"}


def test_system_is_what_lies_between_reading_and_verification():
    f = figures(ours(2), rival("klu", 1))
    assert f.ratio("p3d7_30", "system", 2) == pytest.approx((0.3 + 0.3 + 0.004) / (0.5 - 0.05 - 0.01))


def test_roof_counts_the_factor_once_a_sweep():
    # 2 sweeps · 8 bytes · 10⁶ entries + 16 · 27,000 bytes in 1 ms are 16.432 GB/s, of 20 that two threads
    # read.
    assert figures(ours(2)).read_fraction(ours(2)) == pytest.approx(0.8216)
    # L and U are both in nnz_l, and each sweep reads one of them.
    assert figures(ours(2)).read_fraction(ours(2, factor_kind="lu")) == pytest.approx(0.4216)


def test_no_more_than_192_mib_of_a_cache_count():
    f = figures(ours(1))
    for cache, most in ((32 << 20, 128 << 20), (260 << 20, 192 << 20)):
        f.extra["machine"] = {**MACHINE, "last_level_cache_bytes": cache}
        assert not f.beyond_cache(ours(1, nnz_l=most // 8))
        assert f.beyond_cache(ours(1, nnz_l=most // 8 + 1))


def test_roof_is_that_of_the_turn_in_which_a_solve_was_measured():
    # The memory is half as fast in the second turn, and so is the solve; the last turn was disturbed.
    row = ours(2, beside_solve1_s=[0.001, 0.002, 0.01], beside_read_gbs=[20, 10, 20])
    assert figures(row).read_fraction(row) == pytest.approx(0.8216)


def test_cliff_is_what_padding_would_gain():
    assert worst_cliff([1, 2, 6, 4, 5]) == (1.5, 3)
    assert largest_step([float(k) for k in range(1, 65)])[0] == pytest.approx(1)


def test_goal_tells_how_far_off_it_is():
    assert "**no**, × 0.50" in Goal(1, "t", 2.0, 1.0).line()
    assert "yes, × 2.00" in Goal(1, "t", 2.0, 1.0, at_least=False).line()
    assert "not measured" in Goal(1, "t", 2.0, None).line()


def test_report_names_absent_rivals_and_links_to_the_notes(tmp_path):
    notes = tmp_path / "notes.md"
    notes.write_text(
        "# Title\n\n<!-- for writers -->\n\nFirst words.\n\n## Goal 10: reading\n\nWords.\n\n"
        "## Goal 1: factorize, then solve\n\nWhy it is slow.\n"
    )
    f = figures(ours(1), ours(2), rival("pardiso", 2), absent={"klu": "klu.h is missing"})
    report.write(f, tmp_path / "speed.md", notes, [])
    text = (tmp_path / "speed.md").read_text()
    assert "KLU (`klu`): not here: klu.h is missing" in text
    assert "SpMP: not here" in text
    link = "(notes.md#goal-1-factorize-then-solve)"
    assert text.index("## Goal 1:") < text.index(link) < text.index("## Goal 2:")
    assert text.count(link) == 1 and "(notes.md#goal-10-reading)" in text
    assert "First words." in text and "for writers" not in text and "Why it is slow." not in text


def test_readme_is_changed_between_its_marks_only(tmp_path):
    readme = tmp_path / "README.md"
    begin, end = report.README_MARKS
    readme.write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    report.fill_readme(figures(ours(1), ours(2), rival("pardiso", 2)), readme)
    text = readme.read_text()
    assert (
        text.startswith("before\n")
        and text.endswith("\nafter\n")
        and "old" not in text
        and "| factorize | 3.00 | 3.00 |" in text
    )


def cold_rows(scale=1.0):
    ours = {
        "factor_s": 0.1,
        "plan_s": 0.02,
        "first_s": 0.5,
        "read_s": 0.1,
        "order_s": 0.1,
        "symbolic_s": 0.05,
        "solve_s": 0.01,
        "verify_s": 0.01,
        "create_faults": 1000,
        "ordering": "nd",
    }
    theirs = {
        "factor_s": 0.2 * scale,
        "again_factor_s": 0.15 * scale,
        "first_s": 0.6 * scale,
        "read_s": 0.1,
        "analyze_s": 0.2,
        "solve_s": 0.01,
        "verify_s": 0.01,
    }
    slow = {
        "palmette": {**ours, "factor_s": 0.3},
        "pardiso": {**theirs, "factor_s": 0.9, "again_factor_s": 0.9},
    }
    return {"palmette": [slow["palmette"], ours, ours], "pardiso": [theirs, slow["pardiso"], theirs]}


def cold_figures():
    rows = {"p3d7_30 2": cold_rows(), "p3d7_30 1": cold_rows(), "elas20 2": cold_rows(0.4)}
    return {"machine": MACHINE, "rows": rows}


def test_cold_ratios_are_of_the_best_processes():
    rows = cold_rows()
    assert cold.ratio(rows, "factorization") == pytest.approx(2)
    assert cold.ratio(rows, "factorization, against the better of PARDISO's two") == pytest.approx(1.5)
    assert cold.ratio(rows, "factorization and preparing solves") == pytest.approx(0.2 / 0.12)
    assert cold.ratio(rows, "first solution") == pytest.approx(1.2)
    assert cold.ratio(rows, "first solution", max) == pytest.approx(1.2)
    assert cold.ratios(cold_figures(), "factorization", 2) == {
        "p3d7_30": pytest.approx(2),
        "elas20": pytest.approx(0.8),
    }


def test_cold_section_says_what_was_asked_and_what_is_slower():
    text = cold.section(cold_figures(), report.table)
    assert "| factorization, worst, 2 threads | ≥ 1.0 | 0.80 | **no** |" in text
    assert "| factorization | 1.26 | 0.80 (3D elasticity 20³) | 2.00 | 2.00 (3D 7-point 30³) | 1.26 |" in text
    assert "one machine only" in text and "3 processes of Palmette" in text


def test_cold_section_comes_first_and_is_renewed_alone(tmp_path):
    page, readme = tmp_path / "speed.md", tmp_path / "README.md"
    f = figures(ours(1), ours(2), rival("pardiso", 2))
    report.write(f, page, tmp_path / "no notes", [])
    begin, end = report.README_MARKS
    readme.write_text(f"before\n{begin}\n\nold\n\n{end}\nafter\n")
    report.fill_readme(f, readme)
    warm = page.read_text()
    for scale in (1.0, 2.0):
        measured = {**cold_figures(), "rows": {"p3d7_30 2": cold_rows(scale)}}
        report.renew_cold(measured, page, readme)
        text = page.read_text()
        assert text.count("## Cold starts") == 1 and text.index("## Cold starts") < text.index("## Goals")
        assert text.replace(cold.section(measured, report.table) + "\n", "") == warm
        claims = readme.read_text()
        assert (
            f"| factorization, first of a process | {2 * scale:.2f} |" in claims
            and "| factorize | 3.00 | 3.00 |" in claims
        )
        assert (
            claims.index("cold, 1 matrices") < claims.index("warm, 1 matrices")
            and claims.startswith("before\n")
            and claims.endswith("after\n")
        )


def test_full_report_keeps_the_cold_figures_it_knows(tmp_path):
    f = figures(ours(1), ours(2), rival("pardiso", 2))
    f.extra["cold"] = cold_figures()
    report.write(f, tmp_path / "speed.md", tmp_path / "no notes", [])
    assert cold.section(cold_figures(), report.table) in (tmp_path / "speed.md").read_text()
