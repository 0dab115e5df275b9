"""The model problems on which devices are compared: bench/device/model_problems.txt."""

from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).resolve().parents[2] / "bench/device/model_problems.txt"


@dataclass
class ModelProblem:
    problem: str
    n: int
    title: str


def model_problems():
    """In the order of the list."""
    words = [line.split(maxsplit=2) for line in LIST.read_text().splitlines() if line and line[0] != "#"]
    return [ModelProblem(problem, int(n), title) for problem, n, title in words]
