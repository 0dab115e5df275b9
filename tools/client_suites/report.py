"""Writes docs/results/clients.md from the results of the suites."""
import os
import platform

from this_machine import processor

# Tests whose systems SciPy solves faster than this measure the overhead of a call rather than solving.
MEASURABLE_SECONDS = 0.01
_WHOSE = {
    "ours": "**ours**",
    "semantics": "chosen meaning",
    "suite": "the test",
    "scipy": "SciPy",
    None: "**not explained**",
}


def write(found, explanations, out):
    """Writes the page of results, by client. Returns the differences that are ours or have no explanation."""
    unsettled, differences, failures = [], [], []
    for client, comparison in found.items():
        for difference in comparison.differences:
            entry = explanations.of(difference.test) or {"whose": None, "why": difference.message}
            differences.append(
                _row(
                    client.name,
                    _short(difference.test),
                    f"{difference.scipy}",
                    difference.palmette,
                    _WHOSE[entry["whose"]],
                    entry["why"],
                )
            )
            if entry["whose"] in (None, "ours"):
                unsettled.append(difference)
        for difference in comparison.failed_with_both:
            entry = explanations.of(difference.test) or {"why": difference.message}
            failures.append(_row(client.name, _short(difference.test), entry["why"]))
    out.write_text(_page(found, differences, failures))
    return unsettled


def _page(found, differences, failures):
    sections = [
        _OPENING,
        _outcomes(found),
        _SECONDS,
        _seconds(found),
        "## Differences\n",
        _table(
            _row("client", "test", "with SciPy", "with Palmette", "due to", "why"),
            differences,
            "No test ends differently.",
        ),
        "## Tests that fail with both\n",
        _table(_row("client", "test", "why"), failures, "None."),
        _left_out(found),
        _end(found),
    ]
    return "\n".join(section.rstrip("\n") + "\n" for section in sections if section)


def _outcomes(found):
    lines = []
    for client, comparison in found.items():
        lines.append(
            _row(
                f"{client.name} {client.version}",
                len(comparison.run),
                len(comparison.solving),
                comparison.passed("scipy"),
                comparison.passed("palmette"),
                len(comparison.differences),
                len(comparison.failed_with_both),
            )
        )
    if len(found) > 1:
        columns = zip(*([int(cell) for cell in line.strip("| ").split(" | ")[1:]] for line in lines))
        lines.append(_row("all", *map(sum, columns)))
    heading = _row(
        "client",
        "tests",
        "of which solve",
        "pass with SciPy",
        "pass with Palmette",
        "end differently",
        "fail with both",
    )
    return _table(heading, lines, "Nothing was run.")


def _seconds(found):
    lines = []
    for client, comparison in found.items():
        if not comparison.solving:
            continue
        theirs, ours = comparison.seconds("scipy"), comparison.seconds("palmette")
        measurable = sum(
            comparison.seconds_of("scipy", test) >= MEASURABLE_SECONDS for test in comparison.solving
        )
        lines.append(
            _row(
                client.name,
                _number(comparison.calls("palmette")),
                f"{theirs:.2f}",
                f"{ours:.2f}",
                f"{theirs / ours:.2f}",
                _ratio(comparison.mean_ratio()),
                measurable,
                _ratio(comparison.mean_ratio(MEASURABLE_SECONDS)),
                _worst(comparison.slowest(MEASURABLE_SECONDS)),
            )
        )
    heading = _row(
        "client",
        "calls",
        "SciPy, s",
        "Palmette, s",
        "ratio of totals",
        "mean ratio, all tests",
        "tests ≥ 10 ms",
        "their mean ratio",
        "worst of them",
    )
    return _table(heading, lines, "")


def _left_out(found):
    lines = [
        _row(client.name, _short(test), why) for client in found for test, why in client.left_out.items()
    ]
    return "## Left out\n\n" + _table(_row("client", "test", "why"), lines, "") if lines else ""


def _end(found):
    warnings = {}
    for comparison in found.values():
        for name, count in comparison.warnings.items():
            warnings[name] = warnings.get(name, 0) + count
    said = ", ".join(f"{count} × `{name}`" for name, count in sorted(warnings.items())) or "none"
    environments = sorted({(client.environment, _versions(client)) for client in found})
    used = "; ".join(
        f"{versions} for {', '.join(c.name for c in found if c.environment == name)}"
        for name, versions in environments
    )
    return f"""## How it was run

Palmette's own warnings in all these tests, that an answer is not verified or a matrix is nearly singular:
{said}.

Python {platform.python_version()}, {used}; {processor()}, {os.cpu_count()} cores, one thread for every
library. A test may take 120 seconds.

    python3 tools/clients.py            # everything
    python3 tools/clients.py --short    # a part of each suite

Packages, versions and parts of suites are in
[tools/client_suites/catalog.py](../../tools/client_suites/catalog.py), explanations in
[explanations.json](../../tools/client_suites/explanations.json) beside it; a difference without one fails
the command.
"""


def _versions(client):
    from client_suites.catalog import ENVIRONMENTS
    return " and ".join(
        text.replace("==", " ")
        for text in ENVIRONMENTS[client.environment]
        if text.startswith(("numpy==", "scipy=="))
    )


def _row(*cells):
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"


def _table(heading, lines, otherwise):
    if not lines:
        return otherwise + "\n"
    # A column of numbers is one in which every cell except the heading begins with a digit.
    columns = list(zip(*([cell.strip() for cell in line.strip("|").split(" | ")] for line in lines)))
    marks = [
        "---:" if all(cell[:1].isdigit() or cell == "–" for cell in column) else "---" for column in columns
    ]
    return "\n".join([heading, "| " + " | ".join(marks) + " |", *lines]) + "\n"


def _ratio(value):
    return "–" if value is None else f"{value:.2f}"


def _worst(found):
    return f"{found[0]:.2f} ({_short(found[1])})" if found else "–"


def _number(value):
    return f"{value:,}"


def _short(test):
    """A test's id without the folders of its file."""
    path, *rest = test.split("::")
    return "`" + "::".join([path.rsplit("/", 1)[-1], *rest]) + "`"


_OPENING = """# Under other projects' programs

Made by `tools/clients.py`. Parts of the test suites of six projects that solve sparse systems with SciPy
are run twice: with SciPy's `spsolve`, `splu`, `factorized` and `spsolve_triangular`, and with those of
`palmette.scipy` wherever a module names SciPy's. A test "solves" if it calls one of them and passes with
both sides.
"""
_SECONDS = """## Seconds in solvers

Of the tests that solve and pass with both. Calls are those of Palmette's side (an adaptive method may take
other steps). Ratios are SciPy's seconds over Palmette's, above 1 where Palmette is faster; means are
geometric, over tests. Most systems of these tests have fewer than a hundred unknowns: there a ratio tells
what a call costs from Python. The last three columns are of tests in which SciPy's solvers take 10 ms or
more.
"""
