"""Places for long bodies, which could fill the memory: few at once, and few of one client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from weakref import WeakValueDictionary

from app.concurrency import RETRY_SECONDS
from app.errors import Busy, Message

#: Bodies above 64 KB that are received or worked on at once, of all clients and of one.
PLACES, OF_CLIENT = 32, 4
PATIENCE = 2.0  # seconds


class LongBodies:
    """The places of one event loop.

    A client's requests wait for the client's own places first, so they take no more than those in any queue.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience
        self._all = asyncio.Semaphore(PLACES)
        #: A client's is dropped when none of its requests holds it or waits for it.
        self._each: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def place(self, client: str) -> AsyncIterator[None]:
        """Hold a place.  Raises: Busy."""
        own = self._each.setdefault(client, asyncio.Semaphore(OF_CLIENT))
        async with AsyncExitStack() as held:
            try:
                async with asyncio.timeout(self._patience):
                    await held.enter_async_context(own)
                    await held.enter_async_context(self._all)
            except TimeoutError:
                message = Message("Too many %(what)s at once; try again in a moment.", what=Message("long requests"))
                raise Busy(message, retry_after=RETRY_SECONDS) from None
            yield
