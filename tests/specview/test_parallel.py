"""Work side by side in a loop of its own, for a caller in another thread."""

import asyncio

from app.specview.model.parallel import as_done, event_loop

MANY, AHEAD = 12, 3


def test_no_more_is_begun_than_may_be_under_way_while_nothing_ends() -> None:
    begun, ended = list[int](), list[int]()

    async def work(number: int) -> int:
        begun.append(number)
        await gate.wait()
        return number

    async def close() -> None:
        """Nothing is open."""

    gate = asyncio.Event()
    with event_loop(close) as loop:
        results = as_done(loop, work, range(MANY), ahead=AHEAD)
        assert [next(results) for _ in range(3)] == [None] * 3
        assert begun == list(range(AHEAD))
        loop.call_soon_threadsafe(gate.set)
        ended += [found[0] for found in results if found is not None]
    assert sorted(ended) == begun == list(range(MANY))
