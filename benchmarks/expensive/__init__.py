"""Few evaluations: a surface through a surrogate against Bayesian optimization, evolution and plain
sampling."""
