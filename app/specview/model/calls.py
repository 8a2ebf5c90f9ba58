"""The calls of one run: through the gate, within the run's own limits, until there is no point in more."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from typing import TypeVar

from app.domain.model_calls import CallWait, Cap, Entered, Refused, Tokens
from app.specview.model.endpoint import Endpoint
from app.specview.model.faults import ANSWERED, UNBILLED, CallFailed, Fault
from app.specview.model.gate import Gate
from app.specview.model.prompts import Prompt
from app.specview.model.replies import ModelReply
from app.specview.model.timing import Timing

T = TypeVar("T")
#: Calls for one chunk, failed and badly answered ones together.
TRIES = 3
#: Calls that the endpoint refused for their number only count by themselves.
TRIES_OF_TOO_FAST = 6
#: Chunks from which nothing at all could be taken, after which a run that took nothing yet asks no further.
MOST_IN_VAIN = 10
#: How long a run waits for a failing endpoint, restarted by each answer; then the fallback writes the rest.
PATIENCE_SECONDS = 180.0
_CAPS = {
    Cap.TOKENS_PER_DAY: Fault.TOKENS_PER_DAY,
    Cap.COST_PER_DAY: Fault.COST_PER_DAY,
    Cap.SHARE_OF_DAY: Fault.SHARE_OF_DAY,
}


@dataclass(slots=True)
class Meter:
    """The use and faults of a run.  spent: answered calls and estimates of those under way; troubles: by Fault."""

    spent: Tokens = field(default_factory=Tokens)
    calls: int = 0
    troubles: Counter[Fault] = field(default_factory=Counter)
    given_up: Fault | None = None


class Calls:
    """The calls of a run, from one event loop; the gate's own thread is `keeper`, as it may wait for a database.

    useful: set by whoever takes something from an answer; a model of no use is not asked for the whole of a run.
    """

    def __init__(
        self, endpoint: Endpoint, gate: Gate, keeper: Executor, meter: Meter, timing: Timing, *, parallel: int,
        most_tokens: int | None,
    ) -> None:  # fmt: skip
        self._endpoint, self._gate, self._keeper = endpoint, gate, keeper
        self._meter, self._timing, self._most_tokens = meter, timing, most_tokens
        self._places = asyncio.Semaphore(parallel)
        self._silent_since: float | None = None
        self._vain, self.useful = 0, False
        self._under_way, self._settled = 0, asyncio.Event()

    async def until(self, step: Callable[[int], Awaitable[bool]]) -> None:
        """Take a step until it says that it is done, fails for good, or was taken too often.

        step: gets the number of its bad ends, from 0; may raise CallFailed, and is then taken again after a pause.
        """
        bad, slowed, failed = 0, 0, CallFailed(Fault.BAD_ANSWER)
        while bad < TRIES and slowed < TRIES_OF_TOO_FAST:
            try:
                if await step(bad):
                    return
                failed = CallFailed(Fault.BAD_ANSWER)
            except CallFailed as raised:
                failed = raised
            self._meter.troubles[failed.fault] += 1
            if failed.lasting or failed.wait > PATIENCE_SECONDS:
                self._give_up(failed.fault)
                return
            if failed.fault is Fault.BAD_REQUEST:  # the next one would be the same
                break
            slowed += failed.fault is Fault.TOO_FAST
            bad += failed.fault is not Fault.TOO_FAST
            if failed.fault not in ANSWERED and bad < TRIES and slowed < TRIES_OF_TOO_FAST:
                await self._timing.sleep(self._timing.pause(bad + slowed, failed.wait))
        self._vain += 1
        if self._vain >= MOST_IN_VAIN and not self.useful:
            self._give_up(failed.fault)

    def _give_up(self, fault: Fault) -> None:
        self._meter.given_up = self._meter.given_up or fault

    async def ask(self, prompt: Prompt, attempt: int) -> str:
        """The text of one answer.  Raises: CallFailed."""
        estimate = Tokens(prompt.input, prompt.output(attempt))
        async with self._places:
            await self._fit(estimate)
            used = Tokens()
            try:
                entered = await self._enter(estimate)
                self._meter.calls += 1
                used = estimate
                reply = await self._made(prompt, attempt, entered)
                used = reply.used
            except CallFailed as failed:
                used = Tokens() if failed.fault in UNBILLED else used
                raise
            finally:
                self._settle(estimate, used)
            return reply.text

    async def _fit(self, estimate: Tokens) -> None:
        """Count the estimate for the run; where it would pass the cap, wait for what others take less than theirs."""
        while True:
            if self._meter.given_up is not None:
                raise CallFailed(self._meter.given_up)
            if self._most_tokens is None or (self._meter.spent + estimate).total <= self._most_tokens:
                break
            if not self._under_way:
                raise CallFailed(Fault.TOKENS_PER_SPEC)
            await self._settled.wait()
        self._meter.spent += estimate
        self._under_way += 1

    def _settle(self, estimate: Tokens, used: Tokens) -> None:
        self._meter.spent += used - estimate
        self._under_way -= 1
        self._settled.set()
        self._settled = asyncio.Event()

    async def _made(self, prompt: Prompt, attempt: int, entered: Entered) -> ModelReply:
        try:
            reply = await self._endpoint.complete(prompt, attempt=attempt)
        except asyncio.CancelledError:
            self._keeper.submit(self._gate.abandoned, entered)
            raise
        except CallFailed as failed:
            await self._failed(entered, failed)
            raise
        self._silent_since = None
        await self._kept(lambda: self._gate.succeeded(entered, reply.used))
        return reply

    async def _failed(self, entered: Entered, failed: CallFailed) -> None:
        used = Tokens() if failed.fault in UNBILLED else entered.estimate
        if failed.fault is Fault.TOO_FAST:
            await self._kept(lambda: self._gate.held_back(entered, failed.wait))
        elif failed.fault in ANSWERED:
            self._silent_since = None
            await self._kept(lambda: self._gate.succeeded(entered, used))
        else:
            await self._kept(lambda: self._gate.failed(entered, used))

    async def _enter(self, estimate: Tokens) -> Entered:
        while True:
            entering = self._keeper.submit(self._gate.enter, estimate)
            try:
                answer = await asyncio.wrap_future(entering)
            except asyncio.CancelledError:
                entering.add_done_callback(self._not_made)
                raise
            if isinstance(answer, Entered):
                return answer
            if isinstance(answer, Refused):
                raise CallFailed(_CAPS[answer.cap])
            await self._wait(answer)

    def _not_made(self, entering: Future[Entered | CallWait | Refused]) -> None:
        """Give back what was entered for a call that will not be made."""
        if (
            not entering.cancelled()
            and entering.exception() is None
            and isinstance(entered := entering.result(), Entered)
        ):
            self._gate.held_back(entered, 0)

    async def _wait(self, wait: CallWait) -> None:
        if wait.outage:
            now = self._timing.now()
            self._silent_since = now if self._silent_since is None else self._silent_since
            if now + wait.seconds - self._silent_since > PATIENCE_SECONDS:
                raise CallFailed(Fault.OUTAGE)
        # not all at the same instant
        await self._timing.sleep(wait.seconds * (1 + 0.1 * self._timing.roll()))
        if self._meter.given_up is not None:
            raise CallFailed(self._meter.given_up)

    async def _kept(self, use: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._keeper, use)
