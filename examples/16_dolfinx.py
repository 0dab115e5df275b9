"""A Poisson problem of DOLFINx, whose PETSc solves with Palmette. PETSc loads it by its options:

mpiexec -n 2 env PETSC_OPTIONS="-dll_append FOLDER/libpalmette_petsc.so" python3 16_dolfinx.py
"""

import os
import sys

try:
    import dolfinx
    import numpy
    import ufl
    from dolfinx import fem, mesh
    from dolfinx.fem.petsc import LinearProblem
    from mpi4py import MPI
    from petsc4py import PETSc
except ImportError:
    sys.exit(print("skipped: there is no DOLFINx (Debian: python3-dolfinx)"))
if "palmette" not in os.environ.get("PETSC_OPTIONS", ""):
    sys.exit(print("skipped: PETSC_OPTIONS does not name libpalmette_petsc.so"))

domain = mesh.create_unit_square(MPI.COMM_WORLD, 64, 64)
V = fem.FunctionSpace(domain, ("CG", 2))
exact = fem.Function(V)
exact.interpolate(lambda x: 1 + x[0] ** 2 + 2 * x[1] ** 2)
domain.topology.create_connectivity(1, 2)
boundary = fem.locate_dofs_topological(V, 1, mesh.exterior_facet_indices(domain.topology))
u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
problem = LinearProblem(
    ufl.dot(ufl.grad(u), ufl.grad(v)) * ufl.dx,
    fem.Constant(domain, PETSc.ScalarType(-6)) * v * ufl.dx,
    bcs=[fem.dirichletbc(exact, boundary)],
    petsc_options={"ksp_type": "preonly", "pc_type": "lu", "pc_factor_mat_solver_type": "palmette"},
)
found = problem.solve()
error = domain.comm.allreduce(numpy.abs(found.x.array - exact.x.array).max(), MPI.MAX)
if domain.comm.rank == 0:
    unknowns = V.dofmap.index_map.size_global
    print(f"DOLFINx {dolfinx.__version__}, {domain.comm.size} ranks, {unknowns} unknowns: error {error:.1e}")
assert error < 1e-10
