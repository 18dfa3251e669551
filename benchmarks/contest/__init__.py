"""Every method on every problem, one table, one run: `bezierflow bench`."""
