"""`fairlane inventory`: the engine's own command, with our rules for addresses, a progress bar and tables."""

from __future__ import annotations

import click
from testlist.reports.formats import FORMATS
from testlist.sandbox import guard


@click.command()
@click.argument("path_or_url")
@click.argument("paths", nargs=-1)
@click.option("--commit", help="A commit, branch or tag, also HEAD~2 or the beginning of an id; default: HEAD.")
@click.option("--worktree", "part", flag_value="worktree", help="Instead of a commit: what stands in the work tree.")
@click.option("--staged", "part", flag_value="staged", help="Instead of a commit: what the next one has.")
@click.option(
    "--base",
    "--compare",
    "base",
    help="Show how the tests differ from this commit to the other, or in a range: A..B, or A...B from where both"
    " began to differ.",
)
@click.option(
    "--only", multiple=True, metavar="FIELD=VALUE", help="List such tests only, as status=focused; repeatable."
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with 1 if tests differ, or with --only if there are any; with 3 on errors.",
)
@click.option("--fail-on-empty", is_flag=True, help="Exit with 1 if no test is listed.")
@click.option("--fail-on-skipped-files", is_flag=True, help="Exit with 1 if a file could not be read.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def inventory(
    path_or_url: str,
    paths: tuple[str, ...],
    commit: str | None,
    part: str | None,
    base: str | None,
    only: tuple[str, ...],
    form: str,
    *,
    exit_code: bool,
    fail_on_empty: bool,
    fail_on_skipped_files: bool,
) -> None:
    """List the tests of a Git repository, without running them.

    PATHS are files, folders or patterns of the repository; without any, all of it is listed.
    """
    guard.ready()  # it starts while settings and the engine are imported, which takes longer than a small repository
    from testlist.arguments import CommandArguments  # noqa: PLC0415 - while the launcher starts

    from app.cli.inventory_answer import run  # noqa: PLC0415 - see above

    arguments = CommandArguments(
        commit, base, form, only, paths, part=part,
        exit_code=exit_code, fail_on_empty=fail_on_empty, fail_on_skipped=fail_on_skipped_files,
    )  # fmt: skip
    run(path_or_url, arguments)
