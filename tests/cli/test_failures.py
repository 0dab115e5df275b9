"""How the command fails: the exit code, one sentence, and the JSON."""
import json
import os
import subprocess

import pytest
from conftest import DATA, coordinate, dense

KEYS = ["kind", "message", "row", "column", "file", "line", "exit_code"]


def test_a_missing_file_ends_with_3(palmette):
    palmette("solve", "nowhere.mtx").fails_with(3, "nowhere.mtx")


@pytest.mark.parametrize("text, line", [
    ("no matrix at all\n", ""),
    ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n", ""),             # truncated
    ("%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1.0\n", ":3:"),          # row out of range
    ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 2 nan\n", ":4:"),  # not a number
    ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n2 2 inf\n", ":4:"),
    # absurd sizes
    ("%%MatrixMarket matrix coordinate real general\n2147483647 2147483647 99999999999\n", ""),
    ("", ""),
])
def test_malformed_files_end_with_3_and_name_the_line(palmette, tmp_path, text, line):
    (tmp_path / "bad.mtx").write_text(text)
    done = palmette("solve", "bad.mtx", "--json", "-").fails_with(3, "bad.mtx" + line)
    error = done.json["error"]
    assert list(error) == KEYS and error["file"] == "bad.mtx" and error["exit_code"] == 3
    if line:
        assert error["line"] == int(line.strip(":"))


def test_malformed_standard_input_is_named(palmette):
    palmette("solve", "-", stdin="nonsense\n").fails_with(3, "standard input")


def test_structurally_singular_ends_with_4_naming_row_and_column(palmette, tmp_path):
    (tmp_path / "s.mtx").write_text(coordinate(3, 3, [(1, 1, 1.0), (3, 3, 1.0), (1, 3, 2.0)]))
    done = palmette("solve", "s.mtx", "--json", "-").fails_with(4, "row", "column", "2")
    error = done.json["error"]
    assert error["kind"] == "structurally_singular" and (error["row"], error["column"]) == (2, 2)


def test_numerically_singular_ends_with_4(palmette, tmp_path):
    (tmp_path / "s.mtx").write_text(coordinate(2, 2, [(1, 1, 1.0), (1, 2, 2.0), (2, 1, 2.0), (2, 2, 4.0)]))
    done = palmette("solve", "s.mtx", "--kind", "lu", "--rhs", "random", "--json", "-").fails_with(4)
    assert done.json["error"]["kind"] in ("numerically_singular", "no_convergence")


def test_llt_of_an_indefinite_matrix_ends_with_4_naming_the_pivot(palmette, indefinite):
    done = palmette("solve", indefinite, "--kind", "llt", "--json", "-").fails_with(4)
    error = done.json["error"]
    assert (
        error["kind"] == "not_positive_definite"
        and error["row"] in (1, 2)
        and error["column"] == error["row"]
    )


def test_a_rectangular_matrix_ends_with_2(palmette, tmp_path):
    (tmp_path / "r.mtx").write_text(coordinate(2, 3, [(1, 1, 1.0)]))
    for command in ["solve", "trisolve", "order", "analyze", "bench"]:
        palmette(command, "r.mtx").fails_with(2, "square", "2 rows", "3 columns")
    assert palmette("info", "r.mtx").code == 0


def test_a_right_hand_side_of_wrong_size_ends_with_2_naming_both(palmette, unsymmetric, tmp_path):
    (tmp_path / "b.mtx").write_text(dense([[1.0] * 5]))
    done = palmette("solve", unsymmetric, "--rhs", "b.mtx", "--json", "-").fails_with(2, "5 rows", "3 rows")
    assert done.json["error"]["kind"] == "dimension"
    (tmp_path / "b.mtx").write_text(dense([[1.0] * 3]))
    palmette("solve", unsymmetric, "--rhs", "b.mtx", "--num-rhs", 4).fails_with(2, "4", "1")


def test_a_missing_right_hand_side_ends_with_3(palmette, unsymmetric):
    palmette("solve", unsymmetric, "--rhs", "nowhere.mtx").fails_with(3, "nowhere.mtx")


def test_an_ordering_of_wrong_size_ends_with_2(palmette, unsymmetric, tmp_path):
    (tmp_path / "p.txt").write_text("1 2\n")
    palmette("solve", unsymmetric, "--order", "p.txt").fails_with(2, "2 entries", "3 rows")


