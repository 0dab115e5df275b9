"""Factors that SciPy computed, solved by Palmette's methods."""
import numpy as np
import scipy.sparse.linalg as linalg

import palmette

A = palmette.generate("convection_diffusion2d", 60)
theirs = linalg.splu(A.tocsc())
ours = palmette.from_factors(theirs)
b = np.ones(A.shape[0])
print("largest difference", np.max(np.abs(theirs.solve(b) - ours.solve(b))))
print("backward error", ours.report["verify"]["backward_error"])
assert ours.report["verify"]["verified"]
