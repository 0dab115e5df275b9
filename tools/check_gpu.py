#!/usr/bin/env python3
"""./check --gpu [--fresh]: measures and tests on the first GPU of this machine, and writes
docs/results/gpu.md.

Latencies of flags, launches and bandwidths first; then every engine against the emulated device, bit for bit,
under compute-sanitizer too; then solves beside cuSPARSE and cuDSS. Ends after at most 8 minutes; the same
command goes on with the parts that are left. Finished parts are not repeated, unless --fresh is given, or
the device or the sources are others. Reports lie in build/gpu-reports. The last line is "N passed, N failed,
N skipped, N left". Ends with 0 if nothing failed and nothing is left, 1 if a part failed, 3 if parts are
left, 5 without a GPU.
"""

import argparse
import ctypes.util
import glob
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu.driver import first_gpu  # noqa: E402
from gpu.models import model_problems  # noqa: E402
from gpu.parts import Part, Parts  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build/gpu-reports"
BUILD = "build/gpu"
BUDGET = 460  # seconds; what was begun may take a little longer to end
# of CUDA 13, as nvcc
RIVALS = "nvidia-cusparse 'nvidia-cudss-cu13==1.*'"
SANITIZER = "'nvidia-cuda-sanitizer-api==13.0.*'"
PYTHON = ROOT / ".venv/bin/python"
SMALLEST = "gpu_engines/1.*row_by_row*:gpu_engines/1.*with_factors*"
EMULATOR_BITS = "*CompiledKernel*:*CompiledSums*:*Operations*:*Protocol*"


def sources():
    """A fingerprint of the sources that results are of."""
    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True).stdout

    kept = [":(exclude)docs", ":(exclude)*.md"]
    return hashlib.sha256(git("rev-parse", "HEAD") + git("diff", "HEAD", "--", ".", *kept)).hexdigest()[:16]


def shell(text):
    return ["bash", "-c", f"cd '{ROOT}' && {text}"]


def build(*targets):
    return shell(f"cmake --build {BUILD} --parallel {os.cpu_count()} --target {' '.join(targets)}")


def program(name):
    """compute-sanitizer, of a toolkit or of PyPI's packages in .venv; empty if there is none."""
    places = [shutil.which(name) or "", f"/usr/local/cuda/bin/{name}"]
    places += glob.glob(str(ROOT / f".venv/lib/python3*/site-packages/nvidia/cu13/bin/{name}"))
    return next((place for place in places if place and os.access(place, os.X_OK)), "")


def setup_parts():
    """What the others need: packages, a configured build, and what is optional."""
    install = (
        ". tools/setup.sh && install_packages \"${build_packages[@]}\" libgtest-dev &&"
        " install_modules numpy && install_nvcc"
    )
    configure = (
        f"cmake --preset check -B {BUILD} -DPALMETTE_CUDA=ON -DPALMETTE_PYTHON=OFF -DPALMETTE_BENCH=OFF"
    )
    pip = f"'{PYTHON}' -m pip install --quiet --disable-pip-version-check"
    sanitizer, has_rivals = program("compute-sanitizer"), ctypes.util.find_library("cudss")
    return [
        Part("install", shell(install), 300),
        Part("configure", shell(configure), 120, ("install",)),
        Part("build-microbenchmarks", build("bench_gpu_words"), 120, ("configure",)),
        Part("microbenchmarks", [ROOT / BUILD / "tests/bench_gpu_words"], 90, ("build-microbenchmarks",),
             output="words.json"),
        Part("install-sanitizer", shell(f"{pip} {SANITIZER}"), 120, ("install",), optional=True,
             skip="there is one" if sanitizer else ""),
        Part("install-rivals", shell(f"{pip} {RIVALS}"), 300, ("install",), optional=True,
             skip="they are there" if has_rivals else ""),
    ]


def correctness_parts():
    """Every engine on the GPU against the emulated device, plainly and under compute-sanitizer."""
    tests = ROOT / BUILD / "tests"
    gpu = {"PALMETTE_TEST_DEVICE": "cuda"}
    parts = [
        Part("build-tests", build("test_gpu", "test_device"), 400, ("configure",)),
        Part("engines", [tests / "test_gpu", "--gtest_filter=gpu_engines*"], 240, ("build-tests",),
             environment=gpu),
    ]
    for tool in ("memcheck", "racecheck", "synccheck"):
        command = (
            "tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer"
            " .venv/lib/python3*/site-packages/nvidia/cu13/bin/compute-sanitizer 2>/dev/null | head -n 1);"
            " [ -n \"$tool\" ] || { echo 'there is no compute-sanitizer'; exit 77; };"
            f" \"$tool\" --tool {tool} --error-exitcode 9 {BUILD}/tests/test_gpu"
            f" '--gtest_filter={SMALLEST}'"
        )
        small = {**gpu, "PALMETTE_TEST_SMALL": "1"}
        parts.append(Part(tool, shell(command), 180, ("build-tests",), environment=small))
    return parts


def interpreter_part():
    """The emulated device against the interpreter of PTX: needs no GPU, so that it comes last."""
    tests = ROOT / BUILD / "tests/test_device"
    return Part("interpreter", [tests, f"--gtest_filter={EMULATOR_BITS}"], 240, ("build-tests",))


def bench_parts():
    """One for each model problem."""
    command = ROOT / BUILD / "cli/palmette"
    parts = [Part("build-command", build("palmette_command"), 400, ("configure",))]
    for at, model in enumerate(model_problems()):
        matrix = f"build/gpu-reports/{model.problem}_{model.n}.mtx"
        text = (
            "export LD_LIBRARY_PATH=$(printf '%s:' .venv/lib/python3*/site-packages/nvidia/*/lib)"
            "$LD_LIBRARY_PATH;"
            f" '{command}' generate {model.problem} --n {model.n} --out {matrix} --quiet &&"
            f" '{command}' bench {matrix} --device cuda --num-rhs 1,50 --json - --quiet; status=$?;"
            f" rm -f {matrix}; exit $status"
        )
        parts.append(
            Part(f"bench-{model.problem}-{model.n}", shell(text), 120, ("build-command",),
                 output=f"bench-{at}.json")
        )
    return parts


def main():
    parser = argparse.ArgumentParser(prog="./check --gpu", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="repeat finished parts too")
    options = parser.parse_args()
    device, why = first_gpu()
    if why:
        print(f"check --gpu: no GPU: {why}; nothing was measured", file=sys.stderr)
        return 5
    print(f"GPU: {device}")
    runs = Parts(REPORTS, {"device": device, "sources": sources()}, options.fresh)
    parts = setup_parts() + correctness_parts() + bench_parts() + [interpreter_part()]
    counts = runs.run(parts, BUDGET)
    if counts["passed"] > 0:
        page = subprocess.run([sys.executable, ROOT / "tools/results_gpu.py"])
        counts["failed"] += page.returncode != 0
    if counts["left"] > 0:
        print("the same command goes on with what is left")
    print(", ".join(f"{number} {word}" for word, number in counts.items()))
    return 1 if counts["failed"] else 3 if counts["left"] else 0


if __name__ == "__main__":
    sys.exit(main())
