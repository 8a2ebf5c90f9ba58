"""An inventory as text: JSON lines, JSON, or a table; and how two differ, as lines for people."""

import json
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final

from testlist.model import Checks, Inventory, Test
from testlist.reports.compare import Comparison

#: of the JSON document and of JSON lines (inventory.schema.json); raised when a member goes or means something else
SCHEMA_VERSION: Final = 1


def jsonl(inventory: Inventory) -> Iterator[str]:
    """One row a test, by file, line and column."""
    return (f"{dumped(row)}\n" for row in inventory.rows())


def document(inventory: Inventory) -> Iterator[str]:
    """One JSON object, a row a line, as inventory.schema.json describes it."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "commit": inventory.commit,
        "parser_version": inventory.parser_version,
        "summary": inventory.summary(),
    }
    lists: dict[str, Iterator[dict[str, object]]] = {
        "tests": inventory.rows(),
        "files": (
            {"file": file.path, "framework": file.framework, "hints": list(file.hints)}
            for file in inventory.files
            if file.tests
        ),
        "skipped": ({"file": file.path, "reason": file.skipped} for file in inventory.files if file.skipped),
    }
    yield json.dumps(head, ensure_ascii=False)[:-1]
    for name, rows in lists.items():
        yield f',\n"{name}": ['
        for number, row in enumerate(rows):
            yield f"{',' if number else ''}\n{json.dumps(row, ensure_ascii=False)}"
        yield "]"
    yield "}\n"


def table(inventory: Inventory) -> Iterator[str]:
    """Aligned columns and a line of totals, for people."""
    rows = [_cells(test, checks) for file in inventory.files for test, checks in zip_longest(file.tests, file.checks)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)] if rows else []
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return (f"{line}\n" for line in [*lines, totals(inventory)])


def totals(inventory: Inventory) -> str:
    """One line of totals."""
    summary = inventory.summary()
    parts = [f"{count} {name}" for kind in ("by_framework", "by_status") for name, count in summary[kind].items()]
    skipped = sum(file.skipped is not None for file in inventory.files)
    parts += [f"{skipped} files not read"] if skipped else []
    said = f"{summary['tests']} tests in {summary['files']} files" + (f": {', '.join(parts)}" if parts else "")
    return "\n".join([said, *unread(summary["unread"])])


def unread(languages: Mapping[str, int]) -> Iterator[str]:
    """A line that counts files which look like tests, by languages that are not read; nothing where there is none."""
    if languages:
        counts = ", ".join(f"{count} {name}" for name, count in languages.items())
        yield f"files that look like tests, but no framework of their language is known here: {counts}"


def skipped(inventory: Inventory) -> Iterator[str]:
    """One line for each file that was not read: path and reason."""
    yield from (f"{printable(file.path)}: {file.skipped}" for file in inventory.files if file.skipped)


def dumped(row: dict[str, object]) -> str:
    """One row as JSON on one line, readable in any encoding."""
    return json.dumps(row, separators=(",", ":"))


def printable(text: str) -> str:
    """Text of a tenant without control characters, which a terminal would obey."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _cells(test: Test, checks: Checks | None) -> tuple[str, ...]:
    name = " > ".join((*test.suites, test.name))
    dynamic = f"x{test.cases}" if test.cases is not None else "x?" if test.dynamic else ""
    status = f"{test.status}?" if test.conditional else test.status
    what = printable(f"{name} {dynamic}".strip())
    return (status, test.framework, printable(f"{test.file}:{test.line}"), f"{what}{_checked(checks)}")


def _checked(checks: Checks | None) -> str:
    """What a test checks, in words; nothing where nobody knows."""
    if checks is None:
        return ""
    if checks.cannot_fail:
        return f"  [cannot fail: {checks.cannot_fail.replace('_', ' ')}]"
    count = len(checks.checks)
    return "  [no check]" if not count else "  [1 check]" if count == 1 else f"  [{count} checks]"


def comparison(found: Comparison) -> str:
    """Lines for people: one a change, led by a sign, and a line of totals."""
    lines = [f"+ {_named(row)}" for row in found.added]
    lines += [f"- {_named(row)}" for row in found.removed]
    lines += [f"> {_named(one.before)} -> {_named(one.after, name=False)}" for one in found.moved]
    lines += [f"~ {_named(one.before)} -> {_named(one.after)}" for one in found.renamed]
    switched = ((one, f"{one.before['status']} -> {one.after['status']}") for one in found.status_changed)
    lines += [f"! {_named(one.after)}: {statuses}" for one, statuses in switched]
    lines += [f"? {printable(path)}: not read on one side" for path in found.unknown]
    words = [f"{count} {name.replace('_', ' ')}" for name, count in found.totals().items()]
    return "".join(f"{line}\n" for line in [*lines, ", ".join(words)])


def _named(row: Mapping[str, Any], *, name: bool = True) -> str:
    where = f"{row['file']}:{row['line']}"
    return printable(f"{where} {' > '.join((*row['suites'], row['name']))}" if name else where)
