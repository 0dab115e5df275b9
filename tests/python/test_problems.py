"""Files, generators, and the lists of what is available."""

import gzip
import os
import pathlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

import palmette
from conftest import random_unsymmetric, spd

DATA = pathlib.Path(__file__).parents[2] / "data"


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
@pytest.mark.parametrize(
    "A",
    [
        random_unsymmetric(30),
        spd(5),
        spd(4, "complex128"),
        random_unsymmetric(20, dtype="complex128"),
        sparse.csc_array((4, 4)),
        sparse.csc_array(np.ones((2, 3))),
    ],
    ids=str,
)
def test_what_is_written_is_read_back_bit_for_bit(tmp_path, A, name):
    path = tmp_path / name
    palmette.write(path, A, comment="made by a test")
    B = palmette.read(path)
    assert isinstance(B, sparse.csc_array) and B.has_sorted_indices
    assert B.shape == A.shape and (B != A).nnz == 0 and B.nnz == A.nnz
    text = gzip.open(path, "rt").read() if name.endswith("gz") else path.read_text()
    assert "made by a test" in text


def test_files_are_read_as_scipy_reads_them(tmp_path):
    for A in (random_unsymmetric(30), spd(5), spd(4, "complex128")):
        scipy.io.mmwrite(str(tmp_path / "a.mtx"), A)
        assert (
            palmette.read(str(tmp_path / "a.mtx"))
            != sparse.csc_array(scipy.io.mmread(str(tmp_path / "a.mtx")))
        ).nnz == 0


def test_malformed_files_name_file_and_line(tmp_path):
    path = tmp_path / "bad.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.0\n3 1 1.0\n")
    with pytest.raises(palmette.IoError) as caught:
        palmette.read(path)
    assert caught.value.line == 4 and caught.value.file == str(path) and "bad.mtx:4" in str(caught.value)
    with pytest.raises(OSError) as caught:
        palmette.read(tmp_path / "absent.mtx")
    assert caught.value.line is None
    with pytest.raises(palmette.IoError):
        palmette.write(tmp_path / "no" / "folder.mtx", np.eye(2))
    with pytest.raises(palmette.UsageError, match=r"A\[1, 1\] is nan"):
        palmette.write(path, [[1.0, 0.0], [0.0, np.nan]])


@pytest.mark.parametrize("generator", palmette.generators(), ids=lambda entry: entry.name)
def test_every_generator_makes_a_matrix_that_seeds_reproduce(generator):
    n = 8 if "3d" in generator.name else 20
    A, B = palmette.generate(generator.name, n), palmette.generate(generator.name, n, seed=1)
    assert isinstance(A, sparse.csc_array) and A.shape[0] == A.shape[1] > 0 and A.dtype == np.float64
    assert (A != B).nnz == 0
    assert generator.summary and generator.n_meaning
    if generator.parameter_meaning:
        C = palmette.generate(generator.name, n, parameter=generator.default_parameter)
        assert (A != C).nnz == 0


def test_unknown_generators_and_sizes_are_refused():
    with pytest.raises(palmette.UsageError, match="poisson2d5"):
        palmette.generate("poisson2d", 5)
    with pytest.raises(palmette.UsageError):
        palmette.generate("poisson2d5", -1)
    with pytest.raises(palmette.UsageError):
        palmette.generate("poisson3d7", 2_000_000)


def test_the_lists_name_what_there_is():
    names = [method.name for method in palmette.methods()]
    assert names[0] == "serial" and len(set(names)) == len(names) >= 4
    assert not palmette.methods()[0].threaded and all(method.summary for method in palmette.methods(None))
    everywhere = {(method.name, method.where) for method in palmette.methods(None) if method.available}
    assert {(name, "one machine") for name in names} < everywhere
    assert ("one_sync_3d", "several layers of ranks") in everywhere
    assert not any(method.reason for method in palmette.methods(None) if method.available)
    with pytest.raises(palmette.UsageError, match="'nowhere'.*'ranks in one layer'"):
        palmette.methods("nowhere")
    with pytest.raises(palmette.UsageError, match="message_driven is for ranks"):
        palmette.Solver(palmette.generate("poisson2d5", 4), method="message_driven")
    assert {"amd", "natural"} <= {entry.name for entry in palmette.orderings() if entry.available}


def test_every_public_name_has_a_docstring_and_is_there():
    import palmette.plots
    import palmette.scipy
    import palmette.transfers
    for module in (palmette, palmette.scipy, palmette.plots, palmette.transfers):
        for name in module.__all__:
            named = getattr(module, name)
            # SciPy 1.13 gives its warning none
            assert named.__doc__ or named.__module__.startswith("scipy."), name
    assert os.path.exists(os.path.join(os.path.dirname(palmette.__file__), "py.typed"))
