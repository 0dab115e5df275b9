"""Run by mpiexec with any number of processes (test_mpi.py does): palmette.mpi on every process. Exits with 1
if an assertion fails."""

import doctest
import hashlib
import os
import shutil
import sys
import tempfile
import traceback
import warnings

import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg
from mpi4py import MPI

import palmette
import palmette.mpi

comm = MPI.COMM_WORLD


def own_rows(n, weights=None):
    """First and end of this process's rows: in proportion to the weights."""
    weights = weights or [1] * comm.size
    ends = np.cumsum([0] + weights) * n // sum(weights)
    return int(ends[comm.rank]), int(ends[comm.rank + 1])


def whole(x):
    return np.concatenate(comm.allgather(x))


def unsymmetric(dtype="float64"):
    A = palmette.generate("convection_diffusion2d", 11).tocsr().astype(dtype)
    if A.dtype.kind == "c":
        A = (A + 0.5j * sparse.eye_array(A.shape[0])).tocsr().astype(dtype)
    return A


def fails(error, words, call):
    """All processes get the same result."""
    try:
        call()
        text = "nothing"
    except error as raised:
        text = str(raised)
    assert words in text, text
    assert len(set(comm.allgather(text))) == 1


def same_bits_for_any_split():
    A = unsymmetric()
    b = np.cos(np.arange(A.shape[0] * 2.0)).reshape(-1, 2)
    bits = set()
    for weights in [None, [0] * (comm.size - 1) + [1], list(range(1, comm.size + 1))]:
        first, end = own_rows(A.shape[0], weights)
        x = palmette.mpi.solve(A[first:end], b[first:end], comm, first)
        bits.add(hashlib.sha256(np.ascontiguousarray(whole(x)).tobytes()).hexdigest())
    assert len(bits) == 1
    x = whole(x)
    assert np.abs(b - A @ x).max() <= 1e-14 * (abs(A).sum(axis=1).max() * np.abs(x).max() + np.abs(b).max())
    if comm.rank == 0:
        print("bits", bits.pop())


def scalars_transposes_and_refactor():
    for dtype in ["float32", "float64", "complex64", "complex128"]:
        A = unsymmetric(dtype)
        n, eps = A.shape[0], np.finfo(dtype).eps
        first, end = own_rows(n)
        solver = palmette.mpi.RowSolver(A[first:end], comm)
        assert (
            solver.dtype == dtype
            and solver.kind == "lu"
            and solver.rows == range(first, end)
            and solver.shape == (n, n)
        )
        for trans, op in [("N", A), ("T", A.T), ("H", A.conj().T)]:
            b = op @ np.ones(n, dtype=dtype)
            x = solver.solve(b[first:end], trans=trans, condition=True)
            assert x.dtype == dtype and np.allclose(x, 1, atol=1e4 * eps, rtol=0)
            assert solver.report["verify"]["verified"] and solver.report["ranks"]["num_ranks"] == comm.size
        solver.refactor(A[first:end] * 2)
        assert np.allclose(solver.solve(b[first:end], trans="H"), 0.5, atol=1e4 * eps, rtol=0)
        sign, logarithm = solver.slogdet()
        expected = palmette.slogdet(A * 2)
        assert np.isclose(sign, expected.sign, atol=1e-3) and np.isclose(
            logarithm, expected.logabsdet, rtol=1e-4
        )
    A = palmette.generate("poisson2d5", 8).tocsr()
    first, end = own_rows(64)
    solver = palmette.mpi.RowSolver(
        A[first:end].toarray(), comm, transport="mpi_rma", map="block_cyclic", trees="flat", threads=2
    )
    assert solver.kind == "llt" and solver.inertia == (64, 0, 0)
    x = solver.solve(np.full(end - first, 1j))  # a complex right-hand side of a real matrix
    assert np.allclose(A[first:end] @ whole(x), 1j)
    # Only one process has a complex right-hand side.
    x = solver.solve(np.full(end - first, 1j if comm.rank == 0 else 1.0))
    assert x.dtype == "complex128"


