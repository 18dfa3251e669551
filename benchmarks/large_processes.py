"""Two processes of `jax.distributed` on this machine, two devices each, against one: `python
benchmarks/large_processes.py`.

Nodes are split over processes, variables over the devices of each. Prints how far the surfaces are
from the exact set of two quadratics, over its diameter.
"""

import os
import socket
import subprocess
import sys
from pathlib import Path

L = 4000


def run(process: int | None, port: int) -> None:
    """One process of two, or the only one."""
    import jax
    import numpy as np
    from jax.sharding import Mesh

    if process is not None:
        jax.distributed.initialize(f"localhost:{port}", num_processes=2, process_id=process)
    from benchmarks.banded import banded

    import bezierflow as bf

    problem = banded(2, L)
    mesh = (
        None
        if process is None
        else Mesh(np.array(jax.devices()).reshape(2, 2), ("nodes", "variables"))
    )
    solution = bf.minimize(problem, np.zeros(L), bf.NormalFlow(hessian="free", mesh=mesh, tol=1e-4))
    t = np.linspace(0.05, 0.95, 7)
    x = np.asarray(solution.pareto_set(np.stack([t, 1 - t], axis=1)))
    diameter = np.linalg.norm(problem.centers[0] - problem.centers[1])
    error = (
        max(problem.distance(row, np.array([s, 1 - s])) for s, row in zip(t, x, strict=True))
        / diameter
    )
    name = (
        "one process"
        if process is None
        else f"process {process} of 2, {len(jax.devices())} devices"
    )
    print(
        f"{name}: degree {solution.degree}, error {error:.1e}, {solution.result.reason.value}",
        flush=True,
    )


def main() -> None:
    """Starts the processes and waits for them."""
    root = Path(__file__).parent.parent
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    paths = os.pathsep.join([str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {
        **os.environ,
        "PYTHONPATH": paths,
        "XLA_FLAGS": "--xla_force_host_platform_device_count=2",
    }
    command = [sys.executable, __file__]
    both = [
        subprocess.Popen([*command, str(process), str(port)], env=environment) for process in (0, 1)
    ]
    codes = [process.wait(timeout=900) for process in both]
    codes.append(subprocess.run([*command, "alone", "0"], env=environment, check=False).returncode)
    sys.exit(max(codes))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        run(None if sys.argv[1] == "alone" else int(sys.argv[1]), int(sys.argv[2]))
    else:
        main()
