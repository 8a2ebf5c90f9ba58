"""`fairlane inventory`: the engine alone, without a database or a queue."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import click

from app.cli.progress import Bar
from app.domain.repositories import parse_address
from app.settings import Settings, load
from tasks.confinement import missing, settle
from tasks.inventory import Inventory, InventoryError, Source, fetched, resolve
from tasks.inventory import inventory as take
from tasks.inventory.compare import compare, listed
from tasks.inventory.listing import FORMATS, comparison, render, skipped
from tasks.inventory.process import NoSandbox
from tasks.sources import source_of


@click.command()
@click.argument("path_or_url")
@click.option("--commit", help="A commit, branch or tag; default: HEAD.")
@click.option("--compare", "other", help="Show how the tests differ between the commit and this one.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="table", show_default=True)
def inventory(path_or_url: str, commit: str | None, other: str | None, form: str) -> None:
    """List the tests of a Git repository, without running them."""
    if other is not None and form == "jsonl":
        raise click.UsageError("--compare needs --format table or json.")
    settings = load()
    settle(settings)
    try:
        with Bar() as bar:
            taken = [_take(path_or_url, one, settings, bar) for one in ([commit] if other is None else [commit, other])]
    except InventoryError as error:
        click.echo(f"fairlane: {error.message} ({error.code})", err=True)
        sys.exit(1)
    except NoSandbox as reason:
        raise missing(reason) from None
    said = _listed(taken[0], form) if other is None else [_compared(taken[0], taken[1], form)]
    sys.stdout.writelines(said)
    sys.stdout.flush()
    for line in dict.fromkeys(line for one in taken for line in skipped(one)):
        click.echo(f"skipped {line}", err=True)


def _take(path_or_url: str, commit: str | None, settings: Settings, bar: Bar) -> Inventory:
    path, ref = Path(path_or_url), commit
    if path.is_dir():
        source = Source.local(path)
    else:
        address = parse_address(path_or_url, settings.allowed_git_hosts)
        source, ref = source_of(address.repository, settings), commit or address.commit or address.ref
    with tempfile.TemporaryDirectory(prefix="fairlane-") as workdir:
        found, _ = resolve(source, ref, checkpoint=bar)
        with fetched(source, found, workdir=Path(workdir), checkpoint=bar) as repository:
            return take(repository)


def _compared(before: Inventory, after: Inventory, form: str) -> str:
    found = compare(listed(before), listed(after))
    if form == "table":
        return comparison(found)
    commits = {"before": before.commit, "after": after.commit}
    return f"{json.dumps(commits | found.document(), ensure_ascii=False, indent=1)}\n"


def _listed(taken: Inventory, form: str) -> Iterable[str]:
    """On a terminal a table is drawn; in a pipe it stays text that is easy to cut."""
    if form != "table" or not sys.stdout.isatty():
        return render(taken, form)
    from app.cli.tables import drawn  # noqa: PLC0415 - rich is slow to import, and programs do without it

    return [drawn(taken)]