def grids_and_layers():
    A = palmette.generate("poisson2d5", 20).tocsr()
    first, end = own_rows(400)
    for grid in [(1, comm.size), (comm.size, 1), (1, 1, comm.size)]:
        solver = palmette.mpi.RowSolver(A[first:end], comm, grid=grid)
        assert np.allclose(solver.solve((A @ np.ones(400))[first:end]), 1)
        told = solver.report["ranks"]
        assert (told["grid_rows"], told["grid_cols"], told["layers"]) == (*grid, 1)[:3]
    fails(
        palmette.UsageError, "does not fit", lambda: palmette.mpi.RowSolver(A[first:end], comm, grid=(5, 7))
    )
    fails(
        palmette.UsageError, "rows and columns", lambda: palmette.mpi.RowSolver(A[first:end], comm, grid=(1,))
    )


def each_process_can_have_a_device():
    A = palmette.generate("convection_diffusion2d", 20).tocsr()  # large enough for messages
    first, end = own_rows(A.shape[0])
    b = (A @ np.ones(A.shape[0]))[first:end]
    bits = set()
    for memory, grid in [("native", (comm.size, 1)), ("reference", (1, comm.size))]:
        solver = palmette.mpi.RowSolver(A[first:end], comm, device="emulated", memory=memory, grid=grid)
        x = solver.solve(b)
        assert np.allclose(x, 1)
        told = solver.report["ranks"]["devices"]
        assert told["kind"] == "emulated" and told["memory"] == memory and told["launches"] > 0
        assert (told["messages"] > 0) == (comm.size > 1)
        assert (told["copies_in"] > 0) == (memory == "reference" and comm.size > 1)
        bits.add(whole(x).tobytes())
    assert len(bits) == 1
    assert "devices" not in palmette.mpi.RowSolver(A[first:end], comm).report["ranks"]
    fails(
        palmette.UsageError,
        "memory kind 'far'",
        lambda: palmette.mpi.RowSolver(A[first:end], comm, device="emulated", memory="far"),
    )
    fails(
        palmette.UsageError, "abacus", lambda: palmette.mpi.RowSolver(A[first:end], comm, device="abacus")
    )


def triangles_and_factors_need_a_network_of_devices():
    """Emulated devices have one in a single process; GPUs in a build with NVSHMEM."""
    T = palmette.generate("random_triangular", 30)
    A = palmette.generate("convection_diffusion2d", 5)
    lu = scipy.sparse.linalg.splu(A.tocsc())
    made = [
        (lambda: palmette.mpi.TriangularSolver(T, comm, device="emulated", tasks_per_gpu=2), T),
        (lambda: palmette.mpi.from_factors(lu, comm, A=A, device="emulated"), A),
        (lambda: palmette.mpi.from_factors(comm=comm, L=T, device="emulated"), T @ T.T),
    ]
    for make, product in made:
        if comm.size > 1:
            fails(palmette.Error, "emulated devices of several processes have no network", make)
            continue
        solver = make()
        n = product.shape[0]
        assert solver.shape == (n, n) and solver.dtype == "float64"
        for trans, op in [("N", product), ("T", product.T)]:
            x = solver.solve(op @ np.ones((n, 2)), trans=trans)
            assert np.allclose(x, 1) and solver.report["verify"]["verified"]
            assert solver.report["solve"]["method"] == "devices_pushed"
        assert np.allclose(solver.solve(product @ np.full(n, 1j)), 1j)
    fails(palmette.UsageError, "needs a device on each", lambda: palmette.mpi.TriangularSolver(T, comm))
    fails(
        palmette.UsageError,
        "tasks_per_gpu is 0",
        lambda: palmette.mpi.TriangularSolver(T, comm, device="emulated", tasks_per_gpu=0),
    )
    fails(palmette.DimensionError, "square", lambda: palmette.mpi.TriangularSolver(T[:4], comm))
    fails(palmette.UsageError, "no factor was given", lambda: palmette.mpi.from_factors(comm=comm))
    if comm.size > 1:
        fails(
            palmette.UsageError,
            "different scalars",
            lambda: palmette.mpi.TriangularSolver(T * (1j if comm.rank == 0 else 1), comm, device="emulated"),
        )


