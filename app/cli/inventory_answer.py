"""The answer of `fairlane inventory`, once the engine is there."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click
from testlist import Inventory, InventoryError
from testlist.arguments import CommandArguments
from testlist.command import Answer, Place, answer, left_out, place_of, taken, unread
from testlist.git.revisions import range_of
from testlist.output import write
from testlist.reports.selection import UsageError
from testlist.sandbox.process import NoSandbox

from app.adapters.git_sources import source_of
from app.adapters.sandbox import missing, settle
from app.cli.progress import ProgressBar
from app.domain.repositories import parse_address
from app.settings import Settings, load

#: What nobody would write for a repository at a host.
PATH = re.compile(r"[./~]|[^:/]*$")


def run(path_or_url: str, arguments: CommandArguments) -> None:
    """Answer on stdout, or end the process with a reason."""
    if arguments.mistake is not None:
        raise click.UsageError(arguments.mistake)
    settings = load()
    settle(settings)
    try:
        (source, within), ref = _place(path_or_url, settings)
        selection = arguments.selection(within)
        if arguments.commit is None and range_of(arguments.base or "") is None:
            arguments = replace(arguments, commit=ref)
        with ProgressBar() as bar:
            found = taken(source, arguments, bar)
    except UsageError as error:
        raise click.UsageError(str(error)) from None
    except InventoryError as error:
        click.echo(f"fairlane: {error.message} ({error.code})", err=True)
        sys.exit(arguments.failure)
    except NoSandbox as reason:
        raise missing(reason) from None
    selected = [selection.applied(one) for one in found]
    answered = _answer(selected, arguments)
    if code := write(answered.text):
        sys.exit(code)
    for line in (*left_out(source, arguments, found), *unread(selected, arguments.form)):
        click.echo(line, err=True)
    sys.exit(answered.code)


def _place(path_or_url: str, settings: Settings) -> tuple[Place, str | None]:
    """Where the repository is, and the commit or branch that its address names."""
    path = Path(path_or_url)
    if path.exists() or PATH.match(path_or_url):
        return place_of(path_or_url), None
    address = parse_address(path_or_url, settings.allowed_git_hosts)
    return Place(source_of(address.repository, settings)), address.commit or address.ref


def _answer(selected: Sequence[Inventory], arguments: CommandArguments) -> Answer:
    """Render the inventories: as a drawn table on a terminal, as text that is easy to cut in a pipe."""
    answered = answer(selected, arguments)
    if len(selected) > 1 or arguments.form != "table" or not sys.stdout.isatty():
        return answered
    from app.cli.tables import drawn  # noqa: PLC0415 - rich is slow to import, and programs do without it

    return Answer([drawn(selected[0])], answered.code)
