"""docs/results/speed.md in four steps: the solvers and matrices (rivals), the runs (runs), the figures
(figures, report), pictures."""