@pytest.mark.parametrize("arguments, words", [
    (["--method", "sync_fre"], ["--method", "sync_free"]),
    (["--method", "fastest"], ["--method", "serial"]),
    (["--order", "metiss"], ["--order", "metis"]),
    (["--kind", "ltl"], ["--kind", "llt"]),
    (["--precision", "half"], ["--precision", "double"]),
    (["--threads", "-1"], ["--threads", "'-1'"]),
    (["--threads", "two"], ["--threads", "'two'"]),
    (["--threads", "2x"], ["--threads", "'2x'"]),
    (["--threads", "0x2"], ["--threads", "'0x2'"]),
    (["--threads", "99999"], ["--threads", "'99999'"]),
    (["--num-rhs", "-3"], ["--num-rhs", "'-3'"]),
    (["--num-rhs", "1.5"], ["--num-rhs", "'1.5'"]),
    (["--repeat", "0"], ["--repeat", "'0'"]),
    (["--refine", "some"], ["--refine", "'some'"]),
    (["--rhs", "random:x"], ["random", "'x'"]),
    (["--pattern-values", "twos"], ["--pattern-values", "ones"]),
    (["--transpose", "--adjoint"], ["--adjoint", "--transpose"]),
    (["--theads", "2"], ["--theads", "--threads"]),
    (["--threads", "1", "--threads", "2"], ["--threads"]),
    (["--threads"], ["--threads"]),
    (["another.mtx"], ["another.mtx"]),
])
def test_wrong_options_end_with_2_and_say_what_is_meant(palmette, spd, arguments, words):
    palmette("solve", spd, *arguments).fails_with(2, *words)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], ["command is missing", "solve"]),
        (["slove", "A.mtx"], ["slove", "did you mean 'solve'"]),
        (["solve"], ["A.mtx"]),
        (["--threads", "2"], ["--threads"]),
        (["convert", "A.mtx"], ["OUT.mtx"]),
        (["generate"], ["--list"]),
        (["generate", "poisson2d", "--n", "3", "--out", "a.mtx"], ["poisson2d5"]),
        (["generate", "poisson2d5", "--out", "a.mtx"], ["--n"]),
        (["generate", "poisson2d5", "--n", "3"], ["--out"]),
        (["generate", "poisson2d5", "--n", "0", "--out", "a.mtx"], ["--n"]),
        (
            ["generate", "random_spd", "--n", "9", "--parameter", "many", "--out", "a.mtx"],
            ["--parameter", "many"],
        ),
        (["generate", "poisson3d7", "--n", "99999", "--out", "a.mtx"], ["poisson3d7"]),
    ],
)
def test_wrong_command_lines_end_with_2(palmette, arguments, words):
    palmette(*arguments).fails_with(2, *words)


def test_usage_errors_appear_in_the_json_too(palmette, spd, tmp_path):
    error = palmette("solve", spd, "--method", "magic", "--json", "-").fails_with(2).json["error"]
    assert list(error) == KEYS and error["kind"] == "usage" and "magic" in error["message"]
    palmette("solve", spd, "--theads=2", "--json=error.json").fails_with(2)
    assert '"usage"' in (tmp_path / "error.json").read_text()


@pytest.mark.parametrize("option", ["--out", "--json"])
def test_an_unwritable_destination_ends_with_3_before_anything_is_computed(palmette, option):
    palmette("solve", "nowhere.mtx", option, "no/such/folder/x.mtx").fails_with(3, "no/such/folder", option)
    palmette("solve", "nowhere.mtx", option, ".").fails_with(3, "folder")


def test_a_solution_that_cannot_be_written_is_saved_elsewhere(palmette, spd, tmp_path):
    saved = tmp_path / "temporary"
    saved.mkdir()
    done = palmette("solve", spd, "--out", "/dev/full", env={"TMPDIR": str(saved)})
    done.fails_with(3, "/dev/full", "saved as")
    assert "backward error" in done.out
    assert next(saved.iterdir()).read_text().startswith("%%MatrixMarket matrix array real general")


def test_json_that_cannot_be_written_is_saved_elsewhere(palmette, spd, tmp_path):
    saved = tmp_path / "temporary"
    saved.mkdir()
    done = palmette("solve", spd, "--json", "/dev/full", env={"TMPDIR": str(saved)})
    done.fails_with(3, "/dev/full", "saved as")
    assert '"verify"' in next(saved.iterdir()).read_text()


def test_two_results_on_standard_output_are_refused(palmette, spd):
    palmette("solve", spd, "--out", "-", "--json", "-").fails_with(2, "--out", "--json")
    palmette("solve", "-", "--rhs", "-").fails_with(2, "standard input")


