"""`bench`: hands over to the benchmarks of a checkout."""

import subprocess
import sys
from pathlib import Path

import click


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def bench(options: tuple[str, ...]) -> None:
    """Every method on every problem, one table: OPTIONS are those of `python -m benchmarks.contest`
    (try -- --help).

    Works in a checkout. Peers that are not installed are left out; `make contest` installs them.
    """
    root = Path(__file__).parents[3]
    if not (root / "benchmarks" / "contest").is_dir():
        raise click.ClickException(
            "the benchmarks are not part of the installed package; run this in a checkout of"
            " bezierflow"
        )
    raise SystemExit(
        subprocess.call([sys.executable, "-m", "benchmarks.contest", *options], cwd=root)
    )
