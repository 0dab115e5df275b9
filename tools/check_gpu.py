#!/usr/bin/env python3
"""./check --gpu [--fresh] [--seconds N]: measures and tests on the first GPU of this machine, and writes
docs/results/gpu.md.

Latencies of flags, launches and bandwidths first; then every engine against the emulated device, bit for bit,
under compute-sanitizer too; then solves beside cuSPARSE and cuDSS. Ends after at most 8 minutes, or after
about N seconds; the same command goes on with the parts that are left. Finished parts are not repeated,
unless --fresh is given, or the device or the sources are others. Reports lie in build/gpu-reports. The last
line is "N passed, N failed, N skipped, N left". Ends with 0 if nothing failed and nothing is left, 1 if a
part failed, 3 if parts are left, 5 without a GPU.

./check --gpu --pack FOLDER: for a machine with a GPU where nothing can be installed or built. Builds the
programs here, for any processor of this kind, and puts them with their libraries into FOLDER. There,
FOLDER/run does the same as ./check --gpu, and writes FOLDER/gpu.md; python3 tools/results_gpu.py --reports
FOLDER/build/gpu-reports writes the page here.
"""

import argparse
import ctypes.util
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from gpu.driver import first_gpu  # noqa: E402
from gpu.models import model_problems  # noqa: E402
from gpu.pack import NotPacked, pack  # noqa: E402
from gpu.parts import Part, Parts  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build/gpu-reports"
BUILD = "build/gpu"
PACKED = ROOT / "packed"  # there where --pack made this folder
BUDGET = 460  # seconds; what was begun may take a little longer to end
# of CUDA 13, as nvcc
RIVALS = "nvidia-cusparse 'nvidia-cudss-cu13==1.*'"
SANITIZER = "'nvidia-cuda-sanitizer-api==13.0.*'"
PYTHON = ROOT / ".venv/bin/python"
SMALLEST = "gpu_engines/1.*row_by_row*:gpu_engines/1.*with_factors*"
EMULATOR_BITS = "*CompiledKernel*:*CompiledSums*:*Operations*:*Protocol*"


def sources():
    """A fingerprint of the sources that results are of."""
    if PACKED.is_file():
        return json.loads(PACKED.read_text())["sources"]

    def git(*words):
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True).stdout

    kept = [":(exclude)docs", ":(exclude)*.md"]
    return hashlib.sha256(git("rev-parse", "HEAD") + git("diff", "HEAD", "--", ".", *kept)).hexdigest()[:16]


def shell(text):
    return ["bash", "-c", f"cd '{ROOT}' && {text}"]


def build(*targets, folder=BUILD):
    return shell(f"cmake --build {folder} --parallel {os.cpu_count()} --target {' '.join(targets)}")


def built(name):
    """A program, as its build names it."""
    return ROOT / "bin" / Path(name).name if PACKED.is_file() else ROOT / BUILD / name


def libraries(more=()):
    """Where programs look for shared libraries, as a variable of theirs."""
    own = [ROOT / "lib"] if PACKED.is_file() else []
    places = [*own, *more, os.environ.get("LD_LIBRARY_PATH", "")]
    return {"LD_LIBRARY_PATH": ":".join(str(place) for place in places if str(place))}


def rivals():
    """Folders of NVIDIA's packages of PyPI, in .venv or where this Python finds its own."""
    roots = [*glob.glob(str(ROOT / ".venv/lib/python3*/site-packages")), *sys.path]
    return [place for root in roots for place in sorted(glob.glob(f"{root}/nvidia/*/lib"))]


def program(name):
    """compute-sanitizer, of a toolkit or of PyPI's packages in .venv; empty if there is none."""
    places = [shutil.which(name) or "", f"/usr/local/cuda/bin/{name}"]
    places += glob.glob(str(ROOT / f".venv/lib/python3*/site-packages/nvidia/cu13/bin/{name}"))
    return next((place for place in places if place and os.access(place, os.X_OK)), "")


INSTALL = (
    ". tools/setup.sh && install_packages \"${build_packages[@]}\" libgtest-dev &&"
    " install_modules numpy && install_nvcc"
)


def configure(folder, *options):
    fixed = "-DPALMETTE_CUDA=ON -DPALMETTE_PYTHON=OFF -DPALMETTE_BENCH=OFF"
    return shell(" ".join([f"cmake --preset check -B {folder} {fixed}", *options]))


def setup_parts():
    """What the others need: packages, a configured build, and what is optional; nothing if it is packed."""
    if PACKED.is_file():
        return []
    pip = f"'{PYTHON}' -m pip install --quiet --disable-pip-version-check"
    sanitizer, has_rivals = program("compute-sanitizer"), ctypes.util.find_library("cudss")
    return [
        Part("install", shell(INSTALL), 300),
        Part("configure", configure(BUILD), 120, ("install",)),
        Part("build-microbenchmarks", build("bench_gpu_words"), 120, ("configure",)),
        Part("install-sanitizer", shell(f"{pip} {SANITIZER}"), 120, ("install",), optional=True,
             skip="there is one" if sanitizer else ""),
        Part("install-rivals", shell(f"{pip} {RIVALS}"), 300, ("install",), optional=True,
             skip="they are there" if has_rivals else ""),
    ]


