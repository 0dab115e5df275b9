"""./check --gpu without a GPU, its parts, and the page that is made of its results. All results here are made
up: no GPU gave them."""
import copy
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import results_gpu  # noqa: E402
from gpu.driver import first_gpu  # noqa: E402
from gpu.models import model_problems  # noqa: E402
from gpu.pack import PROGRAMS, NotPacked, pack  # noqa: E402
from gpu.parts import Part, Parts  # noqa: E402

MADE_UP = "Made-up device of a test"
WORDS = {
    "device": MADE_UP, "compute_capability": "9.0", "multiprocessors": 7, "memory_bytes": 5000000000,
    "cache_bytes": 3000000, "driver": 1, "runtime": 2,
    "hand_overs": [
        {"protocol": "flag_after_release", "scope": "block", "nanoseconds": 111.0},
        {"protocol": "flag_after_release", "scope": "device", "nanoseconds": 2222.0},
        {"protocol": "tagged_value", "scope": "system", "nanoseconds": 333.0},
    ],
    "launch_us": 4.25, "launch_and_wait_us": 8.5, "read_gbs": 1234.0, "to_device_gbs": 12.0,
    "from_device_gbs": 13.0,
}


def row(solver, num_rhs, seconds, **more):
    return {"solver": solver, "num_rhs": num_rhs, "seconds": seconds, "device_seconds": None,
            "unavailable": None, "backward_error": 1e-16, **more}


BENCH = {
    "analyze": {"nnz_factor": 1000},
    "device_bench": {
        "device": {"name": MADE_UP, "emulated": False},
        "rows": [row("serial", 1, 0.009), row("device_tree", 1, 0.002, device_seconds=0.0011),
                 row("device_level_set", 1, 0.004),
                 row("cusparse", 1, 0.006, device_seconds=0.0055),
                 row("cudss", 1, None, unavailable="cuDSS was not loaded", backward_error=0)],
    },
}
PARTS = {"about": {"sources": "abc"}, "parts": {"engines": {"status": "ok", "why": "", "at": "then"}}}


def made_up_results():
    return copy.deepcopy({"words.json": WORDS, "bench-0.json": BENCH})


def test_page_names_the_device_and_shows_its_figures():
    text = results_gpu.page(made_up_results(), PARTS)
    assert f"\nDevice: {MADE_UP}\n" in text
    assert "| `flag_after_release` | 111 | 2,222 |  |" in text and "| `tagged_value` |  |  | 333 |" in text
    figures = "1,000 | 9 | 2 | 1.1 | 4 |  | 6 | 5.5 |  |  | 3.00 | 5.00"
    assert f"| {model_problems()[0].title} | {figures} |" in text
    assert "cuDSS was not loaded" in text and "| engines | ok | then |" in text
    assert all(len(line) < 250 for line in text.splitlines())


def test_page_shows_two_gpus_where_there_were_two():
    results = made_up_results()
    assert "two GPUs" not in results_gpu.page(results, PARTS)
    results["words.json"]["peer_hand_overs"] = [
        {"protocol": "flag_after_release", "devices": [0, 1], "nanoseconds": 4444.0}
    ]
    text = results_gpu.page(results, PARTS)
    assert "| protocol | block | device | system | two GPUs |" in text
    assert "| `flag_after_release` | 111 | 2,222 |  | 4,444 |" in text
    assert "| `tagged_value` |  |  | 333 |  |" in text


def test_results_without_the_name_of_a_device_are_refused():
    for name, change in {
        "words.json": lambda one: one["words.json"].pop("device"),
        "bench-0.json": lambda one: one["bench-0.json"]["device_bench"]["device"].update(name=" "),
    }.items():
        results = made_up_results()
        change(results)
        with pytest.raises(results_gpu.Refused, match=f"{name} names no device"):
            results_gpu.page(results, PARTS)


def test_results_of_the_emulated_device_are_refused():
    results = made_up_results()
    results["bench-0.json"]["device_bench"]["device"] = {"name": "emulated device", "emulated": True}
    with pytest.raises(results_gpu.Refused, match="not of a GPU"):
        results_gpu.page(results, PARTS)


def test_results_of_two_devices_are_refused():
    results = made_up_results()
    results["words.json"]["device"] = "another"
    with pytest.raises(results_gpu.Refused, match="several devices"):
        results_gpu.page(results, PARTS)


def test_refused_results_leave_the_page_as_it_is(tmp_path):
    page = tmp_path / "gpu.md"
    page.write_text("before\n")
    command = [sys.executable, ROOT / "tools/results_gpu.py", "--reports", tmp_path, "--page", page]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1 and page.read_text() == "before\n"
    (tmp_path / "words.json").write_text(json.dumps(WORDS))
    assert subprocess.run(command, capture_output=True).returncode == 0
    assert MADE_UP in page.read_text()


# Parts

def runs_in(folder, **more):
    return Parts(folder, {"device": "none"}, say=lambda line: None, **more)


def counting(folder, name="count", then="true", **more):
    """A part that writes down each of its runs."""
    return Part(name, ["bash", "-c", f"echo once >> '{folder}/{name}'; {then}"], **more)


def times(folder, name="count"):
    file = folder / name
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_finished_parts_are_not_repeated_and_failed_ones_are(tmp_path):
    parts = [counting(tmp_path), counting(tmp_path, "bad", "exit 3")]
    for _ in range(2):
        assert runs_in(tmp_path).run(parts, 60) == {"passed": 1, "failed": 1, "skipped": 0, "left": 0}
    assert times(tmp_path) == 1 and times(tmp_path, "bad") == 2
    runs_in(tmp_path, fresh=True).run(parts, 60)
    assert times(tmp_path) == 2


