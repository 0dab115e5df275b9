#!/usr/bin/env python3
"""Checks the tree against the rules of the house: reads the tables in ARCHITECTURE.md, prints one line for
each offence (path:line: rule: what: remedy), and ends with 1 if there is any. Exceptions are listed in
tools/house_exceptions.txt.
"""

import argparse
import re
import sys
import time
from pathlib import Path
from xml.sax.saxutils import quoteattr

sys.path.insert(0, str(Path(__file__).resolve().parent))

from house import rules_classes, rules_functions, rules_references, rules_rooms, rules_text  # noqa: E402
from house.architecture import read_architecture  # noqa: E402
from house.tree import Finding, Tree  # noqa: E402

EXCEPTIONS = "tools/house_exceptions.txt"
RULES = [
    rules_rooms.table_fits_the_tree,
    rules_rooms.doors,
    rules_rooms.arrows,
    rules_rooms.cmake_links,
    rules_rooms.outside_libraries,
    rules_rooms.doors_compile,
    rules_text.silent_library,
    rules_text.file_length,
    rules_text.line_length,
    rules_text.views,
    rules_text.no_unfinished_work,
    rules_text.no_commented_out_code,
    rules_text.purpose,
    rules_text.matrix_files,
    rules_text.big_files,
    rules_text.no_machine_paths,
    rules_text.gpu_times,
    rules_functions.function_sizes,
    rules_classes.class_sizes,
    rules_references.references,
]


def read_exceptions(tree):
    """(line, rule, path, function) of each exception, and findings for lines that are none."""
    exceptions, offences = [], []
    text = tree.text(EXCEPTIONS) if EXCEPTIONS in tree.files else ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = re.match(r"([\w-]+) ([^\s:]+)(?::(\S+))? — (.{10,})$", line)
        if match:
            exceptions.append((number, match[1], match[2], match[3] or ""))
        else:
            offences.append(
                Finding(
                    EXCEPTIONS,
                    number,
                    "exceptions",
                    f"not understood: {line}",
                    "write: rule path[:function] — reason",
                )
            )
    return exceptions, offences


def apply_exceptions(findings, exceptions):
    """The findings that no exception covers, and one for each exception that covers nothing."""
    def covers(exception, finding):
        _, rule, path, function = exception
        named = function in ("", finding.function, finding.function.split("::")[-1])
        return rule == finding.rule and path == finding.path and named

    kept = [
        finding for finding in findings if not any(covers(exception, finding) for exception in exceptions)
    ]
    for exception in exceptions:
        if not any(covers(exception, finding) for finding in findings):
            kept.append(
                Finding(
                    EXCEPTIONS,
                    exception[0],
                    "exceptions",
                    f"nothing needs {exception[1]} {exception[2]} any more",
                    "delete the line",
                )
            )
    return kept


def check(root, rules=tuple(RULES)):
    """All findings in a tree that no exception covers, and the number of files checked."""
    tree = Tree(root)
    architecture = read_architecture(tree.text("ARCHITECTURE.md") if "ARCHITECTURE.md" in tree.files else "")
    findings = [finding for rule in rules for finding in rule(tree, architecture)]
    exceptions, offences = read_exceptions(tree)
    if set(rules) != set(RULES):  # some of the rules cannot tell which exceptions are needed
        exceptions = [
            exception for exception in exceptions if any(finding.rule == exception[1] for finding in findings)
        ]
    return offences + apply_exceptions(findings, exceptions), len(tree.files)


def write_junit(path, findings, seconds):
    """One test case for each rule, so that the house check counts in the sum of ./check."""
    names = sorted(
        {
            "table",
            "door",
            "arrow",
            "cmake",
            "outside-library",
            "door-compiles",
            "silent",
            "file-length",
            "unfinished",
            "commented-out",
            "purpose",
            "matrix-file",
            "big-file",
            "machine-path",
            "class-length",
            "function-length",
            "parameters",
            "references",
            "exceptions",
        }
    )
    cases = []
    for name in names:
        said = "\n".join(str(finding) for finding in findings if finding.rule == name)
        cases.append(
            f'<testcase classname="house" name="{name}">'
            + (f"<failure message={quoteattr(said)}/>" if said else "")
            + "</testcase>"
        )
    failures = len({finding.rule for finding in findings})
    Path(path).write_text(
        f'<testsuite name="house" tests="{len(names)}" failures="{failures}" skipped="0"'
        f' time="{seconds:.2f}">\n'
        + "\n".join(cases)
        + "\n</testsuite>\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--root", default=Path(__file__).resolve().parent.parent, help="the tree to check (default: this one)"
    )
    parser.add_argument(
        "--no-compile", action="store_true", help="do not compile the doors: a second instead of ten"
    )
    parser.add_argument("--junit", help="also write the result as JUnit XML")
    options = parser.parse_args()
    start = time.monotonic()
    rules = [rule for rule in RULES if not (options.no_compile and rule is rules_rooms.doors_compile)]
    findings, files = check(options.root, tuple(rules))
    for finding in findings:
        print(finding)
    seconds = time.monotonic() - start
    if options.junit:
        write_junit(options.junit, findings, seconds)
    print(f"house: {files} files, {len(findings)} offences, {seconds:.1f} s")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
