"""The comparison: matrices in groups, rivals with the ways to run them, and the sources of their programs."""

import importlib.util
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CORE = ["s2D9pt1024", "p3d7_50", "elas20", "thermal100k", "cd2d512"]
MORE = ["s2D9pt512", "p3d7_30", "p3d27_40", "thermal500k", "cd3d40", "circuit100k", "kkt20"]
BIG = ["s2D9pt2048", "p3d7_80", "elas40"]
# ILU(0) of a grid's stencil has the pattern of its lower triangle: shape and half of the stencil.
INCOMPLETE = {
    "tri_ilu2d5_1000": ((1000, 1000), [(0, 1), (1, 0)]),
    "tri_ilu3d7_80": ((80, 80, 80), [(0, 0, 1), (0, 1, 0), (1, 0, 0)]),
    "tri_ilu3d27_50": (
        (50, 50, 50),
        [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if (i, j, k) > (0, 0, 0)],
    ),
}
TRIANGLES = [
    "tri_delaunay18",
    "tri_delaunay20m",
    "tri_rmat18",
    "tri_bidiag1m",
    "tri_dense1200",
    "tri_road1m",
    *INCOMPLETE,
    "thermal100k.L",
    "elas20.L",
]
SHORT = ["s2D9pt512", "thermal100k", "p3d7_30", "elas20", "cd3d40", "kkt20"]
# small to medium: what a process typically solves first
COLD = ["s2D9pt512", "s2D9pt1024", "thermal100k", "p3d7_30", "elas20", "cd3d40", "kkt20"]
SHORT_TRIANGLES = ["tri_delaunay18", "tri_road1m", "tri_ilu3d27_50"]

TITLES = {
    "s2D9pt512": "2D 9-point 512²",
    "s2D9pt1024": "2D 9-point 1024²",
    "s2D9pt2048": "2D 9-point 2048²",
    "thermal100k": "2D irregular 10⁵",
    "thermal500k": "2D irregular 5·10⁵",
    "cd2d512": "2D convection 512²",
    "p3d7_30": "3D 7-point 30³",
    "p3d7_50": "3D 7-point 50³",
    "p3d7_80": "3D 7-point 80³",
    "p3d27_40": "3D 27-point 40³",
    "elas20": "3D elasticity 20³",
    "elas40": "3D elasticity 40³",
    "cd3d40": "3D convection 40³",
    "kkt20": "3D KKT 20³",
    "circuit100k": "circuit 10⁵",
}
TWO_DIMENSIONS = ("s2D", "thermal", "cd2d")
THREE_DIMENSIONS = ("p3d", "elas", "cd3d", "kkt")


@dataclass
class Rival:
    title: str
    program: str  # in bin/ of the scratch folder; empty for one that is a Python package
    kinds: str  # of matrices: spd, sym, gen, tri
    shapes: tuple  # (threads, ranks)
    own_ordering: bool = False  # not METIS: left out if orderings must be the same


ONE, TWO = ((1, 1),), ((1, 1), (2, 1))
RIVALS = {
    "cholmod_metis": Rival("CHOLMOD", "cholmod", "spd", TWO),
    "cholmod_amd": Rival("CHOLMOD AMD", "cholmod", "spd", TWO, own_ordering=True),
    "pardiso": Rival("PARDISO", "pardiso", "spd gen sym", TWO),
    "mumps_seq_metis": Rival("MUMPS", "mumps_seq", "spd gen sym", TWO),
    "mumps_metis": Rival("MUMPS, 2 ranks", "mumps", "spd gen sym", ((1, 2),)),
    "superlu_metis": Rival("SuperLU", "superlu", "spd gen sym", ONE),
    "superlu_dist_metis": Rival("SuperLU_DIST", "superlu_dist", "spd gen sym", ((1, 1), (1, 2))),
    "umfpack": Rival("UMFPACK", "umfpack", "gen sym", TWO, own_ordering=True),
    "klu": Rival("KLU", "klu", "gen", ONE, own_ordering=True),
    "eigen_llt": Rival("Eigen", "eigen", "spd", ONE, own_ordering=True),
    "eigen_lu": Rival("Eigen LU", "eigen", "gen sym", ONE, own_ordering=True),
    "scipy_splu": Rival("SciPy splu", "", "gen sym", ONE, own_ordering=True),
    "tri_csr": Rival("serial CSR", "tri", "tri", ONE),
    "tri_mkl": Rival("MKL", "tri", "tri", TWO),
    "tri_eigen": Rival("Eigen", "tri", "tri", ONE),
}
SPMP = Rival("SpMP", "", "tri", TWO)
# Matrices (by prefix) on which a rival is so far behind the best that its rows only cost time; they run only
# with --long.
LARGE_SPD = ("s2D9pt1024", "s2D9pt2048", "p3d7_50", "p3d7_80", "p3d27", "elas", "thermal500k")
SLOW_FOR = {
    "superlu_metis": LARGE_SPD,
    "superlu_dist_metis": LARGE_SPD,
    "mumps_metis": LARGE_SPD,
    "eigen_llt": LARGE_SPD,
    "eigen_lu": ("cd3d", "kkt"),
    "scipy_splu": ("cd3d", "kkt"),
    "klu": ("cd3d",),
    "tri_eigen": ("tri_", "elas", "thermal"),
}
OURS = {
    "palmette": "Palmette",
    "palmette_metis": "Palmette, METIS",
    "palmette_counts": "Palmette, 1 to 64 sides",
    "palmette_tri": "Palmette",
}
KIND_OF_PREFIX = {
    "s2D": "spd",
    "p3d": "spd",
    "elas": "spd",
    "thermal": "spd",
    "cd": "gen",
    "circuit": "gen",
    "kkt": "sym",
}


