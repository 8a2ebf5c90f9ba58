"""An inventory as comma-separated values, for spreadsheets (RFC 4180, with a header line)."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import Final

from testlist.model import Inventory
from testlist.reports.listing import printable

COLUMNS: Final = ("file", "line", "suites", "name", "framework", "status", "kind", "dynamic", "cases", "conditional")
# a spreadsheet treats a cell that starts with these as a formula (the full-width ones after normalisation)
_FORMULA: Final = re.compile(r"^\s*[=+\-@\t\r\n＝＋－＠]")  # noqa: RUF001 - full-width on purpose


def csv_rows(inventory: Inventory) -> Iterator[str]:
    """One line a test, with a column for why it cannot fail where that was asked for."""
    columns = (*COLUMNS, "cannot_fail") if any(file.checks for file in inventory.files) else COLUMNS
    yield csv_line(columns)
    for row in inventory.rows():
        yield csv_line(_cell(row.get(column)) for column in columns)


def csv_line(cells: Iterable[str]) -> str:
    """One line, with its end.  Cells that look like formulas are turned into text."""
    line = io.StringIO()
    csv.writer(line).writerow([f"'{cell}" if _FORMULA.match(cell) else cell for cell in cells])
    return line.getvalue()


def _cell(value: object) -> str:
    if isinstance(value, int | None):
        return "" if value is None else str(value).lower()
    return printable(" > ".join(value) if isinstance(value, list) else str(value))
