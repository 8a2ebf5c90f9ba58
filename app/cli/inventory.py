"""`fairlane inventory`: the engine alone, without database or queue."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Self

import click

from app.domain.repositories import parse_address
from app.settings import load
from tasks.inventory import InventoryError, Source, fetched, resolve
from tasks.inventory import inventory as take
from tasks.inventory.listing import FORMATS, render, skipped
from tasks.sources import source_of


@click.command()
@click.argument("path_or_url")
@click.option("--commit", help="A commit, branch or tag; default: HEAD.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def inventory(path_or_url: str, commit: str | None, form: str) -> None:
    """List the tests of a Git repository, without running them."""
    settings = load()
    path = Path(path_or_url)
    ref = commit
    try:
        if path.is_dir():
            source = Source.local(path)
        else:
            address = parse_address(path_or_url, settings.allowed_git_hosts)
            source, ref = source_of(address.repository, settings), commit or address.commit or address.ref
        with tempfile.TemporaryDirectory(prefix="fairlane-") as workdir, _Bar() as bar:
            found, _ = resolve(source, ref, checkpoint=bar)
            with fetched(source, found, workdir=Path(workdir), checkpoint=bar) as repository:
                taken = take(repository)
    except InventoryError as error:
        click.echo(f"fairlane: {error.message} ({error.code})", err=True)
        sys.exit(1)
    click.echo(render(taken, form), nl=False)
    for line in skipped(taken):
        click.echo(f"skipped {line}", err=True)


class _Bar:
    """A progress line on a terminal's stderr; nothing elsewhere."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            click.echo("\r\033[K", nl=False, err=True)

    def __call__(self, phase: str, done: int, total: int) -> None:
        if self._shown:
            share = f" {done} of {total} files" if total else ""
            click.echo(f"\r\033[K{phase}{share}", nl=False, err=True)
