"""Results by content: writing the facts of blobs and the tests of files."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.domain.inventories import Checked
from app.store.core.unit_of_work import OvertakenError, Tx

#: Letters of one file's checks that are stored: thousands of tests may call a function with a hundred checks.
MOST_LETTERS = 500_000
#: NUL as JSON writes it; after an escaped backslash the same letters are plain text.
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


@dataclass(frozen=True, slots=True)
class FileRow:
    """One candidate file of an analysis.

    tests: rows as JSON; skipped: reason code, and then no tests; hints: what it imports and calls, 30 at most; checks:
    what each test checks, None where it is not known; digest: of a file that is stored already, which has nothing else
    then.
    """

    path: str
    blob_id: str
    framework: str | None
    tests: Sequence[Mapping[str, Any]]
    skipped: str | None
    hints: Sequence[str] = ()
    checks: Sequence[Checked | None] = ()
    digest: bytes | None = None

    @property
    def counted(self) -> int:
        """The number of tests, where a subtest is part of its test."""
        return sum(1 for test in self.tests if test.get("kind") != "subtest")


class StoredFile(NamedTuple):
    """A file as it is stored.

    tests, hints, checks: JSON, checks None if nothing is known of any test; digest: of all of it, to recognise equal
    rows; is_stored: the rest is left out, as it was stored before.
    """

    path: str
    blob_id: str
    framework: str | None
    tests: str
    counted: int
    hints: str
    skipped: str | None
    digest: bytes
    checks: str | None = None
    is_stored: bool = False


class ForgottenError(Exception):
    """A file that was taken over from an earlier inventory is stored no more."""


_LOAD_FACTS = text("""
    SELECT f.blob_id, f.language, f.facts FROM blob_facts f
      JOIN unnest(CAST(:blob_ids AS text[]), CAST(:languages AS text[])) AS k(blob_id, language)
        ON f.blob_id = k.blob_id AND f.language = k.language
     WHERE f.parser_version = :parser_version""")
_STORE_FACTS = text("""
    INSERT INTO blob_facts (blob_id, language, parser_version, facts, created_at)
    SELECT blob_id, language, :parser_version, facts::jsonb, :now
      FROM unnest(CAST(:blob_ids AS text[]), CAST(:languages AS text[]), CAST(:facts AS text[]))
           AS f(blob_id, language, facts)
     ORDER BY blob_id, language  -- two workers storing the same blobs must not deadlock
    ON CONFLICT DO NOTHING""")
_STORE_FILES = text("""
    INSERT INTO file_inventories (blob_id, parser_version, digest, framework, tests, total_tests, hints, checks)
    SELECT blob_id, :parser_version, digest, framework, tests::jsonb, total_tests, hints::jsonb, checks::jsonb
      FROM unnest(CAST(:blob_ids AS text[]), CAST(:digests AS bytea[]), CAST(:frameworks AS text[]),
                  CAST(:tests AS text[]), CAST(:totals AS integer[]), CAST(:hints AS text[]),
                  CAST(:checks AS text[]))
           AS f(blob_id, digest, framework, tests, total_tests, hints, checks)
     ORDER BY blob_id, digest
    ON CONFLICT DO NOTHING""")

# Pruning deletes tests of files that are in no list, so existing ones are locked until the list refers to them.
_LOCK_FILES = text("""
    SELECT i.id FROM file_inventories i
      JOIN unnest(CAST(:blob_ids AS text[]), CAST(:digests AS bytea[])) AS f(blob_id, digest)
        ON i.blob_id = f.blob_id AND i.digest = f.digest
     WHERE i.parser_version = :parser_version ORDER BY i.blob_id, i.digest FOR KEY SHARE OF i""")


class FactsRow(NamedTuple):
    """The engine's facts of a file in one language."""

    blob_id: str
    language: str
    facts: Any


def load_facts(tx: Tx, keys: Sequence[tuple[str, str]], parser_version: str) -> list[FactsRow]:
    """Stored facts; unknown keys are left out.  keys: (blob_id, language)."""
    blob_ids, languages = [k[0] for k in keys], [k[1] for k in keys]
    loaded = tx.run(_LOAD_FACTS, blob_ids=blob_ids, languages=languages, parser_version=parser_version)
    return loaded.values(FactsRow)


def store_facts(
    tx: Tx, facts: Mapping[tuple[str, str], Mapping[str, Any]], parser_version: str, *, now: datetime
) -> None:
    """Store facts; existing ones stay."""
    tx.run(
        _STORE_FACTS,
        blob_ids=[k[0] for k in facts],
        languages=[k[1] for k in facts],
        facts=[_json(f) for f in facts.values()],
        parser_version=parser_version,
        now=now,
    )


def written(file: FileRow) -> StoredFile:
    """Write a file's tests as JSON, once: 1.2 s for 200,000 tests (2026-11).

    Without hints and checks, the digest is the same as before they existed, so that such rows are reused.
    """
    if file.digest is not None:
        return StoredFile(file.path, file.blob_id, None, "", 0, "", file.skipped, file.digest, is_stored=True)
    tests, hints = (
        _json([{k: v for k, v in test.items() if k != "file"} for test in file.tests]),
        _json(list(file.hints)),
    )
    checks = _checks_json(file.checks)
    content = f"{file.framework}\n{tests}" + (f"\n{hints}" if file.hints else "")
    content += f"\nchecks {checks}" if checks is not None else ""
    digest = b"" if file.skipped is not None else hashlib.sha256(content.encode()).digest()
    return StoredFile(file.path, file.blob_id, file.framework, tests, file.counted, hints, file.skipped, digest, checks)


def store_files(tx: Tx, files: Iterable[StoredFile], parser_version: str) -> None:
    """Store the tests of files by content.

    Locks: the keys of existing rows, until the caller's list refers to them.  Raises: OvertakenError if one was pruned
    between its insert, which found it, and its lock; ForgottenError if that may be one that was stored before.
    """
    read = {(f.blob_id, f.digest): f for f in files if f.skipped is None}
    new = {key: file for key, file in read.items() if not file.is_stored}
    tx.write(
        _STORE_FILES,
        frameworks=[f.framework for f in new.values()],
        tests=[f.tests for f in new.values()],
        totals=[f.counted for f in new.values()],
        hints=[f.hints for f in new.values()],
        checks=[f.checks for f in new.values()],
        parser_version=parser_version,
        **_columns(new),
    )
    if tx.run(_LOCK_FILES, parser_version=parser_version, **_columns(read)).rowcount < len(read):
        raise OvertakenError if len(new) == len(read) else ForgottenError


def _columns(keys: Collection[tuple[str, bytes]]) -> dict[str, list[Any]]:
    return {"blob_ids": [blob_id for blob_id, _ in keys], "digests": [digest for _, digest in keys]}


def _checks_json(checks: Sequence[Checked | None]) -> str | None:
    """One element for each test; null for those that no longer fit."""
    left, said = MOST_LETTERS, list[str]()
    for one in checks:
        letters = "null" if one is None else _json(one)
        said.append(letters if len(letters) <= left else "null")
        left -= len(said[-1])
    return f"[{','.join(said)}]" if any(one != "null" for one in said) else None


def _json(value: object) -> str:
    said = clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    return _NUL.sub("\\1\ufffd", said) if "\\u0000" in said else said


def clean(value: str) -> str:
    """Remove what PostgreSQL cannot store: NUL and lone surrogates, which a repository may contain."""
    if value.isascii() and "\x00" not in value:
        return value
    return value.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()
