"""Print rows of the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.box import HEAVY_HEAD
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

#: Of a line that no terminal breaks, in characters.
WIDEST = 100_000


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows as a JSON array, or as a table of these columns; into a pipe, one line a row."""
    if as_json:
        click.echo(json.dumps(rows, default=str))
        return
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDEST)
    table = Table(*(Column(name, overflow="fold") for name in columns), box=HEAVY_HEAD if console.is_terminal else None)
    for row in rows:
        table.add_row(*(Text(_shown(row[name])) for name in columns))  # which reads no markup
    console.print(table)


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else " ".join(str(value).splitlines())
