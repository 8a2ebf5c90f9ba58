"""The formats of an inventory, by their names on the command line."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from testlist.model import Inventory
from testlist.reports.csv_rows import csv_rows
from testlist.reports.ctrf import ctrf
from testlist.reports.listing import document, jsonl, table
from testlist.reports.sarif import sarif

_RENDERERS: Final[Mapping[str, Callable[[Inventory], Iterator[str]]]] = {
    "table": table,
    "jsonl": jsonl,
    "json": document,
    "csv": csv_rows,
    "sarif": sarif,
    "ctrf": ctrf,
}
FORMATS: Final = tuple(_RENDERERS)
#: those in which two inventories can be compared
COMPARABLE: Final = ("table", "json")
#: those that say by themselves which languages were not read
COMPLETE: Final = frozenset({"table", "json"})


def render(inventory: Inventory, form: str) -> Iterator[str]:
    """Render in one of FORMATS, piece by piece: 100,000 tests are 60 MB.  Any output ends with a newline."""
    return _RENDERERS[form](inventory)
