"""A cell whose host has vanished or stands still, before a real web: the accounts of the other cell get their answers."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import product
from pathlib import Path

import psycopg2
import pytest
from durable_harness.postgres import PostgresServer

from tests.e2e.test_cells import Operator
from tests.web.serving import ask, serving

#: A server that stands still is given up after this and four seconds.
STATEMENT = {"STATEMENT_TIMEOUT": "5s"}
#: Requests for the silent cell, and how many begin in a second: with nine seconds for each, all threads would wait.  At
#: the higher rate they would do so before a second has passed since the last answer.
REQUESTS, RATES = 240, (16.0, 100.0)
#: Far below what they would wait for: 240 requests of nine seconds in 32 threads.
SOON = 30.0
NOBODY = {"Authorization": "Bearer fl_nobody"}


class Line:
    """Passes connections on to a server, until that falls silent."""

    def __init__(self, port: int) -> None:
        self._server, self._open = port, list[socket.socket]()
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listening.getsockname()[1]
        self._is_silent = False
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self) -> None:
        """Say nothing on any connection, and keep them all, as a host does whose processes are stopped."""
        self._is_silent = True

    def vanish(self) -> None:
        """End the connections, and say nothing on new ones."""
        self._is_silent = True
        for one in self._open:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()
        for one in self._open:
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                taken, _ = self._listening.accept()
                self._open.append(taken)
                if not self._is_silent:
                    server = socket.create_connection(("127.0.0.1", self._server))
                    self._open.append(server)
                    for ends in ((taken, server), (server, taken)):
                        threading.Thread(target=self._pass_on, args=ends, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._is_silent:
                    target.sendall(data)
            target.shutdown(socket.SHUT_WR)


#: How a cell falls silent, and how many requests a second it gets; two of the four unless CELL_PLACES=all.
KINDS = list(product((Line.vanish, Line.freeze), RATES))
if os.environ.get("CELL_PLACES") != "all":
    KINDS = [(Line.vanish, max(RATES)), (Line.freeze, min(RATES))]


@contextmanager
def two_cells(folder: Path, silent: str = "eu2") -> Iterator[tuple[Operator, Line]]:
    with ExitStack() as stack:
        server = PostgresServer()
        stack.callback(server.remove)
        server.start()
        with closing(psycopg2.connect(server.url())) as connection:
            connection.autocommit = True
            connection.cursor().execute("CREATE DATABASE eu2")
        line = Line(server.port)
        stack.callback(line.close)
        cells = {"eu1": server.url(), "eu2": server.url("eu2")}
        cells[silent] = cells[silent].replace(f":{server.port}/", f":{line.port}/")
        yield Operator(folder, cells), line


def timed(port: int, headers: dict[str, str], method: str = "GET", path: str = "/api/v1/me") -> tuple[int, float]:
    began = time.monotonic()
    status, _ = ask(port, method, path, **headers)
    return status, time.monotonic() - began


@pytest.mark.proof
@pytest.mark.parametrize(("fall_silent", "rate"), KINDS)
def test_a_host_that_falls_silent_leaves_the_others_their_threads(
    tmp_path: Path, fall_silent: Callable[[Line], None], rate: float
) -> None:
    with two_cells(tmp_path) as (operator, line):
        for cell in operator.cells:
            operator.run(cell, "migrate")
        here, there = (operator.token(cell, f"{cell}@example.org") for cell in ("eu1", "eu2"))
        made = operator.run("eu1", "token", "add", "eu1@example.org", "--json")
        unknown = {"Authorization": f"Bearer {json.loads(made)['token']}"}
        with serving(operator.cells["eu1"], tmp_path, **operator.settings, **STATEMENT) as port:
            assert [timed(port, who)[0] for who in (here, there)] == [200, 200]
            fall_silent(line)
            with ThreadPoolExecutor(REQUESTS) as pool:
                begun, silent, answers = time.monotonic(), [], []
                while len(silent) < REQUESTS:
                    silent.append(pool.submit(timed, port, there if len(silent) % 3 else NOBODY))
                    if len(silent) % 8 == 0:
                        answers.append(timed(port, here))
                    time.sleep(max(0.0, begun + len(silent) / rate - time.monotonic()))  # the load's own pace
                new = timed(port, unknown)
                refused = [one.result() for one in silent]
        assert {status for status, _ in answers} == {200}
        assert new[0] == 200
        assert {status for status, _ in refused} == {503}
        assert max(seconds for _, seconds in [*answers, new]) < SOON, sorted(seconds for _, seconds in answers)
        seconds = sorted(seconds for _, seconds in answers)
        print(
            f"\nothers: median {seconds[len(seconds) // 2]:.3f} s, longest {seconds[-1]:.3f} s; a new key {new[1]:.3f} s"
        )


@pytest.mark.proof
@pytest.mark.parametrize(("fall_silent", "rate"), KINDS)
def test_a_cell_with_the_directory_that_falls_silent_leaves_the_others_their_threads(
    tmp_path: Path, fall_silent: Callable[[Line], None], rate: float
) -> None:
    """The web's own cell, and the first one of `CELLS`: its accounts, unknown keys, and files that do not exist."""
    with two_cells(tmp_path, silent="eu1") as (operator, line):
        for cell in operator.cells:
            operator.run(cell, "migrate")
        there, here = (operator.token(cell, f"{cell}@example.org") for cell in operator.cells)
        with serving(operator.cells["eu1"], tmp_path, **operator.settings, **STATEMENT) as port:
            assert [timed(port, who)[0] for who in (there, here)] == [200, 200]
            fall_silent(line)
            with ThreadPoolExecutor(REQUESTS) as pool:
                begun, refused, missing, answers = time.monotonic(), [], [], []
                for number in range(REQUESTS):
                    if number % 4 < 2:
                        refused.append(pool.submit(timed, port, there))
                    elif number % 4 == 2:
                        refused.append(pool.submit(timed, port, NOBODY, "POST", "/api/v1/analyses"))
                    else:
                        missing.append(pool.submit(timed, port, {}, "GET", "/static/nothing.css"))
                    if number % 8 == 0:
                        answers.append(timed(port, here))
                    time.sleep(max(0.0, begun + number / rate - time.monotonic()))  # the load's own pace
                found = [{one.result()[0] for one in some} for some in (refused, missing)]
        assert {status for status, _ in answers} == {200}
        assert found == [{503}, {404}]
        assert max(seconds for _, seconds in answers) < SOON, sorted(seconds for _, seconds in answers)
        print(f"\nothers: longest {max(seconds for _, seconds in answers):.3f} s")