def after(*names):
    """The parts that another one needs; in a packed folder nothing is built."""
    return () if PACKED.is_file() else names


def build_part(name, *targets):
    return [] if PACKED.is_file() else [Part(name, build(*targets), 400, ("configure",))]


def microbenchmark_part():
    return Part("microbenchmarks", [built("tests/bench_gpu_words")], 90, after("build-microbenchmarks"),
                output="words.json", environment=libraries())


def correctness_parts():
    """Every engine on the GPU against the emulated device, plainly and under compute-sanitizer."""
    test_gpu = built("tests/test_gpu")
    gpu = {"PALMETTE_TEST_DEVICE": "cuda", **libraries()}
    parts = build_part("build-tests", "test_gpu", "test_device") + [
        Part("engines", [test_gpu, "--gtest_filter=gpu_engines*"], 240, after("build-tests"),
             environment=gpu)
    ]
    for tool in ("memcheck", "racecheck", "synccheck"):
        command = (
            "tool=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer"
            " .venv/lib/python3*/site-packages/nvidia/cu13/bin/compute-sanitizer 2>/dev/null | head -n 1);"
            " [ -n \"$tool\" ] || { echo 'there is no compute-sanitizer'; exit 77; };"
            f" \"$tool\" --tool {tool} --error-exitcode 9 '{test_gpu}'"
            f" '--gtest_filter={SMALLEST}'"
        )
        small = {**gpu, "PALMETTE_TEST_SMALL": "1"}
        parts.append(Part(tool, shell(command), 180, after("build-tests"), environment=small))
    return parts


def interpreter_parts():
    """The emulated device against the interpreter of PTX: needs no GPU, so that it comes last, and is not
    packed."""
    if PACKED.is_file():
        return []
    tests = ROOT / BUILD / "tests/test_device"
    return [Part("interpreter", [tests, f"--gtest_filter={EMULATOR_BITS}"], 240, ("build-tests",))]


def bench_parts():
    """One for each model problem."""
    command = built("cli/palmette")
    parts = build_part("build-command", "palmette_command")
    for at, model in enumerate(model_problems()):
        matrix = f"build/gpu-reports/{model.problem}_{model.n}.mtx"
        text = (
            f"'{command}' generate {model.problem} --n {model.n} --out {matrix} --quiet &&"
            f" '{command}' bench {matrix} --device cuda --num-rhs 1,50 --json - --quiet; status=$?;"
            f" rm -f {matrix}; exit $status"
        )
        parts.append(
            Part(f"bench-{model.problem}-{model.n}", shell(text), 120, after("build-command"),
                 output=f"bench-{at}.json", environment=libraries(rivals()))
        )
    return parts


def make_pack(folder):
    """Installs, builds, and packs. @returns the exit status"""
    build_folder = "build/gpu-pack"
    steps = {
        "install": shell(INSTALL),
        "configure": configure(build_folder, "-DPALMETTE_NATIVE=OFF", "-DPALMETTE_MPI=OFF"),
        "build": build("bench_gpu_words", "test_gpu", "palmette_command", folder=build_folder),
    }
    for name, command in steps.items():
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(f"{done.stdout}check --gpu --pack: {name} failed", file=sys.stderr)
            return 1
    try:
        size = pack(ROOT, ROOT / build_folder, folder, {"sources": sources()})
    except NotPacked as why:
        print(f"check --gpu --pack: {why}", file=sys.stderr)
        return 1
    print(f"{folder}: {size / 1e6:.0f} MB; on the machine with the GPU: {folder}/run")
    return 0


def main():
    parser = argparse.ArgumentParser(prog="./check --gpu", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fresh", action="store_true", help="repeat finished parts too")
    parser.add_argument("--seconds", type=float, default=BUDGET, metavar="N", help=f"({BUDGET})")
    parser.add_argument("--pack", metavar="FOLDER", help="build for another machine; nothing is measured")
    options = parser.parse_args()
    if options.pack:
        return make_pack(options.pack)
    device, why = first_gpu()
    if why:
        print(f"check --gpu: no GPU: {why}; nothing was measured", file=sys.stderr)
        return 5
    print(f"GPU: {device}")
    runs = Parts(REPORTS, {"device": device, "sources": sources()}, options.fresh)
    parts = [*setup_parts(), microbenchmark_part(), *correctness_parts()]
    parts += [*bench_parts(), *interpreter_parts()]
    counts = runs.run(parts, options.seconds)
    if counts["passed"] > 0:
        where = ["--page", ROOT / "gpu.md"] if PACKED.is_file() else []
        page = subprocess.run([sys.executable, ROOT / "tools/results_gpu.py", *where])
        counts["failed"] += page.returncode != 0
    if counts["left"] > 0:
        print("the same command goes on with what is left")
    print(", ".join(f"{number} {word}" for word, number in counts.items()))
    return 1 if counts["failed"] else 3 if counts["left"] else 0


if __name__ == "__main__":
    sys.exit(main())