def matching_can_be_left_out():
    A = unsymmetric()
    first, end = own_rows(A.shape[0])
    solver = palmette.mpi.RowSolver(A[first:end], comm, matching=False)
    assert not solver.report["order"]["matched"]
    assert np.allclose(solver.solve((A @ np.ones(A.shape[0]))[first:end]), 1)


def changes_of_low_rank_use_the_distributed_factor():
    for dtype in ["float32", "float64", "complex64", "complex128"]:
        A = unsymmetric(dtype)
        n, eps = A.shape[0], np.finfo(dtype).eps
        first, end = own_rows(n)
        U = np.cos(np.arange(3 * n)).reshape(n, 3).astype(dtype)
        V = np.sin(np.arange(3 * n)).reshape(n, 3).astype(dtype)
        changed = A.toarray() + U @ V.T
        solver = palmette.mpi.RowSolver(A[first:end], comm)
        updated = solver.update(U[first:end], V[first:end])
        del solver
        for trans, op in [("N", changed), ("T", changed.T), ("H", changed.conj().T)]:
            b = np.ones((n, 2), dtype=dtype)
            x = whole(updated.solve(b[first:end], trans=trans))
            size = abs(op).sum(axis=1).max() * abs(x).max() + 1
            assert x.dtype == dtype and abs(b - op @ x).max() <= 100 * eps * size
            assert updated.report["verified"] and updated.report["rank"] == 3
    real = palmette.mpi.RowSolver(unsymmetric()[first:end], comm)
    ones = np.ones(end - first)
    assert real.update(ones).solve(ones * 1j).dtype == "complex128"
    fails(palmette.DimensionError, "U has shape", lambda: real.update(ones[:-1] if comm.rank == 0 else ones))
    fails(palmette.UsageError, "complex", lambda: real.update(ones * 1j))
    fails(palmette.UsageError, "finite", lambda: real.update(ones * np.inf))
    rows = np.eye(comm.size)[comm.rank:comm.rank + 1]
    lost = np.ones(1) if comm.rank == 0 else np.zeros(1)
    unit = palmette.mpi.RowSolver(rows, comm)
    fails(palmette.SingularError, "capacitance matrix of order 1", lambda: unit.update(lost, -lost))
    assert repr(real.update(ones)).startswith("<palmette.mpi.UpdatedRowSolver of a 121 x 121 matrix")


def single_entries_are_those_of_whole_solutions():
    for dtype in ["float32", "float64", "complex64", "complex128"]:
        A = unsymmetric(dtype)
        n = A.shape[0]
        first, end = own_rows(n)
        solver = palmette.mpi.RowSolver(A[first:end], comm)
        b = sparse.random_array((n, 3), density=2 / n, rng=np.random.default_rng(1)).tocsr().astype(dtype)
        wanted = [5, -1, first if first < n else 0, 5]
        for trans in "NTH":
            x = solver.solve_sparse(b[first:end], wanted, trans=trans)
            report = solver.sparse_report
            assert report["verified"] and not report["solved_whole"] and x.dtype == np.dtype(dtype)
            assert report["messages"] <= report["whole_messages"] and report["bytes"] <= report["whole_bytes"]
            everything = whole(solver.solve(b[first:end].toarray(), trans=trans))
            assert np.abs(x - everything[wanted]).max() < 100 * np.sqrt(n) * np.finfo(dtype).eps
            own = solver.solve_sparse(b[first:end], trans=trans)
            assert own.shape == (end - first, 3) and np.abs(own - everything[first:end]).max(initial=0) < 1e-4
    A = unsymmetric()
    solver = palmette.mpi.RowSolver(A[first:end], comm)
    load = np.zeros(n, complex)
    load[7] = 1 + 2j
    x = solver.solve_sparse(load[first:end], [3])  # a complex b of a real matrix is split
    assert x.shape == (1,) and np.allclose(x, whole(solver.solve(load[first:end]))[3])
    last = comm.rank == comm.size - 1
    fails(palmette.DimensionError, "b has shape",
          lambda: solver.solve_sparse(load[first:end][:-1] if last else load[first:end]))
    fails(palmette.UsageError, "outside", lambda: solver.solve_sparse(load[first:end], [n if last else 0]))
    fails(palmette.UsageError, "trans", lambda: solver.solve_sparse(load[first:end], trans="C"))
    if last:
        load[-1] = np.nan
    fails(palmette.UsageError, "finite", lambda: solver.solve_sparse(load[first:end]))


