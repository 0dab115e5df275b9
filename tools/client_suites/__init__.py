"""Test suites of other projects, run with SciPy's sparse direct solvers and with Palmette's: what
tools/clients.py is made of."""