def kind_of(matrix):
    if matrix.startswith("tri_") or matrix.endswith(".L"):
        return "tri"
    return next(kind for prefix, kind in KIND_OF_PREFIX.items() if matrix.startswith(prefix))


def title_of(solver):
    return OURS.get(solver) or (SPMP.title if solver == "spmp" else RIVALS[solver].title)


def copy_drivers(peers, scratch):
    if not (peers / "run.py").is_file():
        sys.exit(
            f"{peers}/run.py does not exist: --peers names the folder of the rivals' drivers (README there)"
        )
    scratch.mkdir(parents=True, exist_ok=True)
    for part in ("Makefile", "run.py", "gen.py", "py_peers.py", "drivers"):
        source, target = peers / part, scratch / part
        if source.is_dir():
            shutil.copytree(source, target, dirs_exist_ok=True)
        else:
            shutil.copy2(source, target)


def prepare(peers, scratch, prefix):
    """Copies the rivals' drivers and builds those that this machine supports; {rival: "" or why it is
    missing}."""
    copy_drivers(peers, scratch)
    (scratch / "bin").mkdir(exist_ok=True)
    why = {
        program: build(program, scratch, prefix)
        for program in sorted({r.program for r in RIVALS.values()} - {""}) + ["limits"]
    }
    absent = {name: why.get(rival.program, "") for name, rival in RIVALS.items()}
    if not mkl_library():
        for name in ("pardiso", "tri_mkl"):
            absent[name] = f"libmkl_rt is not beside {sys.executable}: pip install mkl there"
    return absent


def make_incomplete(name, scratch, folder):
    """Writes a matrix that the rivals' generator does not know; does nothing if the file exists."""
    path = folder / f"{name}.csc"
    if name not in INCOMPLETE or path.exists():
        return
    specification = importlib.util.spec_from_file_location("gen", scratch / "gen.py")
    gen = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(gen)
    shape, stencil = INCOMPLETE[name]
    edges = gen._grid_edges(shape, stencil)
    first, second = (gen.np.concatenate([edge[end] for edge in edges]) for end in (0, 1))
    lower = gen._safe_lower(first, second, int(gen.np.prod(shape)), 77)
    lower.sort_indices()
    folder.mkdir(parents=True, exist_ok=True)
    gen.write_csc(path, lower, "tri")


def build(program, scratch, prefix):
    """Why the program is not available; empty if it is."""
    made = subprocess.run(
        [*prefix, "make", f"bin/{program}"], cwd=scratch, capture_output=True, text=True, check=False
    )
    if made.returncode == 0 and (scratch / "bin" / program).is_file():
        return ""
    errors = [
        line for line in made.stderr.splitlines() if "error" in line.lower()
    ] or made.stderr.splitlines()
    return errors[0].strip()[:160] if errors else "make failed"


def mkl_library():
    for root in (sys.prefix, sys.base_prefix):
        if (path := Path(root) / "lib" / "libmkl_rt.so.3").exists():
            return str(path)
    return ""