def test_too_many_right_hand_sides_end_with_5(palmette, spd):
    palmette("solve", spd, "--num-rhs", 2147483647, preexec_fn=limit_memory).fails_with(5, "memory")


def limit_memory():
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))


def test_a_reader_that_goes_away_is_no_error(palmette, spd):
    ends = os.pipe()
    os.close(ends[0])
    done = subprocess.run(
        [palmette.command, "solve", spd, "--out", "x.mtx"],
        stdout=ends[1],
        stderr=subprocess.PIPE,
        text=True,
        cwd=spd.parent,
        env=palmette.environment,
        timeout=120,
    )
    os.close(ends[1])
    assert (done.returncode, done.stderr) == (0, "") and (spd.parent / "x.mtx").exists()


def test_a_closed_or_full_standard_output_ends_with_3(palmette, spd):
    for redirection in [">&-", ">/dev/full"]:
        done = subprocess.run(
            ["sh", "-c", f'"$0" solve "$1" --out x.mtx {redirection}', palmette.command, spd],
            stderr=subprocess.PIPE,
            text=True,
            cwd=spd.parent,
            env=palmette.environment,
            timeout=120,
        )
        assert done.returncode == 3 and "standard output" in done.stderr
        assert (spd.parent / "x.mtx").read_text().startswith("%%MatrixMarket")


def test_standard_error_has_no_progress_where_it_is_no_terminal(palmette):
    assert palmette("solve", DATA / "real_symmetric.mtx").err == ""


@pytest.mark.parametrize(
    "options", [["--out", "a.mtx", "--json", "a.mtx"], ["--out", "in.mtx"], ["--json", "in.mtx"]]
)
def test_results_do_not_overwrite_each_other_or_the_matrix(palmette, tmp_path, options):
    text = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2.0\n"
    (tmp_path / "in.mtx").write_text(text)
    palmette("solve", "in.mtx", *options).fails_with(2, "same file")
    assert (tmp_path / "in.mtx").read_text() == text


@pytest.mark.parametrize(
    "command", [["inverse"], ["order"], ["schur", "--boundary", "1:1"], ["factorize", "--out", "f"]]
)
def test_no_document_overwrites_the_matrix(palmette, tmp_path, command):
    matrix = tmp_path / "in.mtx"
    matrix.write_text(coordinate(2, 2, [(1, 1, 2), (2, 2, 2)]))
    before = matrix.read_text()
    palmette(command[0], "in.mtx", *command[1:], "--json", "in.mtx").fails_with(2, "same file")
    assert matrix.read_text() == before


def test_singular_systems_are_answered_as_asked(palmette, tmp_path):
    """[1 -1; -1 1]: the shortest x of least residual for b = (3, 1) is that for (1, -1), (1/2, -1/2)."""
    (tmp_path / "path.mtx").write_text(
        coordinate(2, 2, [(1, 1, 1.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 1.0)])
    )
    (tmp_path / "b.mtx").write_text("%%MatrixMarket matrix array real general\n2 1\n3\n1\n")
    palmette("solve", "path.mtx", "--rhs", "b.mtx", "--singular", "raise").fails_with(4, "singular")
    for singular in ("warn", "least-norm"):
        done = palmette(
            "solve",
            "path.mtx",
            "--rhs",
            "b.mtx",
            "--singular",
            singular,
            "--out",
            f"{singular}.mtx",
            "--json",
            f"{singular}.json",
        )
        done.fails_with(6, "singular to working precision")
        verify = json.loads((tmp_path / f"{singular}.json").read_text())["verify"]
        assert (
            not verify["verified"] and verify["null_directions"] == 1 and verify["singular_distance"] < 1e-15
        )
    x = [float(line) for line in (tmp_path / "least-norm.mtx").read_text().split("\n")[-3:-1]]
    assert abs(x[0] - 0.5) < 1e-14 and abs(x[1] + 0.5) < 1e-14
    assert verify["least_squares_error"] < 1e-14
    palmette("solve", "path.mtx", "--singular", "ignore").fails_with(2, "least-norm")
    over = ("--singular", "least-norm", "--transport", "threads:2", "--out", "ranks.mtx")
    palmette("solve", "path.mtx", "--rhs", "b.mtx", *over).fails_with(6, "singular to working precision")
    x = [float(line) for line in (tmp_path / "ranks.mtx").read_text().split("\n")[-3:-1]]
    assert abs(x[0] - 0.5) < 1e-14 and abs(x[1] + 0.5) < 1e-14
    palmette("solve", "path.mtx", "--rhs", "b.mtx", "--transport", "threads:2").fails_with(4, "singular")
