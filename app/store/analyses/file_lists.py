"""The contents of an analysis: lists of files, each stored once for all analyses that contain it (docs/adr/0032)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.analyses.inventories import FileRow, StoredFile, clean, store_files, written
from app.store.core.unit_of_work import Tx

#: files of a list: average, maximum
USUAL, MOST = 16, 128

#: Digests of an analysis' lists, in order.
Listing = Sequence[bytes]


class FileList(NamedTuple):
    """Consecutive files.  digest: of everything that is stored of them."""

    digest: bytes
    files: tuple[StoredFile, ...]

    @property
    def letters(self) -> int:
        """The size of its JSON."""
        return sum(len(file.tests) + len(file.hints) + len(file.checks or "") for file in self.files)


# A list that no analysis has yet must outlive the job that stored it, so pruning skips what was used within a day.
# Noting the use once an hour is enough, and writes almost nothing.  A list that is being deleted is waited for, and is
# then new.
_KNOWN = text("""
    WITH stale AS (
        SELECT id FROM file_lists
         WHERE digest = ANY (CAST(:digests AS bytea[])) AND used_at < now() - interval '1 hour'
         ORDER BY digest FOR NO KEY UPDATE),
    used AS (UPDATE file_lists l SET used_at = now() FROM stale WHERE l.id = stale.id RETURNING l.digest)
    SELECT digest FROM file_lists
     WHERE digest = ANY (CAST(:digests AS bytea[])) AND used_at >= now() - interval '1 hour'
    UNION ALL SELECT digest FROM used""")
_STORE = text("""
    WITH new AS (
        INSERT INTO file_lists (digest, size)
        SELECT digest, size FROM unnest(CAST(:digests AS bytea[]), CAST(:sizes AS integer[])) AS l(digest, size)
         ORDER BY digest  -- two workers storing the same lists must not deadlock
        ON CONFLICT DO NOTHING RETURNING id, digest)
    INSERT INTO file_list_entries (file_list_id, position, path, file_inventory_id, skipped)
    SELECT new.id, f.position, f.path, i.id, f.skipped
      FROM unnest(CAST(:lists AS bytea[]), CAST(:positions AS integer[]), CAST(:paths AS text[]),
                  CAST(:blob_ids AS text[]), CAST(:contents AS bytea[]), CAST(:skipped AS text[]))
           AS f(list, position, path, blob_id, content, skipped)
      JOIN new ON new.digest = f.list
      LEFT JOIN file_inventories i
        ON f.skipped IS NULL
       AND i.blob_id = f.blob_id AND i.digest = f.content AND i.parser_version = :parser_version""")
# A missing list makes a row without one, which its column refuses.
_ATTACH = text("""
    INSERT INTO analysis_file_lists (analysis_id, last_ordinal, first_ordinal, file_list_id)
    SELECT :analysis_id, sum(l.size) OVER up_to, sum(l.size) OVER up_to - l.size + 1, l.id
      FROM unnest(CAST(:digests AS bytea[])) WITH ORDINALITY AS d(digest, place)
      LEFT JOIN file_lists l ON l.digest = d.digest
    WINDOW up_to AS (ORDER BY d.place)""")


def lists(files: Iterable[FileRow], parser_version: str) -> Iterator[FileList]:
    """Cut files, sorted by path, into lists.

    Whether a list ends with a file depends on its path only, whatever the files around it are, so that one file more or
    less changes only one list.
    """
    part: list[StoredFile] = []
    for file in files:
        part.append(written(file))
        if ends(file.path) or len(part) == MOST:
            yield _list(part, parser_version)
            part = []
    if part:
        yield _list(part, parser_version)


def ends(path: str) -> bool:
    """Whether a list ends with this file.

    A checksum would not do, because those of numbered files are far from random.
    """
    return hashlib.sha256(path.encode("utf-8", "replace")).digest()[0] % USUAL == 0


def _list(files: Sequence[StoredFile], parser_version: str) -> FileList:
    digest = hashlib.sha256(parser_version.encode())
    for file in files:
        for part in (clean(file.path), file.blob_id, file.skipped or ""):
            digest.update(part.encode() + b"\0")
        digest.update(file.digest)
    return FileList(digest.digest(), tuple(files))


def store(tx: Tx, given: Sequence[FileList], parser_version: str) -> None:
    """Store new lists and the tests of their files.  They are not visible before `attach`.

    Locks: lists that were not used within the hour.  Raises: OvertakenError if tests of a file were pruned meanwhile.
    """
    known = {bytes(row.digest) for row in tx.run(_KNOWN, digests=[one.digest for one in given])}
    new = list({one.digest: one for one in given if one.digest not in known}.values())
    if not new:
        return
    store_files(tx, [file for one in new for file in one.files], parser_version)
    rows = [(one.digest, position, file) for one in new for position, file in enumerate(one.files, 1)]
    tx.run(
        _STORE,
        digests=[one.digest for one in new],
        sizes=[len(one.files) for one in new],
        lists=[digest for digest, _, _ in rows],
        positions=[position for _, position, _ in rows],
        paths=[clean(file.path) for _, _, file in rows],
        blob_ids=[file.blob_id for _, _, file in rows],
        contents=[file.digest for _, _, file in rows],
        skipped=[file.skipped for _, _, file in rows],
        parser_version=parser_version,
    )


def attach(tx: Tx, analysis_id: UUID, listing: Listing) -> None:
    """Make stored lists the result of an analysis; part of its finish commit."""
    tx.write(_ATTACH, analysis_id=analysis_id, digests=list(listing))
