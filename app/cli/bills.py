"""`fairlane bills export`: the bills of a closed month in a file."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

import click

from app.cli.wiring import now, open_database
from app.services.operations.export_bills import export_bills
from app.store.operations.bills import BillRow

COLUMNS = BillRow._fields


class _Written(Protocol):
    def __call__(self, rows: list[BillRow]) -> None:
        """Append the rows to the file."""


@click.group()
def bills() -> None:
    """Bills outside of the database."""


@bills.command("export")
@click.option("--month", type=click.DateTime(["%Y-%m"]), required=True, help="In UTC, as 2026-09.")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
def export(month: datetime, file: Path) -> None:
    """Write the bills of a month that is over into FILE: Parquet if its name ends so, CSV if not.

    They stay in the database.  Parquet needs `pip install 'fairlane[parquet]'`.
    """
    count, units = 0, 0
    found = export_bills(open_database(), month.replace(tzinfo=UTC), now=now())
    with _replaced(file) as beside, (_parquet if file.suffix == ".parquet" else _csv)(beside) as write:
        for rows in found:
            write(rows)
            count, units = count + len(rows), units + sum(row.quota_amount for row in rows)
    click.echo(f"{file}: {count} bills, {units} units")


@contextmanager
def _replaced(file: Path) -> Iterator[Path]:
    """A file beside it, which takes its place when it is whole; only its owner may read it."""
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        yield beside
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def _csv(path: Path) -> Iterator[_Written]:
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(COLUMNS)
        yield lambda rows: lines.writerows([_plain(value) for value in row] for row in rows)


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


@contextmanager
def _parquet(path: Path) -> Iterator[_Written]:
    try:
        import pyarrow as pa  # noqa: PLC0415 - 60 MB that only this command needs
        from pyarrow import parquet  # noqa: PLC0415 - as above
    except ImportError as error:
        raise click.ClickException(
            "Parquet needs pyarrow: pip install 'fairlane[parquet]', or a name in .csv"
        ) from error
    at = pa.timestamp("us", tz="UTC")
    kinds = (pa.string(), pa.string(), pa.int32(), pa.string(), pa.string(), at, at)
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:

        def write(rows: list[BillRow]) -> None:
            columns = [
                [None if value is None else str(value) for value in values] if kind == pa.string() else values
                for kind, values in zip(kinds, map(list, zip(*rows, strict=True)), strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))

        yield write