def entries_of_the_inverse_are_those_of_one_machine():
    A = unsymmetric()
    n = A.shape[0]
    first, end = own_rows(n)
    solver = palmette.mpi.RowSolver(A[first:end], comm)
    inverse = np.linalg.inv(A.toarray())
    rows, columns = [0, -1, comm.rank], [n - 1, 5, 7]
    found = solver.inverse_entries(rows, columns)
    assert np.allclose(found, inverse[rows, columns]) and solver.inverse_report["verified"]
    assert solver.inverse_report["solved_columns"] == 3 and solver.inverse_report["checked_columns"] == 3
    assert np.allclose(solver.inverse_diagonal(), np.diag(inverse)[first:end])
    assert solver.inverse_entries([], [], check=0).shape == (0,)
    own = solver.selected_inverse()
    assert own.shape == (n, n) and solver.inverse_report["verified"] and solver.inverse_report["flops"] > 0
    assert (solver.inverse_report["messages"] > 0) == (comm.size > 1)
    pattern = sum(comm.allgather((own != 0).astype(int)))
    assert pattern.max() == 1 and not (A.astype(bool).astype(int) > pattern).nnz
    assert np.allclose(sum(comm.allgather(own)).toarray(), np.where(pattern.toarray(), inverse, 0))
    if comm.size > 1:
        fails(palmette.UsageError, "request", lambda: solver.selected_inverse(check=comm.rank))
    last = comm.rank == comm.size - 1
    fails(palmette.DimensionError, "columns", lambda: solver.inverse_entries([0, 1] if last else [0], [0]))
    fails(palmette.UsageError, "outside", lambda: solver.inverse_entries([n if last else 0], [0]))


def in_shared_folder(work):
    """work(folder), the same on all processes."""
    folder = comm.bcast(tempfile.mkdtemp() if comm.rank == 0 else None)
    work(folder)
    comm.Barrier()
    if comm.rank == 0:
        shutil.rmtree(folder)


def sets_of_files_give_the_same_bits_and_are_refused_together():
    def work(folder):
        path = os.path.join(folder, "A.factors")
        for dtype in ["float32", "float64", "complex64", "complex128"]:
            A = unsymmetric(dtype)
            first, end = own_rows(A.shape[0])
            solver = palmette.mpi.RowSolver(A[first:end], comm)
            b = np.cos(np.arange(first, end))
            x = solver.solve(b)
            solver.save(path)
            for map in [True, False]:
                again = palmette.mpi.load(path, comm, map=map)
                assert again.dtype == dtype and again.kind == "lu" and again.shape == A.shape
                assert again.rows == solver.rows and solver.slogdet() == again.slogdet()
                assert again.solve(b).tobytes() == x.tobytes()
                again.refactor(A[first:end] * 2)
                assert np.allclose(2 * again.solve(b), x, rtol=1e-3)
        own = f"{path}.rank{comm.rank}"
        comm.Barrier()
        if comm.rank == comm.size - 1:
            with open(own, "r+b") as file:
                file.truncate(os.path.getsize(own) - 1)
        comm.Barrier()
        fails(palmette.IoError, f"rank{comm.size - 1}: has", lambda: palmette.mpi.load(path, comm))
        alone = os.path.join(folder, f"alone{comm.rank}")
        palmette.mpi.RowSolver(np.eye(3), MPI.COMM_SELF).save(alone)
        if comm.size > 1:
            one = comm.bcast(alone)
            fails(palmette.IoError, "was saved by 1 rank, but", lambda: palmette.mpi.load(one, comm))
        fails(palmette.UsageError, "os.PathLike", lambda: solver.save(7))
        fails(palmette.IoError, "cannot be written", lambda: solver.save(os.path.join(folder, "absent", "x")))

    in_shared_folder(work)


