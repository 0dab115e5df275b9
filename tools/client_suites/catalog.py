"""The suites that are run: packages with their versions, the source of their tests, and the parts that solve
sparse systems.

The parts were chosen by running each whole suite with counters on SciPy's solvers: files in which no test
called one are omitted.
"""

from dataclasses import dataclass, field

# Two environments: the newest pandapower on the package index that contains its tests needs an older SciPy
# than the others.
CURRENT = "current"
NUMPY_1 = "numpy1"
ENVIRONMENTS = {
    CURRENT: [
        "numpy==2.4.6",
        "scipy==1.17.1",
        "scikit-fem==11.0.0",
        "networkx==3.6.1",
        "pyamg==5.4.1",
        "sfepy==2026.3",
        "pytest==9.2.0",
        "pytest-timeout==2.4.0",
        "hypothesis==6.170.15",
    ],
    NUMPY_1: [
        "numpy==1.26.4",
        "scipy==1.13.1",
        "pandas==2.2.3",
        "networkx==3.6.1",
        "pandapower==2.14.11",
        "pytest==9.2.0",
        "pytest-timeout==2.4.0",
    ],
}


@dataclass(frozen=True, eq=False)
class Client:
    """One suite. `parts` are modules to give to pytest, or files of the source distribution where `source`
    names its tests' folder."""
    name: str
    parts: list
    environment: str = CURRENT
    source: str = ""
    left_out: dict = field(default_factory=dict)  # test: reason
    short: list = field(default_factory=list)  # the parts of a short run; empty for all

    @property
    def requirement(self):
        return next(text for text in ENVIRONMENTS[self.environment] if text.startswith(self.name + "=="))

    @property
    def version(self):
        return self.requirement.split("==")[1]

    def parts_of(self, short):
        return self.short if short and self.short else self.parts


_SCIPY_LINALG = [
    "scipy.sparse.linalg._dsolve",
    "scipy.sparse.linalg._eigen.arpack",
    "scipy.sparse.linalg._isolve",
    "scipy.sparse.linalg.tests.test_expm_multiply",
    "scipy.sparse.linalg.tests.test_matfuncs",
]
_SCIPY_USERS = [
    "scipy.integrate._ivp",
    "scipy.integrate.tests.test_bvp",
    "scipy.optimize._trustregion_constr",
    "scipy.optimize.tests.test_minimize_constrained",
    "scipy.optimize.tests.test_nonlin",
    "scipy.optimize.tests.test_linprog",
    "scipy.optimize.tests.test__remove_redundancy",
    "scipy.interpolate.tests.test_bsplines",
    "scipy.sparse.tests.test_array_api",
    "scipy.sparse.tests.test_base",
]

CLIENTS = [
    Client(
        "scipy",
        _SCIPY_LINALG + _SCIPY_USERS,
        short=_SCIPY_LINALG[:1],
        left_out={
            "scipy/sparse/linalg/_dsolve/tests/test_linsolve.py::TestSplu::test_lu_refcount": (
                "counts references to the object that stands in for the factorization while it is timed"
            )
        },
    ),
    Client(
        "scikit-fem",
        [
            "test_assembly.py",
            "test_convergence.py",
            "test_convergence_h2.py",
            "test_convergence_hdiv.py",
            "test_manufactured.py",
            "test_p_convergence.py",
            "test_utils.py",
            "test_visuals.py",
        ],
        source="tests",
        short=["test_manufactured.py", "test_utils.py"],
    ),
    Client(
        "networkx",
        ["networkx.linalg.tests.test_algebraic_connectivity"]
        + [
            f"networkx.algorithms.centrality.tests.test_current_flow_{name}"
            for name in ("betweenness_centrality", "betweenness_centrality_subset", "closeness")
        ],
    ),
    Client("pyamg", ["pyamg.aggregation", "pyamg.classical", "pyamg.gallery", "pyamg.tests"]),
    Client(
        "pandapower",
        [f"pandapower.test.{name}" for name in ("loadflow", "estimation", "opf", "shortcircuit")],
        NUMPY_1,
        short=["pandapower.test.estimation"],
    ),
    Client(
        "sfepy",
        [
            f"sfepy.tests.test_{name}"
            for name in (
                "declarative_examples",
                "ed_solvers",
                "elasticity_small_strain",
                "functions",
                "high_level",
                "homogenization_perfusion",
                "hyperelastic_tlul",
                "laplace_unit_disk",
                "laplace_unit_square",
                "lcbcs",
                "linear_solvers",
                "msm_laplace",
                "msm_symbolic",
                "projections",
                "refine_hanging",
                "semismooth_newton",
            )
        ],
        short=[
            "sfepy.tests.test_lcbcs",
            "sfepy.tests.test_linear_solvers",
            "sfepy.tests.test_refine_hanging",
        ],
    ),
]
