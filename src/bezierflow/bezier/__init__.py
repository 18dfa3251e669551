"""The model: the Bernstein basis, the Bézier simplex and its calculus, fitting, and files."""
