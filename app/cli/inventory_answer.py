"""What `fairlane inventory` answers, once the engine is there."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import click
from testlist import Inventory, InventoryError, Source
from testlist.command import Asked, answer, taken, unread
from testlist.sandbox.process import NoSandbox

from app.cli.progress import Bar
from app.domain.repositories import parse_address
from app.settings import Settings, load
from tasks.confinement import missing, settle
from tasks.sources import source_of


def run(path_or_url: str, commit: str | None, other: str | None, form: str) -> None:
    """Answer on stdout, or end the process with a reason."""
    asked = Asked(commit, other, form)
    if asked.mistake is not None:
        raise click.UsageError(asked.mistake)
    settings = load()
    settle(settings)
    try:
        source, ref = _source(path_or_url, settings)
        asked = Asked(commit or ref, other, form)
        with Bar() as bar:
            found = taken(source, asked, bar)
    except InventoryError as error:
        click.echo(f"fairlane: {error.message} ({error.code})", err=True)
        sys.exit(1)
    except NoSandbox as reason:
        raise missing(reason) from None
    sys.stdout.writelines(_answer(found, asked))
    sys.stdout.flush()
    for line in unread(found):
        click.echo(line, err=True)


def _source(path_or_url: str, settings: Settings) -> tuple[Source, str | None]:
    """Where the repository is, and the commit or branch that its address names."""
    path = Path(path_or_url)
    if path.is_dir():
        return Source.local(path), None
    address = parse_address(path_or_url, settings.allowed_git_hosts)
    return source_of(address.repository, settings), address.commit or address.ref


def _answer(found: Sequence[Inventory], asked: Asked) -> Iterable[str]:
    """On a terminal a table is drawn; in a pipe it stays text that is easy to cut."""
    if len(found) > 1 or asked.form != "table" or not sys.stdout.isatty():
        return answer(found, asked)
    from app.cli.tables import drawn  # noqa: PLC0415 - rich is slow to import, and programs do without it

    return [drawn(found[0])]