def wrong_input_is_refused_by_all():
    A = palmette.generate("poisson2d5", 5).tocsr()
    first, end = own_rows(25)
    last = comm.rank == comm.size - 1
    rows = A[first:end]
    fails(
        palmette.UsageError,
        "no rank has row 24",
        lambda: palmette.mpi.RowSolver(rows[:-1] if last else rows, comm),
    )
    fails(
        palmette.DimensionError,
        "two dimensions",
        lambda: palmette.mpi.RowSolver(np.zeros(3) if last else rows, comm),
    )
    fails(palmette.UsageError, "telegraph", lambda: palmette.mpi.RowSolver(rows, comm, transport="telegraph"))
    fails(palmette.UsageError, "communicator of mpi4py", lambda: palmette.mpi.RowSolver(rows, 7))
    spoilt = rows.copy()
    if last:
        spoilt.data[-1] = np.nan
    fails(palmette.UsageError, "row 25, column 25", lambda: palmette.mpi.RowSolver(spoilt, comm))
    singular = rows.copy()
    if last:
        singular.data[singular.indptr[-2]:] = 0
    fails(palmette.SingularError, "singular", lambda: palmette.mpi.RowSolver(singular, comm, kind="lu"))
    solver = palmette.mpi.RowSolver(rows, comm)
    b = np.ones(end - first)
    fails(palmette.DimensionError, "b has shape", lambda: solver.solve(b[:-1] if last else b))
    if last:
        b[-1] = np.inf
    fails(palmette.UsageError, "finite", lambda: solver.solve(b))
    fails(
        palmette.UsageError,
        "pattern",
        lambda: solver.refactor(sparse.csr_array(rows.shape) if last else rows),
    )
    fails(TypeError, "pickled", lambda: solver.__reduce_ex__(2))
    assert np.allclose(A[first:end] @ whole(solver.solve(np.ones(end - first))), 1)
    assert (
        repr(solver) == f"<palmette.mpi.RowSolver of a 25 x 25 matrix over {comm.size} ranks, float64, llt>"
    )


