"""`python -m app.cli`: the command line without an installed script."""

from app.cli import main

main()
