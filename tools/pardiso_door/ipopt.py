"""Ipopt, as CasADi's and cyipopt's wheels have it, on a Problem with a linear solver."""

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


class Derivatives:
    """What cyipopt calls, by CasADi's derivatives."""

    def __init__(self, problem):
        import casadi as ca

        x = ca.MX.sym("x", len(problem.start))
        objective, constraints = problem.functions(ca, x)
        constraints = ca.vertcat(*constraints) if constraints else ca.MX(0, 1)
        factor, multipliers = ca.MX.sym("factor"), ca.MX.sym("multipliers", constraints.shape[0])
        lagrangian = factor * objective + ca.dot(multipliers, constraints)
        jacobian = ca.jacobian(constraints, x)
        hessian = ca.tril(ca.hessian(lagrangian, x)[0])
        self.jacobian_places, self.hessian_places = (m.sparsity().get_triplet() for m in (jacobian, hessian))
        self.of_x = ca.Function("of_x", [x], [objective, ca.gradient(objective, x), constraints, jacobian])
        self.of_all = ca.Function("of_all", [x, multipliers, factor], [hessian])
        self.iterations = 0

    def objective(self, x):
        return float(self.of_x(x)[0])

    def gradient(self, x):
        return self.of_x(x)[1].full().ravel()

    def constraints(self, x):
        return self.of_x(x)[2].full().ravel()

    def jacobianstructure(self):
        return self.jacobian_places

    def jacobian(self, x):
        return self.of_x(x)[3].nonzeros()

    def hessianstructure(self):
        return self.hessian_places

    def hessian(self, x, multipliers, factor):
        return self.of_all(x, multipliers, factor).nonzeros()

    def intermediate(self, mode, iteration, *_):
        self.iterations = iteration


def solve_by_cyipopt(problem, linear_solver, library: Path) -> Run:
    """As solve."""
    import cyipopt

    n, of_problem = len(problem.start), Derivatives(problem)
    made = cyipopt.Problem(
        n=n,
        m=len(problem.constraints[0]),
        problem_obj=of_problem,
        lb=problem.lower or [-float("inf")] * n,
        ub=problem.upper or [float("inf")] * n,
        cl=problem.constraints[0],
        cu=problem.constraints[1],
    )
    made.add_option("print_level", 0)
    made.add_option("sb", "yes")
    made.add_option("linear_solver", linear_solver)
    if linear_solver == "pardiso":
        made.add_option("pardisolib", str(library))
    _, found = made.solve(problem.start)
    status = "Solve_Succeeded" if found["status"] == 0 else found["status_msg"].decode()
    return Run(of_problem.iterations, status, float(found["obj_val"]))
