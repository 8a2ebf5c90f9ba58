"""The end of a node: what is over is written down, and the rest is handed back, without a charge."""

import logging
from typing import TYPE_CHECKING

from .database import SERVER_ERRORS
from .leases import Heart
from .ledger import Ledger

if TYPE_CHECKING:
    from .node import Node

logger = logging.getLogger(__name__)

#: How long a stopping worker tries to get a session again for what it holds.
REVIVE_SECONDS = 2.0


def end(node: "Node", ledger: Ledger, heart: Heart) -> None:
    """Write and hand back, in a new session if the node's has been cut: a finished task would run again otherwise.

    When the database is away, the lock that goes with the sessions says the same, a second or two later.
    """
    try:
        try:
            _settle(node, ledger, heart)
        except SERVER_ERRORS as error:
            if node.session.connected:
                node.lose(error)
            if not (node.held or ledger) or not node.revive(REVIVE_SECONDS):
                raise
            _settle(node, ledger, heart)
    except SERVER_ERRORS as error:
        logger.warning("event=handback_failed leases=%d error=%r", len(node.held), str(error).strip())
    heart.stop()


def _settle(node: "Node", ledger: Ledger, heart: Heart) -> None:
    node.session.finish()
    ledger.write()
    node.fanout.send(node.session)
    heart.stop()  # not before: while a session is made anew, the heart's keeps the lock
    node.hand_back(list(node.held))
    node.session.leave()
