"""`python -m bezierflow.cli`."""

from . import main

main()
