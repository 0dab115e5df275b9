"""palmette solve over ranks: as threads of one process always, under mpiexec where it is there."""
import shutil
import subprocess

import pytest
from conftest import coordinate, read_dense


def launched(palmette, *arguments, ranks=2):
    """Run under mpiexec; skip where there is none, or the command was built without MPI."""
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("no mpiexec")
    told = subprocess.run([mpiexec, "--version"], capture_output=True, text=True)
    flags = ["--oversubscribe", "--allow-run-as-root"] if "Open MPI" in told.stdout or "OpenRTE" in told.stdout else []
    done = subprocess.run([mpiexec, *flags, "-n", str(ranks), palmette.command, *map(str, arguments)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env=palmette.environment, timeout=120)
    if "built without MPI" in done.stderr:
        pytest.skip("the command was built without MPI")
    return done


def errors(done):
    return [line for line in done.stderr.splitlines() if line.startswith("palmette: error: ")]


@pytest.mark.parametrize("name", ["block_cyclic", "subtree_to_subcube"])
def test_threads_give_the_same_bits_for_any_number_of_ranks(palmette, spd, tmp_path, name):
    texts = set()
    for ranks in [1, 2, 3, 4]:
        done = palmette("solve", spd, "--rhs", "random:3", "--transport", f"threads:{ranks}", "--map", name, "--out", "x.mtx", "--json", "-")
        assert done.code == 0, done.err
        assert done.json["verify"]["verified"] is True
        assert done.json["ranks"]["num_ranks"] == ranks and done.json["ranks"]["map"] == name
        texts.add((tmp_path / "x.mtx").read_text())
    assert len(texts) == 1


def test_report_tells_of_ranks(palmette, spd):
    ranks = palmette("solve", spd, "--transport", "threads:4", "--grid", "4x1", "--trees", "flat", "--json", "-").json["ranks"]
    assert (ranks["grid_rows"], ranks["grid_cols"], ranks["trees"], ranks["transport"]) == (4, 1, "flat", "threads")
    memory = ranks["memory_bytes"]
    assert 0 < memory["least"] <= memory["mean"] <= memory["most"]
    table = palmette("solve", spd, "--transport", "threads:2")
    assert table.code == 0 and table.err == ""
    assert "2 ranks, grid 2 x 1" in table.out and "by messages" in table.out and "Verified" in table.out
    assert max(map(len, table.out.splitlines())) <= 80 or "spd.mtx" in max(table.out.splitlines(), key=len)


def test_every_kind_and_transposed_systems(palmette, unsymmetric, indefinite, complex_matrix, tmp_path):
    for matrix, kind in [(unsymmetric, "lu"), (indefinite, "ldlt"), (complex_matrix, "lu")]:
        for operation in [[], ["--transpose"], ["--adjoint"]]:
            done = palmette("solve", matrix, *operation, "--transport", "threads:2", "--num-rhs", "3", "--out", "x.mtx", "--json", "-")
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
    palmette("solve", spd, "--transport", "threads:2", "--method", "serial").fails_with(2, "--method serial")


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
    # One process under a launcher goes the same way.
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