def what_cannot_be_verified_is_warned_of_on_all():
    # Without matching and refinement, pivots of a diagonal that is nearly zero are replaced.
    A = palmette.generate("convection_diffusion2d", 10).tolil()
    A.setdiag(1e-13)
    A = A.tocsr()
    first, end = own_rows(100)
    solver = palmette.mpi.RowSolver(A[first:end], comm, matching=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solver.solve(np.ones(end - first), refine="off")
    assert not solver.report["verify"]["verified"]
    assert [warning.category for warning in caught] == [palmette.UnverifiedWarning] and "NOT VERIFIED" in str(
        caught[0].message
    )
    assert caught[0].filename == __file__


def complements_are_those_of_one_process():
    for dtype in ["float32", "float64", "complex64", "complex128"]:
        A = unsymmetric(dtype)
        n, tolerance = A.shape[0], 100 * np.finfo(dtype).eps
        first, end = own_rows(n)
        boundary = [5, 120, 0, 60, 61, -3]
        alone = palmette.SchurComplement(A, boundary).S
        b = np.cos(np.arange(2 * n)).reshape(n, 2).astype(dtype)
        for S in [comm.size - 1, palmette.mpi.BlockCyclic(block=2)]:
            schur = palmette.mpi.RowSchurComplement(A[first:end], boundary, comm, S=S)
            assert schur.report["verified"] and schur.dtype == dtype
            parts = comm.allgather((schur.places, schur.S))
            together = np.zeros_like(alone)
            for (rows, columns), part in parts:
                together[np.ix_(rows, columns)] = part
            assert together.tobytes() == np.ascontiguousarray(alone).tobytes()
            ends = np.linalg.solve(alone, schur.condense(b[first:end]))
            x = whole(schur.expand(b[first:end], ends))
            assert abs(A @ x - b).max() <= tolerance * abs(A).sum(axis=1).max() * abs(x).max()
            assert schur.solve_report["verified"]
            assert not whole(schur.solve_interior(b[first:end]))[boundary].any()
    real = palmette.mpi.RowSchurComplement(unsymmetric()[first:end], boundary, comm)
    alone = palmette.SchurComplement(unsymmetric(), boundary).S
    ends = np.linalg.solve(alone, real.condense(b[first:end] * 1j))
    x = whole(real.expand(b[first:end] * 1j, ends))
    assert abs(unsymmetric() @ x - b * 1j).max() < 1e-12
    fails(palmette.DimensionError, "x_boundary has shape", lambda: real.expand(b[first:end], ends[1:]))
    last = comm.size - 1
    wrong = np.where(np.full(ends.shape, comm.rank == last), np.nan, ends.imag)
    fails(palmette.UsageError, "x_boundary", lambda: real.expand(b[first:end], wrong))
    rows = unsymmetric()[first:end]
    fails(
        palmette.UsageError,
        "leave `singular` out",
        lambda: palmette.mpi.RowSchurComplement(rows, [1], comm, singular="warn"),
    )
    fails(palmette.UsageError, "given twice", lambda: palmette.mpi.RowSchurComplement(rows, [1, 1], comm))
    fails(
        palmette.UsageError,
        "outside the 121",
        lambda: palmette.mpi.RowSchurComplement(rows, [121], comm),
    )
    far = comm.size
    fails(
        palmette.UsageError,
        f"on rank {far}",
        lambda: palmette.mpi.RowSchurComplement(rows, [1], comm, S=far),
    )
    assert repr(real).startswith("<palmette.mpi.RowSchurComplement on 6 unknowns of a 121 x 121 matrix")


def singular_matrices_are_answered_on_request():
    n = 60
    path = sparse.diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1]).tolil()
    path[0, 0] = path[n - 1, n - 1] = 1
    path = path.tocsr()
    first, end = own_rows(n)
    b = np.cos(np.arange(n))
    fails(palmette.SingularError, "singular", lambda: palmette.mpi.solve(path[first:end], b[first:end], comm))
    solver = palmette.mpi.RowSolver(path[first:end], comm, kind="ldlt", singular="least_norm")
    basis = whole(solver.null_space())
    assert basis.shape == (n, 1) and np.allclose(abs(basis), n**-0.5)
    assert solver.null_space().flags.owndata
    inertia = solver.inertia
    assert inertia.positive >= n - 1 and inertia.negative == 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = whole(solver.solve(b[first:end]))
    assert [warning.category for warning in caught] == [palmette.SingularWarning]
    assert np.allclose(x, np.linalg.pinv(path.toarray()) @ b)
    fails(
        palmette.UsageError,
        "'maybe'",
        lambda: palmette.mpi.RowSolver(path[first:end], comm, singular="maybe"),
    )


def examples_of_docstrings_run():
    assert doctest.testmod(palmette.mpi).failed == 0
    assert doctest.testmod(palmette._rank_entries).failed == 0
    assert doctest.testmod(sys.modules["palmette._rank_schur"]).failed == 0
    assert doctest.testmod(sys.modules["palmette._rank_triangular"]).failed == 0


try:
    for test in [
        examples_of_docstrings_run,
        same_bits_for_any_split,
        scalars_transposes_and_refactor,
        grids_and_layers,
        each_process_can_have_a_device,
        triangles_and_factors_need_a_network_of_devices,
        matching_can_be_left_out,
        changes_of_low_rank_use_the_distributed_factor,
        single_entries_are_those_of_whole_solutions,
        entries_of_the_inverse_are_those_of_one_machine,
        complements_are_those_of_one_process,
        singular_matrices_are_answered_on_request,
        sets_of_files_give_the_same_bits_and_are_refused_together,
        wrong_input_is_refused_by_all,
        what_cannot_be_verified_is_warned_of_on_all,
    ]:
        test()
    if comm.rank == 0:
        print("all passed")
except BaseException:
    traceback.print_exc()
    sys.stderr.flush()
    comm.Abort(1)
sys.exit(0)
