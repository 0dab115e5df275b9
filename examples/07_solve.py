"""Solve from Python: one line for an answer, two for a report."""
import numpy as np

import palmette

A = palmette.generate("poisson2d9", 100)
b = np.ones(A.shape[0])
x = palmette.solve(A, b)
print("residual", np.linalg.norm(A @ x - b, np.inf))

solver = palmette.Solver(A)
solver.solve(b)
verify, solve = solver.report["verify"], solver.report["solve"]
print(f"backward error {verify['backward_error']:.1e}, {solve['bandwidth_gbs']:.1f} GB/s")
assert verify["verified"]
