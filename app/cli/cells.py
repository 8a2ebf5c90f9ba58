"""`fairlane cell …`: the cells of a service, and which accounts live in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict

import click

from app.cli.refusals import is_busy, sentence
from app.cli.wiring import actor, open_cells, show
from app.errors import Problem
from app.services.cells import cells, change_cell, register
from app.services.cells.cells import Cells

#: In the place of addresses: they are lines of standard input.
READ = "-"


@click.group()
def cell() -> None:
    """Cells: services on databases of their own, among which accounts are divided (CELLS, DIRECTORY_URL)."""


@cell.command("list")
@click.option("--json", "as_json", is_flag=True)
def list_cells(*, as_json: bool) -> None:
    """Print how many accounts live in each cell, and how many are leaving it."""
    rows = [row._asdict() for row in cells.listed(open_cells())]
    if as_json:
        click.echo(json.dumps(rows))
        return
    for row in rows:
        click.echo(f"{row['cell']}: {row['accounts']} accounts, {row['moving']} of them leaving")


@cell.command()
@click.argument("name", metavar="CELL")
def adopt(name: str) -> None:
    """Note all people of CELL in the directory, and remove those that it has no more; safe to repeat."""
    known = open_cells()
    found = register.adopt(known.directory, name, known.uow_of(name))
    click.echo(f"{found.added} accounts added, {found.dropped} removed")
    for email in found.taken:
        click.echo(f"fairlane: {email} is the address of an account of another cell", err=True)
    if found.taken:
        raise SystemExit(1)


def _as_text(_context: object, _parameter: object, given: tuple[str, ...]) -> tuple[str, ...]:
    """Bytes that are no text come as surrogates, which no database takes."""
    return tuple(email.encode(errors="replace").decode() for email in given)


@cell.command("move")
@click.argument("emails", metavar="EMAIL...", nargs=-1, required=True, callback=_as_text)
@click.option("--to", "to", required=True, metavar="CELL", help="Where the accounts are to live.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object; for several accounts, one on each line.")
def move_accounts(emails: tuple[str, ...], to: str, *, as_json: bool) -> None:
    """Move the accounts of EMAIL... with all that they have, while they work; their running jobs begin again there.

    They move one after the other.  A lone - reads addresses from standard input, one a line, and moves each as it
    comes.  Exit code 1 if one was not moved; the others are.
    """
    if READ in emails and len(emails) > 1:
        raise click.UsageError(f"{READ} reads addresses from standard input, and stands alone")
    known = open_cells(publishes=True)
    known.uow_of(to)
    if len(emails) > 1 or READ in emails:
        _move_each(known, _read() if READ in emails else emails, to, as_json=as_json)
        return
    show(asdict(change_cell.change_cell(known, emails[0], to, actor=actor())), as_json=as_json)


def _read() -> Iterator[str]:
    """Addresses as they come; what is no text becomes an address that nobody has."""
    with click.open_file(READ, encoding="utf-8-sig", errors="replace") as lines:
        for line in lines:
            if email := line.replace("\0", "\N{REPLACEMENT CHARACTER}").strip():
                yield email


def _move_each(known: Cells, emails: Iterable[str], to: str, *, as_json: bool) -> None:
    all_moved, email = True, ""
    for email in emails:
        try:
            moved = change_cell.change_cell(known, email, to, actor=actor())
        except Exception as error:
            # the next account would be left half-way, too, where a database is away, read-only or full
            if not isinstance(error, Problem) and not is_busy(error):
                click.echo(f"fairlane: {email} was about to move; the accounts after it were not tried", err=True)
                raise
            said = error.detail if isinstance(error, Problem) else sentence(error)
            click.echo(f"fairlane: {email}: {said}", err=True)
            all_moved = False
        else:
            line = f"{email} lives in {to}; it waited for {moved.pause_seconds:.3f} s"
            click.echo(json.dumps({"email": email} | asdict(moved)) if as_json else line)
    if not email:
        click.echo("fairlane: no address was given, so nobody moved", err=True)
    if not all_moved:
        raise SystemExit(1)


@cell.command()
def settle() -> None:
    """End the moves whose process died: each account lives in one cell, with everything."""
    for place in change_cell.settle_left(open_cells(), actor=actor()):
        click.echo(f"{place.user_id} lives in {place.cell}")
