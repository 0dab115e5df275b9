"""inverse: the diagonal and the selected entries, what is reported, and what is refused."""
import pytest
from conftest import coordinate


@pytest.fixture
def walk(tmp_path):
    """Dᵀ·D of a random walk of 5 steps: entry (i, j) of the inverse is min(i, j), counted from 1."""
    entries = [(i, i, 2.0 if i < 5 else 1.0) for i in range(1, 6)]
    entries += [(i + 1, i, -1.0) for i in range(1, 5)] + [(i, i + 1, -1.0) for i in range(1, 5)]
    path = tmp_path / "walk.mtx"
    path.write_text(coordinate(5, 5, entries))
    return path


def lines_of(path):
    """Of a Matrix Market file: the sizes, and the words of each entry."""
    lines = [line.split() for line in path.read_text().splitlines() if not line.startswith("%")]
    return lines[0], lines[1:]


def test_diagonal_of_a_random_walk(palmette, walk, tmp_path):
    done = palmette("inverse", walk, "--out", "d.mtx")
    assert done.code == 0 and "verified" in done.out and "d.mtx" in done.out
    size, values = lines_of(tmp_path / "d.mtx")
    assert size == ["5", "1"]
    assert [float(value[0]) for value in values] == pytest.approx([1, 2, 3, 4, 5])


def test_selected_entries_and_their_report(palmette, walk, tmp_path):
    done = palmette("inverse", walk, "--entries", "selected", "--out", "Z.mtx", "--check", 5, "--json", "-")
    report = done.json
    assert report["inverse"]["verified"] and report["inverse"]["checked_columns"] == 5
    assert report["inverse"]["difference"] <= report["inverse"]["bound"]
    assert report["factorize"]["kind"] == "llt"
    _, entries = lines_of(tmp_path / "Z.mtx")
    assert len(entries) >= 13
    for i, j, value in entries:
        assert float(value) == pytest.approx(min(int(i), int(j)))


def test_a_singular_matrix_is_a_numerical_failure(palmette, tmp_path):
    (tmp_path / "s.mtx").write_text(coordinate(2, 2, [(1, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 1.0)]))
    palmette("inverse", "s.mtx").fails_with(4, "singular")


def test_bad_requests_are_refused(palmette, walk, tmp_path):
    palmette("inverse", walk, "--entries", "selekted").fails_with(2, "--entries", "selected")
    palmette("inverse", walk, "--check", -1).fails_with(2, "--check")
    palmette("inverse", walk, "--out", walk).fails_with(2, "--out")
    (tmp_path / "r.mtx").write_text(coordinate(2, 3, [(1, 1, 1.0)]))
    palmette("inverse", "r.mtx").fails_with(2, "square", "2 rows", "3 columns")


def test_over_ranks_rank_0_gets_the_entries(palmette, walk, tmp_path):
    for parts in ["diagonal", "selected"]:
        asked = ["inverse", walk, "--entries", parts, "--check", 5, "--json", "-"]
        alone = palmette(*asked, "--out", "alone.mtx")
        ranks = palmette(*asked, "--out", "ranks.mtx", "--transport", "threads:3", "--map", "block_cyclic")
        assert alone.code == 0 and ranks.code == 0, ranks.err
        assert ranks.json["ranks"]["num_ranks"] == 3 and ranks.json["inverse"]["verified"] is True
        assert isinstance(ranks.json["inverse"]["messages"], int)
        (size, one), (other_size, other) = (lines_of(tmp_path / f"{name}.mtx") for name in ("alone", "ranks"))
        assert size == other_size and [line[:-1] for line in one] == [line[:-1] for line in other]
        assert [float(line[-1]) for line in one] == pytest.approx([float(line[-1]) for line in other])
    refused = palmette("inverse", walk, "--transport", "threads:2", "--grid", "auto")
    assert refused.code == 2 and "--grid auto" in refused.err
