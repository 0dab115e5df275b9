"""A parameter of a differential equation found by its gradient: JAX through a sparse solve."""

import sys

import numpy as np

import palmette

try:
    import jax
    import palmette.jax
    from jax.experimental.sparse import BCOO
except ImportError:
    sys.exit(print("skipped: there is no JAX (pip install jax)"))

# −u″ + c·u = 1 on a square; which c makes the mean of u 0.01?
laplace = palmette.generate("poisson2d5", 20).tocoo() * 441
place = np.stack([laplace.row, laplace.col], axis=1)
is_diagonal = (laplace.row == laplace.col).astype("float32")


def mean(c):
    A = BCOO((laplace.data.astype("float32") + c * is_diagonal, place), shape=laplace.shape)
    return palmette.jax.solve(A, np.ones(400, "float32")).mean()


mean_and_slope = jax.value_and_grad(mean)
c = 0.0
for step in range(8):
    value, slope = mean_and_slope(c)
    print(f"c = {c:8.4f}  mean of u = {value:.6f}")
    if abs(value - 0.01) < 1e-7:
        break
    c = float(c - (1 / value - 100) / (-slope / value**2))  # Newton's method for 1/mean, nearly linear
assert abs(value - 0.01) < 1e-6
