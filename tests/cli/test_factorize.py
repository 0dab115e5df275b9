"""factorize keeps factors in a file, and solve --factors uses them."""
import os
import re

import pytest
from conftest import coordinate

ENTRIES = [(1, 1, 4.0), (2, 1, 1.0), (1, 2, 1.0), (2, 2, 3.0), (3, 3, 2.0)]


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "A.mtx"
    path.write_text(coordinate(3, 3, ENTRIES))
    return path


def values_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return [float(line) for line in lines[1:]]


@pytest.mark.parametrize("options", [[], ["--kind", "lu", "--order", "amd"], ["--precision", "mixed"],
                                     ["--precision", "float"]])
def test_solutions_are_those_of_solve(palmette, small, tmp_path, options):
    assert palmette("solve", small, "--out", "x.mtx", *options).code == 0
    done = palmette("factorize", small, "--out", "A.factors", *options)
    assert done.code == 0 and "written to" in done.out and "A.factors" in done.out
    done = palmette("solve", "--factors", "A.factors", "--out", "y.mtx", "--json", "-")
    assert done.code == 0 and done.json["verify"]["verified"]
    assert any("A.factors, which Palmette" in note for note in done.json["notes"])
    assert values_of(tmp_path / "x.mtx") == values_of(tmp_path / "y.mtx")
    table = palmette("solve", "--factors", "A.factors")
    assert table.code == 0 and "Verified" in table.out


def test_the_report_says_what_was_kept(palmette, small, tmp_path):
    report = palmette("factorize", small, "--out", "A.factors", "--json", "-").json
    assert report["saved"]["path"] == "A.factors"
    assert report["saved"]["bytes"] == (tmp_path / "A.factors").stat().st_size
    assert report["factorize"]["kind"] == "llt"


def test_what_contradicts_the_file_is_refused(palmette, small, tmp_path):
    palmette("factorize", small).fails_with(2, "--out")
    palmette("factorize", small, "--out", small).fails_with(2, "--out")
    palmette("factorize", small, "--out", "-").fails_with(2, "--out -")
    palmette("factorize", small, "--out", "A.factors")
    palmette("solve", small, "--factors", "A.factors").fails_with(2, "without a matrix")
    palmette("solve", "--factors", "A.factors", "--kind", "lu").fails_with(2, "--kind")
    palmette("solve", "--factors", "A.factors", "--precision", "float").fails_with(2, "--precision")
    palmette("solve").fails_with(2, "A.mtx is missing", "--factors")
    (tmp_path / "b.mtx").write_text(coordinate(2, 1, [(1, 1, 1.0)]))
    palmette("solve", "--factors", "A.factors", "--rhs", "b.mtx").fails_with(2, "2 rows", "3 rows")
    (tmp_path / "z.mtx").write_text(
        "%%MatrixMarket matrix array complex general\n3 1\n1 1\n0 0\n0 0\n")
    palmette("solve", "--factors", "A.factors", "--rhs", "z.mtx").fails_with(2, "complex", "real")


def test_a_place_where_nothing_can_be_kept_is_refused_before_the_work(palmette, tmp_path):
    """The matrix is absent, which would be found next."""
    for out in ("absent/A.factors", "/proc/A.factors", "/dev/null", str(tmp_path)):
        palmette("factorize", "absent.mtx", "--out", out).fails_with(3, out, "choose another --out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_in_a_folder_that_cannot_be_written_is_refused_before_the_work(palmette, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "A.factors").write_text("old")
    folder.chmod(0o500)
    palmette("factorize", "absent.mtx", "--out", "folder/A.factors").fails_with(3, "choose another --out")


def test_factors_that_stay_in_the_file_give_the_same_solution(palmette, tmp_path):
    palmette("generate", "poisson3d7", "--n", 12, "--out", "A.mtx")
    palmette("factorize", "A.mtx", "--out", "A.factors")
    assert palmette("solve", "--factors", "A.factors", "--out", "x.mtx").code == 0
    done = palmette("solve", "--factors", "A.factors", "--memory-budget", "1", "--out", "y.mtx")
    done.fails_with(2, "give at least")
    least = int(re.search(r"give at least (\d+) bytes", done.err).group(1))
    for budget in (str(least), "0.5G"):
        done = palmette("solve", "--factors", "A.factors", "--memory-budget", budget, "--out", "y.mtx",
                        "--json", "-")
        assert done.code == 0 and done.json["verify"]["verified"]
        file = done.json["solve"]["file"]
        assert file["bytes"] > 0 and file["memory_budget"] == (500_000_000 if budget == "0.5G" else least)
        assert values_of(tmp_path / "x.mtx") == values_of(tmp_path / "y.mtx")
    table = palmette("solve", "--factors", "A.factors", "--memory-budget", "100M").out
    assert "read from the file" in table and "100 MB of memory" in table
    palmette("solve", "A.mtx", "--memory-budget", "1G").fails_with(2, "--factors")
    palmette("solve", "--factors", "A.factors", "--memory-budget", "1X").fails_with(2, "500M or 2G")


def test_damaged_and_foreign_files_are_refused(palmette, small, tmp_path):
    remedy = "factorize the matrix again"
    palmette("solve", "--factors", small).fails_with(3, "A.mtx", "fewer than the header", remedy)
    (tmp_path / "long.mtx").write_text(small.read_text() + 200 * "%")
    palmette("solve", "--factors", "long.mtx").fails_with(3, "not saved by Palmette", remedy)
    palmette("factorize", small, "--out", "A.factors")
    whole = (tmp_path / "A.factors").read_bytes()
    (tmp_path / "A.factors").write_bytes(whole[:-9])
    palmette("solve", "--factors", "A.factors").fails_with(3, "A.factors", "cut short", remedy)
    palmette("solve", "--factors", "absent").fails_with(3, "absent", "cannot be read")


def test_rows_of_x_by_a_sparse_right_hand_side(palmette, small, tmp_path):
    (tmp_path / "b.mtx").write_text(coordinate(3, 1, [(3, 1, 4.0)]))  # A x = (0, 0, 4) has x = (0, 0, 2)
    palmette("factorize", small, "--order", "amd", "--out", "A.factors")
    for system in ([small], ["--factors", "A.factors"]):
        done = palmette("solve", *system, "--rhs", "b.mtx", "--rows", "3,1", "--out", "x.mtx", "--json", "-")
        assert done.code == 0 and done.json["rows"]["verified"] and not done.json["rows"]["solved_whole"]
        assert values_of(tmp_path / "x.mtx") == pytest.approx([2.0, 0.0])
    table = palmette("solve", small, "--rhs", "b.mtx", "--rows", 3)
    assert table.code == 0 and "1 entry" in table.out and "yes: backward error" in table.out
    palmette("solve", small, "--rows", "4").fails_with(2, "row 4", "3 rows")
    palmette("solve", small, "--rows", "0").fails_with(2, "--rows")
