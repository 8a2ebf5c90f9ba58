"""An inventory for a person at a terminal: one table per file, and totals."""

from __future__ import annotations

import io
import shutil

from rich.console import Console, Group
from rich.table import Column, Table
from rich.text import Text
from testlist import FileInventory, Inventory, Test
from testlist.reports.listing import printable, totals

STYLES = {"active": "green", "skipped": "yellow", "todo": "cyan", "focused": "magenta", "xfail": "red"}


def drawn(inventory: Inventory) -> str:
    """Draw for the width of the terminal."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=shutil.get_terminal_size().columns)
    for file in inventory.files:
        if file.tests:
            console.print(Group(Text(printable(file.path), style="bold"), _table(file)))
    console.print(Text(totals(inventory), style="bold"))
    return out.getvalue()


def _table(file: FileInventory) -> Table:
    columns = (Column("line", justify="right", style="dim"), Column("test", overflow="fold"), "framework", "status")
    table = Table(*columns, box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for test in file.tests:
        table.add_row(str(test.line), _name(test), test.framework, _status(test))
    return table


def _name(test: Test) -> Text:
    name = Text()
    for suite in test.suites:
        name.append(f"{printable(suite)} > ", style="dim")
    name.append(printable(test.name))
    cases = f" {test.cases} cases" if test.cases is not None else " many cases" if test.dynamic else ""
    return name.append(cases, style="dim")


def _status(test: Test) -> Text:
    status = Text(test.status, style=STYLES[test.status])
    return status.append(" under a condition", style="dim") if test.conditional else status
