"""How long a person waits for the first answer: `python -m benchmarks.first_answer`.

Each example runs in a fresh process, the interpreter's start and all imports included: without
compiled programs at hand (cold), and once more with those that the first run left in its cache
folder. Bytecode of Python exists before, as after any first import of an installed package. CPU
seconds are those of the whole process, user and system, with all of its threads: the median of the
runs. Programs are what XLA compiled, and what came from the folder.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import numpy as np

ROOT = Path(__file__).parent.parent

PAIR = """
import numpy as np
import bezierflow as bf

def objectives(x):
    return [x[0] ** 2 + x[1] ** 2, (x[0] - 1) ** 2 + (x[1] - 2) ** 2]

solution = bf.minimize(objectives, [0.2, 0.2], bounds=([0, 0], [1, 1]))
"""

IMPORT = "import bezierflow as bf; bf.minimize"

REPORT = """
import jax.monitoring as _monitoring
_seen = []
_monitoring.register_event_duration_secs_listener(lambda name, *_, **__: _seen.append(name))
"""

SUM = """
import json as _json, resource as _resource, sys as _sys
_used = _resource.getrusage(_resource.RUSAGE_SELF)
_found = sum("cache_retrieval" in name for name in _seen)
_made = sum("backend_compile" in name for name in _seen) - _found
print(_json.dumps([_used.ru_utime + _used.ru_stime, _made, _found]), file=_sys.stderr)
"""


def readme_example() -> str:
    """The README's first example, up to its answer."""
    block = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert block is not None
    return re.split(r"(?m)^(?=solution\.)", block[1])[0]


def run(code: str, cache: str, bytecode: str) -> tuple[float, int, int]:
    """CPU seconds, programs compiled and programs found of one process."""
    environment = {**os.environ, "BEZIERFLOW_CACHE": cache, "PYTHONPYCACHEPREFIX": bytecode}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, "-c", f"{REPORT}{code}{SUM}"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return tuple(json.loads(done.stderr.splitlines()[-1]))


@click.command()
@click.option("--runs", default=3, show_default=True, help="Processes per figure.")
def main(runs: int) -> None:
    """Prints a table."""
    examples = {
        "import alone": IMPORT,
        "README's example": readme_example(),
        "bounded NumPy pair": PAIR,
    }
    print(f"{'':20} {'cold':>8} {'cached':>8}   programs compiled, cold (cached)")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, code) in enumerate(examples.items()):
            bytecode = f"{folder}/bytecode"
            run(code, "off", bytecode)
            cold = [run(code, f"{folder}/{number}-{k}", bytecode) for k in range(runs)]
            cached = [run(code, f"{folder}/{number}-{k}", bytecode) for k in range(runs)]
            seconds = [float(np.median([one[0] for one in some])) for some in (cold, cached)]
            print(
                f"{name:20} {seconds[0]:6.2f} s {seconds[1]:6.2f} s   {cold[0][1]} ({cached[0][1]})",
                flush=True,
            )


if __name__ == "__main__":
    main()
