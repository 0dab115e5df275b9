"""schur: the matrix that is written, what is reported, and what is refused."""
import pytest
from conftest import coordinate


@pytest.fixture
def chain(tmp_path):
    """[2 -1 0; -1 2 -1; 0 -1 2]: S on its first and on its last two unknowns is known by hand."""
    entries = [(i, i, 2.0) for i in (1, 2, 3)] + [(2, 1, -1.0), (1, 2, -1.0), (3, 2, -1.0), (2, 3, -1.0)]
    path = tmp_path / "chain.mtx"
    path.write_text(coordinate(3, 3, entries))
    return path


def values_of(path):
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return lines[0].split(), [float(line) for line in lines[1:]]


def test_complement_is_written_and_reported(palmette, chain, tmp_path):
    done = palmette("schur", chain, "--boundary", "2:3", "--out", "S.mtx")
    assert done.code == 0 and "verified" in done.out and "S.mtx" in done.out
    size, values = values_of(tmp_path / "S.mtx")
    assert size == ["2", "2"] and values == pytest.approx([1.5, -1, -1, 2])
    report = palmette("schur", chain, "--boundary", "1:1", "--kind", "lu", "--json", "-").json["schur"]
    assert report["verified"] and report["boundary"] == 1 and report["kind"] == "lu"
    assert report["backward_error"] <= report["bound"] and report["flops"] > 0


def test_complement_over_ranks_is_that_of_one(palmette, chain, tmp_path):
    palmette("schur", chain, "--boundary", "2:3", "--out", "alone.mtx", "--kind", "ldlt")
    ranks = ("--transport", "threads:3", "--out", "S.mtx", "--json", "-")
    report = palmette("schur", chain, "--boundary", "2:3", "--kind", "ldlt", *ranks).json["schur"]
    assert (tmp_path / "S.mtx").read_text() == (tmp_path / "alone.mtx").read_text()
    assert report["verified"] and report["ranks"]["num_ranks"] == 3
    assert report["ranks"]["memory_bytes_predicted"]["most"] > 0
    palmette("schur", chain, "--boundary", "2:4", "--transport", "threads:2").fails_with(2, "unknown 4")
    palmette("schur", chain, "--boundary", "2:3", "--grid", "auto").fails_with(2, "--grid auto")
    palmette("schur", chain, "--boundary", "2:3", "--grid", "2x2", "--transport", "threads:3").fails_with(
        2, "grid of 2 x 2"
    )


def test_a_singular_interior_is_not_verified(palmette, tmp_path):
    entries = [(1, 1, 3.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 1.0), (2, 3, -1.0), (3, 2, -1.0), (3, 3, 1.0)]
    (tmp_path / "s.mtx").write_text(coordinate(3, 3, entries))
    palmette("schur", "s.mtx", "--boundary", "1:1", "--kind", "ldlt").fails_with(6, "NOT VERIFIED")


def test_bad_requests_are_refused(palmette, chain):
    palmette("schur", chain).fails_with(2, "--boundary")
    palmette("schur", chain, "--boundary", "2").fails_with(2, "FIRST:LAST")
    palmette("schur", chain, "--boundary", "3:2").fails_with(2, "--boundary")
    palmette("schur", chain, "--boundary", "2:4").fails_with(2, "unknown 4", "3")
    palmette("schur", chain, "--boundary", "1:2", "--out", chain).fails_with(2, "--out")
