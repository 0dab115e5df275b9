"""palmette.mpi: under mpiexec if it, mpi4py and a build with MPI are available; otherwise only its error."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

PROGRAM = pathlib.Path(__file__).with_name("rank_program.py")


def launched(ranks):
    """The program's output under mpiexec; skips if it cannot run."""
    pytest.importorskip("mpi4py", exc_type=ImportError)
    mpiexec = shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("no mpiexec")
    told = subprocess.run([sys.executable, "-c", "import palmette.mpi"], capture_output=True, text=True)
    if "has no MPI" in told.stderr or "cannot load MPI library" in told.stderr:
        pytest.skip("Palmette was built without MPI")
    version = subprocess.run([mpiexec, "--version"], capture_output=True, text=True).stdout
    flags = (
        ["--oversubscribe", "--allow-run-as-root"] if "Open MPI" in version or "OpenRTE" in version else []
    )
    done = subprocess.run(
        [mpiexec, *flags, "-n", str(ranks), sys.executable, str(PROGRAM)],
        # Ranks that wait leave the processors to those that work, and to what else runs.
        env={**os.environ, "OMPI_MCA_mpi_yield_when_idle": "1"},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    assert "all passed" in done.stdout
    return done.stdout


def test_ranks_bring_rows_and_get_rows():
    bits = {re.search(r"bits (\w+)", launched(ranks))[1] for ranks in (1, 2, 3)}
    assert len(bits) == 1


def test_without_mpi4py_the_remedy_is_named():
    hide = (
        "import sys; sys.modules['mpi4py'] = None\ntry:\n    import palmette.mpi\nexcept ImportError as"
        " error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", hide], capture_output=True, text=True)
    assert "pip install" in done.stdout and "mpi4py" in done.stdout, done.stderr
    assert (
        subprocess.run(
            [sys.executable, "-c", "import sys; sys.modules['mpi4py'] = None; import palmette"]
        ).returncode
        == 0
    )
