"""palmette solve over ranks: always as threads of one process, and under mpiexec if it is installed."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

import pytest
from conftest import coordinate, read_dense


def launcher():
    """mpiexec, with the options that it needs as root on few cores; skip if there is none."""
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("no mpiexec")
    told = subprocess.run([mpiexec, "--version"], capture_output=True, text=True)
    return [
        mpiexec,
        *(
            ["--oversubscribe", "--allow-run-as-root"]
            if "Open MPI" in told.stdout or "OpenRTE" in told.stdout
            else []
        ),
    ]


def launched(palmette, *arguments, ranks=2):
    """Run under mpiexec; skip if the command was built without MPI."""
    done = subprocess.run(
        [*launcher(), "-n", str(ranks), palmette.command, *map(str, arguments)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=palmette.environment,
        timeout=120,
    )
    if "built without MPI" in done.stderr:
        pytest.skip("the command was built without MPI")
    return done


def errors(done):
    return [line for line in done.stderr.splitlines() if line.startswith("palmette: error: ")]


@pytest.mark.parametrize("name", ["block_cyclic", "subtree_to_subcube"])
def test_threads_give_the_same_bits_for_any_number_of_ranks(palmette, spd, tmp_path, name):
    texts = set()
    for ranks in [1, 2, 3, 4]:
        done = palmette(
            "solve",
            spd,
            "--rhs",
            "random:3",
            "--transport",
            f"threads:{ranks}",
            "--map",
            name,
            "--out",
            "x.mtx",
            "--json",
            "-",
        )
        assert done.code == 0, done.err
        assert done.json["verify"]["verified"] is True
        assert done.json["ranks"]["num_ranks"] == ranks and done.json["ranks"]["map"] == name
        texts.add((tmp_path / "x.mtx").read_text())
    assert len(texts) == 1


def test_report_tells_of_ranks(palmette, spd):
    ranks = palmette(
        "solve", spd, "--transport", "threads:4", "--grid", "4x1", "--trees", "flat", "--json", "-"
    ).json["ranks"]
    assert (ranks["grid_rows"], ranks["grid_cols"], ranks["trees"], ranks["transport"]) == (
        4,
        1,
        "flat",
        "threads",
    )
    memory = ranks["memory_bytes"]
    assert 0 < memory["least"] <= memory["mean"] <= memory["most"]
    table = palmette("solve", spd, "--transport", "threads:2")
    assert table.code == 0 and table.err == ""
    assert "2 ranks, grid 2 x 1" in table.out and "message_driven" in table.out and "Verified" in table.out
    assert max(map(len, table.out.splitlines())) <= 80 or "spd.mtx" in max(table.out.splitlines(), key=len)


def test_layers_of_ranks(palmette, spd, tmp_path):
    texts = {}
    for method, grid, ranks in [
        ("one_sync_3d", "1x1x3", 3),
        ("one_sync_3d", "2x1x3", 6),
        ("baseline_3d", "1x2x3", 6),
        ("baseline_3d", "1x1x3", 3),
    ]:
        done = palmette(
            "solve",
            spd,
            "--transport",
            f"threads:{ranks}",
            "--grid",
            grid,
            "--method",
            method,
            "--out",
            "x.mtx",
            "--json",
            "-",
        )
        assert done.code == 0, done.err
        told = done.json["ranks"]
        assert done.json["verify"]["verified"] is True
        assert (told["layers"], told["method"], told["synchronizations"]) == (
            3,
            method,
            1 if method == "one_sync_3d" else 4,
        )
        assert done.json["solve"]["method"] == method
        assert told["grid_rows"] * told["grid_cols"] * 3 == ranks and told["replicated_bytes"] >= 0
        texts.setdefault(method, set()).add((tmp_path / "x.mtx").read_text())
    assert all(len(same) == 1 for same in texts.values())
    table = palmette("solve", spd, "--transport", "threads:2", "--grid", "1x1x2")
    assert "2 layers: 1 synchronization in a solve" in table.out and "one_sync_3d" in table.out
    assert palmette("solve", spd, "--transport", "threads:4", "--grid", "1x1x3").code != 0
    assert palmette("solve", spd, "--transport", "threads:4", "--grid", "2x2x").code != 0


def test_every_kind_and_transposed_systems(palmette, unsymmetric, indefinite, complex_matrix, tmp_path):
    for matrix, kind in [(unsymmetric, "lu"), (indefinite, "ldlt"), (complex_matrix, "lu")]:
        for operation in [[], ["--transpose"], ["--adjoint"]]:
            done = palmette(
                "solve",
                matrix,
                *operation,
                "--transport",
                "threads:2",
                "--num-rhs",
                "3",
                "--out",
                "x.mtx",
                "--json",
                "-",
            )
            assert done.code == 0, done.err
            assert done.json["factorize"]["kind"] == kind
            assert len(read_dense(tmp_path / "x.mtx")) == 3


def test_without_these_options_nothing_is_said_of_ranks(palmette, spd):
    assert "ranks" not in palmette("solve", spd, "--json", "-").json


def test_wrong_options_are_refused_in_one_sentence(palmette, spd):
    palmette("solve", spd, "--transport", "thread:2").fails_with(2, "--transport", "mpi_two_sided")
    palmette("solve", spd, "--transport", "threads:0").fails_with(2, "threads:N")
    palmette("solve", spd, "--transport", "threads:2", "--grid", "2x2").fails_with(2, "2 x 2", "2 ranks")
    palmette("solve", spd, "--grid", "4").fails_with(2, "--grid", "2x3")
    palmette("solve", spd, "--map", "cyclic").fails_with(2, "block_cyclic")
    palmette("solve", spd, "--trees", "binari").fails_with(2, "did you mean 'binary'")
    palmette("solve", spd, "--transport", "threads:2", "--precision", "mixed").fails_with(2, "mixed")
    threads = ["solve", spd, "--transport", "threads:2"]
    palmette(*threads, "--method", "serial").fails_with(2, "serial is for one machine")
    palmette(*threads, "--method", "one_sync_3d").fails_with(2, "one_sync_3d is for several layers of ranks")
    palmette(*threads, "--grid", "1x1x2", "--method", "message_driven").fails_with(
        2, "message_driven is for ranks in one layer", "one_sync_3d, baseline_3d"
    )
    palmette("solve", spd, "--method", "message_driven").fails_with(2, "choose one of auto, serial")
    chosen = ["--grid", "autoxauto", "--machine", "cori-haswell", "--json", "-"]
    for method in ["message_driven", "one_sync_3d", "baseline_3d"]:
        done = palmette("solve", spd, "--transport", "threads:4", *chosen, "--method", method)
        assert done.code == 0 and done.json["solve"]["method"] == method, done.err
    palmette("solve", spd, *chosen[:4], "--method", "one_sync_3d").fails_with(2, "needs several layers")
    palmette("solve", spd, *chosen, "--method", "level_set").fails_with(
        2, "level_set is for one machine", "choose one of auto, message_driven, one_sync_3d, baseline_3d"
    )


def test_failures_are_told_once_with_the_usual_exit_codes(palmette, tmp_path):
    singular = tmp_path / "singular.mtx"
    singular.write_text(coordinate(3, 3, [(1, 1, 1.0), (2, 1, 2.0), (3, 3, 1.0)]))
    palmette("solve", singular, "--transport", "threads:3").fails_with(4, "singular")
    palmette("solve", tmp_path / "absent.mtx", "--transport", "threads:2").fails_with(3, "absent.mtx")


def test_mpiexec_gives_the_bits_of_threads(palmette, spd, tmp_path):
    one, two = tmp_path / "one.mtx", tmp_path / "two.mtx"
    assert palmette("solve", spd, "--transport", "threads:1", "--out", one).code == 0
    done = launched(palmette, "solve", spd, "--grid", "1x2", "--out", two)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Verified") == 1 and "mpi_two_sided" in done.stdout
    assert two.read_text() == one.read_text()
    # One process under a launcher takes the same path.
    done = launched(palmette, "solve", spd, "--out", two, ranks=1)
    assert done.returncode == 0 and "mpi_two_sided" in done.stdout, done.stderr
    assert two.read_text() == one.read_text()


def test_mpiexec_tells_failures_once(palmette, spd, tmp_path):
    done = launched(palmette, "solve", tmp_path / "absent.mtx")
    assert done.returncode == 3 and len(errors(done)) == 1, done.stderr
    done = launched(palmette, "solve", spd, "--grid", "3x3")
    assert done.returncode == 2 and len(errors(done)) == 1, done.stderr
    done = launched(palmette, "solve", spd, "--grids", "1x2")
    assert done.returncode == 2 and len(errors(done)) == 1, done.stderr


@pytest.mark.parametrize("transport", ["mpi_rma", "mpi_rma_counter"])
def test_one_sided_queues_give_the_bits_of_messages(palmette, spd, tmp_path, transport):
    one, two = tmp_path / "one.mtx", tmp_path / "two.mtx"
    assert palmette("solve", spd, "--rhs", "random:3", "--transport", "threads:1", "--out", one).code == 0
    for ranks in [1, 2]:
        done = launched(
            palmette, "solve", spd, "--rhs", "random:3", "--transport", transport, "--out", two, ranks=ranks
        )
        assert done.returncode == 0, done.stderr
        assert transport in done.stdout
        assert two.read_text() == one.read_text()


def test_fetched_blocks_give_the_bits_of_sent_ones(palmette, spd, tmp_path):
    one, two = tmp_path / "one.mtx", tmp_path / "two.mtx"
    assert palmette("solve", spd, "--transport", "threads:1", "--out", one).code == 0
    done = palmette(
        "solve",
        spd,
        "--transport",
        "threads:3",
        "--map",
        "block_cyclic",
        "--delivery",
        "pull",
        "--out",
        two,
        "--json",
        "-",
    )
    assert done.code == 0 and done.json["ranks"]["delivery"] == "pull"
    assert two.read_text() == one.read_text()
    for transport in ["mpi_two_sided", "mpi_rma"]:
        done = launched(
            palmette,
            "solve",
            spd,
            "--map",
            "block_cyclic",
            "--transport",
            transport,
            "--delivery",
            "pull",
            "--out",
            two,
        )
        assert done.returncode == 0, done.stderr
        assert two.read_text() == one.read_text()


def test_checksums_of_messages_change_no_bit(palmette, spd, tmp_path):
    one, two = tmp_path / "one.mtx", tmp_path / "two.mtx"
    assert palmette("solve", spd, "--transport", "threads:3", "--out", one).code == 0
    assert palmette("solve", spd, "--transport", "threads:3", "--checked", "--out", two).code == 0
    assert two.read_text() == one.read_text()
    assert launched(palmette, "solve", spd, "--checked", "--out", two).returncode == 0
    assert two.read_text() == one.read_text()


def descendants(process):
    """Process numbers of all descendants of this process."""
    parents = {}
    for entry in os.listdir("/proc"):
        try:
            with open(f"/proc/{int(entry)}/stat") as stat:
                parents[int(entry)] = int(stat.read().rsplit(")", 1)[1].split()[1])
        except (ValueError, OSError):
            continue
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def ranks_of(palmette, run):
    """Processes of the command, once all of them have started."""
    command = os.path.realpath(palmette.command)
    for _ in range(200):
        time.sleep(0.05)
        ranks = [
            process for process in descendants(run.pid) if os.path.realpath(f"/proc/{process}/exe") == command
        ]
        if len(ranks) == 3 or run.poll() is not None:
            return ranks
    return ranks


def disturbed(palmette, matrix, what, *arguments, ranks=3):
    """Start a run of minutes and send `what` to one of its ranks when it is well under way. Returns the exit
    code, the seconds after that, and stderr."""
    if "MPICH" in subprocess.run(
        [launcher()[0], "--version"], capture_output=True, text=True
    ).stdout or not os.path.isdir("/proc/self"):
        pytest.skip("three ranks crawl on two cores, or there is no /proc")
    run = subprocess.Popen(
        [
            *launcher(),
            "-n",
            str(ranks),
            palmette.command,
            "solve",
            str(matrix),
            "--repeat",
            "1000000",
            *arguments,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        env=palmette.environment,
    )
    try:
        ranks = ranks_of(palmette, run)
        if len(ranks) < 3:
            err = run.communicate(timeout=30)[1]
            if "built without MPI" in err:
                pytest.skip("the command was built without MPI")
            raise AssertionError(err)
        time.sleep(2)
        assert run.poll() is None, run.communicate()
        os.kill(ranks[1], what)
        since = time.monotonic()
        err = run.communicate(timeout=60)[1]
        return run.returncode, time.monotonic() - since, err
    finally:
        if run.poll() is None:
            for process in [*descendants(run.pid), run.pid]:
                os.kill(process, signal.SIGKILL)


def test_a_killed_rank_ends_the_run_at_once(palmette, spd):
    code, seconds, err = disturbed(palmette, spd, signal.SIGKILL)
    assert code != 0 and seconds < 20
    assert "signal 9" in err.lower() or "killed" in err.lower(), err


def test_the_watchdog_ends_a_run_in_which_a_rank_has_stopped_and_says_who_waits_for_whom(palmette, spd):
    code, seconds, err = disturbed(palmette, spd, signal.SIGSTOP, "--watchdog", "2")
    assert code != 0 and seconds < 40
    told = [line for line in err.splitlines() if line.startswith("palmette: rank")]
    assert told and all("of 3 has waited" in line for line in told), err
    assert any(
        re.search("from rank 1|of rank 1|rank 1,|not come: rank 1|ranks? that own", line) for line in told
    ), told


def test_the_watchdog_takes_seconds(palmette, spd):
    palmette("solve", spd, "--transport", "threads:2", "--watchdog", "-1").fails_with(2, "--watchdog")
    assert palmette("solve", spd, "--transport", "threads:2", "--watchdog", "0").code == 0


def test_a_predicted_grid_gives_the_bits_of_any(palmette, spd, tmp_path):
    texts = set()
    for grid in ["auto", "2x2", "4x1"]:
        done = palmette(
            "solve",
            spd,
            "--transport",
            "threads:4",
            "--grid",
            grid,
            "--machine",
            "cori-haswell",
            "--out",
            "x.mtx",
            "--json",
            "-",
        )
        assert done.code == 0, done.err
        ranks = done.json["ranks"]
        assert ranks["grid_rows"] * ranks["grid_cols"] == 4 and ranks["layers"] == 1
        texts.add((tmp_path / "x.mtx").read_bytes())
    assert len(texts) == 1
    kept = palmette(
        "solve",
        spd,
        "--transport",
        "threads:4",
        "--grid",
        "auto",
        "--machine",
        "cori-knl",
        "--map",
        "block_cyclic",
        "--json",
        "-",
    )
    assert kept.json["ranks"]["map"] == "block_cyclic"


def test_layers_may_be_predicted_too(palmette, spd):
    for grid, layers in [("autox2", [2]), ("autoxauto", [1, 2, 4])]:
        done = palmette(
            "solve",
            spd,
            "--transport",
            "threads:4",
            "--grid",
            grid,
            "--machine",
            "cori-haswell",
            "--json",
            "-",
        )
        assert done.code == 0, done.err
        ranks = done.json["ranks"]
        assert ranks["layers"] in layers and ranks["grid_rows"] * ranks["grid_cols"] * ranks["layers"] == 4
    palmette("solve", spd, "--transport", "threads:2", "--grid", "autox").fails_with(2, "--grid", "autoxauto")
    palmette("solve", spd, "--transport", "threads:2", "--grid", "automatic").fails_with(
        2, "--grid", "autoxauto"
    )
    assert (
        palmette("solve", spd, "--transport", "threads:2", "--grid", "autox3", "--machine", "cori-knl").code
        == 2
    )
    palmette("solve", spd, "--transport", "threads:2", "--grid", "auto", "--machine", "corri").fails_with(
        2, "cori"
    )


def test_mpiexec_agrees_on_a_predicted_grid(palmette, spd, tmp_path):
    found = tmp_path / "found.json"
    done = launched(palmette, "solve", spd, "--grid", "auto", "--machine", "cori-haswell", "--json", found)
    assert done.returncode == 0, done.stderr
    ranks = json.loads(found.read_text())["ranks"]
    assert ranks["grid_rows"] * ranks["grid_cols"] == 2


def test_a_set_of_files_gives_the_same_bits_on_as_many_ranks(palmette, spd, tmp_path):
    for ranks, grid in [(1, []), (3, ["--grid", "1x3"]), (4, ["--grid", "2x1x2", "--order", "amd"])]:
        over = ["--transport", f"threads:{ranks}"]
        done = palmette("factorize", spd, "--out", "A.factors", "--json", "saved.json", *over, *grid)
        assert done.code == 0 and "A.factors.rank0" in done.out
        saved = json.loads((tmp_path / "saved.json").read_text())["saved"]
        files = [tmp_path / f"A.factors.rank{rank}" for rank in range(ranks)]
        assert saved["bytes"] == sum(file.stat().st_size for file in files)
        assert palmette("solve", spd, "--rhs", "random:3", "--out", "x.mtx", *over, *grid).code == 0
        done = palmette("solve", "--factors", "A.factors", "--rhs", "random:3", "--out", "y.mtx", *over)
        assert done.code == 0 and "Verified" in done.out
        assert (tmp_path / "x.mtx").read_text().split("\n", 3)[2:] == (
            (tmp_path / "y.mtx").read_text().split("\n", 3)[2:]
        )
        palmette("solve", "--factors", "A.factors", "--transport", "threads:2").fails_with(
            3, f"was saved by {ranks} rank", "but this run has 2"
        )


def test_a_set_with_a_file_that_is_cut_or_missing_is_refused_once(palmette, spd, tmp_path):
    over = ["--transport", "threads:3"]
    assert palmette("factorize", spd, "--out", "A.factors", "--precision", "float", *over).code == 0
    assert palmette("solve", "--factors", "A.factors", *over).code == 0
    file = tmp_path / "A.factors.rank1"
    file.write_bytes(file.read_bytes()[:-1])
    palmette("solve", "--factors", "A.factors", *over).fails_with(3, "A.factors.rank1", "cut short")
    file.unlink()
    palmette("solve", "--factors", "A.factors", *over).fails_with(3, "A.factors.rank1", "cannot be read")
    palmette("solve", "--factors", "A.factors", "--grid", "3x1", *over).fails_with(2, "--grid")
    palmette("solve", "--factors", "A.factors", "--rows", "1", *over).fails_with(2, "--rows")
    palmette("solve", "--factors", "A.factors", "--rhs", "-", *over).fails_with(2, "standard input")
    palmette("factorize", spd, "--out", "B", "--precision", "mixed", *over).fails_with(2, "mixed")
    palmette("factorize", spd, "--out", "B", "--grid", "auto", *over).fails_with(2, "--grid auto")
    palmette("factorize", spd, "--out", "absent/B", *over).fails_with(3, "absent")


def test_processes_write_a_set_and_solve_with_it(palmette, spd, tmp_path):
    out, x = tmp_path / "A.factors", tmp_path / "x.mtx"
    done = launched(palmette, "factorize", spd, "--out", out, ranks=2)
    assert done.returncode == 0 and done.stdout.count("written to") == 1, done.stderr
    done = launched(palmette, "solve", "--factors", out, "--out", x, ranks=2)
    assert done.returncode == 0 and x.exists(), done.stderr
    done = launched(palmette, "factorize", spd, "--out", out, "--precision", "mixed", ranks=2)
    assert done.returncode == 2 and len(errors(done)) == 1 and "mixed" in done.stderr
    done = launched(palmette, "schur", spd, "--boundary", "1:2", "--grid", "auto", ranks=2)
    assert done.returncode == 2 and len(errors(done)) == 1 and "--grid auto" in done.stderr
    done = launched(palmette, "solve", "--factors", out, ranks=3)
    assert done.returncode == 3 and len(errors(done)) == 1 and "was saved by 2 ranks" in done.stderr
