"""A pytest plugin: `-p client_suites.plugin --solvers palmette --record FILE` runs a suite with Palmette's
solvers in place of SciPy's.

FILE gets one line of JSON for each test when it ends, so that the record of a suite that crashes or is
stopped is complete up to then: outcome, last line of the failure, calls of solvers and seconds in them, and
Palmette's warnings. `--solvers scipy` does the same for SciPy's own solvers.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from client_suites.stand_ins import SIDES, Clock, install

_LONGEST_MESSAGE = 300


class Recorder:
    def __init__(self, path, clock):
        self._file = Path(path).open("w")
        self._clock = clock
        self._rows, self._warnings = {}, {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        row = self._rows.setdefault(report.nodeid, {"test": report.nodeid, "outcome": "passed"})
        row["outcome"] = worse(row["outcome"], outcome_of(report))
        if report.failed:
            row["message"] = message_of(report)
        if report.when == "teardown":
            row["calls"], row["seconds"] = self._clock.read_and_clear()
            row["warnings"] = self._warnings.pop(report.nodeid, {})
            print(json.dumps(self._rows.pop(report.nodeid)), file=self._file, flush=True)

    def pytest_collectreport(self, report):
        if report.failed:
            print(
                json.dumps({"test": report.nodeid, "outcome": "failed", "message": message_of(report)}),
                file=self._file,
                flush=True,
            )

    def pytest_warning_recorded(self, warning_message, nodeid):
        if warning_message.category.__module__.split(".")[0] == "palmette":
            self._warnings.setdefault(nodeid, Counter())[warning_message.category.__name__] += 1


def outcome_of(report):
    """passed, skipped or failed; a test that the suite expects to fail counts as skipped, whether it fails or
    not."""
    if hasattr(report, "wasxfail"):
        return "skipped"
    return report.outcome


def worse(one, other):
    return max(one, other, key=("passed", "skipped", "failed").index)


def message_of(report):
    """The line that states the failure."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr).strip()
    return (text.splitlines() or [""])[0 if crash else -1][:_LONGEST_MESSAGE]


def pytest_addoption(parser):
    parser.addoption("--solvers", choices=SIDES, default="scipy")
    parser.addoption("--record", metavar="FILE")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    """Before any file of the suite is imported, so that `from scipy.sparse.linalg import spsolve` there
    imports our functions."""
    options = early_config.known_args_namespace
    clock = Clock()
    install(options.solvers, clock)
    early_config.pluginmanager.register(Recorder(options.record, clock), "solver-recorder")
