"""The command line: parsing and printing only. JAX is loaded inside the commands, so that --help is
instant."""

import click

from bezierflow.arguments import printable

from .paper import bench, demo, reproduce, stability
from .solutions import choose, evaluate, explore, fit, plot, sample
from .solving import INTERRUPTED, check, resume, solve
from .studies import ask, show, surface, tell, undo


class Commands(click.Group):
    """Commands whose errors are one line each, and which Ctrl-C ends with the exit code of
    shells."""

    def invoke(self, ctx: click.Context) -> object:
        """Runs a command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo("interrupted", err=True)
            raise SystemExit(INTERRUPTED) from None
        except BrokenPipeError:  # `bezierflow sample FILE | head`: click ends quietly
            raise
        except (ValueError, TypeError, ImportError, OSError) as error:
            # A usage error exits with 2; here, outside of a command, click prints no usage with it.
            raise click.UsageError(" ".join(printable(str(error)).split())) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bezierflow")
def main() -> None:
    """Multi-objective optimization whose answer is a surface on the Pareto set.

    \b
    Try:
      bezierflow solve scaled-med --output pareto.bez
      bezierflow evaluate pareto.bez 0.2,0.3,0.5
      bezierflow sample pareto.bez -n 100 -o points.csv
      bezierflow fit points.csv --objectives 3 --output surface.bez
      bezierflow choose pareto.bez knee
      bezierflow plot pareto.bez
      bezierflow explore pareto.bez
    """  # noqa: D301


for command in (
    *(solve, check, resume, ask, tell, undo, show, surface, evaluate, choose, sample, fit),
    *(plot, explore, stability, reproduce, bench, demo),
):
    main.add_command(command)
