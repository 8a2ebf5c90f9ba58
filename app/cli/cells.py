"""`fairlane cell …`: the cells of a service, and which accounts live in them."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from app.cli.wiring import actor, open_cells, show
from app.services.cells import cells, change_cell, register


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


@cell.command("move")
@click.argument("email")
@click.option("--to", "to", required=True, metavar="CELL", help="Where the account is to live.")
@click.option("--json", "as_json", is_flag=True)
def move_account(email: str, to: str, *, as_json: bool) -> None:
    """Move the account of EMAIL with all that it has, while it works; its running jobs begin again there."""
    moved = change_cell.change_cell(open_cells(publishes=True), email, to, actor=actor())
    show(asdict(moved), as_json=as_json)


@cell.command()
def settle() -> None:
    """End the moves whose process died: each account lives in one cell, with everything."""
    for place in change_cell.settle_left(open_cells(publishes=True), actor=actor()):
        click.echo(f"{place.user_id} lives in {place.cell}")
