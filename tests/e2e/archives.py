"""Two ways to a point in time, as docs/high-availability.md has them: PostgreSQL's own means, and pgBackRest."""

from __future__ import annotations

import re
import shlex
import shutil

from durable_harness.postgres import PackagedServer, PostgresServer
from durable_harness.standby import PRIMARY, Copy

from tests.e2e.pages import blocks

PAGE = "high-availability.md"
PGBACKREST = shutil.which("pgbackrest")
_AT = re.compile(r"2026-11-27 14:03:00\+00")


class OwnMeans:
    """A base backup, and a folder with the log."""

    def __init__(self) -> None:
        self.server = PostgresServer(**PRIMARY)
        self._folder = self.server.home / "backup"
        self._archiving, self._copying, self._recovery = blocks(PAGE, "A point in time")

    def begin(self) -> None:
        """Start the server, with its archive."""
        self.server.run_program("/bin/mkdir", "-p", str(self._folder / "log"), str(self._folder / "base"))
        _append(self.server, self._here(self._archiving))
        self.server.start()

    def back_up(self) -> None:
        place = f"host=127.0.0.1 port={self.server.port} user=postgres"
        program, *arguments = shlex.split(self._here(self._copying).replace("host=a user=replicator", place))
        self.server.run_program(program, *arguments)

    def recover(self, moment: str) -> PostgresServer:
        """A server with what was committed before the moment; -> when it accepts writes."""

        def fill(made: PostgresServer) -> None:
            [base] = (self._folder / "base").iterdir()
            made.run_program("/bin/cp", "-a", str(base), str(made.data))
            _append(made, _AT.sub(moment, self._here(self._recovery)))
            made.run_program("/usr/bin/touch", str(made.data / "recovery.signal"))

        return Copy(self.server, fill)

    def _here(self, block: str) -> str:
        return block.replace("/backup/", f"{self._folder}/")


class PgBackRest:
    """Backups and an archive by pgBackRest, which knows the versions of the server that are packaged beside it."""

    def __init__(self) -> None:
        self.server = PackagedServer(**PRIMARY)
        self._file = self.server.home / "pgbackrest.conf"
        self._settings, self._archiving, self._commands = blocks(PAGE, "The same with pgBackRest")

    def begin(self) -> None:
        """Start the server, with its archive."""
        home, server = self.server.home, self.server
        own = f"lock-path={home}/lock\nlog-path={home}\nlog-level-console=off\n"
        given = self._settings.replace("/backup/", f"{home}/").replace("[global]\n", f"[global]\n{own}")
        given = re.sub(r"pg1-path=.*", f"pg1-path={server.data}", given)
        self._file.write_text(f"{given}pg1-port={server.port}\npg1-socket-path={home}\npg1-user=postgres\n")
        self._file.chmod(0o644)
        server.set(unix_socket_directories=str(home))
        _append(server, self._archiving.replace("pgbackrest ", f"{PGBACKREST} --config={self._file} "))
        server.start()
        self._run(0)

    def back_up(self) -> None:
        self._run(1)

    def recover(self, moment: str) -> PostgresServer:
        """A server with what was committed before the moment; -> when it accepts writes."""
        return Copy(self.server, lambda made: self._run(2, f"--pg1-path={made.data}", moment=moment, by=made))

    def _run(self, number: int, *more: str, moment: str = "", by: PostgresServer | None = None) -> None:
        _, *arguments = shlex.split(_AT.sub(moment, self._commands.splitlines()[number]))
        (by or self.server).run_program(str(PGBACKREST), f"--config={self._file}", *more, *arguments)


def _append(server: PostgresServer, settings: str) -> None:
    with (server.data / "postgresql.conf").open("a") as conf:
        conf.write(settings)
