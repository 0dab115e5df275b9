#!/usr/bin/env python3
"""Sums the stages of ./check: prints a table, then the line "N passed, N failed" (", N skipped" where there
are some).

Reads lines "name, exit status, seconds, JUnit report" separated by tabs. A stage with a report counts its
test cases; one without counts as one. A stage that failed although its report lists no failure counts as one
more failure, so that a crash between two tests is not lost. Exits with 1 if anything failed or nothing ran.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def count_report(path):
    """(passed, failed, skipped) of the test cases in a JUnit report of ctest, pytest or check_house."""
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def count_stage(status, report):
    """(passed, failed, skipped) of one stage."""
    if not Path(report).is_file():
        return (1, 0, 0) if status == 0 else (0, 1, 0)
    try:
        passed, failed, skipped = count_report(report)
    except ElementTree.ParseError:
        return 0, 1, 0
    return passed, max(failed, int(status != 0)), skipped


def main(stages_file):
    total = [0, 0, 0]
    print(f"{'stage':<20}{'passed':>8}{'failed':>8}{'skipped':>8}{'seconds':>10}")
    for line in Path(stages_file).read_text().splitlines():
        name, status, seconds, report = line.split("\t")
        counts = count_stage(int(status), report)
        total = [one + other for one, other in zip(total, counts)]
        print(f"{name:<20}{counts[0]:>8}{counts[1]:>8}{counts[2]:>8}{float(seconds):>10.1f}")
    skipped = f", {total[2]} skipped" if total[2] else ""
    print(f"{total[0]} passed, {total[1]} failed{skipped}")
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
