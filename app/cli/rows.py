"""Print rows of the database."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Column, Table


def show_rows(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows as a JSON array, or as a table of these columns."""
    if as_json:
        click.echo(json.dumps(rows, default=str))
        return
    table = Table(*(Column(name, overflow="fold") for name in columns))
    for row in rows:
        table.add_row(*(_shown(row[name]) for name in columns))
    Console().print(table)


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
