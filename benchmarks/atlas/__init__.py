"""Pareto sets under bounds and constraints: the atlas against populations, on named problems and
random families."""
