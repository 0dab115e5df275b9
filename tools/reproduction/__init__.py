"""Chapters of docs/results/reproduction.md, one module for each paper."""
