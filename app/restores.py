"""Restore a dump in one transaction: everything of the service's schema is replaced, or nothing is changed."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

from app.dumps import Dump, DumpRefused
from app.postgres_programs import address, choose, said

#: An extension is not of the dump's role: what there is of it is used, or made as by its migration.
_LEFT_OUT = re.compile(
    r" (EXTENSION - |COMMENT - EXTENSION |SCHEMA - |COMMENT - SCHEMA |INDEX public codebases_address_parts )"
)
_BLOCK = 1 << 20
#: Drops what is in the schema and belongs to no extension.  The names are listed first: a name cannot be told any more
#: when something has gone with another one.
_BEGIN = """
SET client_min_messages = warning;
BEGIN;
SET LOCAL lock_timeout = '30s';
DO $drop$
DECLARE
    act text;
    acts CONSTANT text[] := ARRAY(
        SELECT format('DROP %s IF EXISTS %s CASCADE',
                      CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE'
                           ELSE 'TABLE' END, c.oid::regclass)
          FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
           -- sequences go with their columns; a table of partitions depends on its own columns, and they on it
           AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                              AND (d.deptype = 'e' OR c.relkind = 'S' AND d.deptype IN ('i', 'a')))
        UNION ALL
        SELECT format('DROP FUNCTION IF EXISTS %s CASCADE', p.oid::regprocedure)
          FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace AND p.prokind = 'f'
           AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid
                              AND d.deptype = 'e')
        UNION ALL
        SELECT format('DROP TYPE IF EXISTS %s CASCADE', t.oid::regtype)
          FROM pg_type t WHERE t.typnamespace = 'public'::regnamespace AND t.typtype IN ('e', 'd')
           AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_type'::regclass AND d.objid = t.oid
                              AND d.deptype = 'e'));
BEGIN
    FOREACH act IN ARRAY acts LOOP
        EXECUTE act;
    END LOOP;
END $drop$;
"""
#: As migrations/versions/0040_search_addresses.py makes it; without it, the index that needs it is not expected.
_END = """
DO $extension$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN
        CREATE SCHEMA trigrams;
        CREATE EXTENSION pg_trgm SCHEMA trigrams;
    END IF;
EXCEPTION WHEN OTHERS THEN
    NULL;
END $extension$;
COMMIT;
"""


def restore(url: str, dump: Dump, *, server: int, watch: Callable[[int], None]) -> None:
    """Replace what is in the schema `public` by a dump, as the owner of the tables.

    server: the major version of the server; watch: called with the bytes sent so far.  A kill at any moment leaves the
    database as it was before or after.  Raises: DumpRefused, ProgramFailed, and nothing is changed then.
    """
    program, to = choose("pg_restore", server=server, written_by=dump.program), address(url)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as errors:
        (wanted := Path(folder) / "list").write_text(
            "\n".join(entry for entry in dump.entries if not _LEFT_OUT.search(entry)), encoding="utf-8"
        )
        reading = subprocess.Popen(
            [program, "--no-owner", "--no-privileges", f"--use-list={wanted}", "--file=-", dump.file],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
        )  # fmt: skip
        writing = subprocess.Popen(
            [program.with_name("psql"), "--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1",
             f"--dbname={to.dsn}", "--file=-"],
            env=to.environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=errors,
        )  # fmt: skip
        try:
            with suppress(BrokenPipeError):  # it has ended with an error, which it says
                _send(reading, writing, watch)
            writing.wait()
        finally:
            for process in (reading, writing):  # without its end a transaction is undone
                process.kill()
                process.wait()
        if writing.returncode or reading.returncode:
            raise DumpRefused(f"nothing was restored, the database is as it was: {said(errors)}")


def _send(reading: subprocess.Popen[bytes], writing: subprocess.Popen[bytes], watch: Callable[[int], None]) -> None:
    """Send the statements of a dump in one transaction, which is committed only when all of them were read."""
    source, target = _pipe(reading.stdout), _pipe(writing.stdin)
    with suppress(BrokenPipeError), source, target:
        target.write(_BEGIN.encode())
        sent = 0
        while block := source.read(_BLOCK):
            target.write(block)
            watch(sent := sent + len(block))
        if reading.wait() == 0:
            target.write(_END.encode())


def _pipe(end: IO[bytes] | None) -> IO[bytes]:
    if end is None:
        raise RuntimeError("the program was started without its pipe")
    return end
