"""Threads for requests, and a limit to the requests that wait for one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from app.concurrency import Lane
from app.errors import Message
from app.server.answer import Piece

PieceStep = Callable[[], Piece]


class Pool:
    """Threads that produce answers.  queued, of_client: requests that may wait, and that one client may have."""

    def __init__(self, name: str, threads: int, *, queued: int, of_client: int) -> None:
        self._threads = ThreadPoolExecutor(threads, name)
        self._lane = Lane(Message("requests"), threads + queued, of_client, name=name)

    def begin(self, client: str, step: PieceStep) -> Future[Piece]:
        """Run the first step of a request.  Raises: TooManyRequests, Busy, at once and without a thread."""
        self._lane.enter(client)
        try:
            future = self._threads.submit(step)
        except BaseException:
            self._lane.leave(client)
            raise
        future.add_done_callback(lambda _: self._lane.leave(client))
        return future

    def go_on(self, step: PieceStep) -> Future[Piece]:
        """Run a further step of a request that was admitted."""
        return self._threads.submit(step)

    def finish(self, close: Callable[[], None]) -> None:
        """Release what an answer holds whose client has gone."""
        self._threads.submit(close)
