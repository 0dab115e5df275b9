"""Programs that call PARDISO, run on Palmette's libraries: for tools/results_pardiso.py and the tests."""
