"""What was read before, in a folder of the user's: facts of files by their content, and results by the root folder.

Both depend on nothing else than their key and the parser version, which names the file.  The last result of each
repository is known as well, of which the next one takes over what has not changed.  Objects are hashed before
anybody sees them, so one repository cannot say what is in another's file.  Several processes may share the cache.
Nothing of it is needed: whatever goes wrong with it, the run goes on without.
"""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from testlist.model import Facts, FactsKey, Inventory
from testlist.packing import packed, packed_inventory, unpacked, unpacked_inventory
from testlist.version import PARSER_VERSION

#: bytes that a version's file may have before what was not used for longest goes; days after which a file itself goes
MOST_BYTES, MOST_DAYS = 512 << 20, 30
#: of the names of our files: the folder may hold others
PREFIX: Final = "testlist-"
#: seconds to wait for another process
PATIENCE: Final = 2.0
DAY: Final = 86_400
#: keys of one statement
BATCH: Final = 400

TABLES: Final = """
    PRAGMA auto_vacuum = INCREMENTAL;
    CREATE TABLE IF NOT EXISTS facts (
        blob TEXT, language TEXT, used INTEGER, content BLOB, PRIMARY KEY (blob, language)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS results (tree TEXT PRIMARY KEY, used INTEGER, content BLOB) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS repositories (name TEXT PRIMARY KEY, tree TEXT) WITHOUT ROWID"""
OLDEST: Final = """
    DELETE FROM {table} WHERE used < max((SELECT used FROM {table} ORDER BY used LIMIT 1 OFFSET :half),
                                         (SELECT min(used) + 1 FROM {table}))"""

Given = TypeVar("Given")


def user_folder() -> Path | None:
    """The folder for this package among the user's caches; None for a user without a home."""
    given = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if given.is_absolute():  # others are to be ignored, as the XDG specification says
        return given / "testlist"
    try:
        return Path.home() / ".cache" / "testlist"
    except RuntimeError:
        return None


@dataclass(frozen=True, slots=True)
class DiskCache:
    """A FactsCache that also keeps whole results.  folder: made when it is needed; most_bytes: see MOST_BYTES."""

    folder: Path
    most_bytes: int = MOST_BYTES

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        """Return what is known."""
        return self._attempt(lambda database: dict(_facts(database, keys)), {})

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        """Keep facts."""
        rows = [(*key, _today(), packed(one)) for key, one in facts.items()]
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?)", rows)

    def result(self, tree: str, commit: str) -> Inventory | None:
        """The inventory of a commit with this root folder; None if it is not known."""
        return self._attempt(lambda database: _result(database, tree, commit), None)

    def last(self, repository: str) -> Inventory | None:
        """What was kept last of a repository; None if that is not known any more."""
        return self._attempt(lambda database: _last(database, repository), None)

    def keep(self, tree: str, found: Inventory, repository: str) -> None:
        """Keep a result, unless the next run may read a file that this one could not: a configuration as well."""
        if found.is_final and (content := packed_inventory(found)) is not None:
            self._write("INSERT OR REPLACE INTO repositories VALUES (?, ?)", [(repository, tree)])
            self._write("INSERT OR REPLACE INTO results VALUES (?, ?, ?)", [(tree, _today(), content)])

    def _write(self, statement: str, rows: Sequence[tuple[Any, ...]]) -> None:
        def work(database: sqlite3.Connection) -> None:
            database.executemany(statement, rows)
            database.commit()
            _bound(database, self.most_bytes)

        self._attempt(work, None)

    def _attempt(self, work: Callable[[sqlite3.Connection], Given], otherwise: Given) -> Given:
        """What the work gives; a file that is damaged is forgotten."""
        try:
            with self._opened() as database:
                return work(database)
        except (sqlite3.OperationalError, OSError):  # locked, full, read-only, not ours
            return otherwise
        except Exception:  # noqa: BLE001 - a file of the user's may hold anything
            with suppress(OSError):
                for file in self.folder.glob(f"{self._file().name}*"):  # its journal, too
                    file.unlink(missing_ok=True)
            return otherwise

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if not self._file().exists():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._forget_versions()
        with closing(sqlite3.connect(self._file(), timeout=PATIENCE)) as database:
            database.executescript(TABLES)
            # after a power cut it may be damaged, and is made again
            database.execute("PRAGMA synchronous = OFF")
            yield database

    def _file(self) -> Path:
        return self.folder / f"{PREFIX}{PARSER_VERSION}.sqlite3"

    def _forget_versions(self) -> None:
        """Remove what other versions have left."""
        for file in self.folder.glob(f"{PREFIX}*.sqlite3"):
            if file.stat().st_mtime < time.time() - MOST_DAYS * DAY:
                file.unlink(missing_ok=True)


def _facts(database: sqlite3.Connection, keys: Sequence[FactsKey]) -> Iterator[tuple[FactsKey, Facts]]:
    old = []
    for start in range(0, len(keys), BATCH):
        batch = keys[start : start + BATCH]
        rows = database.execute(
            "SELECT blob, language, used, content FROM facts WHERE (blob, language) IN (VALUES"
            f" {', '.join(['(?, ?)'] * len(batch))})",
            [part for key in batch for part in key],
        )
        for blob, language, used, content in rows:
            old += [(_today(), blob, language)] if used < _today() else []
            yield FactsKey(blob, language), unpacked(content)
    if old:
        database.executemany("UPDATE facts SET used = ? WHERE blob = ? AND language = ?", old)
        database.commit()


def _result(database: sqlite3.Connection, tree: str, commit: str) -> Inventory | None:
    row = database.execute("SELECT content FROM results WHERE tree = ?", (tree,)).fetchone()
    if row is None:
        return None
    database.execute("UPDATE results SET used = ? WHERE tree = ? AND used < ?", (_today(), tree, _today()))
    database.commit()
    return unpacked_inventory(row[0], commit)


def _last(database: sqlite3.Connection, repository: str) -> Inventory | None:
    row = database.execute("SELECT tree FROM repositories WHERE name = ?", (repository,)).fetchone()
    return None if row is None else _result(database, row[0], "")


def _bound(database: sqlite3.Connection, most_bytes: int) -> None:
    """Forget what was not used for longest, half of it at once, until the file is small enough."""
    for table in ("results", "facts"):
        if _bytes(database) <= most_bytes:
            return
        half = database.execute(f"SELECT count(*) / 2 FROM {table}").fetchone()[0]
        database.execute(OLDEST.format(table=table), {"half": half})
        database.commit()
        database.executescript("PRAGMA incremental_vacuum")  # `execute` takes one page alone


def _bytes(database: sqlite3.Connection) -> int:
    pages, size = (database.execute(f"PRAGMA {what}").fetchone()[0] for what in ("page_count", "page_size"))
    return int(pages * size)


def _today() -> int:
    return int(time.time() // DAY)
