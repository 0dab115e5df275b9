"""The sum of ./check loses no failure: neither in a report nor in a stage that crashed."""
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "tools" / "count_results.py"
# One passed, one failed, one skipped, as ctest writes them.
CTEST = """<testsuite name="t"><testcase name="a" status="run"/><testcase name="b" status="fail"><failure message=""/></testcase>
<testcase name="c" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase></testsuite>"""
# Two passed, one error during setup, as pytest writes them.
PYTEST = """<testsuites><testsuite><testcase name="a"/><testcase name="b"/><testcase name="c"><error message="x"/></testcase>
</testsuite></testsuites>"""
PASSED = '<testsuite><testcase name="a"/></testsuite>'


def count(tmp_path, stages):
    """The last line and the exit status, for stages given as (exit status, text of the report or None)."""
    lines = []
    for number, (status, text) in enumerate(stages):
        report = tmp_path / f"{number}.xml"
        if text is not None:
            report.write_text(text)
        lines.append(f"stage{number}\t{status}\t1.5\t{report}\n")
    file = tmp_path / "stages.tsv"
    file.write_text("".join(lines))
    done = subprocess.run([sys.executable, SCRIPT, file], capture_output=True, text=True)
    return done.stdout.splitlines()[-1], done.returncode


def test_cases_of_all_reports_are_summed(tmp_path):
    assert count(tmp_path, [(8, CTEST), (1, PYTEST)]) == ("3 passed, 2 failed, 1 skipped", 1)


def test_nothing_is_said_of_skipped_where_none_is(tmp_path):
    assert count(tmp_path, [(0, PASSED)]) == ("1 passed, 0 failed", 0)


def test_stage_without_report_counts_as_one(tmp_path):
    assert count(tmp_path, [(0, None), (2, None)]) == ("1 passed, 1 failed", 1)


def test_crash_that_the_report_does_not_show_is_a_failure(tmp_path):
    assert count(tmp_path, [(139, PASSED)]) == ("1 passed, 1 failed", 1)


def test_report_that_was_cut_off_is_a_failure(tmp_path):
    assert count(tmp_path, [(0, "<testsuite><testcase")]) == ("0 passed, 1 failed", 1)


def test_empty_report_of_everything_is_no_success(tmp_path):
    assert count(tmp_path, [(0, "<testsuite/>")]) == ("0 passed, 0 failed", 1)
