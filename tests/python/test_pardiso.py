"""Programs that call PARDISO run on Palmette's libraries: pypardiso, and Ipopt as CasADi's and cyipopt's
wheels have it.
Skipped where these packages, or the libraries in the wheel or in build/, are missing."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import palmette
from conftest import backward_error, bound, indefinite, random_unsymmetric, spd

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from pardiso_door.hock_schittkowski import PROBLEMS  # noqa: E402
from pardiso_door.ipopt import solve, solve_by_cyipopt  # noqa: E402


def library(name):
    in_wheel = Path(palmette.__file__).parent / "lib" / name
    if in_wheel.exists():
        return in_wheel
    # not of the sanitized builds, which load with their runtime alone
    places = [ROOT / "build" / preset / name for preset in ("release", "check")]
    found = [place for place in places if place.exists()]
    if not found:
        pytest.skip(f"{name} is not built in build/release or build/check")
    return max(found, key=os.path.getmtime)


@pytest.fixture
def pypardiso(monkeypatch):
    monkeypatch.setenv("PYPARDISO_MKL_RT", str(library("libpalmette_pardiso_mkl.so")))
    return pytest.importorskip("pypardiso", reason="no pypardiso (pip install --no-deps pypardiso)")


def test_pypardiso_solves_by_rows_and_by_columns(pypardiso):
    A = random_unsymmetric(200, seed=3).tocsr()
    b = np.asfortranarray(np.random.default_rng(4).standard_normal((200, 3)))
    solver = pypardiso.PyPardisoSolver()
    assert "libpalmette" in solver.libmkl._name
    for form in (A, A.tocsc()):
        solver.factorize(form)
        assert solver.get_iparm(14) == 0  # replaced pivots
        assert backward_error(A, solver.solve(form, b), b) <= bound("float64")
    solver.free_memory(everything=True)
    assert solver.pt[0] == 0


def test_pypardiso_solves_symmetric_types(pypardiso):
    for mtype, A in ((2, spd()), (-2, indefinite())):
        solver = pypardiso.PyPardisoSolver(mtype=mtype)
        upper = sparse.csr_matrix(sparse.triu(A))
        b = np.ones(A.shape[0])
        assert backward_error(A, solver.solve(upper, b), b) <= bound("float64")
        solver.free_memory(everything=True)


def test_a_code_of_ours_is_an_error_of_pypardiso(pypardiso):
    solver = pypardiso.PyPardisoSolver(mtype=2)
    with pytest.raises(pypardiso.pardiso_wrapper.PyPardisoError, match="-4"):
        solver.solve(sparse.csr_matrix(np.diag([1.0, -1.0])), np.ones(2))
    solver.free_memory(everything=True)


def expect_the_way_of_mumps(run, problem):
    found = run(problem, "pardiso", library("libpalmette_pardiso.so"))
    expected = run(problem, "mumps", None)
    assert found.status == expected.status == "Solve_Succeeded"
    assert found.least == pytest.approx(problem.least, rel=1e-6, abs=1e-6)
    assert found.iterations == pytest.approx(expected.iterations, rel=0.1)


# Every third problem: the whole list takes longer than a test may.
@pytest.mark.parametrize("problem", PROBLEMS[::3], ids=lambda problem: f"hs{problem.number}")
def test_ipopt_goes_the_way_that_it_goes_with_mumps(problem):
    pytest.importorskip("casadi", reason="no CasADi (pip install casadi)")
    expect_the_way_of_mumps(solve, problem)


@pytest.mark.parametrize("problem", PROBLEMS[1::3], ids=lambda problem: f"hs{problem.number}")
def test_ipopt_of_cyipopt_goes_the_way_that_it_goes_with_mumps(problem):
    pytest.importorskip("cyipopt", reason="no cyipopt (pip install cyipopt-wheels)")
    pytest.importorskip("casadi", reason="no CasADi, for the derivatives (pip install casadi)")
    expect_the_way_of_mumps(solve_by_cyipopt, problem)


def test_ipopt_of_cyipopt_says_that_a_library_is_missing(tmp_path):
    pytest.importorskip("cyipopt", reason="no cyipopt (pip install cyipopt-wheels)")
    pytest.importorskip("casadi", reason="no CasADi, for the derivatives (pip install casadi)")
    missing = solve_by_cyipopt(PROBLEMS[0], "pardiso", tmp_path / "libpalmette_pardiso.so")
    assert missing.status != "Solve_Succeeded"  # so the library is what solved above
