"""The results of suites, test by test: which outcomes differ between the two sides, what explains them, and
seconds in solvers."""

import json
import math
from dataclasses import dataclass

NOT_RUN = {"outcome": "failed", "message": "not run: its process had ended"}


def read(path):
    """Rows by test, of the last run of each; none if nothing was recorded."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {row["test"]: row for row in map(json.loads, lines)}


@dataclass(frozen=True)
class Difference:
    test: str
    scipy: str
    palmette: str
    message: str


class Comparison:
    """The two sides of a suite."""

    def __init__(self, scipy, palmette):
        self.scipy, self.palmette = scipy, palmette
        self.tests = list(scipy) + [test for test in palmette if test not in scipy]

    def _outcomes(self, test):
        return self.scipy.get(test, NOT_RUN), self.palmette.get(test, NOT_RUN)

    @property
    def run(self):
        """Tests that ran on at least one side."""
        return [
            test for test in self.tests if any(row["outcome"] != "skipped" for row in self._outcomes(test))
        ]

    def passed(self, side):
        return sum(row["outcome"] == "passed" for row in getattr(self, side).values())

    @property
    def differences(self):
        found = []
        for test in self.tests:
            theirs, ours = self._outcomes(test)
            if theirs["outcome"] != ours["outcome"]:
                message = ours.get("message") or theirs.get("message", "")
                found.append(Difference(test, theirs["outcome"], ours["outcome"], message))
        return found

    @property
    def failed_with_both(self):
        return [Difference(test, "failed", "failed", self._outcomes(test)[1].get("message", ""))
                for test in self.tests if all(row["outcome"] == "failed" for row in self._outcomes(test))]

    @property
    def solving(self):
        """Tests that passed and called a solver on both sides: only their seconds are compared."""
        return [
            test
            for test in self.tests
            if all(
                row["outcome"] == "passed" and sum(row.get("calls", {}).values()) > 0
                for row in self._outcomes(test)
            )
        ]

    def calls(self, side):
        return sum(sum(getattr(self, side)[test]["calls"].values()) for test in self.solving)

    def seconds_of(self, side, test):
        return sum(getattr(self, side)[test]["seconds"].values())

    def seconds(self, side):
        return sum(self.seconds_of(side, test) for test in self.solving)

    def mean_ratio(self, at_least=0.0):
        """Geometric mean of SciPy's seconds over Palmette's, of tests in which SciPy's solvers took at least
        this long; None if there are none."""
        logarithms = [
            math.log(self.seconds_of("scipy", test) / self.seconds_of("palmette", test))
            for test in self.solving
            if self.seconds_of("scipy", test) >= at_least
        ]
        return math.exp(sum(logarithms) / len(logarithms)) if logarithms else None

    def slowest(self, at_least):
        """(ratio, test) of the test in which Palmette does worst, of those in which SciPy's solvers took at
        least this long."""
        ratios = [
            (self.seconds_of("scipy", test) / self.seconds_of("palmette", test), test)
            for test in self.solving
            if self.seconds_of("scipy", test) >= at_least
        ]
        return min(ratios) if ratios else None

    @property
    def warnings(self):
        """Warnings of Palmette's own classes, by name."""
        totals = {}
        for row in self.palmette.values():
            for name, count in row.get("warnings", {}).items():
                totals[name] = totals.get(name, 0) + count
        return totals


class Explanations:
    """Why tests end as they do: entries with `tests` (an id, or its beginning and *), `whose` and `why`."""

    WHOSE = ("ours", "semantics", "suite", "scipy")

    def __init__(self, entries):
        for entry in entries:
            if entry["whose"] not in self.WHOSE:
                raise ValueError(
                    f"{entry['tests']}: whose is {entry['whose']}, not one of {', '.join(self.WHOSE)}"
                )
        self._entries = entries
        self._used = set()

    @classmethod
    def from_file(cls, path):
        return cls(json.loads(path.read_text()))

    def of(self, test):
        """The entry for a test, or None."""
        for at, entry in enumerate(self._entries):
            pattern = entry["tests"]
            if test.startswith(pattern[:-1]) if pattern.endswith("*") else test == pattern:
                self._used.add(at)
                return entry
        return None

    @property
    def unused(self):
        return [entry["tests"] for at, entry in enumerate(self._entries) if at not in self._used]
