"""A SciPy user changes one import: the names, arguments and errors stay."""
import numpy as np
import scipy.sparse as sparse

from palmette.scipy import splu, spsolve  # was: from scipy.sparse.linalg import splu, spsolve

A = sparse.csc_matrix(sparse.random(300, 300, 0.02, random_state=1) + 4 * sparse.eye(300))
b = np.arange(300.0)
x = spsolve(A, b)
factor = splu(A)
assert np.allclose(factor.solve(b), x)
permuted = A.tocsr()[np.argsort(factor.perm_r)][:, np.argsort(factor.perm_c)]
print("|Pr A Pc - L U| =", abs(permuted - factor.L @ factor.U).max())
