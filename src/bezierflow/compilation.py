"""How programs are compiled, where JAX's own choice is not safe."""

NO_NESTED_THREADS = {"xla_cpu_multi_thread_eigen": False}
"""Compiler options for programs with batched factorizations (`eigh`, `qr`, `solve` under `vmap`).

On a CPU such a kernel splits its batch over a pool of threads and waits for it, from a thread of the same pool. Two of them at
once, on a machine with two cores, can wait for each other for good. With this option each runs in the thread that calls it;
the batches of this library are too small to lose by it.
"""
