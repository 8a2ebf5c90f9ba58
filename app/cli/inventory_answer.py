"""The answer of `fairlane inventory`, once the engine is there."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from testlist import Inventory, InventoryError, Source
from testlist.command import Answer, CommandArguments, answer, left_out, source_at, taken, unread
from testlist.git.revisions import range_of
from testlist.sandbox.process import NoSandbox

from app.adapters.git_sources import source_of
from app.adapters.sandbox import missing, settle
from app.cli.progress import ProgressBar
from app.domain.repositories import parse_address
from app.settings import Settings, load

#: What nobody would write for a repository at a host.
PATH = re.compile(r"[./~]|[^:/]*$")


def run(path_or_url: str, commit: str | None, other: str | None, form: str, *, exit_code: bool) -> None:
    """Answer on stdout, or end the process with a reason."""
    arguments = CommandArguments(commit, other, form, exit_code)
    if arguments.mistake is not None:
        raise click.UsageError(arguments.mistake)
    settings = load()
    settle(settings)
    try:
        source, ref = _source(path_or_url, settings)
        if commit is None and range_of(other or "") is None:
            arguments = CommandArguments(ref, other, form, exit_code)
        with ProgressBar() as bar:
            found = taken(source, arguments, bar)
    except InventoryError as error:
        click.echo(f"fairlane: {error.message} ({error.code})", err=True)
        sys.exit(arguments.failure)
    except NoSandbox as reason:
        raise missing(reason) from None
    answered = _answer(found, arguments)
    sys.stdout.writelines(answered.text)
    sys.stdout.flush()
    for line in (*left_out(source, arguments, found), *unread(found)):
        click.echo(line, err=True)
    sys.exit(answered.code)


def _source(path_or_url: str, settings: Settings) -> tuple[Source, str | None]:
    """Where the repository is, and the commit or branch that its address names."""
    path = Path(path_or_url)
    if path.exists() or PATH.match(path_or_url):
        return source_at(path_or_url), None
    address = parse_address(path_or_url, settings.allowed_git_hosts)
    return source_of(address.repository, settings), address.commit or address.ref


def _answer(found: Sequence[Inventory], arguments: CommandArguments) -> Answer:
    """Render the inventories: as a drawn table on a terminal, as text that is easy to cut in a pipe."""
    if len(found) > 1 or arguments.form != "table" or not sys.stdout.isatty():
        return answer(found, arguments)
    from app.cli.tables import drawn  # noqa: PLC0415 - rich is slow to import, and programs do without it

    return Answer([drawn(found[0])])
