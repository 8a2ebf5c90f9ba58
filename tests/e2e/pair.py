"""A primary and its standby, and the addresses that name both."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from durable_harness.postgres import PostgresServer
from durable_harness.standby import PRIMARY, Standby, query

#: The two ways to name several servers, for the ports of both.
FORMS = {
    "as libpq": "postgresql://postgres@127.0.0.1:{0},127.0.0.1:{1}/postgres?target_session_attrs=read-write",
    "by parameters": "postgresql://postgres@/postgres?host=127.0.0.1:{0}&host=127.0.0.1:{1}&target_session_attrs=read-write",
}


@dataclass
class Pair:
    """Two servers; `primary` is the one that accepts writes, `url` names both in the order of their first start."""

    primary: PostgresServer
    standby: Standby
    url: str
    made: list[PostgresServer] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)

    @classmethod
    @contextmanager
    def streaming(cls, form: str, **settings: str) -> Iterator[Pair]:
        """An asynchronous pair.  settings: of both."""
        made: list[PostgresServer] = [primary := PostgresServer(**PRIMARY, **settings)]
        try:
            primary.start()
            made.append(standby := Standby(primary, "b", **settings))
            standby.follow()
            yield cls(primary, standby, FORMS[form].format(primary.port, standby.port), made, settings)
        finally:
            for one in made:
                one.remove()

    def attach(self, name: str, port: int) -> None:
        """Give the primary a new standby, in the place of a server that has gone."""
        self.made.append(standby := Standby(self.primary, name, port=str(port), **self.settings))
        self.standby = standby
        standby.follow()

    def wait_for_standby(self, names: str) -> None:
        """Let each commit wait for the standbys with these names; for none without names."""
        query(self.primary, f"ALTER SYSTEM SET synchronous_standby_names = '{names}'")
        query(self.primary, "SELECT pg_reload_conf()")

    def take_over(self) -> None:
        """Promote the standby; -> when it accepts writes."""
        self.standby.promote()
        self.primary = self.standby
