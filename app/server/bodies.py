"""Places for long bodies, which could fill the memory: few at once, few of one network, and none for who trickles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from app.concurrency import RETRY_SECONDS
from app.errors import Busy, Message

#: Bodies above 64 KB that are received or worked on at once: of all clients, for known ones only, and of a network.
PLACES, FOR_KNOWN, OF_NETWORK = 32, 8, 4
PATIENCE = 2.0  # seconds
#: What a body must bring in each second while others wait for its place, and how far it may be behind, in seconds.
RATE, GRACE = 16_384, 1.0
JUDGED_EVERY = 0.25  # seconds


class BodyPlace:
    """A place that a body has.  limit: of the time in which it must arrive; now: of the loop's clock, in seconds."""

    def __init__(self, limit: asyncio.Timeout, now: float) -> None:
        self._limit = limit
        self.is_arriving, self.is_ended = True, False
        #: Until when it brought enough; a burst counts for `GRACE` only.
        self.due = now + GRACE

    def received(self, size: int, now: float) -> None:
        """Note another part of the body."""
        self.due = min(self.due + size / RATE, now + GRACE)

    def arrived(self) -> None:
        """Nothing more of the body is awaited: the place is kept until the request has its answer."""
        self.is_arriving = False

    def end(self, now: float) -> None:
        """End the body, as if its time were over."""
        self.is_arriving, self.is_ended = False, True
        if not self._limit.expired():
            self._limit.reschedule(now)


class LongBodies:
    """The places of one event loop.

    A network's requests wait for its own places first, so they take no more than those in any queue.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._anybodys, self._for_known = _Places(PLACES - FOR_KNOWN), _Places(FOR_KNOWN)
        #: A network's is dropped when none of its requests holds it or waits for it.
        self._each: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def place(self, network: str, limit: asyncio.Timeout, *, is_known: bool = False) -> AsyncIterator[BodyPlace]:
        """Hold a place.  is_known: whether it may be one that strangers cannot have.  Raises: Busy."""
        own = self._each.setdefault(network, asyncio.Semaphore(OF_NETWORK))
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._patience):
                    await held.enter_async_context(own)
                    places = self._for_known if is_known and self._anybodys.are_full() else self._anybodys
                    taken = await held.enter_async_context(places.place(limit))
            except TimeoutError:
                message = Message("Too many %(what)s at once; try again in a moment.", what=Message("long requests"))
                raise Busy(message, retry_after=RETRY_SECONDS) from None
            yield taken


class _Places:
    """Places of one kind.  While some wait for one, as many bodies are ended as are behind, the furthest first."""

    def __init__(self, most: int) -> None:
        self._free, self._held, self._waiting = asyncio.Semaphore(most), set[BodyPlace](), 0
        self._next: asyncio.TimerHandle | None = None

    def are_full(self) -> bool:
        """Whether the next one has to wait."""
        return self._free.locked()

    @asynccontextmanager
    async def place(self, limit: asyncio.Timeout) -> AsyncIterator[BodyPlace]:
        """Wait for a place, and hold it."""
        self._waiting += 1
        try:
            if self._next is None:
                self._judge()
            await self._free.acquire()
        finally:
            self._waiting -= 1
        taken = BodyPlace(limit, asyncio.get_running_loop().time())
        self._held.add(taken)
        try:
            yield taken
        finally:
            self._held.discard(taken)
            self._free.release()

    def _judge(self) -> None:
        self._next = None
        if not (self._waiting and self.are_full()):
            return
        loop = asyncio.get_running_loop()
        behind = [one for one in self._held if one.is_arriving and one.due < loop.time()]
        behind.sort(key=lambda one: one.due)
        ending = sum(one.is_ended for one in self._held)
        for one in behind[: max(0, self._waiting - ending)]:
            one.end(loop.time())
        self._next = loop.call_later(JUDGED_EVERY, self._judge)
