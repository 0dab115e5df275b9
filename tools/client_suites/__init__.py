"""Test suites of other projects, run with SciPy's sparse direct solvers and with Palmette's: the parts of
tools/clients.py."""
