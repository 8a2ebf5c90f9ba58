"""What a statement touches, read from its text and the catalogue: two that touch nothing in common may change places.

Only what is sure is left out.  Under READ COMMITTED a write is seen by nobody before its commit, so a read and another's
uncommitted write may change places, a read and the commit may not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_TARGETS = re.compile(r"\b(INSERT INTO|UPDATE|DELETE FROM)\s+(\w+)", re.IGNORECASE)
_LOCKED = re.compile(r"\bFOR (?:NO KEY )?(UPDATE|SHARE|KEY SHARE)\b(?: OF (\w+))?", re.IGNORECASE)
#: As `pg_trigger.tgtype` has them.
_INSERT, _DELETE, _UPDATE = 4, 8, 16
#: An INSERT may come to an UPDATE where it has a conflict.
_ACTS = {"INSERT INTO": (_INSERT, _UPDATE), "DELETE FROM": (_DELETE,), "UPDATE": (_UPDATE,)}
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
    """Tables.  reads: also those it writes; locks: where it may wait for another, or another for it; shares: of rows that
    several may lock at once, as foreign keys do; writes: seen by others from the commit on.  ends: a COMMIT or ROLLBACK.
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
        tables = self._ask(f"SELECT relname FROM pg_class WHERE relnamespace = {schema} AND relkind IN ('r', 'p')")
        self._tables = {name for (name,) in tables}
        self._views = {name: (definition, tables) for name, definition, tables in self._ask(_VIEWS)}
        self._bodies = dict(self._ask(f"SELECT proname, prosrc FROM pg_proc WHERE pronamespace = {schema}"))
        self._triggers = self._ask("""
            SELECT c.relname, p.prosrc, t.tgtype::integer FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
              JOIN pg_proc p ON p.oid = t.tgfoid WHERE NOT t.tgisinternal""")
        self._keys = self._ask("""
            SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint WHERE contype = 'f'""")

    def footprint(self, statement: str, given: Mapping[str, Any], held: frozenset[str]) -> Footprint:
        """Of one statement with its parameters.  held: what its transaction has written or locked before."""
        if statement.startswith(("COMMIT", "ROLLBACK")):
            return Footprint(locks=held, ends=True)
        bodies = self._unfold(statement)
        whole = " ".join(bodies)
        tables = self._named(whole)
        done = self._done(whole)
        writes = {name for name, _ in done} & self._tables
        shares = {there for here, there in self._keys if (here, _INSERT) in done or (here, _UPDATE) in done}
        found = [self._locked(body) for body in bodies]
        locks = writes.union(*(own for own, _ in found)) | ({ADVISORY} if "advisory" in whole else set())
        inserts = _plain_insert(statement, given) if len(locks) == 1 else None
        if inserts and self._is_new(*inserts):
            locks = set()  # nobody can wait for a row that nobody else can name
        return Footprint(
            *map(frozenset, (tables, locks, shares.union(*(shared for _, shared in found)), writes)), inserts=inserts
        )

    def _named(self, body: str) -> set[str]:
        return {word for word in _WORDS.findall(body) if word in self._tables}

    def _done(self, text: str) -> set[tuple[str, int]]:
        """What may be done to which tables and views; all of it to each one named where the text does not say."""
        if _OPAQUE.search(text):
            done = {(name, act) for name in _WORDS.findall(text) for act in (_INSERT, _DELETE, _UPDATE)}
        else:
            done = {(name, act) for verb, name in _TARGETS.findall(text) for act in _ACTS[verb.upper()]}
        gone = {name for name, act in done if act == _DELETE}
        while gone:  # foreign keys may cascade, or set what named a row to null
            below = {(here, act) for here, there in self._keys if there in gone for act in (_DELETE, _UPDATE)}
            gone = {table for table, _ in below - done}
            done |= below
        return done

    def _locked(self, body: str) -> tuple[set[str], set[str]]:
        """Tables of which rows are locked by name, alone and with others; all of them where no name is given."""
        alone, together = set[str](), set[str]()
        tables = self._named(body)
        for strength, alias in _LOCKED.findall(body):
            named = {table for table in tables if alias and re.search(rf"\b{table}(?: AS)? {alias}\b", body)}
            (alone if strength.upper() == "UPDATE" else together).update(named or tables)
        return alone, together

    def _unfold(self, text: str) -> list[str]:
        """The text over tables, and the bodies of all functions it calls, directly or not, and of the triggers it may
        fire.
        """
        bodies, new = list[str](), [self._over_tables(text)]
        seen, fired = self._stepped.copy(), set[str]()
        while new:
            bodies += new
            whole = " ".join(bodies)
            called = (set(_WORDS.findall(whole)) & self._bodies.keys()) - seen
            done = self._done(whole)
            acts = {name: sum(act for one, act in done if one == name) for name, _ in done}
            fires = {body for table, body, kind in self._triggers if acts.get(table, 0) & kind} - fired
            seen |= called
            fired |= fires
            new = [self._over_tables(body) for body in (*(self._bodies[name] for name in called), *fires)]
        return bodies

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


def _plain_insert(statement: str, given: Mapping[str, Any]) -> tuple[str, str] | None:
    found = _PLAIN_INSERT.match(statement)
    return (found[1], str(given["job_id"])) if found and "job_id" in given else None
