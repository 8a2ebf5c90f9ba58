"""Drain nodes: they take no more messages, and what they run ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.errors import Message, NotFound
from app.services.operations.nodes import Node, NodeState, state_of, states
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import audit_log


class Tell(Protocol):
    """Sends a command to nodes by their names, `drain` or `undrain`; whether they got it shows in the database."""

    def __call__(self, command: str, nodes: Sequence[str]) -> None:
        """Send."""
        ...


@dataclass(frozen=True, slots=True)
class NodeProgress:
    """A node that was told to drain, or not to.  state: DEAD also when nothing is left of it; held: messages."""

    name: str
    state: NodeState
    held: int


def drain(uow: UnitOfWork, target: str, tell: Tell, *, actor: str, reason: str | None = None) -> list[str]:
    """Let nodes take no more messages until `undrain`; idempotent.  Returns: their names.

    target: HOST:PID, the name of a node, or HOST: all nodes that run there now.  Raises: NotFound.
    """
    return _tell(uow, target, tell, "node.drain", actor, {"reason": reason} if reason else {})


def undrain(uow: UnitOfWork, target: str, tell: Tell, *, actor: str) -> list[str]:
    """Let nodes take messages again.  target, Returns, Raises: as `drain`."""
    return _tell(uow, target, tell, "node.undrain", actor, {})


def unknown(uow: UnitOfWork, target: str) -> list[str]:
    """The nodes of a target that have not looked at a queue yet: they start, or only send commands, and then never do.

    target: as `drain`, which leaves them out.
    """
    return [node.name for node in states(uow) if node.is_alive and not _is_known(node) and _is_named(node.name, target)]


def progress(uow: UnitOfWork, names: Sequence[str]) -> list[NodeProgress]:
    """How far each of these nodes is, in their order."""
    found = {node.name: NodeProgress(node.name, state_of(node), node.leased) for node in states(uow)}
    return [found.get(name, NodeProgress(name, NodeState.DEAD, 0)) for name in names]


def _tell(uow: UnitOfWork, target: str, tell: Tell, action: str, actor: str, facts: dict[str, str]) -> list[str]:
    living = [node.name for node in states(uow) if node.is_alive and _is_known(node)]
    named = [name for name in living if _is_named(name, target)]
    if not named:
        raise NotFound(
            Message(
                "There is no living node or host %(target)s; expected one of %(nodes)s",
                target=repr(target),
                nodes=", ".join(living) or "none",
            )
        )
    with uow.begin() as tx:
        for name in named:
            audit_log.add(tx, actor, action, name, **facts)
    tell(action.removeprefix("node."), named)
    return named


def _is_known(node: Node) -> bool:
    """Whether it reads queues or drains.  A program that only sends commands has a session, too, and reads no queue."""
    return bool(node.queues) or node.is_draining


def _is_named(name: str, target: str) -> bool:
    return target in (name, name.rpartition(":")[0])
