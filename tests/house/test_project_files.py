"""The files that GitHub reads are well formed, and what they name is there: workflows, forms, CITATION.cff.
(No test runs the workflows: that needs GitHub.)"""
import os
import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml", reason="no PyYAML (it comes with the modules of the book)")

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")


def read(path):
    return yaml.safe_load(path.read_text())


def faults_of_workflow(workflow):
    """A sentence for each step that is wrong: neither or both of an action and commands, an action without a
    version, or a program of the tree that is not there."""
    for job, parts in workflow["jobs"].items():
        if not parts.get("runs-on") or not parts.get("timeout-minutes"):
            yield f"{job} lacks runs-on or timeout-minutes"
        for number, step in enumerate(parts["steps"], 1):
            if ("uses" in step) == ("run" in step):
                yield f"step {number} of {job}: either uses or run"
            if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step.get("uses", "a/b@v1")):
                yield f"step {number} of {job}: {step['uses']} names no version"
            for program in re.findall(r"(?:^|\s)(\./\w+|tools/[\w.]+)", step.get("run", "")):
                if not os.access(ROOT / program, os.X_OK):
                    yield f"step {number} of {job}: {program} is no program"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_every_step_of_a_workflow_runs_what_is_there(path):
    workflow = read(path)
    assert workflow["name"] and workflow[True]  # YAML reads the word on as true
    assert list(faults_of_workflow(workflow)) == []


def test_faults_of_a_workflow_are_found():
    steps = [{"run": "./chekc"}, {"uses": "actions/checkout"}, {"name": "nothing"}]
    workflow = {"jobs": {"check": {"runs-on": "x", "timeout-minutes": 1, "steps": steps}, "b": {"steps": []}}}
    assert len(list(faults_of_workflow(workflow))) == 4


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_for_issues_asks_something(path):
    form = read(path)
    assert form["name"] and form["description"]
    kinds = {"markdown", "textarea", "input", "dropdown", "checkboxes"}
    assert {part["type"] for part in form["body"]} <= kinds
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_the_citation_names_the_version_that_is_built():
    citation = read(ROOT / "CITATION.cff")
    version = re.search(r"project\(palmette VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    package = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1]
    assert citation["version"] == version == package
    assert citation["cff-version"] == "1.2.0" and citation["title"] and citation["authors"]
