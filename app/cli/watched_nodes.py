"""Watch nodes until they have done what they were told."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from sqlalchemy.exc import SQLAlchemyError

from app.cli import refusals
from app.domain.words import counted
from app.services.operations.drain import NodeProgress
from app.services.operations.nodes import NodeState

#: How often the database is asked how far the nodes are, and within what time a node has to obey.
LOOK_SECONDS = 0.5
OBEY_SECONDS = 30.0
#: A node that has lost its session connects again within this time; after it, it has ended.
GONE_SECONDS = 15.0
#: A node looks at its queues for the first time within this time of saying that it is ready, also on a busy machine.
FIRST_LOOK_SECONDS = 5.0


@dataclass
class Watch:
    """Looks at nodes until all are in a state that is wanted, the time is over, or one does not obey.

    A database that restarts, or whose standby is promoted, is waited for.  look: raises SQLAlchemyError while it is
    away; say: what people are told.
    """

    look: Callable[[], Sequence[NodeProgress]]
    wanted: AbstractSet[NodeState]
    seconds: float
    say: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    _seen: dict[str, NodeProgress] = field(default_factory=dict)
    _died: dict[str, float] = field(default_factory=dict)
    _is_away: bool = False

    def end(self) -> list[NodeProgress]:
        """How far the nodes are in the end.  Raises: SQLAlchemyError if the database is away until then."""
        began = obeys_since = self.now()
        while True:
            found = self._look(until=began + self.seconds)
            if found is None:
                obeys_since = self.now()
            elif self._is_over(found) or self.now() - began >= self.seconds or self._disobeys(found, obeys_since):
                for name in self._gone():
                    self.say(said(self._seen[name]))
                return found
            self.wait(LOOK_SECONDS)  # between two looks: nobody announces the end of a drain

    def _look(self, until: float) -> list[NodeProgress] | None:
        """None while the database is away."""
        try:
            found = [_with_loss(one, self._seen.get(one.name)) for one in self.look()]
        except SQLAlchemyError as error:
            if not refusals.is_away(error) or self.now() >= until:
                raise
            if not self._is_away:
                self.say(f"{refusals.sentence(error)}; waiting for it")
            self._is_away = True
            self._died = {}
            return None
        if self._is_away:
            self.say("the database answers again")
        self._is_away = False
        self._died = {one.name: self._died.get(one.name, self.now()) for one in found if one.state is NodeState.DEAD}
        for one in found:
            if one != self._seen.get(one.name) and one.state is not NodeState.DEAD:
                self.say(said(one))
        self._seen = {one.name: one for one in found}
        return found

    def _is_over(self, found: Sequence[NodeProgress]) -> bool:
        gone = self._gone()
        return all(one.name in gone or one.state in self.wanted - {NodeState.DEAD} for one in found)

    def _gone(self) -> set[str]:
        """The dead nodes that have had the time to connect again."""
        return {name for name, since in self._died.items() if self.now() - since >= GONE_SECONDS}

    def _disobeys(self, found: Sequence[NodeProgress], since: float) -> bool:
        serves = any(one.state is NodeState.SERVING for one in found)
        return serves and self.now() - since >= OBEY_SECONDS


def await_first_looks(
    unknown: Callable[[], Sequence[str]],
    now: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> None:
    """Wait until the nodes that have just started read their queues, which a program that only sends never does."""
    began = now()
    while unknown() and now() - began < FIRST_LOOK_SECONDS:
        wait(LOOK_SECONDS)


def _with_loss(now: NodeProgress, before: NodeProgress | None) -> NodeProgress:
    """A node that has ended, with what it held before: its row goes when others have taken that over."""
    if now.state is NodeState.DEAD and before is not None:
        return NodeProgress(now.name, now.state, max(now.held, before.held))
    return now


def said(one: NodeProgress) -> str:
    """How far it is, in words."""
    held = counted(one.held, "message")
    match one.state:
        case NodeState.SERVING:
            return f"{one.name} takes messages"
        case NodeState.DRAINING:
            return f"{one.name} takes no more messages, and holds {held}"
        case NodeState.DRAINED:
            return f"{one.name} is drained: nothing runs"
    return f"{one.name} ended while it held {held}: other nodes run it again" if one.held else f"{one.name} has ended"


def fault(one: NodeProgress, wanted: AbstractSet[NodeState]) -> str | None:
    """What is wrong with a node in the end; None if it did what it was told."""
    if one.state is NodeState.DEAD:
        return said(one) if one.held or one.state not in wanted else None
    if one.state in wanted:
        return None
    if one.state is NodeState.DRAINING and NodeState.DRAINED in wanted:
        return (
            f"{one.name} still holds {counted(one.held, 'message')}, and takes no more: run the command again to go on"
            f" waiting, or `fairlane undrain {one.name}`"
        )
    return (
        f"{one.name} has not obeyed yet: its release does not know the command, or its event loop is busy, and then it"
        " obeys as soon as it can"
    )
