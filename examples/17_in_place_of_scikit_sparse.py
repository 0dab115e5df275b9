"""A Gaussian field on a grid, by scikit-sparse's interface: samples, and the range that fits them best."""

import numpy as np
from scipy import sparse

import palmette
from palmette.cholmod import analyze  # elsewhere: from sksparse.cholmod import analyze

laplace = palmette.generate("poisson2d5", 40)
identity = sparse.identity(laplace.shape[0], format="csc")


def precision(kappa):
    return sparse.csc_matrix(laplace + kappa**2 * identity)


# Samples with the precision Q = L·Lᵀ, in the order P: x = Pᵀ·L⁻ᵀ·z has the covariance Q⁻¹.
factor = analyze(precision(1.0), mode="supernodal")
factor.cholesky_inplace(precision(0.5))
z = np.random.default_rng(1).standard_normal((laplace.shape[0], 200))
x = factor.apply_Pt(factor.solve_Lt(z, use_LDLt_decomposition=False))
assert np.allclose(factor.L().T @ factor.apply_P(x), z)


def log_likelihood(kappa):
    factor.cholesky_inplace(precision(kappa))  # the pattern was analyzed once
    return 100 * factor.logdet() - 0.5 * np.sum(x * (precision(kappa) @ x))


found = max((0.3, 0.4, 0.5, 0.6, 0.7), key=log_likelihood)
print(f"most likely: kappa = {found}, which the samples were drawn with")
assert found == 0.5
