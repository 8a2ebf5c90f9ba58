"""`fairlane inventory`: the engine's own command, with our rules for addresses, a progress bar and tables."""

from __future__ import annotations

import click
from testlist.reports.listing import FORMATS
from testlist.sandbox import guard


@click.command()
@click.argument("path_or_url")
@click.option("--commit", help="A commit, branch or tag, also HEAD~2 or the beginning of an id; default: HEAD.")
@click.option(
    "--compare",
    "other",
    help="Show how the tests differ between the commit and this one, or in a range: A..B, or A...B from where both"
    " began to differ.",
)
@click.option(
    "--exit-code", is_flag=True, help="With --compare: exit with 1 if tests differ, with 3 if they cannot be compared."
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def inventory(path_or_url: str, commit: str | None, other: str | None, form: str, *, exit_code: bool) -> None:
    """List the tests of a Git repository, without running them."""
    guard.ready()  # it starts while settings and the engine are imported, which takes longer than a small repository
    from app.cli.inventory_answer import run  # noqa: PLC0415 - see above

    run(path_or_url, commit, other, form, exit_code=exit_code)
