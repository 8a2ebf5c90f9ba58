"""What a statement touches, read from its text and the catalogue: two that touch nothing in common may change places.

Only what is sure is left out.  Under READ COMMITTED a write is seen by nobody before its commit, so a read and another's
uncommitted write may change places, a read and the commit may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TARGETS = re.compile(r"\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)", re.IGNORECASE)
_LOCKED = re.compile(r"\bFOR (?:NO KEY )?(?:UPDATE|SHARE|KEY SHARE)\b(?: OF (\w+))?", re.IGNORECASE)
_OPAQUE = re.compile(r"\b(TRUNCATE|EXECUTE|LOCK TABLE|MERGE)\b", re.IGNORECASE)
_PLAIN_INSERT = re.compile(r"INSERT INTO (\w+)[^;]*?\bVALUES\b", re.IGNORECASE)
_WORDS = re.compile(r"[a-z_]+")
ADVISORY = "pg_advisory"
_VIEWS = """
    SELECT c.relname, pg_get_viewdef(c.oid), ARRAY(
               SELECT DISTINCT t.relname::text FROM pg_rewrite r
                 JOIN pg_depend d ON d.objid = r.oid AND d.classid = 'pg_rewrite'::regclass
                                 AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> c.oid
                 JOIN pg_class t ON t.oid = d.refobjid WHERE r.ev_class = c.oid)
      FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'v'"""
ENDS = frozenset({"COMMIT", "ROLLBACK"})


@dataclass(frozen=True)
class Footprint:
    """Tables.  reads: also those it writes; locks: where it may wait for another, or another for it; shares: rows kept
    from vanishing by foreign keys; writes: seen by others from the commit on.  ends: a COMMIT or ROLLBACK.
    """

    reads: frozenset[str] = frozenset()
    locks: frozenset[str] = frozenset()
    shares: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    ends: bool = False
    inserts: tuple[str, str] | None = None

    @property
    def leaves(self) -> frozenset[str]:
        """What the end of its transaction tells or frees."""
        return self.writes | self.locks | self.shares

    @property
    def meets(self) -> frozenset[str]:
        """Where it may learn of another's end."""
        return self.reads | self.leaves


def independent(one: Footprint, other: Footprint) -> bool:
    """Whether the two may change places without anybody noticing."""
    if one.ends or other.ends:
        return not (one.ends and one.leaves & other.meets) and not (other.ends and other.leaves & one.meets)
    if one.inserts and other.inserts and one.inserts[0] == other.inserts[0]:
        return one.inserts != other.inserts
    return not (one.locks & (other.locks | other.shares) or other.locks & one.shares)


class Catalogue:
    """What the database knows: tables, views, functions with their bodies, triggers, foreign keys."""

    def __init__(self, watcher: Any, stepped: set[str]) -> None:
        """stepped: functions whose statements are stepped one by one, so that the call itself touches nothing."""
        self._watcher, self._stepped = watcher, stepped
        schema = "(SELECT oid FROM pg_namespace WHERE nspname = 'public')"
        tables = self._ask(f"SELECT relname FROM pg_class WHERE relnamespace = {schema} AND relkind = 'r'")
        self._tables = {name for (name,) in tables}
        self._views = {name: (definition, tables) for name, definition, tables in self._ask(_VIEWS)}
        self._bodies = dict(self._ask(f"SELECT proname, prosrc FROM pg_proc WHERE pronamespace = {schema}"))
        self._triggers = self._ask("""
            SELECT c.relname, p.prosrc FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
              JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal""")
        self._keys = self._ask("""
            SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'""")

    def footprint(self, statement: str, given: Mapping[str, Any], held: frozenset[str]) -> Footprint:
        """Of one statement with its parameters.  held: what its transaction has written or locked before."""
        if statement.startswith(("COMMIT", "ROLLBACK")):
            return Footprint(locks=held, ends=True)
        whole = self._unfold(statement)
        tables = {word for word in _WORDS.findall(whole) if word in self._tables}
        writes = tables if _OPAQUE.search(whole) else tables & set(_TARGETS.findall(whole))
        if "DELETE" in whole.upper():  # foreign keys may cascade, and are looked up in any case
            writes = writes | {here for here, there in self._keys if there in writes}
        shares = {there for here, there in self._keys if here in writes}
        locks = writes | _locked(whole, tables) | ({ADVISORY} if "advisory" in whole else set())
        inserts = _plain_insert(statement, given) if len(locks) == 1 else None
        if inserts and self._is_new(*inserts):
            locks = set()  # nobody can wait for a row that nobody else can name
        return Footprint(*map(frozenset, (tables, locks, shares, writes)), inserts=inserts)

    def _unfold(self, text: str) -> str:
        """The text over tables, with the bodies of all functions it calls, directly or not, and of the triggers it may
        fire.
        """
        text = self._over_tables(text)
        seen, fired = self._stepped.copy(), set[str]()
        while True:
            found = (set(_WORDS.findall(text)) & self._bodies.keys()) - seen
            bodies = [self._bodies[name] for name in found]
            sure = not _OPAQUE.search(text) and "DELETE" not in text.upper()  # of which tables it writes
            fires = set((_TARGETS if sure else _WORDS).findall(text)) - fired
            bodies += [body for table, body in self._triggers if table in fires]
            if not bodies:
                return text
            seen |= found
            fired |= fires
            text += " ".join(map(self._over_tables, bodies))

    def _over_tables(self, text: str) -> str:
        for view in set(_WORDS.findall(text)) & self._views.keys():
            definition, tables = self._views[view]
            if len(tables) == 1:  # a lock or a write is the table's
                text = re.sub(rf"\b{view}\b", tables[0], text)
            else:
                text += definition
        return text

    def _is_new(self, table: str, job_id: str) -> bool:
        return not self._ask(f"SELECT 1 FROM {table} WHERE job_id = '{job_id}'")

    def _ask(self, query: str) -> list[tuple[Any, ...]]:
        with self._watcher.cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())


def _locked(whole: str, tables: set[str]) -> set[str]:
    """Tables of which rows are locked by name; all of them where no name is given."""
    locked: set[str] = set()
    for alias in _LOCKED.findall(whole):
        named = {table for table in tables if alias and re.search(rf"\b{table}(?: AS)? {alias}\b", whole)}
        locked |= named or tables
    return locked


def _plain_insert(statement: str, given: Mapping[str, Any]) -> tuple[str, str] | None:
    found = _PLAIN_INSERT.match(statement)
    return (found[1], str(given["job_id"])) if found and "job_id" in given else None
