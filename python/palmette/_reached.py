"""Sparse right-hand sides of `palmette.scipy`: only branches of the elimination tree that they reach."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
from scipy.sparse import csc_array

from ._solver import Solver

# Columns of a sparse right-hand side that are dense at the same time.
_DENSE_COLUMNS = 64


def solved_blocks(
    solver: Any, b: csc_array, solve_whole: Callable[[np.ndarray], np.ndarray]
) -> Iterator[tuple]:
    """For blocks of columns of b: their numbers, the rows of x that can differ from zero (None: all), and
    these rows of x.

    Parameters
    ----------
    solver : Solver, or another solver, which then solves for whole columns
    b : csc_array, shape (n, k)
    solve_whole
        Dense columns of b → x; for solvers and values of b with which branches cannot be left out.
    """
    by_branches = (
        isinstance(solver, Solver)
        and np.isfinite(b.data).all()
        and solver.report["analyze"]["supernodes"] > 0  # a factor by columns has no branches to leave out
        and not solver.report["factorize"]["perturbed_pivots"]  # nor has one whose pivots were replaced
        and not solver.report["factorize"]["structural_deficiency"]
    )
    if not by_branches:
        for first in range(0, b.shape[1], _DENSE_COLUMNS):
            block = b[:, first:first + _DENSE_COLUMNS].toarray()
            yield first + np.arange(block.shape[1]), None, solve_whole(block)
        return
    structure = solver.structure()
    place = np.empty(b.shape[0], dtype=np.int32)
    place[structure["row"]] = np.arange(b.shape[0], dtype=np.int32)
    root = _roots(structure["column_parent"])
    several_trees = len(root) > 0 and (root != root[0]).any()
    order = np.argsort(_first_places(b, place), kind="stable")  # columns with common branches stand together
    for first in range(0, b.shape[1], _DENSE_COLUMNS):
        numbers = order[first:first + _DENSE_COLUMNS]
        block = b[:, numbers]
        reached = None
        if several_trees:  # x is zero in trees without an entry of b
            reached = structure["column"][np.isin(root, root[place[block.indices]])]
        yield numbers, reached, solver.solve_sparse(block, reached)


def _first_places(b: csc_array, place: np.ndarray) -> np.ndarray:
    """For each column of b, the first place of its entries; the number of rows if it has none."""
    first = np.full(b.shape[1], b.shape[0])
    filled = np.diff(b.indptr) > 0
    if filled.any():
        first[filled] = np.minimum.reduceat(place[b.indices], b.indptr[:-1][filled])
    return first


def _roots(parent: np.ndarray) -> np.ndarray:
    """The root of each vertex of a forest, whose roots have the parent −1."""
    root = np.where(parent < 0, np.arange(len(parent)), parent)
    while True:
        above = root[root]
        if np.array_equal(above, root):
            return root
        root = above
