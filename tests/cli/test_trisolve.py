"""palmette trisolve: triangles as they are."""
import pytest
from conftest import coordinate, dense, methods_at, read_dense


def solution(palmette, tmp_path, *arguments):
    done = palmette("trisolve", *arguments, "--out", "x.mtx")
    assert done.code == 0, done.err
    return read_dense(tmp_path / "x.mtx")[0]


@pytest.fixture
def rhs(tmp_path):
    (tmp_path / "b.mtx").write_text(dense([[2.0, 9.0, 21.0]]))
    return "b.mtx"


def test_lower_triangle_is_solved_and_the_other_ignored(palmette, lower, rhs, tmp_path):
    # [2 0 0; 1 4 0; 0 3 5] x = [2, 9, 21]: x = [1, 2, 3]
    assert solution(palmette, tmp_path, lower, "--rhs", rhs) == [1, 2, 3]


def test_unit_diagonal_ignores_the_stored_one(palmette, lower, rhs, tmp_path):
    # x1 = 2, x2 = 9 − 2 = 7, x3 = 21 − 3·7 = 0
    assert solution(palmette, tmp_path, lower, "--rhs", rhs, "--unit-diagonal") == [2, 7, 0]


def test_transpose_solves_backwards(palmette, lower, tmp_path):
    (tmp_path / "c.mtx").write_text(dense([[4.0, 17.0, 15.0]]))
    # Lᵀ = [2 1 0; 0 4 3; 0 0 5]: x = [1, 2, 3]
    assert solution(palmette, tmp_path, lower, "--rhs", "c.mtx", "--transpose") == [1, 2, 3]


def test_upper_takes_the_upper_triangle(palmette, lower, tmp_path):
    (tmp_path / "c.mtx").write_text(dense([[9.0, 8.0, 5.0]]))
    # upper triangle [2 0 7; 0 4 0; 0 0 5]: x = [1, 2, 1]
    assert solution(palmette, tmp_path, lower, "--upper", "--rhs", "c.mtx") == [1, 2, 1]


def test_adjoint_conjugates(palmette, complex_matrix, tmp_path):
    plain = solution(palmette, tmp_path, complex_matrix, "--upper", "--transpose")
    conjugated = solution(palmette, tmp_path, complex_matrix, "--upper", "--adjoint")
    assert conjugated == [value.conjugate() for value in plain] != plain


def test_every_method_is_taken(palmette, lower):
    for method in methods_at(palmette, "one machine"):
        document = palmette("trisolve", lower, "--method", method, "--threads", 2, "--json", "-").json
        assert document["solve"]["method"] == method and document["verify"]["verified"] is True


def test_every_method_of_several_devices_is_taken(palmette, lower):
    for method in methods_at(palmette, "columns of several devices"):
        arguments = ["--device", "emulated", "--gpus", 3, "--tasks-per-gpu", 2, "--method", method]
        document = palmette("trisolve", lower, *arguments, "--json", "-").json
        assert document["solve"]["method"] == method and document["verify"]["verified"] is True


def test_several_devices_need_their_kind_and_a_method_of_theirs(palmette, lower):
    palmette("trisolve", lower, "--gpus", 2).fails_with(2, "2 devices need a kind of device")
    palmette("trisolve", lower, "--device", "emulated", "--gpus", 2, "--method", "serial").fails_with(
        2, "for several devices or columns of several devices choose one of auto, devices_"
    )


def test_a_method_of_ranks_is_refused_as_by_solve(palmette, lower, spd):
    words = "the solve method baseline_3d is for several layers of ranks; for one machine choose one of auto,"
    for command, matrix in [("solve", spd), ("trisolve", lower)]:
        palmette(command, matrix, "--method", "baseline_3d").fails_with(2, words)
    unknown = palmette("trisolve", lower, "--method", "quick").fails_with(2, "--method knows no 'quick'")
    assert "serial" in unknown.err and " baseline_3d" not in unknown.err


def test_report_has_no_factorization(palmette, lower):
    document = palmette("trisolve", lower, "--json", "-", "--repeat", 3, "--num-rhs", 4).json
    assert document["order"] is None and document["analyze"] is None and document["factorize"] is None
    assert document["solve"]["num_rhs"] == 4


def test_precision_float(palmette, lower):
    assert (
        palmette("trisolve", lower, "--precision", "float", "--json", "-").json["matrix"]["scalar"]
        == "float32"
    )


def test_a_zero_on_the_diagonal_names_its_row(palmette, tmp_path):
    (tmp_path / "t.mtx").write_text(coordinate(3, 3, [(1, 1, 1.0), (2, 1, 1.0), (2, 2, 0.0), (3, 3, 1.0)]))
    done = palmette("trisolve", "t.mtx", "--json", "-").fails_with(4, "2")
    assert done.json["error"]["row"] == 2 and done.json["error"]["exit_code"] == 4
    assert palmette("trisolve", "t.mtx", "--unit-diagonal").code == 0


def test_table_names_the_method_and_the_verdict(palmette, lower):
    done = palmette("trisolve", lower, "--method", "serial")
    assert done.code == 0 and "serial" in done.out and "Verified" in done.out and "factorize" not in done.out


def test_options_of_factorizations_are_refused(palmette, lower):
    palmette("trisolve", lower, "--kind", "lu").fails_with(2, "--kind")
    palmette("trisolve", lower, "--precision", "mixed").fails_with(2, "mixed", "double")
