"""docs/results/speed.md in four steps: what is compared (rivals), the runs (runs), the figures (figures,
report), pictures."""