def test_parts_of_another_device_or_other_sources_are_forgotten(tmp_path):
    runs_in(tmp_path).run([counting(tmp_path)], 60)
    Parts(tmp_path, {"device": "other"}, say=lambda line: None).run([counting(tmp_path)], 60)
    assert times(tmp_path) == 2


def test_a_part_that_exceeds_its_own_limit_fails_with_all_that_it_started(tmp_path):
    started = time.monotonic()
    endless = Part("endless", ["bash", "-c", "sleep 60 | sleep 60"], limit=0.3)
    assert runs_in(tmp_path).run([endless], 60)["failed"] == 1
    assert time.monotonic() - started < 20


def test_a_part_that_the_whole_time_cuts_off_is_left_for_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setattr("gpu.parts.LEAST_SECONDS", 0.1)
    slow = counting(tmp_path, "slow", f"[ $(wc -l < '{tmp_path}/slow') -gt 1 ] || sleep 60")
    later = counting(tmp_path, needs=("slow",))
    assert runs_in(tmp_path).run([slow, later], 0.5) == {"passed": 0, "failed": 0, "skipped": 0, "left": 2}
    assert runs_in(tmp_path).run([slow, later], 60) == {"passed": 2, "failed": 0, "skipped": 0, "left": 0}


def test_output_is_stored_only_if_the_part_succeeds(tmp_path):
    runs_in(tmp_path).run([Part("good", ["echo", "{}"], output="good.json"),
                           Part("bad", ["bash", "-c", "echo {}; exit 1"], output="bad.json")], 60)
    assert (tmp_path / "good.json").read_text() == "{}\n" and not (tmp_path / "bad.json").exists()


def test_optional_parts_and_those_without_their_program_are_skipped(tmp_path):
    parts = [Part("optional", ["false"], optional=True), Part("absent", ["bash", "-c", "exit 77"]),
             Part("needless", ["false"], skip="it is there")]
    assert runs_in(tmp_path).run(parts, 60) == {"passed": 0, "failed": 0, "skipped": 3, "left": 0}


# Packed for another machine

def packed(tmp_path, program="/usr/bin/env"):
    """A folder whose programs all are the given one."""
    build = tmp_path / "build"
    for name in PROGRAMS:
        (build / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(program, build / name)
    folder = tmp_path / "folder"
    return folder, pack(ROOT, build, folder, {"sources": "of a test"})


def test_packed_folder_holds_programs_and_their_libraries(tmp_path):
    folder, size = packed(tmp_path, Path(sys.executable).resolve())
    programs = sorted(path.name for path in (folder / "bin").iterdir())
    assert programs == ["bench_gpu_words", "palmette", "test_gpu"]
    libraries = [path.name for path in (folder / "lib").iterdir()]
    assert not any(name.startswith(("libc.", "ld-linux", "linux-vdso")) for name in libraries)
    assert size == sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    run = subprocess.run([folder / "bin/palmette", "-c", "print(6 * 7)"], capture_output=True, text=True,
                         env={"LD_LIBRARY_PATH": str(folder / "lib"), "PYTHONHOME": sys.base_prefix})
    assert run.stdout == "42\n", run.stderr
    again, _ = packed(tmp_path)
    assert again == folder and json.loads((folder / "packed").read_text()) == {"sources": "of a test"}


def test_packed_check_builds_nothing_and_takes_its_own_programs(tmp_path):
    folder, _ = packed(tmp_path)
    text = (
        "import check_gpu as c; parts = [*c.setup_parts(), c.microbenchmark_part(), *c.correctness_parts(),"
        " *c.bench_parts(), *c.interpreter_parts()];"
        " print(c.sources(), [p.name for p in parts if p.needs], len(parts),"
        " all('bin/' in str(p.command) for p in parts), parts[0].environment['LD_LIBRARY_PATH'])"
    )
    done = subprocess.run([sys.executable, "-c", text], cwd=folder / "tools", capture_output=True, text=True)
    expected = f"of a test [] {5 + len(model_problems())} True {folder / 'lib'}"
    assert done.stdout.startswith(expected), done.stderr


def test_packed_check_without_a_gpu_says_so(tmp_path):
    if not first_gpu()[1]:
        pytest.skip("there is a GPU")
    folder, _ = packed(tmp_path)
    done = subprocess.run([folder / "run"], capture_output=True, text=True)
    assert done.returncode == 5 and len(done.stderr.splitlines()) == 1


def test_folder_of_others_and_missing_programs_are_refused(tmp_path):
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(NotPacked, match="name another one"):
        pack(ROOT, tmp_path, tmp_path, {})
    assert (tmp_path / "kept").read_text() == "mine"
    with pytest.raises(NotPacked, match="not built: tests/bench_gpu_words"):
        pack(ROOT, tmp_path / "nowhere", tmp_path / "new", {})


# The command

def test_driver_that_is_absent_is_a_reason():
    name, why = first_gpu("libno-such-driver.so.1")
    assert name == "" and "no driver" in why


def test_check_gpu_without_a_gpu_ends_with_5_and_one_line_at_once():
    if not first_gpu()[1]:
        pytest.skip("there is a GPU")
    started = time.monotonic()
    done = subprocess.run([ROOT / "check", "--gpu"], capture_output=True, text=True)
    assert done.returncode == 5 and time.monotonic() - started < 10
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1 and "GPU" in done.stderr
