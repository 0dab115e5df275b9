"""Ipopt, as CasADi's wheel has it, on a Problem with a linear solver."""

from pathlib import Path
from typing import NamedTuple


class Run(NamedTuple):
    iterations: int
    status: str
    least: float  # value of the objective that was found


def solve(problem, linear_solver, library: Path) -> Run:
    """@param library: libpalmette_pardiso.so, which Ipopt loads for the linear solver "pardiso"."""
    import casadi as ca

    x = ca.MX.sym("x", len(problem.start))
    objective, constraints = problem.functions(ca, x)
    options = {
        "ipopt.linear_solver": linear_solver,
        "ipopt.print_level": 0,
        "ipopt.sb": "yes",
        "print_time": False,
    }
    if linear_solver == "pardiso":
        options["ipopt.pardisolib"] = str(library)
    solver = ca.nlpsol("solver", "ipopt", {"x": x, "f": objective, "g": ca.vertcat(*constraints)}, options)
    arguments = {"x0": problem.start, "lbg": problem.constraints[0], "ubg": problem.constraints[1]}
    if not constraints:
        del arguments["lbg"], arguments["ubg"]
    if problem.lower:
        arguments["lbx"] = problem.lower
    if problem.upper:
        arguments["ubx"] = problem.upper
    result = solver(**arguments)
    stats = solver.stats()
    return Run(stats["iter_count"], stats["return_status"], float(result["f"]))
