"""The comparison of other projects' suites: outcomes are compared test by test, differences are explained or
reported, calls are counted."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from client_suites import report, suites  # noqa: E402
from client_suites.catalog import CLIENTS, Client  # noqa: E402
from client_suites.outcomes import Comparison, Explanations, read  # noqa: E402
from client_suites.stand_ins import Clock, Factor  # noqa: E402


def row(outcome="passed", seconds=0.0, **more):
    return {
        "outcome": outcome,
        "calls": {"splu": 1} if seconds else {},
        "seconds": {"splu": seconds} if seconds else {},
        **more,
    }


def test_outcomes_are_compared_test_by_test():
    found = Comparison(
        {"a": row(), "b": row("failed"), "c": row(), "d": row("skipped"), "e": row("failed")},
        {"a": row(), "b": row(), "c": row("failed", message="why"), "d": row("skipped"), "e": row("failed")},
    )
    assert [(d.test, d.scipy, d.palmette) for d in found.differences] == [
        ("b", "failed", "passed"),
        ("c", "passed", "failed"),
    ]
    assert found.differences[1].message == "why"
    assert [d.test for d in found.failed_with_both] == ["e"]
    assert found.run == ["a", "b", "c", "e"] and (found.passed("scipy"), found.passed("palmette")) == (2, 2)


def test_a_test_that_one_side_never_came_to_is_a_difference():
    found = Comparison({"a": row(), "b": row()}, {"a": row()})
    assert [(d.test, d.palmette) for d in found.differences] == [("b", "failed")]
    assert "not run" in found.differences[0].message


def test_seconds_are_those_of_tests_that_pass_and_solve_with_both():
    found = Comparison({"a": row(seconds=4.0), "b": row(seconds=1.0), "c": row(seconds=9.0), "d": row()},
                       {"a": row(seconds=1.0), "b": row(seconds=1.0), "c": row("failed", 1.0), "d": row()})
    assert found.solving == ["a", "b"] and found.calls("scipy") == 2
    assert (found.seconds("scipy"), found.seconds("palmette")) == (5.0, 2.0)
    assert found.mean_ratio() == pytest.approx(2.0)  # of 4 and 1
    assert found.mean_ratio(2.0) == pytest.approx(4.0) and found.mean_ratio(5.0) is None
    assert found.slowest(0.5) == (1.0, "b") and found.slowest(5.0) is None


def test_an_explanation_is_found_by_an_id_or_its_beginning():
    explanations = Explanations(
        [
            {"tests": "f.py::t[1]", "whose": "suite", "why": "one"},
            {"tests": "g.py::*", "whose": "scipy", "why": "all"},
            {"tests": "h.py::t", "whose": "semantics", "why": "unused"},
        ]
    )
    assert explanations.of("f.py::t[1]")["why"] == "one" and explanations.of("f.py::t[10]") is None
    assert explanations.of("g.py::anything")["why"] == "all"
    assert explanations.unused == ["h.py::t"]
    with pytest.raises(ValueError, match="nobody"):
        Explanations([{"tests": "x", "whose": "nobody", "why": ""}])


def test_the_page_tells_what_is_ours_or_not_explained(tmp_path):
    client = CLIENTS[0]
    found = {
        client: Comparison(
            {"p/f.py::a": row(seconds=1.0), "p/f.py::b": row(), "p/f.py::c": row(), "p/f.py::d": row()},
            {
                "p/f.py::a": row(seconds=0.5),
                "p/f.py::b": row("failed", message="x | y"),
                "p/f.py::c": row("failed"),
                "p/f.py::d": row("failed"),
            },
        )
    }
    explanations = Explanations([{"tests": "p/f.py::c", "whose": "ours", "why": "a defect"},
                                 {"tests": "p/f.py::d", "whose": "suite", "why": "a reason"}])
    page = tmp_path / "page.md"
    assert [difference.test for difference in report.write(found, explanations, page)] == [
        "p/f.py::b",
        "p/f.py::c",
    ]
    text = page.read_text()
    assert f"| {client.name} {client.version} | 4 | 1 | 4 | 1 | 3 | 0 |" in text
    assert "| 1.00 | 0.50 | 2.00 |" in text
    assert "x \\| y" in text and "**not explained**" in text and "a defect" in text and "a reason" in text


def test_explanations_in_the_tree_can_be_read():
    Explanations.from_file(TOOLS / "client_suites" / "explanations.json")


def test_every_client_has_a_version_and_parts():
    for client in CLIENTS:
        assert client.version and client.parts and set(client.parts_of(True)) <= set(client.parts)
    assert Client("numpy", ["a", "b"], short=["b"]).parts_of(True) == ["b"]


def test_calls_inside_calls_belong_to_the_outer_one():
    clock = Clock()
    inner = clock.timed("splu", lambda: 1)
    outer = clock.timed("factorized", inner)
    assert outer() == 1 and inner() == 1
    calls, seconds = clock.read_and_clear()
    assert calls == {"factorized": 1, "splu": 1} and set(seconds) == set(calls)
    assert clock.read_and_clear() == ({}, {})


def test_a_timed_factorization_is_what_it_stands_for():
    clock = Clock()
    factor = Factor(SimpleNamespace(solve=lambda b: 2 * b, shape=(3, 3)), clock)
    assert factor.solve(4) == 8 and factor.shape == (3, 3) and isinstance(factor, SimpleNamespace)
    assert clock.read_and_clear()[0] == {"solve": 1}


SUITE = '''
import warnings
import numpy as np
import pytest
import scipy.sparse.linalg
from scipy.sparse import eye_array
from scipy.sparse.linalg import factorized, spsolve, splu

A = 2 * eye_array(3, format="csc")

def test_passes(): assert np.allclose(spsolve(A, np.ones(3)), 0.5) and scipy.sparse.linalg.spsolve is spsolve
def test_solves(): assert np.allclose(splu(A).solve(np.ones(3)), factorized(A)(np.ones(3)))
def test_fails(): assert splu.__module__ == "nowhere"
@pytest.mark.xfail
def test_is_expected_to_fail(): assert False
def test_is_skipped(): pytest.skip()
'''


@pytest.mark.parametrize("side", ["scipy", "palmette"])
def test_a_suite_meets_the_solvers_of_its_side(tmp_path, side):
    (tmp_path / "test_suite.py").write_text(SUITE)
    record = tmp_path / "record.jsonl"
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "client_suites.plugin",
            "--solvers",
            side,
            "--record",
            str(record),
            "-q",
            "-p",
            "no:cacheprovider",
            "test_suite.py",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={
            **suites._environment(suites.Workshop(tmp_path)),
            "PYTHONPATH": ":".join([str(TOOLS), *sys.path]),
        },
    )
    rows = {test.split("::")[1]: found for test, found in read(record).items()}
    assert {test: found["outcome"] for test, found in rows.items()} == {
        "test_passes": "passed",
        "test_solves": "passed",
        "test_fails": "failed",
        "test_is_expected_to_fail": "skipped",
        "test_is_skipped": "skipped",
    }, ended.stdout
    assert rows["test_passes"]["calls"] == {"spsolve": 1} and rows["test_passes"]["seconds"]["spsolve"] > 0
    assert rows["test_solves"]["calls"] == {"splu": 1, "factorized": 1, "solve": 2}
    assert f"{side}" in json.dumps(rows["test_fails"]["message"])
