"""Pictures: their content is compared with the matrix; their looks are not tested."""

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sparse

import palmette
from conftest import indefinite, random_unsymmetric, spd

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

import palmette.plots as plots  # noqa: E402

MATRICES = {
    "spd": spd(9),
    "indefinite": indefinite(9),
    "unsymmetric": random_unsymmetric(50),
    "large": palmette.generate("poisson2d5", 40),
    "one": sparse.csc_array([[2.0]]),
    "empty": sparse.csc_array((0, 0)),
}


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("name", MATRICES)
def test_every_picture_can_be_drawn_and_saved(name, tmp_path):
    A = MATRICES[name]
    solver = palmette.Solver(A)
    solver.solve(np.ones(A.shape[0]))
    pictures = [
        plots.sparsity(A)[0],
        plots.sparsity(A, solver)[1],
        plots.supernodes(solver),
        plots.supernodes(A),
        plots.elimination_tree(solver),
    ]
    if A.shape[0] > 1:
        pictures.append(plots.bandwidth(solver))
    for number, axes in enumerate(pictures):
        axes.figure.savefig(tmp_path / f"{number}.png", dpi=50)
        assert (tmp_path / f"{number}.png").stat().st_size > 1000


def test_the_density_of_the_factor_counts_its_entries():
    for name in ("spd", "large"):
        solver = palmette.Solver(MATRICES[name])
        structure, n = solver.structure(), MATRICES[name].shape[0]
        density = plots._factor_density(structure, n)
        assert density.sum() == plots._factor_entries(structure) >= solver.report["analyze"]["nnz_factor"]
        assert max(density.shape) == min(n, plots.PIXELS)
    # A small one, entry by entry: the blocks of L hold its entries, and nothing above the diagonal.
    structure = palmette.Solver(spd(5)).structure()
    density = plots._factor_density(structure, 25)
    assert set(np.unique(density)) == {0, 1} and not np.triu(density, 1).any() and np.diag(density).all()


def test_blocks_cover_what_the_structure_says():
    structure = palmette.Solver(spd(7)).structure()
    tops, heights, owner = plots._blocks(structure)
    count = len(structure["parent"])
    assert heights[count:].sum() == len(structure["row_index"])
    assert np.array_equal(tops[:count], structure["supernode_begin"][:-1])
    assert (tops + heights <= 49).all() and (np.bincount(owner) >= 1).all()


def test_large_trees_keep_their_top():
    parent = np.r_[np.full(5000, 5000), -1]
    widths = np.r_[np.ones(4000), np.full(1000, 5), 1].astype(int)
    shown = plots._largest_subtrees(parent, widths)
    assert shown[-1] and shown.sum() <= plots.MOST_NODES and not shown[:4000].any()
    across, depth = plots._tree_layout(np.array([2, 2, -1]), np.ones(3, dtype=bool))
    assert across.tolist() == [0, 1, 0.5] and depth.tolist() == [1, 1, 0]


def test_pictures_go_into_the_axes_that_are_given():
    figure, axes = plt.subplots(1, 5)
    solver = palmette.Solver(spd(5))
    solver.solve(np.ones(25))
    plots.sparsity(spd(5), solver, axes=axes[:2])
    assert plots.supernodes(solver, axes=axes[2]) is axes[2]
    assert plots.elimination_tree(solver, axes=axes[3]) is axes[3]
    assert plots.bandwidth({"mine": solver, "report": solver.report}, axes=axes[4]) is axes[4]
    assert plt.get_fignums() == [figure.number]
    assert "mine" in axes[4].get_yticklabels()[0].get_text()


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(palmette.UsageError, match="call solve first"):
        plots.bandwidth(palmette.Solver(spd(5)))
    solver = palmette.Solver(spd(5), measure=False)
    solver.solve(np.ones(25))
    with pytest.raises(palmette.UsageError, match="measure=False"):
        plots.bandwidth({"mine": solver})
    with pytest.raises(palmette.UsageError, match=r"\(25, 25\)"):
        plots.sparsity(spd(4), solver)


def test_matplotlib_is_imported_by_the_first_picture_only():
    program = "import sys, palmette, palmette.plots, palmette.scipy; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
